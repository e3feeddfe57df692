"""The invariants of the flat IR, checked: what `ir.nodes` says in words.

A violation is a bug of ours, so it raises a plain AssertionError that shows the node and its place.
"""

from __future__ import annotations

import math

from ..base.ctype import BOOL, INT, Scalar
from ..base.libm import FUNCTIONS
from .evaluate import COMPARISONS
from .nodes import (
    Assign,
    Binary,
    Bitcast,
    Call,
    Cast,
    Const,
    Expr,
    Extremum,
    If,
    Kernel,
    Load,
    Loop,
    Region,
    Select,
    Stmt,
    Store,
    Unary,
    Var,
)
from .walk import expressions, statements, subexpressions

ARITHMETIC = ("+", "-", "*", "/")
BITWISE = ("%", "&", "|", "^")
LONGEST = 400  # characters of a node in a message


def verify(kernel: Kernel) -> None:
    """Raise AssertionError at the first node of ``kernel`` that breaks an invariant of the flat IR."""
    for r in kernel.regions:
        _region(r)
    names = [r.name for r in kernel.regions]
    assert len(set(names)) == len(names), f"two regions of one name in {names}"
    listed, checked = frozenset(kernel.regions), set()
    for s in statements(kernel.body):
        _check(id(s) not in checked, s, "a statement stands in two places")
        checked.add(id(s))
        _statement(s, listed)
        for e in expressions(s):
            for x in subexpressions(e):
                _expression(x, listed)


def _check(holds: bool, node: Expr | Stmt | Region, rule: str) -> None:
    if not holds:
        raise AssertionError(f"{node.loc}: {rule}: {repr(node)[:LONGEST]}")


def _region(r: Region) -> None:
    _check(r.storage in ("bulk", "local", "shared"), r, "unknown storage")
    _check(all(n >= 0 for n in r.extents), r, "a negative extent")
    _check(r.init is None or len(r.init) == r.count, r, "as many initial elements as elements")
    _check(r.init is None or r.storage != "local", r, "a local region has no initial elements")


def _statement(s: Stmt, listed: frozenset[Region]) -> None:
    match s:
        case Assign(var=v, value=e):
            _check(v.type == e.type, s, f"a value of type {e.type} in a variable of type {v.type}")
        case Store(region=r, index=i, value=e):
            _check(r in listed, s, "a region that the kernel does not list")
            _check(r.storage != "shared", s, "a store into a shared region")
            _check(i.type.is_integer, s, "an index that is no integer")
            _check(e.type == r.type, s, f"a value of type {e.type} in a region of type {r.type}")
        case If(then=a, other=b):
            _check(bool(a or b), s, "an If of nothing")
        case Loop(flags=flags):
            _check(all(f.type == BOOL for f in flags), s, "a flag that is no BOOL")
            _check(len(set(flags)) == len(flags), s, "a flag listed twice")


def _expression(x: Expr, listed: frozenset[Region]) -> None:
    match x:
        case Const(value=v, type=t):
            wrapped = t.wrap(v)
            _check(wrapped == v or (math.isnan(v) and t.is_float), x, f"no value of type {t}")
        case Var():
            pass
        case Load(region=r, index=i):
            _check(r in listed, x, "a region that the kernel does not list")
            _check(i.type.is_integer, x, "an index that is no integer")
        case Unary():
            _unary(x)
        case Binary():
            _binary(x)
        case Cast(operand=a, type=t):
            _check(isinstance(a.type, Scalar) and isinstance(t, Scalar), x, "a cast of what is no scalar")
        case Bitcast(operand=a, type=t):
            _check(a.type.size == t.size, x, f"the bits of a {a.type} as a {t}")
        case Select(yes=a, no=b, type=t):
            _check(a.type == t and b.type == t, x, f"arms of types {a.type} and {b.type} in a select of type {t}")
        case Extremum():
            _extremum(x)
        case Call():
            _call(x)


def _unary(x: Unary) -> None:
    if x.op == "!":
        _check(x.type == INT, x, "'!' gives int")
        return
    _check(x.op in ("-", "~"), x, "unknown operator")
    _check(x.operand.type == x.type, x, f"an operand of type {x.operand.type} in a node of type {x.type}")
    _check(x.op == "-" or x.type.is_integer, x, "'~' of what is no integer")


def _binary(x: Binary) -> None:
    a, b, t = x.left.type, x.right.type, x.type
    if x.op in ("&&", "||"):
        _check(t == INT, x, f"'{x.op}' gives int")
    elif x.op in COMPARISONS:
        _check(t == INT, x, "a comparison gives int")
        _check(a == b, x, f"a comparison of {a} with {b}")
    elif x.op in ("<<", ">>"):
        _check(a == t, x, f"a left operand of type {a} in a shift of type {t}")
        _check(t.is_integer and b.is_integer, x, "a shift of or by what is no integer")
    else:
        _check(x.op in (*ARITHMETIC, *BITWISE), x, "unknown operator")
        _check(a == t and b == t, x, f"operands of types {a} and {b} in a node of type {t}")
        _check(x.op in ARITHMETIC or t.is_integer, x, f"'{x.op}' of what is no integer")


def _extremum(x: Extremum) -> None:
    a, b, t = x.left.type, x.right.type, x.type
    _check(x.op in ("min", "max"), x, "neither a minimum nor a maximum")
    _check(a == t and b == t, x, f"the {x.op} of a {a} and a {b} in a node of type {t}")
    _check(t != BOOL, x, f"the {x.op} of truth values")
    _check(x.rule in (("strict", "weak", "number") if t.is_float else ("strict",)), x, f"a {x.op} by rule '{x.rule}'")


def _call(x: Call) -> None:
    if x.name not in FUNCTIONS:
        return  # not libm's: its schedule knows the types
    result, params = FUNCTIONS[x.name]
    _check(x.type == result, x, f"'{x.name}' gives {result}")
    _check(tuple(a.type for a in x.args) == params, x, f"'{x.name}' takes {', '.join(map(str, params))}")
