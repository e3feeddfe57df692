"""What the sizes of a program's objects come from: extents that are no constants, and what is allocated."""

from __future__ import annotations

from collections.abc import Iterator

from pycparser import c_ast as C

from ..base import libc
from ..base.ctype import Scalar
from .tree import nodes
from .typed import FunctionDef, Unit


def sizing(unit: Unit, kernel: FunctionDef) -> frozenset[str]:
    """The whole numbers among the kernel's parameters that some object's size comes from, by what the text says."""
    functions = [unit.functions[name] for name in unit.reachable(kernel.name)]
    callers: dict[str, list[tuple[str, list[C.Node]]]] = {}
    for f in functions:
        for n in nodes(f.node.body):
            match n:
                case C.FuncCall(name=C.ID(name=callee), args=C.ExprList(exprs=arguments)):
                    callers.setdefault(callee, []).append((f.name, arguments))
    allocating = _allocating(functions)
    pending = [(f.name, name) for f in functions for name in _in_sizes(f, allocating)]
    reached: set[tuple[str, str]] = set()
    while pending:
        pair = pending.pop()
        if pair in reached:
            continue
        reached.add(pair)
        f, name = unit.functions[pair[0]], pair[1]
        pending += [(f.name, other) for other in _assigned_from(f, name)]
        position = next((k for k, p in enumerate(f.params) if p.name == name), None)
        if position is not None:
            passed = [(g, arguments[position]) for g, arguments in callers.get(f.name, []) if position < len(arguments)]
            pending += [(g, other) for g, argument in passed for other in _names(argument)]
    parameters = {p.name for p in kernel.params if isinstance(p.type, Scalar) and p.type.is_integer}
    return frozenset(name for f, name in reached if f == kernel.name and name in parameters)


def in_extents(f: FunctionDef) -> frozenset[str]:
    """The names in a function that its extents come from."""
    pending, reached = [*_in_extents(f)], set[str]()
    while pending:
        name = pending.pop()
        if name not in reached:
            reached.add(name)
            pending += _assigned_from(f, name)
    return frozenset(reached)


def _allocating(functions: list[FunctionDef]) -> frozenset[str]:
    """The functions that make objects of such sizes or free them, or call one that does; callees come first."""
    names = {*libc.ALLOCATES, "free"}
    for f in functions:
        if f.sized is not None or names & set(_called(f.node.body)):
            names.add(f.name)
    return frozenset(names)


def _called(node: C.Node) -> Iterator[str]:
    calls = (n.name for n in nodes(node) if isinstance(n, C.FuncCall))
    yield from (f.name.removeprefix("__builtin_") for f in calls if isinstance(f, C.ID))


def _in_sizes(f: FunctionDef, allocating: frozenset[str]) -> Iterator[str]:
    """What sizes come from, and the number of turns of loops that allocate."""
    yield from _in_extents(f)
    for n in nodes(f.node.body):
        match n:
            case C.FuncCall(name=C.ID(name=callee), args=C.ExprList() as arguments):
                if callee.removeprefix("__builtin_") in libc.ALLOCATES:
                    yield from _names(arguments)
            case C.For() | C.While() if n.cond is not None and allocating & set(_called(n)):
                yield from _names(n.cond)


def _in_extents(f: FunctionDef) -> Iterator[str]:
    for n in nodes(f.node):
        if isinstance(n, C.ArrayDecl) and n.dim is not None:
            yield from _names(n.dim)


def _assigned_from(f: FunctionDef, name: str) -> Iterator[str]:
    for n in nodes(f.node.body):
        match n:
            case C.Decl(name=declared, init=init) if declared == name and init is not None:
                yield from _names(init)
            case C.Assignment(lvalue=C.ID(name=assigned), rvalue=value) if assigned == name:
                yield from _names(value)


def _names(node: C.Node) -> Iterator[str]:
    yield from (n.name for n in nodes(node) if isinstance(n, C.ID))
