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
from tests.sample import sampled


@pytest.mark.parametrize("schedule", ["native", "gang"])
@pytest.mark.parametrize("integers", sampled(INTEGERS, 2))
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


NESTED = """
float f, e; int n; double h; unsigned u[8]; signed char c; unsigned short w; unsigned long l[2];
int g(void) { return n++; }
static unsigned short given(unsigned short x) { return x; }
static unsigned returned(void) { return f > 1 ? (g(), -17.5) : -(float)(g(), f > 2 ? 3e9 : f); }
void kern(void) {
    u[0] = f > 1 ? (g(), -17.5) : f;
    u[1] = f > 1 ? f > 2 ? -3e9f : f : (g(), f > 0 ? 1e20 : f);
    u[2] = returned();
    unsigned x[2] = {-(f > 1 ? 17.5 : f), (g(), (e = -3e9))};
    u[3] = x[0], u[4] = x[1];
    u[5] = 1e3 - 3e9, u[6] = -1.5f * (g(), 5e9f);
    u[7] = 1 ? (g(), -2.5) : f;
    switch ((signed char)(f > 1 ? 300.5 : -f)) { case 127: c = 1; break; case 44: c = 2; break; default: c = 3; }
    w = given(2.0 * (f > 1 ? 1e20 : f) - 1);
    l[0] = (double)(float)(f > 1 ? (g(), 1e30) : f), l[1] = (g(), h = f > 1 ? 1 : -1.0, -5e19);
}
"""


@pytest.mark.parametrize("schedule", ["native", "gang", "private", "thread"])
def test_constants_inside_of_parts(schedule):
    """Wherever a part may be the value: in a comma in an arm of ?:, negated, computed with, in every position."""
    types = {"f": "float32", "n": "int32", "u": "uint32", "c": "int8", "w": "uint16", "l": "uint64"}
    shapes = {"u": (8,), "l": (2,)}
    inputs = {"f": np.array([-20.5, 0.5, 1.5, 2.5, 7], np.float32)}
    inputs |= {v: np.zeros((5, *shapes.get(v, ())), t) for v, t in types.items() if v != "f"}
    expected = Original(NESTED, "kern", [(v, t, shapes.get(v, ())) for v, t in types.items()]).bulk(inputs, 5)
    if schedule in registry.names("cpu"):
        program = c2cu.compile(NESTED, fn="kern", backend="cpu", schedule=schedule, verify=False)
        results = program({v: inputs[v] for v in ("f", "n")})
    else:
        front = pipeline.understand(read_source(NESTED), pipeline.Options(fn="kern"))
        results = run_on_cpu(choose(front, "cuda", schedule)[1], inputs, 5)
    for v in types:
        assert v == "f" or same(results[v], expected[v]), v


@pytest.mark.parametrize("narrow", ["signed char", "unsigned char", "short", "unsigned short", "_Bool"])
def test_narrow_integers_in_lanes(narrow):
    """Memory holds them as narrow as C does; GCC 12 would go lane by lane from 8 bits to 32 at once."""
    text = f"{narrow} a[2], o[4]; int x;\nvoid kern(void) {{ o[0] = a[0] + a[1]; o[1] = x >> 20; o[2] = -a[1]; o[3] |= x << 3; }}\n"
    rng = np.random.default_rng(1)
    kind = {"signed char": "i1", "unsigned char": "u1", "short": "i2", "unsigned short": "u2", "_Bool": "?"}[narrow]
    bits = {n: rng.integers(0, 2 if narrow == "_Bool" else 256, (37, k)) for n, k in (("a", 2), ("o", 4))}
    inputs = {n: (-v if narrow != "_Bool" else v).astype(kind) for n, v in bits.items()}
    inputs["x"] = rng.integers(-(2**31), 2**31, 37).astype("i4")
    variables = [("a", np.dtype(kind), (2,)), ("o", np.dtype(kind), (4,)), ("x", np.dtype("i4"), ())]
    compiled = c2cu.compile(text, backend="cpu", schedule="gang")
    assert same(compiled(inputs), Original(text, "kern", variables).bulk(inputs, 37)["o"])
    if np.dtype(kind).itemsize == 1:
        assert "CONVERT(i32, g->" not in compiled.source and "CONVERT(i32, CONVERT(" in compiled.source
