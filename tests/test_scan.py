"""The schedule ``scan``, executed on the CPU: equal to gcc for every length, window, type, p and placement."""

import re

import numpy as np
import pytest

import c2cu
from c2cu import pipeline
from c2cu.frontend.preprocess import read_source
from c2cu.schedule.choose import choose
from c2cu.schedule.registry import emit_schedule
from tests.cuda_host import run_on_cpu
from tests.sample import sampled
from tests.test_registers import judge
from tests.workloads import WORKLOADS

LENGTHS = (1024, 1000, 33, 31, 5)
P = 70  # more than a block, and no multiple of a warp


def artifact(src, **options):
    """The schedule's artifact. Raises UnsupportedError where it does not take the program."""
    return emit_schedule("scan", pipeline.understand(read_source(src), pipeline.Options(**options)))


def numbers(variables, p=P, seed=1, shared=()):
    rng = np.random.default_rng(seed)
    out = {}
    for n, d, s in variables:
        shape = s if n in shared else (p, *s)
        a = rng.normal(size=shape) if np.dtype(d).kind == "f" else rng.integers(0, 2 if d == "bool" else 99, shape)
        out[n] = a.astype(d)
    return out


def check(text, variables, p=P, **how):
    a = artifact(text, fn="k")
    read = {s.name for s in a.slots if s.reads}
    inputs = {n: x for n, x in numbers(variables, p).items() if n in read}
    judge(a, text, "k", variables, inputs, p, **how)
    return a


def arrays(*names, n, t="float32"):
    return [(name, t, (n,)) for name in names]


@pytest.mark.parametrize("p", sampled([33, 1, 31, 32, 1000], 4))
def test_prefix_sums(p):
    w = next(w for w in WORKLOADS if w.name == "prefix-1024")
    a = artifact(w.path)
    inputs = w.inputs(p)
    expected = w.expected(inputs, p)["b"]
    assert np.array_equal(run_on_cpu(a, inputs, p)["b"].view("u4"), expected.view("u4"))


PROGRAMS = {
    "prefix sums": "float b[N]; void k(void) { float r = 0; for (int i = 0; i < N; i++) { r += b[i]; b[i] = r; } }",
    "a filter": """float x[N], y[N]; void k(void) {
        for (int i = 0; i < N; i++) {
            float s = 0.2f * x[i];
            if (i >= 1) s += 0.3f * x[i - 1] + 0.5f * y[i - 1];
            if (i >= 2) s += 0.1f * x[i - 2] - 0.25f * y[i - 2];
            y[i] = s;
        } }""",
    "a recurrence": "float x[N], y[N]; void k(void) { y[0] = x[0]; for (int i = 1; i < N; i++) y[i] = 0.5f * y[i - 1] + x[i]; }",
    "a recurrence written ahead": "float x[N], y[N]; void k(void) { y[0] = x[0]; for (unsigned i = 0; i < N - 1u; i++) y[i + 1] = 0.5f * y[i] + x[i + 1]; }",
    "in place, ahead": "float x[N]; void k(void) { for (int i = 0; i < N - 1; i++) x[i] = x[i] + x[i + 1]; }",
    "smoothing": "float x[N], y[N]; void k(void) { y[0] = x[0]; for (int i = 1; i <= N - 2; i++) y[i] = (x[i - 1] + x[i] + x[i + 1]) / 3; y[N - 1] = x[N - 1]; }",
    "a maximum": "float x[N], m; int at; void k(void) { m = x[0]; at = 0; for (int i = 1; i != N; i++) if (x[i] > m) { m = x[i]; at = i; } }",
    "a product of two": "float x[N], y[N], d; void k(void) { d = 0; for (long i = 0; i < N; i++) d += x[i] * y[i]; }",
    "two loops": "float x[N], y[N], z[N]; void k(void) { float s = 0; for (int i = 0; i < N; i++) s += x[i]; for (int i = 0; i < N; i++) { x[i] = x[i] - s / N; y[i] = z[i] * s; } }",
    "partly written": "float x[N], y[N]; void k(void) { for (int i = 2; i < N - 1; i++) if (x[i] > 0) y[i] = x[i - 2]; }",
    "scratch": "float x[N], y[N]; void k(void) { float t[N]; for (int i = 0; i < N; i++) { t[i] = x[i] * 2; y[i] = i ? t[i - 1] + t[i] : 0; } y[N - 1] += x[0]; }",
    "a window": "float x[N], y[N], h[8]; void k(void) { for (int i = 0; i < N; i++) { float s = 0; for (int j = 0; j < 4; j++) if (i >= j) s += h[j] * x[i - j]; y[i] = s; } }",
    "a state": "float x[N], y[N], s[3]; void k(void) { for (int i = 0; i < N; i++) { y[i] = s[2]; for (int j = 2; j > 0; j--) s[j] = s[j - 1] * 0.5f; s[0] = x[i]; } }",
    "what the counter is": "float x[N], y[N]; void k(void) { int i; for (i = 0; i < N; i++) y[i] = x[i] * i; y[N - 1] += i; }",
}  # fmt: skip
SCALARS = {"a maximum": [("m", "float32", ()), ("at", "int32", ())], "a product of two": [("d", "float32", ())], "two loops": [("z", "float32", None)], "a window": [("h", "float32", (8,))], "a state": [("s", "float32", (3,))]}  # fmt: skip


@pytest.mark.costly
@pytest.mark.parametrize("n", sampled(LENGTHS, 6))
@pytest.mark.parametrize("name", sampled(PROGRAMS, 2))
def test_programs(name, n):
    text = f"#define N {n}\n{PROGRAMS[name]}\n"
    names = [v for v in "bxy" if re.search(rf"\b{v}\[N\]", text)]
    variables = arrays(*names, n=n) + [(v, d, (n,) if s is None else s) for v, d, s in SCALARS.get(name, ())]
    check(text, variables)
    check(text, variables, p=33, in_place=True)
    check(text, variables, p=31, in_place=True, shift=4)


@pytest.mark.parametrize("p", sampled([33, 1, 31, 32, 70], 3))
def test_numbers_of_inputs(p):
    text = f"#define N 100\n{PROGRAMS['a filter']}\n"
    check(text, arrays("x", "y", n=100), p=p)


TYPES = {"_Bool": "bool", "unsigned char": "uint8", "short": "int16", "unsigned": "uint32", "long": "int64", "double": "float64"}  # fmt: skip


@pytest.mark.parametrize("n", sampled([131, 256, 5], 2))
@pytest.mark.parametrize("t", sampled(TYPES, 8))
def test_types(t, n):
    """Elements of 1 to 8 bytes, by themselves and beside those of 4; places that are not aligned."""
    text = (
        f"{t} a[{n}], b[{n}]; float f[{n}];\nvoid k(void) {{\n    {t} s = 0;\n"
        f"    for (int i = 0; i < {n}; i++) {{ s = s + a[i] + (i > 2 ? a[i - 3] : 0); b[i] = s; f[i] = f[i] * 2 + a[i]; }}\n}}\n"
    )
    variables = [*arrays("a", "b", n=n, t=TYPES[t]), ("f", "float32", (n,))]
    check(text, variables)
    check(text, variables, in_place=True, shift=8)
    alone = (
        f"{t} a[{n}];\nvoid k(void) {{ {t} s = 1; for (int i = 0; i < {n}; i++) {{ s = s * 3 + a[i]; a[i] = s; }} }}\n"
    )
    check(alone, arrays("a", n=n, t=TYPES[t]))
    check(alone, arrays("a", n=n, t=TYPES[t]), in_place=True, shift=np.dtype(TYPES[t]).itemsize)


def test_a_polynomial_hash():
    text = "unsigned char s[500]; unsigned long long h;\nvoid k(void) { h = 14695981039346656037ull; for (int i = 0; i < 500; i++) h = (h ^ s[i]) * 1099511628211ull; }\n"
    check(text, [("s", "uint8", (500,)), ("h", "uint64", ())])


def test_a_filter_of_64_taps():
    text = """
    void fir(const float *x, const float *h, float *y) {
        for (int i = 0; i < 200; i++) {
            float s = 0;
            for (int j = 0; j < 64; j++) s += h[j] * x[i + j];
            y[i] = s;
        }
    }"""
    params = [("x", "float32", (263,)), ("h", "float32", (64,)), ("y", "float32", (200,))]
    a = artifact(text, shapes={n: s for n, _, s in params}, shared=("h",))
    inputs = numbers(params, shared=("h",))
    from tests.oracle import Original, same

    whole = {n: np.broadcast_to(v, (P, *v.shape)) if n == "h" else v for n, v in inputs.items()}
    expected = Original(text, "fir", [], params).bulk(whole, P)["y"]
    assert same(run_on_cpu(a, {n: inputs[n] for n in "xh"}, P)["y"], expected)


def test_what_is_not_given_starts_at_zero():
    text = "float x[40], y[40];\nvoid k(void) { for (int i = 0; i < 40; i++) if (x[i] > 0) y[i] = x[i]; }\n"
    a = artifact(text)
    x = numbers(arrays("x", n=40))["x"]
    assert np.array_equal(run_on_cpu(a, {"x": x}, P)["y"], np.maximum(x, 0))


def test_fast_is_asked_for():
    text = "float x[40], m;\nvoid k(void) { m = x[0]; for (int i = 0; i < 40; i++) if (x[i] > m) m = x[i]; }\n"
    exact, fast = artifact(text), artifact(text, fp="fast")
    assert "fmaxf" not in exact.text and not exact.flags and "fmaxf" in fast.text and fast.flags == ("--fmad=true",)


@pytest.mark.parametrize(
    "text, message",
    [
        ("int a[500], b;\nvoid k(void) { b = a[b & 7]; }\n", "subscript of 'a' depends on input data"),
        ("int a[8], b;\nvoid k(void) { b = a[3]; }\n", "no loop at top level goes through an array element by element"),
        ("int a[500];\nvoid k(void) { for (int i = 499; i >= 0; i--) a[i] = i; }\n", "no loop at top level"),
        ("int a[500], b[500];\nvoid k(void) { for (int i = 0; i < 250; i++) b[i] = a[2 * i]; }\n", "'a' has subscripts that do not become constants: 2000 bytes"),
        ("int a[500], b[500];\nvoid k(void) { for (int i = 0; i < 500; i++) b[i] = a[i] + a[499 - i]; }\n", "subscript of 'a' is not the counter of a loop at top level, plus a constant"),
        ("int a[500], b[500];\nvoid k(void) { for (int i = 0; i < 400; i++) b[i] = a[i + 99]; }\n", "'a' is accessed 99 elements away from the counter"),
        ("int a[500];\nvoid k(void) { for (int i = 0; i < 500; i++) a[i] = i + a[7]; }\n", "'a' is written, and accessed at one fixed element in every iteration"),
        ("int a[500], b[500];\nvoid k(void) { for (int i = 0; i < 500; i++) a[i] += i; for (int i = 0; i < 500; i++) b[i] = a[i]; }\n", "'a' is written in one loop and used in another"),
        ("int a[500], b;\nvoid k(void) { for (int i = 0; i < 500; i++) a[i] += i; b = a[3]; }\n", "'a[3]' is used after the loop through 'a', far from it"),
        ("int a[500], b;\nvoid k(void) { a[300] = b; for (int i = 0; i < 500; i++) a[i] += i; }\n", "'a[300]' is used before the loop through 'a', far from it"),
        ("int a[500], b;\nvoid k(void) { for (int i = 0; i < 500; i++) b += a[i]; a[2] = b; }\n", "'a' is written outside of the loop that goes through it"),
        ("struct S { int x, y; } a[500]; int b;\nvoid k(void) { for (int i = 0; i < 500; i++) b += a[i].x; }\n", "'a.x' is not an array of numbers"),
        ("int a[500] = {1}, b;\nvoid k(void) { for (int i = 0; i < 500; i++) b += a[i]; }\n", "'a' has initial elements"),
    ],
)  # fmt: skip
def test_refused(text, message):
    with pytest.raises(c2cu.UnsupportedError, match=re.escape(message)) as caught:
        artifact(text, fn="k")
    assert caught.value.line in (1, 2)


def test_chosen_for_long_arrays():
    front = pipeline.understand(read_source("examples/prefix_sums.c"), pipeline.Options())
    plan, _ = choose(front, "cuda")
    assert plan.schedule == "scan" and plan.rejected[0][0] == "registers"


def test_the_same_text_every_time():
    text = f"#define N 1000\n{PROGRAMS['two loops']}\n"
    assert artifact(text).text == artifact(text).text
