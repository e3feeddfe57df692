"""Sine and cosine of one argument, side by side: lanes compute both at once, in little more time than one.

``y[0] = sin(a) * b; y[1] = cos(a) * c`` becomes ``t = sin(a); u = cos(a); y[0] = t * b; y[1] = u * c``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import count

from ..base.libm import PAIRS
from ..ir.nodes import Assign, Call, Expr, If, Kernel, Region, Stmt, Store, Var, Variable
from ..ir.walk import expressions, in_rows, mapped, places, statements, subexpressions, with_body

_BOTH_OF = {name: both for both, pair in PAIRS.items() for name in pair}


def sincos(kernel: Kernel) -> Kernel:
    """``kernel`` with a sine directly before the cosine of the same argument, where one row of assignments and stores,
    the condition of a branch behind it included, has both and what the argument reads does not change in between."""
    last = max((s.var.uid for s in statements(kernel.body) if isinstance(s, Assign)), default=0)
    uids = count(last + 1)
    return with_body(kernel, in_rows(kernel.body, lambda row: _joined(row, uids)))


def both(first: Stmt, second: Stmt) -> str:
    """The function that does what two statements do, one after the other, or ""."""
    match first, second:
        case Assign(value=Call() as a), Assign(value=Call() as b) if a.args == b.args and first.var not in places(b):
            name = _BOTH_OF.get(a.name, "")
            return name if name and (a.name, b.name) == PAIRS[name] else ""
    return ""


@dataclass
class _Angle:
    """An argument: its first ``call``, the number of the statement that has it, and, once both functions of it are
    called, the names of what they give."""

    call: Call
    first: int
    names: dict[str, Variable] = field(default_factory=dict)


def _joined(row: list[Stmt], uids: count[int]) -> list[Stmt]:
    known: dict[tuple[str, Expr], _Angle] = {}
    readers: dict[Variable | Region, list[tuple[str, Expr]]] = {}
    calls: list[dict[Call, _Angle]] = []
    for k, s in enumerate(row):
        calls.append({})
        for x in (x for e in expressions(s) for x in subexpressions(e)):
            if not isinstance(x, Call) or x.name not in _BOTH_OF:
                continue
            key = _BOTH_OF[x.name], x.args[0]
            if key not in known:
                known[key] = _Angle(x, k)
                for place in places(x):
                    readers.setdefault(place, []).append(key)
            angle = known[key]
            calls[k][x] = angle
            if x.name != angle.call.name and not angle.names:
                angle.names = {name: Variable(name, x.type, next(uids), role="temporary") for name in PAIRS[key[0]]}
        changed = s.var if isinstance(s, Assign) else s.region if isinstance(s, Store) else None
        for key in readers.pop(changed, ()) if changed is not None else ():
            known.pop(key, None)
    return [x for k, s in enumerate(row) for x in _named(s, k, calls[k])]


def _named(s: Stmt, k: int, calls: Mapping[Call, _Angle]) -> list[Stmt]:
    """A statement with the names of those of its calls that have one, behind the assignments to those that are new."""
    new: list[Stmt] = []

    def expression(e: Expr) -> Expr:
        if not isinstance(e, Call) or e not in calls or not calls[e].names:
            return mapped(e, expression)
        angle = calls[e]
        if angle.first == k and not any(isinstance(x, Assign) and x.var in angle.names.values() for x in new):
            argument = tuple(map(expression, e.args))
            new.extend(Assign(v, Call(name, argument, e.type, e.loc), e.loc) for name, v in angle.names.items())
        return Var(angle.names[e.name], e.loc)

    if not any(angle.names for angle in calls.values()):
        return [s]
    match s:
        case Assign():
            value = expression(s.value)
            return [*new, replace(s, value=value)]
        case Store():
            index, value = expression(s.index), expression(s.value)
            rows = tuple((expression(i), n) for i, n in s.rows)
            return [*new, replace(s, index=index, value=value, rows=rows)]
        case If():
            cond = expression(s.cond)
            return [*new, replace(s, cond=cond)]
    return [s]
