"""All examples equal gcc's build of them, bit for bit, under every schedule of the CPU."""

import numpy as np
import pytest

import c2cu
from tests.oracle import same
from tests.sample import sampled
from tests.workloads import CONSTANT_TIME, SIZES, WORKLOADS


@pytest.mark.parametrize("schedule", ["gang", "native"])
@pytest.mark.parametrize("w", sampled(WORKLOADS, 2), ids=lambda w: w.name)
def test_equals_gcc(w, schedule):
    program = w.compile(backend="cpu", schedule=schedule)
    assert program.plan.schedule == schedule
    inputs = w.inputs(max(SIZES))
    expected = w.expected(inputs, max(SIZES))
    for p in SIZES:
        result = w.results(program(w.first(inputs, p)))
        assert list(result) == list(w.outputs)
        for name in w.outputs:
            assert same(result[name], expected[name][:p]), (name, p)


@pytest.mark.parametrize("w", WORKLOADS, ids=lambda w: w.name)
def test_verdict(w):
    report = c2cu.check(w.path, defines=w.defines, shared=w.shared)
    assert report.oblivious
    assert report.constant_time == (w.file in CONSTANT_TIME)


@pytest.mark.slow
def test_montgomery_is_a_product():
    w = next(w for w in WORKLOADS if w.name == "montgomery-512")
    inputs = w.inputs(20)
    r = c2cu.bulk(w.path, inputs, backend="cpu")
    x, y, m, got = ([int.from_bytes(row.tobytes(), "little") for row in a] for a in (*inputs.values(), r))
    assert got == [a * b * pow(2, -512, c) % c for a, b, c in zip(x, y, m)]


def test_nan_follows_c():
    """if (a > b) a = b keeps a NaN in a: no silent assumption that there is none."""
    w = next(w for w in WORKLOADS if w.name == "fw-16")
    inputs = w.inputs(40)
    inputs["D"][::3, 1, 2] = np.nan
    expected = w.expected(inputs, 40)["D"]
    for schedule in ("gang", "native"):
        assert same(c2cu.bulk(w.path, inputs, backend="cpu", schedule=schedule), expected)
