"""Common calls: a library function called twice with the same arguments is called once, and its value gets a name.

``y[0] = sinf(a) * b; y[1] = sinf(a) * c`` becomes ``t = sinf(a); y[0] = t * b; y[1] = t * c``. Only calls: gcc finds
other common subexpressions itself, but must not join calls, which may set ``errno``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import count

from ..base.libm import FUNCTIONS
from ..ir.nodes import Assign, Call, Expr, If, Kernel, Region, Stmt, Store, Var, Variable
from ..ir.walk import expressions, in_rows, mapped, places, statements, subexpressions, with_body


def common(kernel: Kernel) -> Kernel:
    """``kernel`` with no call made twice in one row of assignments and stores, the condition of a branch behind it
    included, unless what the call reads changes in between."""
    last = max((s.var.uid for s in statements(kernel.body) if isinstance(s, Assign)), default=0)
    uids = count(last + 1)
    return with_body(kernel, in_rows(kernel.body, lambda row: _joined(row, uids)))


def _joined(row: list[Stmt], uids: count[int]) -> list[Stmt]:
    if not any(_is_call(x) for s in row for e in expressions(s) for x in subexpressions(e)):
        return row
    first = _Row({})
    first.statements(row)
    names = {n: Variable("call", first.calls[n].type, next(uids), role="temporary") for n in sorted(first.repeated)}
    return _Row(names).statements(row) if names else row


def _is_call(e: Expr) -> bool:
    return isinstance(e, Call) and e.name in FUNCTIONS


@dataclass
class _Row:
    """A walk over a row of statements. ``names``: of calls, by their number in ``calls``, where each stands once.
    ``known``: those whose value is still the same; ``readers``: of what a place holds, among them; ``repeated``: those
    that are made again while it is."""

    names: Mapping[int, Variable]
    calls: list[Expr] = field(default_factory=list)
    known: dict[Expr, int] = field(default_factory=dict)
    readers: dict[Variable | Region, list[Expr]] = field(default_factory=dict)
    repeated: set[int] = field(default_factory=set)
    out: list[Stmt] = field(default_factory=list)

    def statements(self, row: list[Stmt]) -> list[Stmt]:
        for s in row:
            match s:
                case Assign(var=v):
                    self.out.append(replace(s, value=self.expression(s.value)))
                    self.forget(v)
                case Store(region=r):
                    index, value = self.expression(s.index), self.expression(s.value)
                    rows = tuple((self.expression(k), n) for k, n in s.rows)
                    self.out.append(replace(s, index=index, value=value, rows=rows))
                    self.forget(r)
                case If():
                    self.out.append(replace(s, cond=self.expression(s.cond)))
        return self.out

    def expression(self, e: Expr) -> Expr:
        if not _is_call(e):
            return mapped(e, self.expression)
        n = self.known.get(e)
        if n is not None:
            self.repeated.add(n)
            return Var(self.names[n], e.loc) if n in self.names else e
        n = self.known[e] = len(self.calls)
        self.calls.append(e)
        for place in places(e):
            self.readers.setdefault(place, []).append(e)
        value = mapped(e, self.expression)
        if n not in self.names:
            return value
        self.out.append(Assign(self.names[n], value, e.loc))
        return Var(self.names[n], e.loc)

    def forget(self, place: Variable | Region) -> None:
        """What stands in ``place`` changes."""
        for e in self.readers.pop(place, ()):
            self.known.pop(e, None)
