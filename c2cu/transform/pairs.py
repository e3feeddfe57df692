"""Functions that lanes compute in pairs, in little more time than one: sine and cosine of one argument, and erfc or erf
of an argument and of its negation, as the prices of a call and a put have them.

``y[0] = sin(a) * b; y[1] = cos(a) * c`` becomes ``t = sin(a); u = cos(a); y[0] = t * b; y[1] = u * c``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import count

from ..base.libm import LOGARITHMS, ODD, OPPOSITE, PAIRS
from ..ir.nodes import Assign, Call, Expr, If, Kernel, Region, Stmt, Store, Unary, Var, Variable
from ..ir.signs import signed
from ..ir.walk import expressions, in_rows, mapped, places, statements, subexpressions, with_body

_MEMBERS = PAIRS | {name: (name, name) for name in ODD}
_PAIR_OF = {name: pair for pair, members in _MEMBERS.items() for name in members}


def pairs(kernel: Kernel) -> Kernel:
    """``kernel`` with the one function of a pair directly before the other, and erf called once, where one row of
    assignments and stores, the condition of a branch behind it included, has both and what the argument reads does not
    change in between."""
    last = max((s.var.uid for s in statements(kernel.body) if isinstance(s, Assign)), default=0)
    uids = count(last + 1)
    return with_body(kernel, in_rows(kernel.body, lambda row: _joined(row, uids)))


def both(first: Stmt, second: Stmt) -> str:
    """The function that does what two statements do, one after the other, or ""."""
    match first, second:
        case Assign(value=Call() as a), Assign(value=Call() as b) if first.var not in places(b):
            name = _PAIR_OF.get(a.name, "")
            if name in PAIRS and _calls(name, a.args[0], a) == (a, b):
                return name
            return next((n for n, parts in LOGARITHMS.items() if (a.name, b.name) == parts and a.args == b.args), "")
    return ""


def _calls(pair: str, argument: Expr, e: Call) -> tuple[Call, ...]:
    """The calls of a pair. ``e``: one of them, or one like them."""
    other = argument if pair not in OPPOSITE else Unary("-", argument, argument.type, e.loc)
    return tuple(Call(name, (x,), e.type, e.loc) for name, x in zip(_MEMBERS[pair], (argument, other)))


def _member(e: Call, values: Mapping[Variable, Expr]) -> tuple[str, Expr, int]:
    """Of what pair a call is one, with which argument, and which of the two. ``values``: of variables."""
    name = _PAIR_OF[e.name]
    if name in OPPOSITE or name in ODD:
        negative, argument = signed(e.args[0], values)
        return name, argument, int(negative)
    return name, e.args[0], PAIRS[name].index(e.name)


@dataclass
class _Paired:
    """An argument, which of the pair is called ``first``, and, once both functions of it are called, the names of what
    they give. ``assigned``: whether these have it already."""

    expr: Expr
    first: int
    names: tuple[Variable, ...] = ()
    assigned: bool = False


def _joined(row: list[Stmt], uids: count[int]) -> list[Stmt]:
    known: dict[tuple[str, Expr], _Paired] = {}
    negations: dict[Variable, Expr] = {}
    readers: dict[Variable | Region, list[tuple[str, Expr] | Variable]] = {}
    calls: list[dict[Call, tuple[_Paired, int]]] = []
    for s in row:
        calls.append({})
        for x in (x for e in expressions(s) for x in subexpressions(e)):
            if not isinstance(x, Call) or x.name not in _PAIR_OF:
                continue
            name, e, member = _member(x, negations)
            key = name, e
            if key not in known:
                known[key] = _Paired(e, member)
                for place in places(e):
                    readers.setdefault(place, []).append(key)
            argument = known[key]
            calls[-1][x] = argument, member
            if member != argument.first and not argument.names:
                argument.names = tuple(Variable(n, x.type, next(uids), role="temporary") for n in _MEMBERS[name])
        changed = s.var if isinstance(s, Assign) else s.region if isinstance(s, Store) else None
        if changed is None:
            continue
        for reader in readers.pop(changed, ()):
            if isinstance(reader, Variable):
                negations.pop(reader, None)
            else:
                known.pop(reader, None)
        match s:
            case Assign(v, Unary("-", Var(of)) as value) if v != of:
                negations[v] = value
                readers.setdefault(of, []).append(v)
                readers.setdefault(v, []).append(v)
    return [x for s, found in zip(row, calls) for x in _named(s, found)]


def _named(s: Stmt, calls: Mapping[Call, tuple[_Paired, int]]) -> list[Stmt]:
    """A statement with the names of those of its calls that have one, behind the assignments to those that are new."""
    new: list[Stmt] = []

    def expression(e: Expr) -> Expr:
        if not isinstance(e, Call) or e not in calls or not calls[e][0].names:
            return mapped(e, expression)
        argument, member = calls[e]
        if not argument.assigned:  # the first that is reached: an earlier one may be inside a call that has a name
            argument.assigned = True
            one, other = _calls(_PAIR_OF[e.name], expression(argument.expr), e)
            first, second = argument.names
            negated = Unary("-", Var(first, e.loc), e.type, e.loc)
            new.extend((Assign(first, one, e.loc), Assign(second, negated if e.name in ODD else other, e.loc)))
        return Var(argument.names[member], e.loc)

    if not any(argument.names for argument, _ in calls.values()):
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
