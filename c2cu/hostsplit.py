"""Splitting ``main`` at the kernel call: what stands before it, what goes in, what stands after it.

A translation runs the part before for every input, the kernel once for all, and the part after for every input. Each
run sees the globals as a fresh process would; what it leaves before the kernel is kept until after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pycparser import c_ast as C

from .ctype import VOID, Array, CType, Pointer
from .diagnostics import UnsupportedError
from .parse import is_user_file, loc_of
from .program import Program, nodes
from .spell import Indented
from .symbols import Symbol
from .typed import Unit

_PRINTS = {
    "printf": None,
    "puts": None,
    "putchar": None,
    "vprintf": None,
    "fprintf": 0,
    "vfprintf": 0,
    "fputs": 1,
    "fputc": 1,
    "putc": 1,
    "fwrite": 3,
}  # name -> which argument is the file


@dataclass(frozen=True)
class HostSplit:
    """``result``: what the kernel's value is assigned to, as an AST node, or None. ``arguments``: of the call."""

    before: tuple[C.Node, ...]
    after: tuple[C.Node, ...]
    result: C.Node | None
    arguments: tuple[C.Node, ...]
    locals: tuple[Symbol, ...]  # of main, declared before the call
    functions: tuple[str, ...]  # that host code calls, in the file's order
    uses_exit: bool


def hostsplit(program: Program) -> HostSplit:
    """Split the main of ``program``. Raises UnsupportedError where its parts cannot be run apart."""
    unit, call = program.unit, program.call
    main = unit.functions.get("main")
    if main is None or call is None:
        raise UnsupportedError(
            "C2CU070",
            "there is no main that calls the kernel once",
            program.kernel.loc,
            "write a main with '#pragma kernel' before the call, or use c2cu.bulk",
        )
    unit.require("main")
    items = main.node.body.block_items or []
    k = next((i for i, s in enumerate(items) if _is_call(s, call)), None)
    if k is None:
        raise UnsupportedError(
            "C2CU070",
            "the kernel call is inside another statement of main",
            loc_of(call),
            "put it at the top level of main: it runs once for all inputs",
        )
    before, after = tuple(items[:k]), tuple(items[k + 1 :])
    called = _called(unit, [*before, *after], program)
    _refuse_output(unit, before)
    _refuse_statics(unit, called)
    locals_ = tuple(unit.symbols[id(s)] for s in before if isinstance(s, C.Decl) and id(s) in unit.symbols)
    _refuse_inner_pointers(unit, [*before, *(n for f in called for n in [unit.functions[f].node])], locals_)
    names = {
        n.name
        for s in [*before, *after, *(unit.functions[f].node for f in called)]
        for n in nodes(s)
        if isinstance(n, C.ID)
    }
    return HostSplit(
        before,
        after,
        items[k] if not isinstance(items[k], C.FuncCall) else None,
        tuple(call.args.exprs if call.args else []),
        locals_,
        called,
        "exit" in names,
    )


def _is_call(s: C.Node, call: C.FuncCall) -> bool:
    return s is call or getattr(s, "rvalue", None) is call or getattr(s, "init", None) is call


def _called(unit: Unit, statements: list[C.Node], program: Program) -> tuple[str, ...]:
    direct = {n.name for s in statements for n in nodes(s) if isinstance(n, C.ID) and n.name in unit.functions}
    every = {g for f in direct for g in unit.reachable(f)}
    for f in every:
        unit.require(f)
    return tuple(f for f in unit.functions if f in every)


def _refuse_output(unit: Unit, before: tuple[C.Node, ...]) -> None:
    """Output before the kernel would come before the output of all runs."""
    direct = {n.name for s in before for n in nodes(s) if isinstance(n, C.ID) and n.name in unit.functions}
    texts = [*before, *(unit.functions[g].node for f in sorted(direct) for g in unit.reachable(f))]
    for n in (n for s in texts for n in nodes(s)):
        if not isinstance(n, C.FuncCall) or not isinstance(n.name, C.ID) or n.name.name not in _PRINTS:
            continue
        position = _PRINTS[n.name.name]
        args = n.args.exprs if n.args else []
        if position is not None and position < len(args) and getattr(args[position], "name", "") == "stderr":
            continue
        raise UnsupportedError(
            "C2CU071",
            f"'{n.name.name}' before the kernel call: its output would come out of order",
            loc_of(n),
            "print after the kernel, or to stderr",
        )


def _refuse_statics(unit: Unit, called: tuple[str, ...]) -> None:
    for s in unit.statics:
        inside = any(n is s.decl for f in ("main", *called) for n in nodes(unit.functions[f].node))
        if inside and not s.const:
            raise UnsupportedError(
                "C2CU072",
                f"static local '{s.name}' in host code would be shared by all runs",
                s.loc,
                "make it a global variable",
            )


def _refuse_inner_pointers(unit: Unit, statements: list[C.Node], locals_: tuple[Symbol, ...]) -> None:
    """A pointer to a local of main would dangle between the parts."""
    for n in (n for s in statements for n in nodes(s)):
        value = n.init if isinstance(n, C.Decl) else n.rvalue if isinstance(n, C.Assignment) else None
        if value is None or not isinstance(unit.types.get(id(value)), (Pointer, Array)):
            continue
        root = value.expr if isinstance(value, C.UnaryOp) and value.op == "&" else value
        while isinstance(root, (C.ArrayRef, C.BinaryOp, C.StructRef)):
            root = root.left if isinstance(root, C.BinaryOp) else root.name
        symbol = unit.symbols.get(id(root))
        if symbol in locals_ and (value is not root or isinstance(symbol.type, Array)):
            raise UnsupportedError(
                "C2CU073", f"a pointer to main's local '{symbol.name}' is kept", loc_of(n), "make it a global variable"
            )


class HostSpeller(Indented):
    """Host code as the user wrote it, for C and C++. ``ended``: what a ``return`` of main before the kernel sets."""

    def __init__(self, unit: Unit, cplusplus: bool):
        super().__init__()
        self.unit, self.cplusplus = unit, cplusplus
        self.ended = ""

    def visit_Pragma(self, n: C.Pragma) -> str:
        return "" if n.string.split("(")[0].split()[:1] == ["kernel"] else super().visit_Pragma(n)

    def visit_Return(self, n: C.Return) -> str:
        if not self.ended:
            return super().visit_Return(n)
        value = self.visit(n.expr) if n.expr is not None else "0"
        return f"return ({self.ended} = 1, ({value}));"

    def visit_Assignment(self, n: C.Assignment) -> str:
        if self.from_void(n.rvalue, self.unit.types.get(id(n))):
            left = self.visit(n.lvalue)
            return f"{left} = (__typeof__({left}))({self.visit(n.rvalue)})"
        return super().visit_Assignment(n)

    def visit_Decl(self, n: C.Decl, no_type: bool = False) -> str:
        symbol = self.unit.symbols.get(id(n))
        if n.init is None or symbol is None or not self.from_void(n.init, symbol.type):
            return super().visit_Decl(n, no_type)
        head = super().visit_Decl(
            C.Decl(n.name, n.quals, n.align, n.storage, n.funcspec, n.type, None, n.bitsize, n.coord)
        )
        return f"{head} = (__typeof__({n.name}))({self.visit(n.init)})"

    def from_void(self, value: C.Node, to: CType | None) -> bool:
        """C++ does not convert void pointers by itself."""
        t = self.unit.types.get(id(value))
        return self.cplusplus and isinstance(t, Pointer) and t.to == VOID and isinstance(to, Pointer) and to.to != VOID

    def statements(self, items: tuple[C.Node, ...]) -> str:
        self.indent_level = 4
        text = "".join(self._generate_stmt(s) for s in items)
        self.indent_level = 0
        return "\n".join(line for line in text.split("\n") if line.strip() not in ("", ";"))

    def function(self, n: C.FuncDef) -> str:
        return self.visit(n).rstrip("\n")

    def top(self, n: C.Node) -> str:
        """A file-scope declaration."""
        return self.visit(n) + ";"


def declarations(unit: Unit) -> Iterator[C.Node]:
    """The file's own types and variables, in order."""
    for n in unit.ast.ext:
        if isinstance(n, (C.Typedef, C.Decl)) and is_user_file(unit.pre, loc_of(n).file):
            if not (isinstance(n, C.Decl) and isinstance(n.type, C.FuncDecl)):
                yield n


def globals_of(unit: Unit) -> list[Symbol]:
    """The file's mutable globals."""
    return [
        s
        for s in unit.variables.values()
        if not s.const and not s.builtin and "extern" not in (s.decl.storage if s.decl is not None else ())
    ]
