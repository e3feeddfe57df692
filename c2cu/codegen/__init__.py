"""Printers of expressions and statements: C from the typed AST, CUDA C++ and SIMD C from the flat IR."""
