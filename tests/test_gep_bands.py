"""A matrix in bands of rows: what the runtime does on devices of the CPU's, at random, equals gcc's C bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from c2cu import plan
from c2cu.options import options_of
from c2cu.pipeline import understand
from c2cu.preprocess import read_source
from c2cu.schedule.gep import bands_plan
from c2cu.schedule.gep.bands import bands
from c2cu.schedule.gep.bands_plan import Sizes
from c2cu.schedule.gep.required import required
from tests.bands_host import Machine, program
from tests.oracle import Original, same
from tests.test_gep_grid import FLAT, PATHS, PROGRAMS, SMALL, data

N = 70


def artifact(text: str, shape=SMALL, otherwise=None):
    front = understand(read_source(text), options_of())
    assert front.analysis is not None
    gep = required(front.analysis.kernel, front.gep)
    return bands(front.analysis, gep, front.slots, plan.layout(front.program), "exact", otherwise, shape)


def streamed(b, devices: int, tiles: int) -> Sizes:
    return next(s for s in bands_plan._streamed(b, devices) if s.band == tiles * b.tile)


def resident(b, devices: int) -> Sizes:
    return list(bands_plan._resident(b, devices))[-1]


def run(monkeypatch, made, inputs, sizes: Sizes, seed=0, pinned=False, in_place=False, eager=0.2):
    """The outputs by name, and the machine."""
    machine = Machine(sizes.devices, seed, eager)
    limit = sizes.offsets(made.bands)[1]
    loaded = program(monkeypatch, made, machine, limit, pinned)
    monkeypatch.setattr(bands_plan, "sizes", lambda b, devices, given: sizes if given == limit else None)
    p = len(next(iter(inputs.values())))
    ins = [inputs[s.name].copy() if s.name in inputs else None for s in made.slots]
    outs = [np.empty((p, *s.shape), s.dtype) if s.writes else None for s in made.slots]
    if in_place:
        outs = [a if o is not None and a is not None else o for a, o in zip(ins, outs)]
    loaded.run(ins, outs, p, range(sizes.devices))
    return {s.name: o for s, o in zip(made.slots, outs) if o is not None}, machine, loaded


def check(monkeypatch, text, variables, inputs, sizes, shape=SMALL, **how) -> Machine:
    made = artifact(text, shape)
    found, machine, _ = run(monkeypatch, made, inputs, sizes(made.bands), **how)
    expected = Original(text, "f", variables).bulk(inputs, len(next(iter(inputs.values()))))
    assert found
    for name, array in found.items():
        assert same(array, expected[name]), name
    return machine


KINDS = {
    "one device": lambda b: streamed(b, 1, 1),
    "larger bands": lambda b: streamed(b, 1, 2),
    "two devices": lambda b: streamed(b, 2, 1),
    "all there": lambda b: resident(b, 1),
    "all there on three": lambda b: resident(b, 3),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(2))
def test_paths(kind, seed, monkeypatch):
    variables = [("D", "f4", (N, N))]
    inputs = data(variables, N, 1)
    eager = (0.0, 0.6)[seed]
    check(monkeypatch, PATHS.format(n=N, t="float"), variables, inputs, KINDS[kind], seed=seed, eager=eager)
