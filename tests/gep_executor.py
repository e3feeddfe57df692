"""A `Gep` run element by element, each as far ahead as the snapshots let it: the wildest of all blocked schedules."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from c2cu.gep import Gep, Part, Place
from c2cu.ir.nodes import Kernel, Region
from tests.ir_interpreter import Number, _Machine

Element = tuple[int, int]


def run(g: Gep, inputs: Mapping[str, Sequence[Number]], seed: int = 0) -> tuple[dict[str, list[Number]], bool]:
    """The regions after a run from ``inputs``, elements in any order that has what it needs; and whether a row or a
    column that was to stay has moved, so that the result says nothing."""
    run = _Run(g, inputs)
    todo = [
        (k, i, j)
        for k in range(g.k.low, g.k.high)
        for i in range(g.update.rows.start(k), g.update.rows.high)
        for j in range(g.update.columns.start(k), g.update.columns.high)
    ]
    todo += [(g.k.high - 1, i, j) for i in range(g.rows) for j in range(g.columns)]
    random.Random(seed).shuffle(todo)
    for k, i, j in todo:
        run.update((i, j), k)
    return {r.name: cells for r, cells in run.memory.items()}, run.moved


class _Run:
    def __init__(self, g: Gep, inputs: Mapping[str, Sequence[Number]]):
        self.g, self.moved = g, False
        self.memory: dict[Region, list[Number]] = {r: [+x for x in inputs[r.name]] for r in g.regions}
        self.strides = dict(g.strides)
        self.steps: dict[Element, float] = {}  # element -> the last step it has taken; a half: but not its update
        self.copies: dict[tuple[Region, Element, int, int], Number] = {}  # element, step, age -> as it then was
        self.machine = _Machine(Kernel("", (), ()), [{}], None, 10**9)

    def cell(self, r: Region, at: Element) -> Number:
        return self.memory[r][at[0] * self.strides[r] + at[1]]

    def scale(self, at: Element, k: int) -> None:
        """Take an element to step k, before its update, and copy it."""
        if self.steps.get(at, self.g.k.low - 1) > k - 1:
            return
        self.update(at, k - 1)
        self.copy(at, k, 0)
        for age, part in enumerate(self.g.scale, 1):
            if _covers(part, at, k):
                if at != (k, k):
                    self.scale((k, k), k)
                self.compute(part, at, k)
            self.copy(at, k, age)
        self.steps[at] = k - 0.5

    def copy(self, at: Element, k: int, stage: int) -> None:
        for r in self.memory:
            if at[1] < self.strides[r]:
                self.copies[r, at, k, stage] = self.cell(r, at)

    def update(self, at: Element, k: int) -> None:
        """Take an element through step k."""
        if self.steps.get(at, self.g.k.low - 1) >= k:
            return
        self.scale(at, k)
        if _covers(self.g.update, at, k):
            for other in ((at[0], k), (k, at[1]), (k, k)):
                self.scale(other, k)
            self.compute(self.g.update, at, k)
            self.check(at, k)
        self.steps[at] = k

    def compute(self, part: Part, at: Element, k: int) -> None:
        counters = zip(self.g.counters, (k, *at))
        self.machine.variables = {v: [x] for v, x in counters}
        for p in part.places:
            other = {"ij": at, "ik": (at[0], k), "kj": (k, at[1]), "kk": (k, k)}[p.where]
            value = self.cell(p.region, at) if other == at and p.where != "kk" else self.copied(p, other, k)
            self.machine.variables[p.variable] = [value]
        new = [(r, self.machine.evaluate(value, (0,))[0]) for r, value in part.values]
        for r, value in new:
            assert repr(r.type.wrap(value)) == repr(value), (r, value, dict(part.values)[r].type)
            self.memory[r][at[0] * self.strides[r] + at[1]] = value

    def copied(self, p: Place, other: Element, k: int) -> Number:
        """As it is after as many parts have written it as its age says."""
        ages = 0
        for stage, part in enumerate((None, *self.g.scale)):
            if part is not None and p.region in dict(part.values):
                span = part.columns if part.where == "kj" else part.rows
                ages += part.where == p.where or span.has_k()
            if ages == p.variable.uid:
                return self.copies[p.region, other, k, stage]
        raise AssertionError(f"{p} is of no time")

    def check(self, at: Element, k: int) -> None:
        for p in self.g.update.places:
            row = self.g.row_moves and at[0] == k and (p.where == "kj" or (p.where == "kk" and at[1] == k))
            column = self.g.column_moves and at[1] == k and p.where == "ik"
            if row or column:
                old = self.copies[p.region, at, k, len(self.g.scale)]
                self.moved |= repr(self.cell(p.region, at)) != repr(old)


def _covers(part: Part, at: Element, k: int) -> bool:
    i, j = at
    inside = part.rows.start(k) <= i < part.rows.high or part.where == "kj"
    inside &= part.columns.start(k) <= j < part.columns.high or part.where == "ik"
    return inside and (i == k or part.where != "kj") and (j == k or part.where != "ik")
