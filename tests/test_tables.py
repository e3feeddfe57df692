"""Static tables that a program computes for itself are no data: its addresses may come from them."""

import numpy as np
import pytest

import c2cu
from c2cu import pipeline
from c2cu.frontend.preprocess import read_source
from c2cu.schedule.choose import choose
from tests.cuda_host import run_on_cpu
from tests.oracle import Original, same
from tests.sample import sampled

P = 70
FFT = r"""
#include <math.h>
#define N 16
float re[N], im[N];
static int rev[N];
static struct { float re, im; } root[N / 2];
static int spare[4];

static void tables(void) {
    for (int i = 0; i < N; i++) {
        rev[i] = 0;
        for (int b = 1; b < N; b *= 2) rev[i] = 2 * rev[i] + ((i & b) != 0);
    }
    for (int i = 0; i < N / 2; i++) {
        root[i].re = cosf(6.2831853f * i / N);
        root[i].im = -sinf(6.2831853f * i / N);
    }
}

void fft(void) {
    tables();
    for (int i = 0; i < N; i++) {
        if (rev[i] <= i) continue;
        float t = re[i], u = im[i];
        re[i] = re[rev[i]], im[i] = im[rev[i]];
        re[rev[i]] = t, im[rev[i]] = u;
    }
    for (int h = 1; h < N; h *= 2)
        for (int s = 0; s < N; s += 2 * h)
            for (int k = 0; k < h; k++) {
                float a = root[k * (N / 2 / h)].re, b = root[k * (N / 2 / h)].im;
                float x = re[s + k + h] * a - im[s + k + h] * b, y = re[s + k + h] * b + im[s + k + h] * a;
                re[s + k + h] = re[s + k] - x, im[s + k + h] = im[s + k] - y;
                re[s + k] += x, im[s + k] += y;
            }
}
"""
VARIABLES = [("re", "f4", (16,)), ("im", "f4", (16,))]


def table(fill: str, declared: str = "static int at[8];", use: str = "y[i] = x[at[i]];", rest: str = "") -> str:
    return (
        f"int x[8], y[8];\n{declared}\nvoid k(void) {{\n    for (int i = 0; i < 8; i++) {{ {fill} }}\n"
        f"    for (int i = 0; i < 8; i++) {{ {use} }}\n}}\n{rest}"
    )


def numbers(text: str, fn: str = "k") -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    if fn == "fft":
        return {n: rng.standard_normal((P, 16), "f4") for n in ("re", "im")}
    x = rng.integers(-9, 99, (P, 8)).astype("i4")
    return (
        {"x": x, "at": np.zeros((P, 8), "i4")}
        if text in (OTHERS["read first"], OTHERS["read a turn too early"])
        else {"x": x}
    )


TABLES = {
    "permutation": table("at[i] = 7 - i;"),
    "with an initialiser that is written over": table("at[i] = 7 - i;", "static int at[8] = {5, 5};"),
    "a part of it": table("if (i < 5) at[i] = i ^ 1;", use="if (i < 5) y[i] = x[at[i]];"),
    "from itself": table("at[i] = i ? (at[i - 1] + 3) % 8 : 2;"),
    "from another": table(
        "by[i] = 7 - i; at[i] = by[i] ^ 1;", "static int at[8];\nstatic signed char by[8];", "y[i] = x[at[by[i]]];"
    ),
    "a bound": table("at[i] = i % 3;", use="int s = 0; for (int j = 0; j < at[i]; j++) s += x[j]; y[i] = s;"),
    "written twice": table("at[i] = i; at[i] = at[i] / 2;"),
    "beside data": table("at[i] = 7 - i; by[i] = x[i];", "static int at[8], by[8];", "y[i] = by[at[i]];"),
}
OTHERS = {
    "read first": table("at[i] = 7 - at[i];"),
    "read first, at one place": table("if (i) at[i] = 7 - i;"),
    "read a turn too early": table("at[i] = at[(i + 1) % 8] & 7;"),
    "from data": table("at[i] = x[i] & 7;"),
    "under data": table("at[i] = 0; if (x[i] > 9) at[i] = 7;"),
    "one from data": table("at[i] = i == 3 ? x[0] & 7 : i;"),
    "until data says": table("at[i] = 0; if (x[i] > 90) break;", use="y[i] = x[at[i] & 7];"),
    "from a table that varies": table("by[i] = x[i] & 7; at[i] = by[i];", "static int at[8], by[8];"),
}


@pytest.mark.parametrize("name", sampled(TABLES, 8))
def test_tables(name):
    check_all(TABLES[name], "k", [("x", "i4", (8,)), ("y", "i4", (8,))])


@pytest.mark.slow
def test_an_fft_with_its_tables():
    check_all(FFT, "fft", VARIABLES)


def check_all(text: str, fn: str, variables: list[tuple]) -> None:
    """Oblivious, nothing but the data goes in or out, and every schedule that takes it gives what gcc's code gives."""
    assert c2cu.check(text, fn=fn).constant_time, c2cu.check(text, fn=fn)
    inputs = numbers(text, fn)
    expected = Original(text, fn, variables).bulk(inputs, P)
    front = pipeline.understand(read_source(text), pipeline.Options(fn=fn))
    assert {s.name for s in front.slots if s.reads or s.writes} == {n for n, _, _ in variables}
    for schedule in ("native", "gang", "auto"):
        result = c2cu.bulk(text, inputs, fn=fn, backend="cpu", schedule=schedule)
        for n, a in (result if isinstance(result, dict) else {"y": result}).items():
            assert same(a, expected[n]), (schedule, n)
    for schedule in ("registers", "block", "thread", "private"):
        artifact = choose(front, "cuda", schedule)[1]
        for n, a in run_on_cpu(artifact, inputs, P).items():
            assert same(a, expected[n]), (schedule, n)


@pytest.mark.parametrize("name", OTHERS)
def test_what_varies(name):
    """It stays data, and its results right."""
    text = OTHERS[name]
    report = c2cu.check(text, fn="k")
    assert not report.oblivious and not any(f.hint for f in report.findings)
    inputs = numbers(text)
    variables = [(n, "i4", (8,)) for n in dict.fromkeys((*inputs, "y"))]
    expected = Original(text, "k", variables).bulk(inputs, P)["y"]
    with pytest.warns(c2cu.NotObliviousWarning):
        result = c2cu.bulk(text, inputs, fn="k", backend="cpu", schedule="gang")
    assert same(result["y"] if isinstance(result, dict) else result, expected)


@pytest.mark.parametrize(
    "text, message, hint",
    [
        (
            table("at[i] = 7 - i;", "int at[8];"),
            "'at' goes out, so each input has its own",
            "all inputs would have the same 'at': declare it static, and it does not go out",
        ),
        (
            table("at[i] = 7 - i;", rest="int main(void) {\n#pragma kernel\n    k();\n    return at[3];\n}\n"),
            "'at' goes out, so each input has its own",
            "all inputs would have the same 'at': declare it static, and it does not go out",
        ),
        (
            table("at[i] = 7 - i;", "static int at[8];\nint *view = at;"),
            "'at' goes out, so each input has its own",
            "all inputs would have the same 'at': declare it static, and it does not go out",
        ),
        (
            table("", "int at[8] = {1, 2, 3};"),
            "'at' is an input",
            "if all inputs have the same 'at', declare it const",
        ),
        (table("", "int at[8];"), "'at' is an input", ""),
    ],
)
def test_what_could_be_a_table_is_told(text, message, hint):
    (finding,) = c2cu.check(text, fn="k").findings
    assert finding.trail[-1].message == message and finding.hint == hint
    assert (f"hint: {hint}" in str(c2cu.check(text, fn="k"))) == bool(hint)


READY = """float sqrtf(float);
static int {ready}; static int at[8]; int x[8], y[8];
static void fill(void) {{ if (ready) return; for (int i = 0; i < 8; i++) at[i] = {value}; ready = 1; }}
void k(void) {{ fill(); for (int i = 0; i < 8; i++) y[i] = x[at[i]]; }}
"""


@pytest.mark.parametrize(
    "ready, value, told",
    [
        ("ready", "(int)sqrtf(i)", True),  # what a library computes is not computed here
        ("ready = 0", "(int)sqrtf(i)", True),
        ("ready = 1", "7 - i", False),  # it is never filled
        ("ready", "x[i] & 7", False),  # each input has its own
    ],
)
def test_a_table_that_is_filled_once(ready, value, told):
    hint = "fill 'at' at every call, whatever 'ready' is: then all inputs have the same one" if told else ""
    text = READY.format(ready=ready, value=value)
    subscript = next(f for f in c2cu.check(text, fn="k").findings if f.kind == "address")
    assert subscript.hint == hint
    if told:
        assert c2cu.check(text.replace("if (ready) return;", ""), fn="k").oblivious
