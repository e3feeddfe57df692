"""Functions of math.h that are exact: lanes and CUDA have what the machine's own library gives, for every argument."""

import numpy as np
import pytest

import c2cu
from c2cu import pipeline
from c2cu.frontend.preprocess import read_source
from c2cu.schedule.gang.same_bits import sample
from c2cu.schedule.registry import emit_schedule
from tests.cuda_host import run_on_cpu
from tests.oracle import Original

pytestmark = pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
COUNT = 20_000
#: Of double; those of float have an f behind their names.
NUMBERS = (
    "frexp(x, &q[0]); modf(x, &whole); remquo(x, y, &q[1]); ldexp(x, n); scalbn(x, n); scalbln(x, n); logb(x); "
    "nextafter(x, y); fdim(x, y); drem(x, y); floor(x); ceil(x); trunc(x); rint(x); nearbyint(x); round(x); "
    "copysign(x, y)"
).split("; ")
WHOLE = "ilogb(x) finite(x) lround(x) llround(x) lrint(x) llrint(x)".split()
#: Of both types.
CLASSES = "isnan(x) isinf(x) isfinite(x) isnormal(x) fpclassify(x) !signbit(x) __builtin_isinf(x)".split()
CLASSES += ["__builtin_isinf_sign(x)", "__builtin_fpclassify(7, 1, 4, 3, 2, x)"]  # what headers make of the macros
HEAD = """
#define _GNU_SOURCE
#include <math.h>
"""


def named(call: str, t: str) -> str:
    """The same function of another type."""
    return call if t == "double" else call.replace("(", "f(", 1)


def program(t: str) -> tuple[str, list[tuple]]:
    """All functions of a type, and the variables that go in and out. Where PLAIN is defined, none has two results."""
    lines = [f"r[{k}] = {named(call, t)};" for k, call in enumerate(NUMBERS)]
    lines = [f"#ifndef PLAIN\n{line}\n#endif" if "&" in line else line for line in lines]
    lines += [f"i[{k}] = {named(call, t)};" for k, call in enumerate(WHOLE)]
    lines += [f"i[{k + len(WHOLE)}] = {call};" for k, call in enumerate(CLASSES)]
    counts = len(NUMBERS) + 1, len(WHOLE) + len(CLASSES)
    text = f"{HEAD}{t} x, y, r[{counts[0]}];\nint n, q[2];\nlong i[{counts[1]}];\n"
    body = "\n    ".join([f"{t} whole = 0;", *lines, f"r[{len(NUMBERS)}] = whole;"])
    d = "float64" if t == "double" else "float32"
    variables = [("x", d, ()), ("y", d, ()), ("n", "int32", ()), ("q", "int32", (2,)), ("r", d, counts[:1])]
    return f"{text}void k(void) {{\n    {body}\n}}\n", [*variables, ("i", "int64", counts[1:])]


def arguments(t: str) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(7)
    x, y = (rng.permutation(sample(np.dtype("f8" if t == "double" else "f4"), rng))[:COUNT] for _ in range(2))
    near = rng.random(COUNT) < 0.3  # quotients that are small, and halves
    with np.errstate(all="ignore"):
        y = np.where(near, x / rng.integers(1, 40, COUNT).astype(x.dtype) * 2, y).astype(x.dtype)
    x[:2], y[:2] = [0.0, -0.0], [5e-324, -5e-324]
    half = (rng.integers(-9, 9, COUNT) + 0.5).astype(x.dtype)
    x = np.where(rng.random(COUNT) < 0.1, half, x)
    n = np.where(rng.random(COUNT) < 0.1, rng.integers(-(2**31), 2**31, COUNT), rng.integers(-2200, 2200, COUNT))
    return {"x": x, "y": y, "n": n.astype("i4"), "q": rng.integers(-9, 9, (COUNT, 2)).astype("i4")}


def differing(results, expected) -> dict[str, list[int]]:
    """By variable, the elements of which one differs; NaN is NaN."""
    out = {}
    for name, b in expected.items():
        a = results[name].reshape(COUNT, -1)
        b = b.reshape(COUNT, -1)
        wrong = (a != b) | (np.signbit(a) != np.signbit(b)) if a.dtype.kind == "f" else a != b
        wrong &= ~((a != a) & (b != b))
        if wrong.any():
            out[name] = np.flatnonzero(wrong.any(0)).tolist()
    return out


@pytest.fixture(scope="module", params=["double", "float"])
def expected(request):
    t = request.param
    text, variables = program(t)
    inputs = arguments(t)
    results = Original(text, "k", variables).bulk(inputs, COUNT)
    return text, inputs, {n: results[n] for n in ("q", "r", "i")}


def test_in_lanes(expected):
    text, inputs, right = expected
    compiled = c2cu.compile(text, backend="cpu", schedule="gang", verify=False)
    assert not differing(compiled(inputs), right)
    assert not compiled.loaded.artifact.alone


@pytest.mark.parametrize("schedule", ["registers", "private", "thread"])
def test_on_a_device(expected, schedule):
    text, inputs, right = expected
    if schedule == "thread":  # its arrays have no rows whose addresses functions could take
        text = "#define PLAIN\n" + text
        right = {"r": right["r"][:, 3:-1], "i": right["i"]}
    artifact = emit_schedule(schedule, pipeline.understand(read_source(text), pipeline.Options(fn="k")))
    results = run_on_cpu(artifact, inputs, COUNT)
    if schedule == "thread":
        results["r"] = results["r"][:, 3:-1]
    assert not differing(results, right)


TWO = (
    HEAD
    + """
T x, s, c, l;
int sign;
void k(void) { NAME(x, &s, &c); l = LOG(x, &sign); }
"""
)


@pytest.mark.parametrize("t, f", [("double", ""), ("float", "f")])
@pytest.mark.parametrize("schedule", ["gang", "registers", "private"])
def test_several_results(t, f, schedule):
    text = TWO.replace("T ", f"{t} ").replace("NAME", f"sincos{f}").replace("LOG", f"lgamma{f}_r")
    x = arguments(t)["x"]
    x[:6] = [-0.5, -1.5, -2, -1, -0.0, -np.inf]
    d = str(x.dtype)
    variables = [("x", d, ()), ("s", d, ()), ("c", d, ()), ("l", d, ()), ("sign", "int32", ())]
    right = Original(text, "k", variables).bulk({"x": x}, COUNT)
    if schedule == "gang":
        results = c2cu.bulk(text, {"x": x}, backend="cpu", schedule=schedule, verify=False)
    else:
        artifact = emit_schedule(schedule, pipeline.understand(read_source(text), pipeline.Options(fn="k")))
        results = run_on_cpu(artifact, {"x": x}, COUNT)
    assert not differing(results, {n: right[n] for n in ("s", "c", "l", "sign")})
