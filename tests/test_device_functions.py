"""Functions of math.h in CUDA text: executed on the CPU, they have the bits of this machine's library."""

import math

import numpy as np
import pytest

from c2cu import pipeline
from c2cu.base.libm import FUNCTIONS
from c2cu.frontend.preprocess import read_source
from c2cu.program import verify
from c2cu.schedule.device_functions import EXACT
from c2cu.schedule.gang.functions import names
from c2cu.schedule.gang.same_bits import sample
from c2cu.schedule.registry import emit_schedule
from tests.cuda_host import run_on_cpu
from tests.oracle import Original
from tests.sample import sampled

OURS = sorted(names() - EXACT)
COUNT = 20_000


def program(name: str) -> tuple[str, list[tuple]]:
    result, parameters = FUNCTIONS[name]
    arguments = ", ".join("xy"[: len(parameters)])
    text = f"#include <math.h>\n{result} x, y, r;\nvoid k(void) {{ r = {name}({arguments}); }}\n"
    return text, [(v, f"float{8 * result.size}", ()) for v in "xyr"]


def arguments(t: np.dtype, rng: np.random.Generator) -> np.ndarray:
    """Those of `sample`, and as many that are rare: near the ends of what functions give, huge, subnormal."""
    n = COUNT // 8
    ends = rng.choice([1, 22, 28, 88.72, 103.28, 103.97, 150, 512, 709.78, 710.47, 745.13, 1024, 1075], n)
    wide = rng.uniform(-1, 1, n) * rng.choice([110, 160, 760, 1100], n)
    huge = 10 ** rng.uniform(5, 38 if t.itemsize == 4 else 308, n)
    rare = np.concatenate([wide, ends * (1 + rng.normal(size=n) * 1e-6), huge])
    with np.errstate(all="ignore"):
        rare = (rare * rng.choice([-1, 1], 3 * n)).astype(t)
        tiny = np.copysign(np.finfo(t).tiny * rng.random(n).astype(t), rare[:n])
    return rng.permutation(np.concatenate([rng.permutation(sample(t, rng))[: COUNT - 4 * n], rare, tiny]))


@pytest.mark.parametrize("name", sampled(OURS, 4))
@pytest.mark.parametrize("schedule", ["registers", "private"])
def test_bits_are_the_library_s(name, schedule):
    text, variables = program(name)
    artifact = emit_schedule(schedule, pipeline.understand(read_source(text), pipeline.Options(fn="k")))
    assert artifact.functions in ((name,), ())  # none: where another library's bits are not ours
    assert (f"c2cu_math_{name}(" in artifact.text) == bool(artifact.functions)
    rng = np.random.default_rng(OURS.index(name))
    inputs = {v: arguments(np.dtype(d), rng) for v, d, _ in variables}
    expected = Original(text, "k", variables).bulk(inputs, COUNT)["r"]
    result = run_on_cpu(artifact, inputs, COUNT)["r"]
    unequal = (result != expected) | (np.signbit(result) != np.signbit(expected))
    wrong = unequal & ~(np.isnan(result) & np.isnan(expected))
    assert not wrong.any(), (inputs["x"][wrong][:4], result[wrong][:4], expected[wrong][:4])


def test_fast_asks_for_cuda_s_own():
    text, _ = program("exp")
    artifact = emit_schedule("registers", pipeline.understand(read_source(text), pipeline.Options(fn="k", fp="fast")))
    assert not artifact.functions and "c2cu_math" not in artifact.text


def test_one_called_often_is_not_inlined():
    calls = " + ".join(f"exp(x * {k})" for k in range(20))
    text = f"#include <math.h>\ndouble x, r;\nvoid k(void) {{ r = log(x) + {calls}; }}\n"
    artifact = emit_schedule("registers", pipeline.understand(read_source(text), pipeline.Options(fn="k")))
    if artifact.functions:
        assert "__noinline__ double c2cu_math_exp(" in artifact.text
        assert "__forceinline__ double c2cu_math_log(" in artifact.text
    r = run_on_cpu(artifact, {"x": np.full(3, 0.5)}, 3)["r"]
    total = math.log(0.5)
    rest = math.exp(0)
    for k in range(1, 20):
        rest += math.exp(0.5 * k)
    assert r[0] == total + 1.0 or abs(r[0] - (total + rest)) < 1e-9 * rest


def test_where_the_library_s_bits_are_others_cuda_s_own_is_called(monkeypatch):
    from c2cu.schedule import device_functions

    monkeypatch.setattr(device_functions, "equal", lambda names: names - {"exp"})
    text = "#include <math.h>\ndouble x, r;\nvoid k(void) { r = exp(x) + log(x); }\n"
    artifact = emit_schedule("registers", pipeline.understand(read_source(text), pipeline.Options(fn="k")))
    assert artifact.functions == ("log",)
    assert " exp(" in artifact.text and "c2cu_math_log(" in artifact.text


PAIR = """
#include <math.h>
{t} x[16], r[16];
void k(void) {{ for (int i = 0; i < 16; i++) r[i] = {one} - i * {other}; }}
"""


@pytest.mark.parametrize("t, f", [("double", ""), ("float", "f")])
@pytest.mark.parametrize("schedule", ["registers", "scan", "block"])
@pytest.mark.parametrize("both, one, other", [("sincos", "cos", "sin"), ("erfcs", "erfc", "erfc")])
def test_functions_of_one_argument_are_one_function(both, one, other, schedule, t, f):
    """Sine and cosine, erfc of an argument and of its negation."""
    text = PAIR.format(t=t, one=f"{one}{f}(x[i])", other=f"{other}{f}({'-' if one == other else ''}x[i])")
    d = f"float{32 if f else 64}"
    artifact = emit_schedule(schedule, pipeline.understand(read_source(text), pipeline.Options(fn="k")))
    rng = np.random.default_rng(5)
    x = rng.permutation(sample(np.dtype(d), rng))[: 16 * 500].reshape(500, 16)
    expected = Original(text, "k", [("x", d, (16,)), ("r", d, (16,))]).bulk({"x": x}, 500)["r"]
    assert np.array_equal(run_on_cpu(artifact, {"x": x}, 500)["r"], expected, equal_nan=True)
    if artifact.functions:
        assert artifact.functions == (f"{both}{f}",)
        assert f"c2cu_math_{one}{f}(" not in artifact.text


NEGATED = {
    "inside one that has a name": "while (n-- > 0) { double y = -x; r[0] = F(F(y)); x += 1; r[1] = F(-F(y)); r[2] = F(-y); }",
    "a negation that was another": "while (n-- > 0) { double y = -x; r[0] = F(y); y = -r[2]; r[1] = F(F(y)); x += 1; r[0] += F(-F(y)); r[2] = F(-y); }",
    "a chain": "while (n-- > 0) { double w = -x, v = -w; r[0] = F(F(v)); x *= 0.5; r[1] = F(-F(v)) + F(-x); w = x; r[2] = F(-v) * F(w); }",
}


@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize("function", ["erf", "erfc"])
@pytest.mark.parametrize("name", sampled(NEGATED, 1))
def test_negations_that_end(name, function):
    text = (
        f"#include <math.h>\ndouble x, r[3]; int n;\nvoid k(void) {{ {NEGATED[name].replace('F(', f'{function}(')} }}"
    )
    artifact = emit_schedule("registers", pipeline.understand(read_source(text), pipeline.Options(fn="k")))
    rng = np.random.default_rng(6)
    inputs = {"x": rng.normal(size=300), "n": rng.integers(0, 4, 300).astype("i4"), "r": rng.normal(size=(300, 3))}
    variables = [("x", "float64", ()), ("r", "float64", (3,)), ("n", "int32", ())]
    expected = Original(text, "k", variables).bulk(inputs, 300)["r"]
    assert np.array_equal(run_on_cpu(artifact, inputs, 300)["r"], expected)


def test_bits_are_compared_where_all_functions_are_ours(monkeypatch):
    from c2cu.schedule import device_functions

    equal = device_functions.equal
    monkeypatch.setattr(device_functions, "equal", lambda names: equal(names) - {"tgamma"})
    ours, other = (
        pipeline.understand(read_source(program(name)[0]), pipeline.Options(fn="k")) for name in ("exp", "tgamma")
    )
    artifact = emit_schedule("registers", ours)
    assert verify.is_exact(ours, artifact, "cuda") == bool(artifact.functions)
    assert not verify.is_exact(other, emit_schedule("registers", other), "cuda")
