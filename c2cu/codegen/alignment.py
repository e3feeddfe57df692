"""What may lie at any address: a device faults on an access whose address is no multiple of the size, x86 does not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pycparser import c_ast as C

from ..base.ctype import VOID, Array, CType, Function, Pointer, align_of, leaf_element
from ..frontend.tree import nodes
from ..frontend.typed import FunctionDef, Unit

WIDE = 16  # arrays of this size and more get this alignment in generated text, as from gcc


def loose_types(unit: Unit, functions: Iterable[FunctionDef]) -> set[CType]:
    """The types that some pointer to less aligned objects, or to void, is made a pointer to, and those of members that
    an attribute moves."""
    types: set[CType] = set()
    for f in functions:
        for n, to in _conversions(unit, f):
            source = unit.value_type(n) if id(n) in unit.types else None
            if not isinstance(source, Pointer) or not isinstance(to, Pointer) or isinstance(to.to, Function):
                continue
            after = align_of(leaf_element(to.to)) if to.to != VOID else 1
            before = 1 if source.to == VOID or isinstance(source.to, Function) else align_of(leaf_element(source.to))
            if after > before and unit.constant(_bare(n)) is None and not _starts_wide(unit, _bare(n)):
                types.add(leaf_element(to.to))
    for t in unit.declarations.structs.values():
        if t.foreign:
            moved = (m.type for m in t.members if align_of(m.type) > t.align or m.offset % align_of(m.type))
            types.update(map(leaf_element, moved))
    return types


def _conversions(unit: Unit, f: FunctionDef) -> Iterator[tuple[C.Node, CType]]:
    """Expressions, and the types that they are converted to; not of a body that was not understood."""
    for n in nodes(f.node.body):
        match n:
            case C.Cast() if id(n) in unit.types:
                yield n.expr, unit.types[id(n)]
            case C.Decl(init=C.Node()) if id(n) in unit.symbols and not isinstance(n.init, C.InitList):
                yield n.init, unit.symbols[id(n)].type
            case C.Assignment(op="=") if id(n) in unit.types:
                yield n.rvalue, unit.types[id(n)]
            case C.Return(expr=C.Node()):
                yield n.expr, f.returns
            case C.FuncCall(args=C.ExprList(exprs=args)):
                t = unit.value_type(n.name) if id(n.name) in unit.types else None
                t = t.to if isinstance(t, Pointer) else t
                yield from zip(args, t.params if isinstance(t, Function) else ())


def _bare(n: C.Node) -> C.Node:
    while isinstance(n, C.Cast):
        n = n.expr
    return n


def _starts_wide(unit: Unit, n: C.Node) -> bool:
    """Whether it is the address of an array that generated text aligns."""
    if isinstance(n, C.UnaryOp) and n.op == "&":
        n = n.expr
    if isinstance(n, C.ArrayRef) and unit.constant(n.subscript) == 0:
        n = n.name
    symbol = unit.symbols.get(id(n)) if isinstance(n, C.ID) else None
    return (
        symbol is not None
        and isinstance(symbol.type, Array)
        and symbol.type.length is not None
        and symbol.type.size >= WIDE
    )
