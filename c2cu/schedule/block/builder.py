"""From phases to the threads' program: which elements each thread owns, pass by pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from ...analysis.uniform import Uniform
from ...base import catalogue
from ...base.ctype import INT
from ...base.diagnostics import Loc, UnsupportedError
from ...ir.nodes import Assign, Binary, Const, Expr, If, Load, Loop, Region, Stmt, Store, Var, Variable
from ...ir.walk import statements
from .analysed import Analysed
from .epoch import Conflict, Epoch, SharedAccess, uses
from .fit import ROUND, Basis
from .machine import Machine, place, why
from .mapping import Mapping
from .notes import Remarks, Uses, barrier, note
from .phases import Item
from .special import Special
from .touches import Touch
from .vectors import Values

REDO = Variable("c2cu_redo", INT, 0)  # iterations were not independent after all
FEWEST_TURNS = 160  # of a thread, over phases of one shape, that are worth a loop
LARGEST_TABLE = 1 << 16
LONGEST = 40000  # statements
FETCHED = 96  # elements of others that a thread loads before it starts


class NotOneLoop(Exception):
    """Phases of one shape that cannot be the rounds of a loop: their values follow no pattern, or a round reads an
    element that another keeps in a different thread's registers."""


@dataclass
class IterationGroup:
    """One iteration for each thread that has one. ``its``: of every thread; ``present``: whether it is its own."""

    its: np.ndarray
    present: np.ndarray


@dataclass
class Builder:
    """``resident``: regions of one size whose elements threads may keep in registers; ``radices``: the digits of their
    elements' numbers; ``slots``: elements of each that a thread owns."""

    u: Uniform
    resident: frozenset[Region]
    radices: tuple[int, ...]
    slots: int
    threads: int
    machine: Machine = field(init=False)
    speculative: bool = False
    statements: int = 0

    def __post_init__(self) -> None:
        self.machine = Machine(self.threads)

    def run(self, items: list[Item]) -> None:
        """Emit everything."""
        mappings = self.passes(items)
        self.remarks = Remarks(self.u.kernel.body, [x.phase for x in items if isinstance(x, Analysed)], self.threads)
        k = 0
        while k < len(items):
            item = items[k]
            if not isinstance(item, Analysed):
                if not k or isinstance(items[k - 1], Analysed):
                    self.machine.out.append(note(self.remarks.steps(items[k:])))
                self.machine.step(item)
                k += 1
                continue
            end = self.alike(items, mappings, k)
            if (end - k) * item.phase.count < FEWEST_TURNS * self.threads or not self.rolled(
                [x for x in items[k:end] if isinstance(x, Analysed)], mappings[k]
            ):
                self.phase([item], mappings[k])
                end = k + 1
            k = end
        self.machine.flush({r for r in self.resident if r.storage == "bulk"})

    @staticmethod
    def alike(items: list[Item], mappings: list[Mapping | None], k: int) -> int:
        """The end of the run of phases from ``k`` on that may differ in known values alone."""
        first, end = items[k], k + 1
        assert isinstance(first, Analysed)
        while end < len(items):
            x = items[end]
            if not isinstance(x, Analysed) or x.phase.loop is not first.phase.loop or mappings[end] != mappings[k]:
                break
            if not x.alike(first):
                break
            end += 1
        return end

    # passes

    def passes(self, items: list[Item]) -> list[Mapping | None]:
        """The mapping of each phase, the same for as many as possible; None: through shared memory alone."""
        out: list[Mapping | None] = [None] * len(items)
        current: list[int] = []
        joined: set[int] = set()

        def close() -> None:
            if current:
                mapping = self.completed(joined, [x for k in current if isinstance(x := items[k], Analysed)])
                for k in current:
                    out[k] = mapping

        for k, a in enumerate(items):
            if not isinstance(a, Analysed) or not a.stores(self.resident):
                continue
            digits = a.joined(self.resident, self.radices)
            if self.size(digits) > self.slots:
                continue
            if self.size(joined | digits) > self.slots:
                close()
                current, joined = [], set()
            joined |= digits
            current.append(k)
        close()
        return out

    def size(self, digits: set[int]) -> int:
        return int(np.prod([self.radices[d] for d in digits], dtype=np.int64))

    def completed(self, joined: set[int], phases: list[Analysed]) -> Mapping:
        """A mapping with these digits in a thread, and as many more as there are slots: those that let a thread's
        iterations share what they load."""
        sharing = next((a for a in phases if self.foreign(a)), None)
        local = set(joined)
        while self.size(local) < self.slots:
            left = self.slots // self.size(local)
            more = [d for d in reversed(range(len(self.radices))) if d not in local and left % self.radices[d] == 0]
            if not more:
                raise catalogue.BLOCK_THREADS.error(phases[0].phase.loop.loc)
            if sharing is not None:
                more.sort(key=lambda d: self.loads(sharing, Mapping(self.radices, frozenset({*local, d}))))
            local.add(more[0])
        return Mapping(self.radices, frozenset(local))

    def foreign(self, a: Analysed) -> list[Touch]:
        """Loads of elements that the iterations do not store."""
        stored = {(t.region, t.address.tobytes()) for t in a.stores(self.resident)}
        visible = (t for t in a.touches if t.region.storage != "shared" and t.region not in a.private)
        return [t for t in visible if (t.region, t.address.tobytes()) not in stored]

    def loads(self, a: Analysed, mapping: Mapping) -> int:
        """How many different elements thread 0 loads for them."""
        first_thread = np.zeros(a.phase.count, bool)
        for t in a.stores(self.resident):
            owner, _ = mapping.split(t.address)
            first_thread |= t.mask & (owner == 0)
        addresses: dict[str, list[np.ndarray]] = {}
        for t in self.foreign(a):
            addresses.setdefault(t.region.name, []).append(t.address[first_thread & t.mask])
        return sum(len(np.unique(np.concatenate(x))) for x in addresses.values())

    # phases

    def groups(self, a: Analysed, mapping: Mapping | None) -> list[IterationGroup]:
        """The iterations that do something, one for each thread at a time."""
        if mapping is None:
            out = []
            for first in range(0, a.phase.count, self.threads):
                its = first + np.arange(self.threads)
                out.append(IterationGroup(np.minimum(its, a.phase.count - 1), its < a.phase.count))
            return out
        stores = a.stores(self.resident)
        owner = np.full(a.phase.count, -1, np.int64)
        pattern = np.full((len(stores), a.phase.count), -1, np.int64)
        for row, t in zip(pattern, stores):
            who, slot = mapping.split(t.address)
            owner = np.where(t.mask, who, owner)
            row[t.mask] = slot[t.mask]
        active = np.flatnonzero(np.any([t.mask for t in a.touches if t.store], axis=0))
        if (owner[active] < 0).any():
            raise catalogue.BLOCK_SIZES.error(a.phase.loop.loc)
        kinds: dict[tuple[int, ...], list[int]] = {}
        for x in active.tolist():
            kinds.setdefault(tuple(pattern[:, x].tolist()), []).append(x)
        return [g for kind in sorted(kinds) for g in self.spread(np.array(kinds[kind]), owner)]

    def spread(self, its: np.ndarray, owner: np.ndarray) -> Iterator[IterationGroup]:
        while len(its):
            threads, first = np.unique(owner[its], return_index=True)
            chosen = np.full(self.threads, its[0])
            present = np.zeros(self.threads, bool)
            chosen[threads], present[threads] = its[first], True
            yield IterationGroup(chosen, present)
            its = np.delete(its, first)

    def phase(self, phases: list[Analysed], mapping: Mapping | None) -> None:
        """One phase, or several of one shape as the rounds of a loop."""
        m, first = self.machine, phases[0]
        basis = Basis(mapping.threads if mapping else self.thread_radices(), len(phases), m.tables)
        places = Places(self, phases, mapping, basis)
        body: list[Stmt] = []
        groups = self.groups(first, mapping)
        for g in groups:
            places.start(g)
            body += self.iteration(phases, g, basis, places)
        if len(phases) > 1:
            if sum(r.count for r in m.tables) > LARGEST_TABLE or any(r in places.shared for r, _ in places.changed):
                raise NotOneLoop
        is_new = any(m.own.get(r) != mapping for r, _ in places.needed)
        about = self.remarks.phase([a.phase for a in phases], len(groups), self.uses(places, is_new))
        m.out.append(note(about))
        self.enter(places)
        body = [*places.foreign.values(), *body]
        if len(phases) == 1:
            self.once(places, body)
        else:
            self.rounds(places, len(phases), body)
        m.dirty |= places.changed

    def uses(self, places: Places, is_new: bool) -> Uses:
        """What a phase does with registers and with shared memory."""
        return Uses(
            places.mapping,
            is_new,
            frozenset(r for r, _ in places.needed),
            frozenset(r for r, _ in places.changed),
            frozenset(r for r, _ in places.foreign),
            frozenset(places.used_in_place),
            frozenset(places.stores),
            places.phases[0].private,
            places.notes_redo,
        )

    def enter(self, places: Places) -> None:
        """Bring registers and shared memory to where the phase wants elements; no others move."""
        m, used = self.machine, uses(places.accesses)
        if places.mapping is not None:
            m.hold({r for r, _ in places.needed}, places.mapping)
            m.give({(r, store): x for (r, store), x in used.items() if not store})  # what it stores it has itself
        else:
            m.give(used)
            m.overwritten(used)

    def once(self, places: Places, body: list[Stmt]) -> None:
        m = self.machine
        missing = m.missing(places.needed)
        m.reach(uses([*m.owned(missing, False), *places.accesses]))
        m.fetch(missing)
        m.out += body

    def rounds(self, places: Places, count: int, body: list[Stmt]) -> None:
        """Several phases as a loop, with a barrier in each round if any two rounds need one between them."""
        m = self.machine
        missing = m.missing(places.needed)
        own, turns = m.owned(missing, False), [uses(places.accesses, k) for k in range(count)]
        before, conflicts = Epoch(), set[Conflict]()
        for turn in turns:
            conflicts |= before.conflicts(turn)
            before.add(turn)
        if conflicts:
            m.reach(uses(own))
            body = [barrier(why(conflicts | m.epoch.conflicts(uses(places.accesses)))), *body]
            m.turned(turns[-1])
        else:
            m.reach(uses([*own, *places.accesses]))
        m.fetch(missing)
        step = Assign(ROUND, Binary("+", Var(ROUND), Const(1, INT), INT))
        m.out.append(Assign(ROUND, Const(0, INT)))
        m.out.append(Loop(Binary("<", Var(ROUND), Const(count, INT), INT), tuple(body), (step,)))

    def rolled(self, phases: list[Analysed], mapping: Mapping | None) -> bool:
        """Try to emit phases as one loop."""
        before = self.machine.copy()
        try:
            self.phase(phases, mapping)
        except (UnsupportedError, NotOneLoop):
            self.machine = before
            return False
        return True

    def iteration(self, phases: list[Analysed], g: IterationGroup, basis: Basis, places: Places) -> list[Stmt]:
        def values(v: Variable) -> Values:
            rows = [np.asarray(a.phase.env[v]) for a in phases]
            if all(r.ndim == 0 for r in rows):
                return np.array(rows)[:, None] if len(rows) > 1 else rows[0]
            return np.stack([np.broadcast_to(r, (a.phase.count,))[g.its] for r, a in zip(rows, phases)])

        env = {v: values(v) for v in phases[0].phase.env if all(v in a.phase.env for a in phases)}
        before, memory = dict(env), phases[0].phase.memory
        inside = frozenset(s.var for s in statements(phases[0].phase.body) if isinstance(s, Assign))
        whole = basis.spread(g.present[None, :])
        special = Special(self.u, basis, env, memory, places, self.fresh, inside, whole)
        inner = special.block(phases[0].phase.body, whole)
        self.statements += special.size
        if self.statements > LONGEST:
            raise catalogue.BLOCK_TOO_LONG.error(phases[0].phase.loop.loc)
        if not inner:
            return inner
        about = self.remarks.iteration([a.phase for a in phases], g.present, special, before)
        out = [note(about)] if about else []
        if g.present.all():
            return [*out, *inner]
        test = basis.plain(basis.spread(g.present[None, :]).astype(np.int32), INT, Const(0, INT))
        test = test or basis.table(basis.spread(g.present[None, :]).astype(np.int32), INT)
        return [*out, If(test, tuple(inner), (), False)]

    def thread_radices(self) -> tuple[int, ...]:
        """Any radices of the thread's number; those of the arrays' low digits, where they fit."""
        out, n = [], self.threads
        for r in self.radices:
            if n % r == 0 and n > 1:
                out.append(r)
                n //= r
        return (*out, n) if n > 1 else tuple(out)

    def fresh(self, v: Variable) -> Variable:
        return self.machine.fresh(v)


class Places:
    """Where the elements that a phase touches live."""

    def __init__(self, builder: Builder, phases: list[Analysed], mapping: Mapping | None, basis: Basis):
        self.b, self.phases, self.mapping, self.basis = builder, phases, mapping, basis
        self.needed: list[tuple[Region, int]] = []
        self.changed: set[tuple[Region, int]] = set()
        self.foreign: dict[tuple[Region, Expr], Stmt] = {}  # loads that all come first
        self.shared: set[Region] = set()  # regions of which shared memory is read
        self.used_in_place: set[Region] = set()  # of these, those not read before all else
        self.stores: set[Region] = set()  # regions of which shared memory is written
        self.notes_redo = False
        self.accesses: list[SharedAccess] = []  # to shared memory
        foreign = {t.region for a in phases for t in builder.foreign(a)}
        self.through = foreign & builder.resident  # what is stored is seen by others in the next phase

    def start(self, g: IterationGroup) -> None:
        """A new iteration."""
        self.g = g
        self.elements: dict[tuple[Region, int], Variable] = {}
        self.stored: list[tuple[Region, np.ndarray, np.ndarray]] = []
        self.loaded: list[tuple[Region, np.ndarray, Expr]] = []

    def load(self, r: Region, address: np.ndarray, mask: np.ndarray, loc: Loc) -> Expr:
        if r.storage == "shared":
            return Load(r, self.index(address), loc)
        if r in self.phases[0].private:
            return Var(self.element(r, address, mask, loc), loc)
        k = self.slot(r, address, mask)
        if k is not None:
            self.needed.append((r, k))
            return Var(self.b.machine.slot(r, k), loc)
        for other, at, when in self.stored:
            if other == r and (mask & when & (at == address)).any():
                raise catalogue.BLOCK_OWNER.error(loc, name=r.name)
        return self.memory(r, address, mask, loc)

    def memory(self, r: Region, address: np.ndarray, mask: np.ndarray, loc: Loc) -> Expr:
        """An element in shared memory; loaded before all else, where that may be done whatever the branches."""
        inside = ((address >= 0) & (address < r.count)).all()
        index = place(self.basis, r, address if inside else np.where(mask, address, 0))
        self.loaded.append((r, address, index))
        self.shared.add(r)
        self.accesses.append(self.access(r, False, address, np.ones_like(mask) if inside else mask))
        known = (r, index) in self.foreign
        if self.mapping is None or not inside or (not known and len(self.foreign) >= FETCHED):
            self.used_in_place.add(r)
            return Load(r, index, loc)
        if not known:
            self.foreign[(r, index)] = Assign(
                self.b.fresh(Variable("read_" + r.name.replace(".", "_"), r.type)), Load(r, index, loc)
            )
        new = self.foreign[(r, index)]
        assert isinstance(new, Assign)
        return Var(new.var, loc)

    def store(self, r: Region, address: np.ndarray, mask: np.ndarray, value: Expr, loc: Loc) -> list[Stmt]:
        if r in self.phases[0].private:
            return [Assign(self.element(r, address, mask, loc), value, loc)]
        hazard = self.hazard(r, address, mask)
        self.stored.append((r, address, mask))
        k = self.slot(r, address, mask)
        if k is None:
            if self.mapping is not None and r in self.b.resident:
                raise catalogue.BLOCK_OWNER.error(loc, name=r.name)
            self.stores.add(r)
            self.accesses.append(self.access(r, True, address, mask))
            return [Store(r, place(self.basis, r, address), value, loc), *hazard]
        x = self.b.machine.slot(r, k)
        self.needed.append((r, k))  # it may not be stored: then it keeps what it has
        if r not in self.through:
            self.changed.add((r, k))
            return [Assign(x, value, loc), *hazard]
        self.stores.add(r)
        self.accesses.append(self.access(r, True, address, mask))
        return [Assign(x, value, loc), Store(r, place(self.basis, r, address), Var(x), loc), *hazard]

    def access(self, r: Region, store: bool, address: np.ndarray, mask: np.ndarray) -> SharedAccess:
        return SharedAccess(r, store, address, mask, np.arange(self.b.threads))

    def slot(self, r: Region, address: np.ndarray, mask: np.ndarray) -> int | None:
        """The slot that holds the element in every thread, if each thread owns its own."""
        if self.mapping is None or r not in self.b.resident:
            return None
        owner, slot = self.mapping.split(address)
        is_owner = owner == np.arange(self.b.threads)[None, :]
        k = slot[mask][0]
        return int(k) if (is_owner | ~mask).all() and (slot[mask] == k).all() else None

    def element(self, r: Region, address: np.ndarray, mask: np.ndarray, loc: Loc) -> Variable:
        """An element of an array that the iteration has for itself."""
        k = int(address[mask][0])
        if (address[mask] != k).any():
            raise catalogue.BLOCK_OWNER.error(loc, name=r.name)
        if (r, k) not in self.elements:
            self.elements[(r, k)] = self.b.fresh(Variable(r.name.replace(".", "_"), r.type))
        return self.elements[(r, k)]

    def index(self, address: np.ndarray) -> Expr:
        index = self.basis.plain(self.basis.spread(address), INT, Const(0, INT))
        return index if index is not None else self.basis.table(address, INT)

    def hazard(self, r: Region, address: np.ndarray, mask: np.ndarray) -> list[Stmt]:
        """Note where a store shows that iterations were not independent."""
        bad = np.stack([a.hazard[self.g.its] for a in self.phases]) & mask
        if not bad.any():
            return []
        self.b.speculative = self.notes_redo = True
        note = Assign(REDO, Const(1, INT))
        at = place(self.basis, r, address)
        tests = [i for x, where, i in self.loaded if x == r and (mask & (where == address)).any()]
        tests = list(dict.fromkeys(tests))
        hit = np.zeros(bad.shape, bool)
        for x, where, i in self.loaded:
            if x == r and i in tests:
                hit |= where == address
        if not np.array_equal(hit & mask, bad):
            values = self.basis.spread(bad).astype(np.int32)
            test = self.basis.plain(values, INT, Const(0, INT)) or self.basis.table(values, INT)
            return [If(test, (note,), (), False)]
        test: Expr | None = None
        for i in tests:
            equal = Binary("==", at, i, INT)
            test = equal if test is None else Binary("||", test, equal, INT)
        assert test is not None
        return [If(test, (note,), (), False)]
