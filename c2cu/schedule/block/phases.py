"""The uniform part of a kernel, executed: what is left is a list of steps and of phases.

A *phase* is one entry of a loop (or of perfectly nested loops) whose iterations may all be done at once: its body, and
the uniform variables' values at the start of every iteration. A *step* is a statement that every thread does, with
all uniform values filled in.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ...analysis.facts import LoopFacts
from ...analysis.uniform import Uniform
from ...base import catalogue
from ...ir.canonical import counted
from ...ir.nodes import Assign, Block, Expr, If, Load, Loop, Region, Stmt, Store, Var, Variable
from ...ir.walk import blocks, expressions, mapped, statements, subexpressions
from .analysed import Analysed, analysed
from .touches import DependentIterations, Phase
from .vectors import NotKnown, Values, as_const, evaluate

STEPS = 300  # statements that every thread does, at most
TURNS = 1 << 16  # iterations whose uniform part is executed one by one
RARE = 0.25  # of the iterations


Item = Analysed | Stmt


def phases(u: Uniform, loops: tuple[LoopFacts, ...]) -> list[Item]:
    """The items of a kernel in order. Raises UnsupportedError."""
    run = _PhaseRun(u, parallel=candidates(u, loops), memory=uniform_memory(u))
    try:
        run.block(u.kernel.body)
    except NotKnown as e:
        raise catalogue.BLOCK_RUN_TIME.error(u.kernel.loc, name=e) from None
    return run.items


def uniform_memory(u: Uniform) -> dict[Region, np.ndarray]:
    """Regions whose elements are known before the run, with their first values."""
    return {
        r: np.array(r.init if r.init is not None else [0] * r.count, r.type.numpy)
        for r in u.kernel.regions
        if r not in u.varying_regions and (r.storage == "local" or r.init is not None)
    }


def candidates(u: Uniform, loops: tuple[LoopFacts, ...]) -> frozenset[int]:
    """ids of the loops whose iterations may be done at once: proved independent, or but for stores under branches on
    data, which a phase then checks when it runs."""
    every = [s for s in statements(u.kernel.body) if isinstance(s, Loop)]
    good = set()
    for s, facts in zip(every, loops):
        nearly = _counter(s, u) is not None and all(c.conditional and c.element >= 0 for c in facts.conflicts)
        if (facts.independent or nearly) and not _carries(s, u):
            good.add(id(s))
    return frozenset(good)


def _carries(loop: Loop, u: Uniform) -> bool:
    """Whether a varying variable brings something from one turn to the next, or out of the loop."""
    inside = {s.var for s in statements((loop,)) if isinstance(s, Assign) and s.var in u.varying}
    known: set[Variable] = set()
    return any(_early(b, inside, known) for b in (loop.head, loop.body, loop.step)) or _leaves(loop, inside, u)


def _early(block: Block, inside: set[Variable], known: set[Variable]) -> bool:
    """Whether a variable may be read before it is assigned; ``known``, those that are, is updated."""
    for s in block:
        for e in expressions(s):
            if any(isinstance(x, Var) and x.var in inside and x.var not in known for x in subexpressions(e)):
                return True
        arms = []
        for b in blocks(s):
            arm = set(known)
            if _early(b, inside, arm):
                return True
            arms.append(arm)
        if isinstance(s, If):
            known |= arms[0] & arms[1]
        elif isinstance(s, Loop):
            known |= arms[0]  # only the head is certain to run
        elif isinstance(s, Assign):
            known.add(s.var)
    return False


def _leaves(loop: Loop, inside: set[Variable], u: Uniform) -> bool:
    def reads(block: Block) -> int:
        every = (x for s in statements(block) for e in expressions(s) for x in subexpressions(e))
        flags = sum(len(inside.intersection(s.flags)) for s in statements(block) if isinstance(s, Loop))
        return flags + sum(1 for x in every if isinstance(x, Var) and x.var in inside)

    return reads(u.kernel.body) > reads((loop,))


@dataclass
class _PhaseRun:
    u: Uniform
    items: list[Item] = field(default_factory=list)
    env: dict[Variable, Values] = field(default_factory=dict)
    turns: int = 0

    parallel: frozenset[int] = frozenset()
    memory: dict[Region, np.ndarray] = field(default_factory=dict)

    def inside(self, kind: type[_PhaseRun], env: dict[Variable, Values]) -> _PhaseRun:
        """Another run, from here, that takes no loop as a phase."""
        return kind(self.u, env=env, turns=self.turns, memory=self.memory)

    def block(self, block: Block) -> None:
        for s in block:
            self.statement(s)

    def value(self, e: Expr) -> Values:
        return evaluate(e, self.env, self.memory)

    def statement(self, s: Stmt) -> None:
        match s:
            case Assign(var=v, value=e) if v not in self.u.varying:
                self.env[v] = self.value(e)
            case Store(region=r, index=i, value=e) if r in self.memory:
                self.memory[r][self.value(i)] = self.value(e)
            case Assign() | Store():
                self.step(self.filled(s))
            case If(cond=c) if not self.u.is_varying(c):
                self.block(s.then if self.value(c) else s.other)
            case If():
                self.step(self.branch(s))
            case Loop() if id(s) in self.parallel and self.phase(s):
                pass
            case Loop():
                self.loop(s)

    def step(self, s: Stmt) -> None:
        self.items.append(s)
        if len(self.items) > STEPS:
            raise catalogue.BLOCK_SEQUENTIAL.error(s.loc, most=STEPS)

    def filled(self, s: Stmt) -> Stmt:
        """A statement with its uniform values filled in."""
        if isinstance(s, Assign):
            return replace(s, value=self.known(s.value))
        assert isinstance(s, Store)
        return replace(s, index=self.known(s.index), value=self.known(s.value), rows=())

    def known(self, e: Expr) -> Expr:
        if not self.u.is_varying(e):
            try:
                return as_const(self.value(e), e.type, e)
            except NotKnown:
                if isinstance(e, Var):
                    raise
        if isinstance(e, Load):
            return replace(e, index=self.known(e.index), rows=())
        return mapped(e, self.known)

    def branch(self, s: If) -> Stmt:
        """A branch on data, as one step: everything uniform inside is filled in."""
        arms = []
        for arm in (s.then, s.other):
            inner = self.inside(_PhaseRun, dict(self.env))
            inner.block(arm)
            arms.append(tuple(x for x in inner.items if not isinstance(x, Analysed)))
        return replace(s, cond=self.known(s.cond), then=arms[0], other=arms[1])

    def loop(self, s: Loop) -> None:
        while not any(self.value(Var(f)) for f in s.flags):
            self.block(s.head)
            if not self.value(s.cond):
                break
            self.turn(s)
            self.block(s.body)
            if any(self.value(Var(f)) for f in s.flags):
                break
            self.block(s.step)

    def turn(self, s: Loop) -> None:
        self.turns += 1
        if self.turns > TURNS:
            raise catalogue.BLOCK_SEQUENTIAL.error(s.loc, most=TURNS)

    # phases

    def phase(self, s: Loop) -> bool:
        """Take a loop, and the loops right inside it, as one phase; False where that cannot be done."""
        after = dict(self.env)
        iterations = self.iterations(s, after)
        if iterations is None:
            return False
        env, count = iterations
        extents: tuple[int, ...] = (count,)
        body, nested = s.body, ()
        while count and (inner := self.only_loop(body)):
            deeper = self.nested(inner, env, count)
            if deeper is None:
                break
            env, count, extent = deeper
            extents = (*extents, extent) if extent else (count,)
            body, nested = inner.body, (*nested, inner)
        every = {**self.env, **env}
        if count and not self.accepted(Phase(s, body, every, count, extents, self.snapshot(), nested)):
            return False
        self.env = after
        return True

    def accepted(self, phase: Phase) -> bool:
        """Whether the iterations are independent, but perhaps for a few that a branch on data will hardly take."""
        try:
            accepted = analysed(self.u, phase)
        except DependentIterations:
            return False
        if accepted.hazard.mean() > RARE:
            return False
        self.items.append(accepted)
        return True

    def snapshot(self) -> dict[Region, np.ndarray]:
        """What uniform arrays hold now."""
        return {r: x.copy() if r.storage == "local" else x for r, x in self.memory.items()}

    def only_loop(self, body: Block) -> Loop | None:
        """The loop that is all of ``body`` but for its own counter's start."""
        *before, last = body or (None,)
        if not isinstance(last, Loop) or id(last) not in self.parallel:
            return None
        return last if all(isinstance(x, Assign) and x.var not in self.u.varying for x in before) else None

    def iterations(self, s: Loop, after: dict[Variable, Values]) -> tuple[dict[Variable, Values], int] | None:
        """Values of what the loop's turns change, turn by turn; ``after``: brought to what holds after the loop."""
        if any(isinstance(x, Store) and x.region in self.memory for x in statements((s,))):
            return None
        counter = _counter(s, self.u)
        if counter is not None and not self.leaves(s, counter[0]):
            return self.counted(s, *counter, after)
        around = statements(s.head + s.step)
        if any(isinstance(x, Store) or (isinstance(x, Assign) and x.var in self.u.varying) for x in around):
            return None  # of an iteration, it is the body that is kept
        return self.one_by_one(s, after)

    def leaves(self, s: Loop, counter: Variable) -> bool:
        """Whether uniform variables that the loop's turns assign, but for its counter, are read outside of it."""
        inside = {x.var for x in statements((s,)) if isinstance(x, Assign) and x.var not in self.u.varying} - {counter}
        return _leaves(s, inside, self.u)

    def counted(
        self, s: Loop, v: Variable, by: int, after: dict[Variable, Values]
    ) -> tuple[dict[Variable, Values], int] | None:
        start = int(self.value(Var(v)))
        size = 64
        while True:
            values = start + by * np.arange(size, dtype=np.int64)
            holds = evaluate(s.cond, {**self.env, v: values.astype(v.type.numpy)}, self.memory) != 0
            holds = np.broadcast_to(holds, values.shape)
            if not holds.all():
                break
            size *= 16
            if size > 1 << 24:
                return None
        count = int(np.argmin(holds))
        for x in statements((s,)):  # what a turn leaves behind is not kept
            if isinstance(x, Assign):
                after.pop(x.var, None)
        after[v] = np.asarray(start + by * count).astype(v.type.numpy)
        return {v: values[:count].astype(v.type.numpy)}, count

    def one_by_one(self, s: Loop, after: dict[Variable, Values]) -> tuple[dict[Variable, Values], int] | None:
        """By executing the uniform part of every turn."""
        changed = [v for v in dict.fromkeys(x.var for x in statements((s,)) if isinstance(x, Assign))]
        changed = [v for v in changed if v not in self.u.varying]
        inner = self.inside(_Silent, after)
        values: dict[Variable, list[Values]] = {v: [] for v in changed}
        count = 0
        while not any(inner.value(Var(f)) for f in s.flags):
            inner.block(s.head)
            if not inner.value(s.cond):
                break
            for v in changed:
                values[v].append(inner.env.get(v, np.zeros((), v.type.numpy)))
            count += 1
            inner.turn(s)
            inner.block(s.body)
            if any(inner.value(Var(f)) for f in s.flags):
                break
            inner.block(s.step)
        self.turns = inner.turns
        after.update(inner.env)
        return {v: np.array(x, v.type.numpy) for v, x in values.items()}, count

    def nested(
        self, s: Loop, env: dict[Variable, Values], count: int
    ) -> tuple[dict[Variable, Values], int, int] | None:
        """The iterations of the loop ``s`` inside ``count`` others, all in one: (env, count, extent of s or 0)."""
        counter = _counter(s, self.u)
        if counter is None:
            return None
        v, by = counter
        outer = {**self.env, **env}
        env = dict(env)
        for x in self.before(s):
            assert isinstance(x, Assign)
            outer[x.var] = env[x.var] = evaluate(x.value, outer, self.memory)
        first = np.broadcast_to(evaluate(Var(v), outer, self.memory), (count,)).astype(np.int64)
        size = 64
        while True:
            values = first[:, None] + by * np.arange(size, dtype=np.int64)
            wide = {k: a[:, None] if a.ndim else a for k, a in outer.items()}
            holds = evaluate(s.cond, {**wide, v: values.astype(v.type.numpy)}, self.memory) != 0
            holds = np.broadcast_to(holds, values.shape)
            if not holds.all(axis=1).any():
                break
            size *= 4
            if size * count > 1 << 24:
                return None
        lengths = np.argmin(holds, axis=1)
        rows = [values[k, :n] for k, n in enumerate(lengths)]
        total = int(lengths.sum())
        new = {k: np.repeat(a, lengths) if a.ndim else a for k, a in env.items()}
        new[v] = (np.concatenate(rows) if rows else np.zeros(0, np.int64)).astype(v.type.numpy)
        same = int(lengths[0]) if len(set(lengths.tolist())) == 1 else 0
        return new, total, same

    def before(self, s: Loop) -> Block:
        """The statements that stand before a loop in its block."""
        every = statements(self.u.kernel.body)
        for block in (self.u.kernel.body, *(b for x in every for b in blocks(x))):
            for k, x in enumerate(block):
                if x is s:
                    return block[:k]
        return ()


class _Silent(_PhaseRun):
    """Executes only what is uniform."""

    def step(self, s: Stmt) -> None:
        pass

    def filled(self, s: Stmt) -> Stmt:
        return s

    def branch(self, s: If) -> Stmt:
        self.block(s.then)
        self.block(s.other)
        return s


def _counter(s: Loop, u: Uniform) -> tuple[Variable, int] | None:
    """(v, by) of a counted loop that does no more to its uniform variables than ``v += by`` at the end of each turn."""
    c = counted(s)
    if c is None or c.may_end_early or c.counter in u.varying:
        return None
    private = _private(s.body, u)
    for x in statements(s.body):
        if isinstance(x, Assign) and x.var not in u.varying and x.var not in private:
            return None
        if isinstance(x, Store) and x.region not in u.varying_regions:
            return None
    tested = {x.var for x in subexpressions(s.cond) if isinstance(x, Var)}
    assigned = {x.var for x in statements(s.body) if isinstance(x, Assign)}
    return (c.counter, c.by) if c.counter in tested and not tested & assigned else None


def _private(body: Block, u: Uniform) -> set[Variable]:
    """Uniform variables that ``body`` assigns before it reads them."""
    assigned = {x.var for x in statements(body) if isinstance(x, Assign) and x.var not in u.varying}
    return {v for v in assigned if not _early(body, {v}, set())}
