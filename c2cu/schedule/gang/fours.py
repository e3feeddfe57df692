"""Lookups in one table of bytes side by side: four of them are one, of each byte of a lane's four.

``y[0] = T[a >> 4]; y[1] = T[a & 15] ^ b`` becomes ``t = T[a >> 4]; u = T[a & 15]; y[0] = t; y[1] = u ^ b``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count

from ...analysis.uniform import Uniform, uniform
from ...base.ctype import BOOL
from ...codegen.lookups import is_taken_together
from ...ir.nodes import Assign, Block, Cast, Expr, If, Kernel, Load, Loop, Region, Stmt, Store, Var, Variable
from ...ir.walk import blocks, places, rewritten, statements, used, with_body
from ...transform.early import is_end
from ...transform.pairs import both

FOUR = 4


def fours(kernel: Kernel) -> Kernel:
    """``kernel`` with such lookups, in rows of assignments and stores, moved up to the first of them."""
    if not any(is_taken_together(r) for r in kernel.regions):
        return kernel
    u = uniform(kernel)
    last = max((s.var.uid for s in statements(u.kernel.body) if isinstance(s, Assign)), default=0)
    return with_body(u.kernel, _block(u, u.kernel.body, count(last + 1)))


def _block(u: Uniform, block: Block, uids: count[int]) -> Block:
    out: list[Stmt] = []
    row = _Lookups(u, uids)
    for s in block:
        match s:
            case Assign() | Store() if not is_end(s):
                row.add(s)
                continue
            case If():
                s = replace(s, then=_block(u, s.then, uids), other=_block(u, s.other, uids))
            case Loop():
                s = replace(s, **{name: _block(u, getattr(s, name), uids) for name in ("head", "body", "step")})
        out += [*row.all(), s]
        row = _Lookups(u, uids)
    return (*out, *row.all())


@dataclass
class _Four:
    """Lookups in one table, each with the variable that gets what it finds."""

    names: dict[Load, Variable] = field(default_factory=dict)
    changed: set[Variable | Region] = field(default_factory=set)  # after the first of them was made


@dataclass
class _Lookups:
    """A row of statements, and the lookups before each of them."""

    u: Uniform
    uids: count[int]
    parts: list[Stmt | _Four] = field(default_factory=list)
    fours: dict[Region, _Four] = field(default_factory=dict)  # the last of each table
    found: set[Variable | Region] = field(default_factory=set)

    def add(self, s: Assign | Store) -> None:
        self.parts += rewritten((s,), self.named)
        for four in self.fours.values():
            four.changed.add(s.region if isinstance(s, Store) else s.var)

    def named(self, e: Expr) -> Expr:
        """What a lookup finds, as a variable."""
        if not isinstance(e, Load) or not is_taken_together(e.region):
            return e
        read = places(e.index)
        if not self.u.is_varying(e.index) and not read & self.found:
            return e
        four = self.fours.get(e.region)
        if four is None or read & four.changed or (len(four.names) == FOUR and e not in four.names):
            self.fours.pop(e.region, None)  # the dictionary is in the order of the parts
            four = self.fours[e.region] = _Four()
            self.parts.append(four)
        if e not in four.names:
            v = four.names[e] = Variable("found", e.region.type, next(self.uids), role="temporary")
            self.found.add(v)
            for earlier in self.fours.values():
                earlier.changed.add(v)
                if earlier is four:
                    break
        return Var(four.names[e], e.loc)

    def all(self) -> Iterator[Stmt]:
        for x in self.parts:
            if isinstance(x, _Four):
                yield from (Assign(v, e, e.loc) for e, v in x.names.items())
            else:
                yield x


def runs(u: Uniform, block: Block) -> Iterator[list[Stmt]]:
    """The statements in order, each by itself, but what can be done at once together: lookups in one table, or the
    two functions of a pair."""
    run: list[Stmt] = []
    for s in block:
        if run and not (len(run) < FOUR and _goes_with(u, s, run)):
            yield run
            run = []
        run.append(s)
    if run:
        yield run


def lookup(u: Uniform, s: Stmt) -> Load | None:
    """The lookup in a table of bytes that a variable gets the value of."""
    match s:
        case Assign(value=Load() as e) if is_taken_together(e.region) and u.is_varying(e.index):
            return e
    return None


def only_stored(u: Uniform) -> frozenset[Variable]:
    """Variables that get what a lookup finds, once, for nothing but bytes of memory that statements in the same row
    store, where lanes go to one place."""
    body = u.kernel.body
    read, set_ = used(body), Counter(s.var for s in statements(body) if isinstance(s, Assign))
    return frozenset(v for v, n in _stored(u, body).items() if read[v] == n and set_[v] == 1)


def _stored(u: Uniform, block: Block) -> Counter[Variable]:
    """How often statements store, as a byte, what a lookup in their row found."""
    stored: Counter[Variable] = Counter()
    found: set[Variable] = set()  # in the row
    for s in block:
        if inner := blocks(s):
            found.clear()
            for b in inner:
                stored += _stored(u, b)
        elif isinstance(s, Assign) and isinstance(s.value, Load) and is_taken_together(s.value.region):
            found.add(s.var)
        elif isinstance(s, Store) and (v := stored_byte(s)) in found and v is not None:
            stored[v] += not u.is_varying(s.index)
    return stored


def stored_byte(s: Stmt) -> Variable | None:
    """The variable whose lowest byte is what a statement stores."""
    if not (isinstance(s, Store) and s.region.type.size == 1 and s.region.type != BOOL):
        return None
    value = s.value
    while isinstance(value, Cast) and value.type.size == 1 and value.type != BOOL:
        value = value.operand
    return value.var if isinstance(value, Var) else None


def _goes_with(u: Uniform, s: Stmt, run: list[Stmt]) -> bool:
    if len(run) == 1 and both(run[0], s):
        return True
    first, e = lookup(u, run[0]), lookup(u, s)
    if first is None or e is None or first.region != e.region:
        return False
    return not places(e.index) & {x.var for x in run if isinstance(x, Assign)}
