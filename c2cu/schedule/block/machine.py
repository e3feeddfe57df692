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
    """What threads hold, and the statements so far. ``valid``: (region, slot) that registers have; ``dirty``: those
    that shared memory has not. ``loaded``, ``stored``: regions of which shared memory was used since the last barrier,
    for the words that a barrier's reason is given in."""

    out: list[Stmt] = field(default_factory=list)
    mapping: Mapping | None = None
    valid: set[tuple[Region, int]] = field(default_factory=set)
    dirty: set[tuple[Region, int]] = field(default_factory=set)
    written: set[Mapping | None] = field(default_factory=set)  # whose owners, since the last barrier; None: others
    read: bool = False  # elements of others, since the last barrier
    fetched: set[Mapping] = field(default_factory=set)  # by owners, since the last barrier
    loaded: set[Region] = field(default_factory=set)
    stored: set[Region] = field(default_factory=set)
    tables: list[Region] = field(default_factory=list)
    counter: int = 0
    slots: dict[tuple[Region, int], Variable] = field(default_factory=dict)

    def fresh(self, v: Variable) -> Variable:
        self.counter += 1
        return replace(v, uid=1_000_000 + self.counter)

    def slot(self, r: Region, k: int) -> Variable:
        if (r, k) not in self.slots:
            self.slots[(r, k)] = self.fresh(Variable("own_" + r.name.replace(".", "_"), r.type))
        return self.slots[(r, k)]

    # memory

    def sync(self, loads: Iterable[Region] = (), stores: Iterable[Region] = ()) -> None:
        """A barrier, before what ``loads`` and ``stores``."""
        self.out.append(barrier(self.why(set(loads), set(stores))))
        self.after_barrier()

    def after_barrier(self) -> None:
        self.read = False
        self.written, self.fetched = set(), set()
        self.loaded, self.stored = set(), set()

    def why(self, loads: set[Region], stores: set[Region]) -> str:
        """What another thread may have done before a barrier, or be about to do, by arrays."""
        regions: dict[tuple[str, ...], list[Region]] = {}
        for r in sorted((self.loaded | self.stored) & (loads | stores), key=lambda r: r.name):
            reasons = []
            if r in self.stored and r in loads:
                reasons.append("may have written what is read next")
            if r in self.loaded and r in stores:
                reasons.append("may still be reading what is written next")
            if reasons or (r in self.stored and r in stores):
                regions.setdefault(tuple(reasons) or ("may still be writing what is written next",), []).append(r)
        if regions:
            return "; ".join(f"{names_of(rs)}: another {', and '.join(reasons)}" for reasons, rs in regions.items())
        return f"a precaution: {names_of(self.loaded | self.stored)} before it, {names_of(loads | stores)} behind it"

    def settle(self, who: Mapping | None, stores: Iterable[Region]) -> None:
        """Shared memory is about to be written, by the owners or (None) by others: those who used it before must be
        done."""
        used = self.written | self.fetched
        if self.read or (used - {who} if who else used):
            self.sync(stores=stores)

    def flush(self) -> None:
        """Write registers that are newer than shared memory back to it."""
        if not self.dirty:
            return
        assert self.mapping is not None
        regions = {r for r, _ in self.dirty}
        self.settle(self.mapping, regions)
        self.out.append(note(f"Changed elements of {names_of(regions)}, from registers back to shared memory:"))
        basis, elements = Basis(self.mapping.threads, tables=self.tables), self.mapping.elements()
        for r, k in sorted(self.dirty, key=lambda x: (x[0].name, x[1])):
            self.out.append(Store(r, place(basis, r, elements[k][None, :]), Var(self.slot(r, k))))
        self.dirty.clear()
        self.written.add(self.mapping)
        self.stored |= regions

    def drop(self) -> None:
        """Forget the registers: others own the elements from now on."""
        self.flush()
        self.valid.clear()
        self.mapping = None

    def require(self, mapping: Mapping) -> None:
        if mapping != self.mapping:
            self.drop()
            self.mapping = mapping

    def fetch(self, needed: list[tuple[Region, int]]) -> None:
        """Have slots in registers."""
        missing = [x for x in dict.fromkeys(needed) if x not in self.valid]
        if not missing:
            return
        assert self.mapping is not None
        regions = {r for r, _ in missing}
        if self.written:
            self.sync(loads=regions)
        self.out.append(note(f"Each thread's own elements of {names_of(regions)}, from shared memory to registers:"))
        basis, elements = Basis(self.mapping.threads, tables=self.tables), self.mapping.elements()
        for r, k in missing:
            self.out.append(Assign(self.slot(r, k), Load(r, place(basis, r, elements[k][None, :]))))
            self.valid.add((r, k))
        self.fetched.add(self.mapping)
        self.loaded |= regions

    # steps

    def step(self, s: Stmt) -> None:
        """A statement of every thread; what it stores, one thread stores."""
        stores = [x for x in statements((s,)) if isinstance(x, Store)]
        loads = {
            x.region for y in statements((s,)) for e in expressions(y) for x in subexpressions(e) if isinstance(x, Load)
        }
        loads = {r for r in loads if r.storage != "shared"}
        if loads or stores:
            self.flush()
        if loads and self.written:
            self.sync(loads=loads)
        new = _placed(s)
        if not stores:
            self.out.append(new)
            self.read = self.read or bool(loads)
            self.loaded |= loads
            return
        if isinstance(s, If) and any(isinstance(x, Assign) for x in statements((s,))):
            raise catalogue.BLOCK_BRANCH.error(s.loc)
        written = {x.region for x in stores}
        self.settle(None, written)
        for r in written:
            self.valid -= {x for x in self.valid if x[0] == r}
        self.out.append(If(Binary("==", Var(TID), Const(0, INT), INT), (new,), (), False, s.loc))
        self.written.add(None)
        self.stored |= written
        if loads:
            self.out.append(barrier(f"thread 0 has read {names_of(loads)} before another writes there"))
            self.after_barrier()


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
