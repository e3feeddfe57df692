"""What the iterations of a phase touch, exactly, and whether they may really be done at once."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...analysis.uniform import Uniform
from ...ir.nodes import Assign, Block, Expr, If, Loop, Region, Store, Variable
from ...ir.walk import loads_in
from .vectors import NotKnown, Values, evaluate

TURNS = 4096  # of a loop inside an iteration


class DependentIterations(Exception):
    """The iterations of a loop depend on each other, or are too long to tell: it is no phase."""


@dataclass(frozen=True)
class Phase:
    """``env``: values of uniform variables, of shape (count,) or (). ``extents``: of the nested loops. ``memory``: what
    uniform arrays hold. ``nested``: the loops inside ``loop`` whose iterations these are, outermost first."""

    loop: Loop
    body: Block
    env: dict[Variable, Values]
    count: int
    extents: tuple[int, ...]
    memory: dict[Region, np.ndarray]
    nested: tuple[Loop, ...] = ()


@dataclass(frozen=True)
class Touch:
    """An access of every iteration in ``mask``: its elements, and the arms of branches on data that it stands in, from
    the outside."""

    region: Region
    store: bool
    address: np.ndarray
    mask: np.ndarray
    arms: tuple[int, ...] = ()

    @property
    def conditional(self) -> bool:
        return bool(self.arms)


@dataclass
class Walk:
    """Goes through a phase's body once for all iterations, keeping the uniform variables' values."""

    u: Uniform
    phase: Phase
    touches: list[Touch] = field(default_factory=list)
    arms: tuple[int, ...] = ()
    counted: int = 0

    def __post_init__(self) -> None:
        self.env: dict[Variable, Values] = dict(self.phase.env)
        self.block(self.phase.body, np.ones(self.phase.count, bool))

    def value(self, e: Expr) -> Values:
        return np.broadcast_to(evaluate(e, self.env, self.phase.memory), (self.phase.count,))

    def block(self, block: Block, mask: np.ndarray) -> None:
        if not mask.any():
            return
        for s in block:
            match s:
                case Assign(var=v, value=e):
                    self.read(e, mask)
                    if v not in self.u.varying:
                        self.assign(v, e, mask)
                case Store(region=r, index=i, value=e):
                    self.read(i, mask)
                    self.read(e, mask)
                    self.touches.append(Touch(r, True, self.value(i).astype(np.int64), mask, self.arms))
                case If():
                    self.branch(s, mask)
                case Loop():
                    self.loop(s, mask)

    def assign(self, v: Variable, e: Expr, mask: np.ndarray) -> None:
        try:
            new = self.value(e)
        except NotKnown:  # a shared array that the run brings: no address depends on it
            self.env.pop(v, None)
            return
        self.env[v] = new if mask.all() else np.where(mask, new, self.env.get(v, new))

    def read(self, e: Expr, mask: np.ndarray) -> None:
        for x in loads_in(e):
            self.touches.append(Touch(x.region, False, self.value(x.index).astype(np.int64), mask, self.arms))

    def branch(self, s: If, mask: np.ndarray) -> None:
        self.read(s.cond, mask)
        if not self.u.is_varying(s.cond):
            cond = self.value(s.cond) != 0
            self.block(s.then, mask & cond)
            self.block(s.other, mask & ~cond)
            return
        around = self.arms
        for arm in (s.then, s.other):
            self.counted += 1
            self.arms = (*around, self.counted)
            self.block(arm, mask)
        self.arms = around

    def loop(self, s: Loop, mask: np.ndarray) -> None:
        for _ in range(TURNS):
            mask = self.staying(s, mask)
            self.block(s.head, mask)
            if mask.any():
                self.read(s.cond, mask)
                mask = mask & (self.value(s.cond) != 0)
            if not mask.any():
                return
            self.block(s.body, mask)
            mask = self.staying(s, mask)
            self.block(s.step, mask)
        raise DependentIterations

    def staying(self, s: Loop, mask: np.ndarray) -> np.ndarray:
        for f in s.flags:
            mask = mask & (np.broadcast_to(self.env.get(f, np.zeros((), bool)), mask.shape) == 0)
        return mask


def carried(touches: list[Touch], r: Region, count: int) -> bool:
    """Whether an iteration may load an element of ``r`` that it has not stored before."""
    stores: list[Touch] = []
    for t in touches:
        if t.region != r:
            continue
        if t.store:
            stores.append(t)
            continue
        known = np.zeros(count, bool)
        for s in stores:
            if s.arms == t.arms[: len(s.arms)]:
                known |= s.mask & (s.address == t.address)
        if (t.mask & ~known).any():
            return True
    return False


def hazards(phase: Phase, touches: list[Touch], private: frozenset[Region]) -> np.ndarray:
    """The iterations that touch, on a branch on data, what others touch too: where it is taken, they were not
    independent after all. Raises DependentIterations where iterations depend on each other whatever the data."""
    out = np.zeros(phase.count, bool)
    for r in dict.fromkeys(t.region for t in touches if t.store and t.region not in private):
        owner = np.full(r.count, -1, np.int64)
        accesses = [t for t in touches if t.region == r]
        for t in (t for t in accesses if t.store):
            its, at = np.flatnonzero(t.mask), t.address[t.mask]
            if len(set(at.tolist())) < len(at) or ((owner[at] != -1) & (owner[at] != its)).any():
                raise DependentIterations
            owner[at] = its
        sure = np.zeros(r.count, bool)
        for t in (t for t in accesses if t.store and not t.conditional):
            sure[t.address[t.mask]] = True
        for t in accesses:
            its, at = np.flatnonzero(t.mask), t.address[t.mask]
            if t.store:
                continue
            other = (owner[at] != -1) & (owner[at] != its)
            if (other & sure[at]).any():
                raise DependentIterations
            out[owner[at[other]]] = True
    return out
