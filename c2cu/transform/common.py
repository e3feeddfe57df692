"""Common calls: a library function called twice with the same arguments is called once, and its value gets a name.

``y[0] = sinf(a) * b; y[1] = sinf(a) * c`` becomes ``t = sinf(a); y[0] = t * b; y[1] = t * c``. Compilers find other
common subexpressions themselves, but gcc must not join calls, which may set ``errno``, and no compiler joins loads of
one array between which another one is stored to where both lie in one piece of memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from ..base.libm import FUNCTIONS
from ..ir.nodes import Assign, Block, Call, Expr, If, Kernel, Load, Loop, Region, Stmt, Store, Var, Variable
from ..ir.walk import expressions, in_rows, mapped, places, statements, subexpressions, with_body


def common(kernel: Kernel) -> Kernel:
    """``kernel`` with no call made twice in one row of assignments and stores, the condition of a branch behind it
    included, unless what the call reads changes in between."""
    uids = new_uids(kernel)
    return with_body(kernel, in_rows(kernel.body, lambda row: list(_joined(row, uids, _is_call, inside=False))))


def common_loads(kernel: Kernel) -> Kernel:
    """``kernel`` with nothing loaded twice, unless what was loaded may have changed; an arm of a branch and a loop know
    what was loaded before."""
    return joined_everywhere(kernel, lambda e: isinstance(e, Load))


def joined_everywhere(kernel: Kernel, sought: Callable[[Expr], bool]) -> Kernel:
    """``kernel`` with nothing that is ``sought`` computed twice, unless what it reads may have changed; an arm of a
    branch and a loop know what was computed before."""
    return with_body(kernel, tuple(_joined(kernel.body, new_uids(kernel), sought, inside=True)))


def new_uids(kernel: Kernel) -> count[int]:
    """Numbers of variables that it does not have."""
    return count(1 + max((s.var.uid for s in statements(kernel.body) if isinstance(s, Assign)), default=0))


def _joined(row: Sequence[Stmt], uids: count[int], sought: Callable[[Expr], bool], inside: bool) -> Sequence[Stmt]:
    every = statements(tuple(row)) if inside else row
    if not any(sought(x) for s in every for e in expressions(s) for x in subexpressions(e)):
        return row
    first = _Row({}, sought, inside)
    first.statements(row)
    names = {n: _named(first.found[n], next(uids)) for n in sorted(first.repeated)}
    return _Row(names, sought, inside).statements(row) if names else row


def _named(e: Expr, uid: int) -> Variable:
    return Variable("call" if isinstance(e, Call) else "loaded", e.type, uid, role="temporary")


def library_calls(s: Stmt) -> int:
    """How many calls of math.h a statement makes, but for the statements inside it."""
    return sum(_is_call(x) for e in expressions(s) for x in subexpressions(e))


def _is_call(e: Expr) -> bool:
    return isinstance(e, Call) and e.name in FUNCTIONS


@dataclass
class _Row:
    """A walk over a row of statements. ``names``: of what is ``sought``, by its number in ``found``, where each stands
    once. ``known``: those whose value is still the same; ``readers``: of what a place holds, among them; ``repeated``:
    those that are there again while it is. ``inside``: it goes into branches and loops; ``added``: what became known
    there, which is not known behind."""

    names: Mapping[int, Variable]
    sought: Callable[[Expr], bool]
    inside: bool
    found: list[Expr] = field(default_factory=list)
    known: dict[Expr, int] = field(default_factory=dict)
    readers: dict[Variable | Region, list[Expr]] = field(default_factory=dict)
    repeated: set[int] = field(default_factory=set)
    out: list[Stmt] = field(default_factory=list)
    added: list[Expr] = field(default_factory=list)

    def statements(self, row: Sequence[Stmt]) -> list[Stmt]:
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
                    cond = self.expression(s.cond)
                    then, other = self.arm(s.then), self.arm(s.other)
                    self.out.append(replace(s, cond=cond, then=then, other=other))
                case Loop():
                    self.loop(s)
        return self.out

    def arm(self, block: Block) -> Block:
        """A block that may not be executed."""
        if not self.inside:
            return block
        out, added = self.out, self.added
        self.out, self.added = [], []
        inner = tuple(self.statements(block))
        for e in self.added:
            self.known.pop(e, None)
        self.out, self.added = out, added
        return inner

    def loop(self, s: Loop) -> None:
        """A loop, whose turns change what it assigns."""
        for x in statements((s,)):
            if isinstance(x, Assign):
                self.forget(x.var)
            elif isinstance(x, Store):
                self.forget(x.region)
        cond = s.cond if any(map(self.sought, subexpressions(s.cond))) else self.expression(s.cond)
        inner = {name: self.arm(getattr(s, name)) for name in ("head", "body", "step")}
        self.out.append(replace(s, cond=cond, **inner))

    def expression(self, e: Expr) -> Expr:
        if not self.sought(e):
            return mapped(e, self.expression)
        n = self.known.get(e)
        if n is not None:
            self.repeated.add(n)
            return Var(self.names[n], e.loc) if n in self.names else e
        n = self.known[e] = len(self.found)
        self.found.append(e)
        self.added.append(e)
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
