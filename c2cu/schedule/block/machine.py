"""The state of an input's threads: elements in registers and in shared memory, and barriers where they are needed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from ...base import catalogue
from ...base.ctype import INT, Scalar
from ...ir.fold import binary
from ...ir.nodes import Assign, Binary, Const, Expr, If, Load, Region, Stmt, Store, Var, Variable
from ...ir.walk import expressions, rewrite, statements, subexpressions
from .epoch import Conflict, Epoch, SharedAccess, Uses, uses
from .fit import TID, Basis
from .mapping import Mapping
from .notes import barrier, names_of, note


def place(basis: Basis, r: Region, address: np.ndarray) -> Expr:
    """Where elements of ``r`` lie, as an index into its part of shared memory."""
    zero = Const(0, INT)
    where = basis.spread(padded(address, r.type))
    index = basis.plain(where, INT, zero)
    if index is not None or r.type.size < 4:
        return index if index is not None else basis.table(where, INT)
    row = 128 // r.type.size
    first = basis.spread(address)[:, :1]  # where each round begins, and from there on all rounds alike
    whole = int(first[0, 0]) // row * row
    start = basis.plain(basis.spread(first - whole), INT, zero)
    rest = basis.plain(where - where[:, :1], INT, zero)
    if start is None or rest is None or not (where - where[:, :1] == (where - where[:, :1])[:1]).all():
        return basis.table(where, INT)
    start = Binary("+", start, Binary("/", start, Const(row, INT), INT), INT)
    return binary("+", binary("+", start, rest, INT), Const(whole + whole // row, INT), INT)


def padded(element: np.ndarray, t: Scalar) -> np.ndarray:
    """Where an element lies in shared memory: a word is left out after each row of banks."""
    return element + element // (128 // t.size) if t.size >= 4 else element


@dataclass
class Machine:
    """What an input's threads hold, and the statements so far. ``own``: whose registers have which elements of a
    region; ``valid``: (region, slot) that they have; ``dirty``: those that shared memory has not. ``epoch``: what was
    done with shared memory since the last barrier, ``before``: before that. ``last``: where among the statements it
    stands, and ``reasons``: for what; None inside a loop."""

    threads: int
    out: list[Stmt] = field(default_factory=list)
    own: dict[Region, Mapping] = field(default_factory=dict)
    valid: set[tuple[Region, int]] = field(default_factory=set)
    dirty: set[tuple[Region, int]] = field(default_factory=set)
    epoch: Epoch = field(default_factory=Epoch)
    before: Epoch = field(default_factory=Epoch)
    last: int | None = None
    reasons: set[Conflict] = field(default_factory=set)
    tables: list[Region] = field(default_factory=list)
    counter: int = 0
    slots: dict[tuple[Region, int], Variable] = field(default_factory=dict)

    def copy(self) -> Machine:
        return replace(
            self,
            out=list(self.out),
            own=dict(self.own),
            valid=set(self.valid),
            dirty=set(self.dirty),
            epoch=self.epoch.copy(),
            tables=list(self.tables),
            slots=dict(self.slots),
        )

    def fresh(self, v: Variable) -> Variable:
        self.counter += 1
        return replace(v, uid=1_000_000 + self.counter)

    def slot(self, r: Region, k: int) -> Variable:
        if (r, k) not in self.slots:
            self.slots[(r, k)] = self.fresh(Variable("own_" + r.name.replace(".", "_"), r.type))
        return self.slots[(r, k)]

    # memory

    def reach(self, new: Uses) -> None:
        """Shared memory is about to be used: behind a barrier where it has to be."""
        conflicts = self.epoch.conflicts(new)
        if conflicts:
            self.last, self.reasons, self.before, self.epoch = len(self.out), set(), self.epoch, Epoch()
            self.out.append(barrier(""))
        if self.last is not None:  # it stands for all that comes behind it, up to the next one
            self.reasons = self.reasons | self.before.conflicts(new)
            self.out[self.last] = barrier(why(self.reasons))
        self.epoch.add(new)

    def turned(self, turn: Uses) -> None:
        """A loop is done that begins each turn with a barrier; ``turn``: its last."""
        self.last, self.epoch = None, Epoch()
        self.epoch.add(turn)

    def owned(self, slots: Iterable[tuple[Region, int]], store: bool) -> list[SharedAccess]:
        """Of every thread, to its own elements in shared memory."""
        thread, everywhere = np.arange(self.threads), np.ones((1, self.threads), bool)
        return [SharedAccess(r, store, self.elements(r, k), everywhere, thread) for r, k in slots]

    def elements(self, r: Region, k: int) -> np.ndarray:
        """Each thread's element in a slot."""
        return self.own[r].elements()[k][None, :]

    def at(self, r: Region, k: int) -> Expr:
        """Where it lies in shared memory."""
        return place(Basis(self.own[r].threads, tables=self.tables), r, self.elements(r, k))

    def overlapping(self, slots: Iterable[tuple[Region, int]], used: Uses) -> set[tuple[Region, int]]:
        """The slots that hold some of the elements."""
        return {
            (r, k)
            for r, k in slots
            if any(x == r and np.isin(self.elements(r, k), element).any() for (x, _), (element, _) in used.items())
        }

    def flush(self, regions: set[Region]) -> None:
        """Write registers that are newer than shared memory back to it."""
        back = sorted((x for x in self.dirty if x[0] in regions), key=lambda x: (x[0].name, x[1]))
        if not back:
            return
        self.reach(uses(self.owned(back, True)))
        names = names_of({r for r, _ in back})
        self.out.append(note(f"Elements of {names} that were changed so far, from registers back to shared memory:"))
        for r, k in back:
            self.out.append(Store(r, self.at(r, k), Var(self.slot(r, k))))
        self.dirty -= set(back)

    def give(self, used: Uses) -> None:
        """Let shared memory have elements that are about to be used there."""
        self.flush({r for r, _ in self.overlapping(self.dirty, used)})

    def overwritten(self, used: Uses) -> None:
        """Forget registers whose elements shared memory gets from others."""
        stores = {(r, store): x for (r, store), x in used.items() if store}
        self.valid -= self.overlapping(self.valid, stores)

    def hold(self, regions: Iterable[Region], mapping: Mapping) -> None:
        """From now on threads own the elements of ``regions`` so; those of other regions stay with whom they are."""
        others = {r for r in regions if self.own.get(r) != mapping}
        self.flush(others)
        self.valid = {x for x in self.valid if x[0] not in others}
        self.own.update(dict.fromkeys(others, mapping))

    def missing(self, needed: Iterable[tuple[Region, int]]) -> list[tuple[Region, int]]:
        """Slots that registers have to be filled with."""
        return [x for x in dict.fromkeys(needed) if x not in self.valid]

    def fetch(self, missing: list[tuple[Region, int]]) -> None:
        """Have slots in registers, whose elements `reach` was told of."""
        if not missing:
            return
        names = names_of({r for r, _ in missing})
        self.out.append(note(f"Each thread's own elements of {names}, from shared memory to registers:"))
        for r, k in missing:
            self.out.append(Assign(self.slot(r, k), Load(r, self.at(r, k))))
        self.valid |= set(missing)

    # steps

    def step(self, s: Stmt) -> None:
        """A statement of every thread; one that stores, one thread does."""
        used = uses(_accesses(s, self.threads))
        self.give(used)
        new = _placed(s)
        stores = any(store for _, store in used)
        if stores and isinstance(s, If) and any(isinstance(x, Assign) for x in statements((s,))):
            raise catalogue.BLOCK_BRANCH.error(s.loc)
        self.reach(used)
        self.overwritten(used)
        self.out.append(If(Binary("==", Var(TID), Const(0, INT), INT), (new,), (), False, s.loc) if stores else new)


def why(conflicts: set[Conflict]) -> str:
    """What another thread may have done before a barrier, or be about to do, by arrays."""
    regions: dict[tuple[str, ...], list[Region]] = {}
    for r in sorted({r for r, _, _ in conflicts}, key=lambda r: r.name):
        reasons = []
        if (r, True, False) in conflicts:
            reasons.append("may have written what is read next")
        if (r, False, True) in conflicts:
            reasons.append("may still be reading what is written next")
        regions.setdefault(tuple(reasons) or ("may still be writing what is written next",), []).append(r)
    return "; ".join(f"{names_of(rs)}: another {', and '.join(reasons)}" for reasons, rs in regions.items())


def _accesses(s: Stmt, threads: int) -> list[SharedAccess]:
    """What a step touches: thread 0's where it stores, else of all threads."""
    stores = [x for x in statements((s,)) if isinstance(x, Store)]
    every = (x for y in statements((s,)) for e in expressions(y) for x in subexpressions(e))
    loads = [x for x in every if isinstance(x, Load) and x.region.storage != "shared"]
    thread, out = np.arange(1 if stores else threads), []
    for x in (*stores, *loads):
        assert isinstance(x.index, Const)
        element = np.full((1, len(thread)), int(x.index.value))
        out.append(SharedAccess(x.region, isinstance(x, Store), element, np.ones_like(element, bool), thread))
    return out


def _placed(s: Stmt) -> Stmt:
    """A step with its elements' places in shared memory."""

    def inner(e: Expr) -> Expr:
        if isinstance(e, Load) and e.region.storage != "shared":
            assert isinstance(e.index, Const)
            return replace(e, index=_fixed(e.index, e.region))
        return e

    match s:
        case Assign():
            return replace(s, value=rewrite(s.value, inner))
        case Store():
            assert isinstance(s.index, Const)
            return replace(s, index=_fixed(s.index, s.region), value=rewrite(s.value, inner))
        case If():
            then, other = (tuple(_placed(x) for x in b) for b in (s.then, s.other))
            return replace(s, cond=rewrite(s.cond, inner), then=then, other=other)
    raise AssertionError(s)


def _fixed(index: Const, r: Region) -> Const:
    return replace(index, value=int(padded(np.asarray(int(index.value)), r.type)))
