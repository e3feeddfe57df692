"""Calls of math.h whose arguments only counters decide are tables, with the bits of the library's calls."""

import numpy as np
import pytest

import c2cu
from c2cu import pipeline
from c2cu.base.host_math import called, folded
from c2cu.frontend.preprocess import read_source
from c2cu.ir.nodes import Call
from c2cu.ir.walk import expressions, statements, subexpressions
from c2cu.schedule.choose import choose
from tests.cuda_host import run_on_cpu
from tests.oracle import Original, same
from tests.sample import sampled

P = 40
VARIABLES = [("x", "f8", (8,)), ("y", "f8", (8,))]
HEAD = "#include <math.h>\ndouble x[8], y[8];\nvoid k(void) {{\n    {}\n}}\n"
TABLES = {  # how many there are
    "a transform": (
        "for (int u = 0; u < 8; u++) { double s = 0; for (int i = 0; i < 8; i++) s += x[i] * cos((2 * i + 1) * u * M_PI / 16);"
        " y[u] = s; }",
        1,
    ),
    "an angle of its own": (
        "for (int u = 0; u < 8; u++) { double w = u * 0.7; double s = 0; for (int i = 0; i < 8; i++) { double a = w * i;"
        " s += x[i] * sin(a) + cos(a); } y[u] = s; }",
        2,
    ),
    "downwards, in steps": ("for (unsigned i = 21; i > 2; i -= 3) y[i & 7] += x[i & 7] * exp(-0.1 * i);", 1),
    "floats": ("for (int i = -3; i <= 4; i += 1) y[i + 3] = x[i + 3] * sinf(i * 0.3f) * powf(2.0f, i);", 2),
    "of two counters": (
        "for (long i = 0; i < 8; i++) for (long j = 1; j != 9; j++) y[i] += atan2(i, j) * x[j - 1] + pow(j, 0.25 * i);",
        2,
    ),
    "where data decides": (
        "for (int i = 0; i < 8; i++) { if (x[i] > 0) y[i] = log(i + 1.5); else y[i] = x[i] * log(i + 1.5); }",
        1,
    ),
    "a loop that data leaves": ("for (int i = 0; i < 8; i++) { if (x[i] > 1.5) break; y[i] = exp(0.1 * i); }", 1),
    "in a condition, in a subscript": (
        "for (int i = 0; i < 8; i++) { if (x[i] > sin(i)) y[(int)(7.9 * fabs(sin(i)))] = i; else y[i] = 1; }",
        1,
    ),
    "a limit with a name": ("const int n = 8; int m = n; for (int i = 0; i < m; i++) y[i] = x[i] * exp2(i);", 1),
    "one in another": ("for (int i = 0; i < 8; i++) y[i] = x[i] + exp(sin(0.5 * i) + sqrt(i));", 1),
}
OTHERS = {
    "what a compiler rounds otherwise": "for (int i = 0; i < 8; i++) y[i] = x[i] * cbrt(i);",
    "of data": "for (int i = 0; i < 8; i++) y[i] = sin(x[i] + i);",
    "no number comes out": "for (int i = 0; i < 8; i++) y[i] = x[i] > 0 ? log(i - 3.0) : 2;",
    "a counter that changes": "for (int i = 0; i < 8; i++) { y[i] = exp(0.1 * i); if (x[i] > 0 && i < 7) i++; }",
    "a limit that data decides": "int n = x[0] > 0 ? 4 : 8; for (int i = 0; i < n; i++) y[i] = exp(0.1 * i);",
    "an angle that goes on": "double a = 0; for (int i = 0; i < 8; i++) { y[i] = x[i] * sin(a); a += 0.3; }",
    "an angle that data changes": "for (int i = 0; i < 8; i++) { double a = 0.2 * i; if (x[i] > 0) a = 3; y[i] = sin(a); }",
    "behind the loop": "int i; for (i = 0; i < 8; i++) y[i] = x[i]; y[0] = sin(i * x[1]);",
    "too many": "for (int i = 0; i < 9999; i++) y[i & 7] += sin(0.001 * i) * x[i & 7];",
    "at the limit": "int i = 0; while (y[i & 7] = x[i & 7] + sin(0.1 * i), i < 8) i++;",
}


def understood(text: str, **options):
    return pipeline.understand(read_source(text), pipeline.Options(fn="k", **options))


def calls(front) -> int:
    kernel = front.analysis.kernel
    nodes = (x for s in statements(kernel.body) for e in expressions(s) for x in subexpressions(e))
    return sum(isinstance(x, Call) and x.name not in ("fabs", "sqrt") for x in nodes)


def tables(front) -> int:
    return sum(r.storage == "shared" and r.init is not None for r in front.analysis.kernel.regions)


def inputs() -> dict[str, np.ndarray]:
    return {"x": np.random.default_rng(4).standard_normal((P, 8)), "y": np.zeros((P, 8))}


def check(text: str, front) -> None:
    given = inputs()
    expected = Original(text, "k", VARIABLES, level="-O0").bulk(given, P)["y"]
    for schedule in ("gang", "native", "auto") if "cbrt" not in text else ():
        assert same(c2cu.bulk(text, given, fn="k", backend="cpu", schedule=schedule, outputs=["y"]), expected), schedule
    assert same(run_on_cpu(choose(front, "cuda", "registers")[1], given, P)["y"], expected)


@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize("name", sampled(TABLES, 4))
def test_they_are_tables(name):
    text, count = HEAD.format(TABLES[name][0]), TABLES[name][1]
    front = understood(text)
    assert (calls(front), tables(front)) == (0, count)
    check(text, front)
    assert tables(understood(text, portable=True)) == 0


@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize("name", sampled(OTHERS, 4))
def test_all_others_are_called(name):
    text = HEAD.format(OTHERS[name])
    front = understood(text)
    assert calls(front) > 0 and tables(front) == 0
    check(text, front)


@pytest.mark.parametrize("flag", [True, False])
def test_a_window_that_is_filled_once(flag):
    fill = "for (int i = 0; i < 8; i++) w[i] = 0.5f - 0.5f * cosf(6.2831853f * i / 8);"
    once = f"if (!ready) {{ {fill} ready = 1; }}" if flag else fill
    text = HEAD.format(f"static float w[8]; static int ready; {once} for (int i = 0; i < 8; i++) y[i] = x[i] * w[i];")
    front = understood(text)
    assert calls(front) == 0 and front.oblivious
    check(text, front)


def test_what_a_library_does_not_say():
    assert called("sin", [0.5]) == np.sin(0.5) and called("ldexpf", [1.5, 3]) == 12.0
    assert called("sqrt", [-1.0]) is None and called("isnan", [0.0]) is None and called("no_such", [0.0]) is None


def test_what_the_compiler_computes():
    assert folded("cosf", [[0.5], [1.0], [-0.0]]) == [float(np.cos(np.float32(x))) for x in (0.5, 1, 0)]
    assert folded("atan2", [[1, -1.0], [0.0, 2.0]]) == [np.arctan2(1, -1.0), 0.0]
    assert folded("atan2", [[float("inf"), 2.0]]) is None
    assert folded("pow", [[0.0, -1.0], [2.0, 0.5]]) is None  # it leaves a division by zero to the library
