"""Conversions of floats that no integer type holds, under every way to compute them."""

import numpy as np
import pytest

import c2cu
from c2cu import pipeline
from c2cu.frontend.preprocess import read_source
from c2cu.schedule import registry
from c2cu.schedule.choose import choose
from tests.conversions import FLOATS, INTEGERS, case
from tests.cuda_host import run_on_cpu
from tests.oracle import Original, same


@pytest.mark.parametrize("schedule", ["native", "gang"])
@pytest.mark.parametrize("integers", INTEGERS)
@pytest.mark.parametrize("float_type", FLOATS)
def test_equal_to_gcc(float_type, integers, schedule):
    text, variables, inputs = case(float_type, integers)
    expected = Original(text, "kern", variables).bulk(inputs, len(inputs["a"]))
    assert same(c2cu.bulk(text, inputs, fn="kern", backend="cpu", schedule=schedule), expected["o"])


@pytest.mark.parametrize("integers", ["unsigned", "unsigned long"])
@pytest.mark.parametrize("float_type", FLOATS)
def test_once_for_all_lanes(float_type, integers):
    """Values that no lane has for itself."""
    text, variables, inputs = case(float_type, integers)
    program = c2cu.compile(text, fn="kern", backend="cpu", schedule="gang", shared=["a"])
    for k, x in enumerate(inputs["a"]):
        expected = Original(text, "kern", variables).bulk({n: a[k : k + 1] for n, a in inputs.items()}, 1)
        assert same(program({"a": x, "o": inputs["o"][k : k + 1]}), expected["o"]), x


@pytest.mark.parametrize("schedule", registry.names("cuda"))
def test_cuda_text_asks_for_them(schedule):
    front = pipeline.understand(read_source(case("float", "unsigned")[0]), pipeline.Options(fn="kern"))
    try:
        text = choose(front, "cuda", schedule)[1].text
    except c2cu.UnsupportedError:
        assert schedule in ("gep", "scan", "block")
        return
    assert text.count("c2cu_integer<unsigned int>(") == 4


def test_constants_are_the_nearest():
    """As GCC computes them, in device constants too, which need a value that is known."""
    text = (
        "int r[6]; static int t[4] = {3e9, -2.5, 1e400, 0.0 / 0.0};\n"
        "void kern(void) { for (int i = 0; i < 4; i++) r[i] = t[i]; r[4] = -3e9; r[5] = 1e400; t[1]++; }"
    )
    expected = Original(text, "kern", [("r", "int32", (6,))]).bulk({}, 1)["r"]
    for schedule in ("native", "gang"):
        assert same(c2cu.bulk(text, {}, fn="kern", p=1, backend="cpu", schedule=schedule, outputs=["r"]), expected)
    front = pipeline.understand(read_source(text), pipeline.Options(fn="kern"))
    artifact = choose(front, "cuda", "private")[1]
    assert "c2cu_integer" not in artifact.text
    assert same(run_on_cpu(artifact, {}, 1)["r"], expected)


@pytest.mark.parametrize("schedule", ["native", "gang", "private", "thread"])
def test_constants_inside_of_an_expression(schedule):
    """GCC converts a constant that a comma or an assignment ends with, or that ?: chooses, before it runs."""
    text = (
        "long i = (1L << 53) + 1, w[3]; unsigned r[6]; float f; signed char s; int g(void) { return r[0]++; }\n"
        "void kern(void) { double d; r[1] = (g(), -17.5); r[2] = (d = -3e9); r[3] = f > 1 ? -17.5f : f; s = f > 1 ? -1700 : f;"
        " r[4] = (g(), f); r[5] = f > 1 ? f : 0.0 / 0.0;"
        " w[0] = f > 1 ? i : 0.5; w[1] = f > 1 ? i : 0.5f; w[2] = f > 1 ? f : 0.0 / 0.0; }"
    )
    inputs = {
        "f": np.array([-20.5, 0.5, 2.5, 3e9, -3e9], np.float32),
        "r": np.arange(30, dtype=np.uint32).reshape(5, 6),
    }
    expected = Original(
        text, "kern", [("r", "uint32", (6,)), ("f", "float32", ()), ("s", "int8", ()), ("w", "int64", (3,))]
    ).bulk(inputs, 5)
    if schedule in registry.names("cpu"):
        results = c2cu.bulk(text, inputs, fn="kern", backend="cpu", schedule=schedule)
    else:
        front = pipeline.understand(read_source(text), pipeline.Options(fn="kern"))
        results = run_on_cpu(choose(front, "cuda", schedule)[1], inputs, 5)
    assert all(same(results[n], expected[n]) for n in ("r", "s", "w"))
