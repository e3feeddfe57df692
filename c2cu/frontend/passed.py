"""Numbers that main passes to its kernel: the same in every run where main itself says what they are."""

from __future__ import annotations

from pycparser import c_ast as C

from ..base.ctype import Scalar
from .kernel import KernelProgram
from .symbols import Symbol
from .tree import nodes
from .typed import Unit


def passed(program: KernelProgram) -> dict[str, int]:
    """The values of the kernel's whole parameters whose argument is a constant, or a local of main that holds one from
    its declaration on."""
    unit, call = program.unit, program.call
    main = unit.functions.get("main")
    if main is None or call is None or call.args is None:
        return {}
    held = _held(unit, main.node)
    known: dict[str, int] = {}
    for q, argument in zip(program.kernel.params, call.args.exprs):
        if not isinstance(q.type, Scalar) or not q.type.is_integer:
            continue
        local = held.get(unit.symbols.get(id(argument))) if isinstance(argument, C.ID) else None
        value = unit.constant(argument) if local is None else local
        if isinstance(value, int):
            known[q.name] = int(q.type.wrap(value))
    return known


def _held(unit: Unit, main: C.FuncDef) -> dict[Symbol | None, int]:
    """Locals of main that nothing writes and nothing has the address of, with their values."""
    touched: set[Symbol] = set()
    for n in nodes(main.body):
        target = n.lvalue if isinstance(n, C.Assignment) else n.expr if isinstance(n, C.UnaryOp) else None
        if isinstance(target, C.ID) and id(target) in unit.symbols and getattr(n, "op", "") in _WRITE_OR_ADDRESS:
            touched.add(unit.symbols[id(target)])
    held: dict[Symbol | None, int] = {}
    for n in nodes(main.body):
        symbol = unit.symbols.get(id(n)) if isinstance(n, C.Decl) else None
        if symbol is None or symbol in touched or symbol.storage != "local" or not isinstance(n, C.Decl):
            continue
        if n.init is not None and isinstance(symbol.type, Scalar) and symbol.type.is_integer:
            value = unit.constant(n.init)
            if isinstance(value, int):
                held[symbol] = int(symbol.type.wrap(value))
    return held


_WRITE_OR_ADDRESS = frozenset("= += -= *= /= %= &= |= ^= <<= >>= ++ -- p++ p-- &".split())
