"""Complex numbers: in lowering two parts, equal to gcc's, with annex G's infinities, NaNs and signs of zeros."""

import itertools
import random

import numpy as np
import pytest

import c2cu
from c2cu import pipeline
from c2cu.frontend.preprocess import read_source
from c2cu.schedule.registry import emit_schedule
from tests.cuda_host import run_on_cpu
from tests.oracle import Original, same
from tests.programs import share
from tests.sample import sampled, slow

P = 37
HEAD = (
    "#include <complex.h>\n#include <math.h>\n#include <string.h>\n"
    "double complex z[8], w[8];\nfloat complex f[4];\ndouble x[8];\nint n[8];\n"
)
VARIABLES = [("z", "c16", (8,)), ("w", "c16", (8,)), ("f", "c8", (4,)), ("x", "f8", (8,)), ("n", "i4", (8,))]

#: name -> (declarations, statements)
CONSTRUCTS = {
    "constants": (
        "static const double complex t[3] = {1.1 + 2.2 * I, (1.1 + 2.3 * I) * (3.3 - 4.7 * I), 1 / (3.0 + I)};\n"
        "const double complex k = 0.1 + 0.7 * I; static double complex g = 2.5;",
        "w[0] = t[1] * z[0]; w[1] = t[2] + t[n[0] & 1]; w[2] = (0.1 + 0.3 * I) * (0.7 - 1.3 * I); w[3] = k * k; "
        "w[4] = 1.0 / (0.3 + 0.7 * I) + g; w[5] = -k / k; w[6] = k * 3; w[7] = CMPLX(0.1, -0.0) + CMPLXF(1, 2); "
        "static const float complex s = (0.1f + 0.3f * I) * (0.7f + 1.1f * I); f[0] = s; f[1] = s / (0.3f - I) * f[2];",
    ),
    "members": (
        "struct S { int k; double complex a; float complex b[2]; };\nstatic struct S g(struct S v, double complex *p) "
        "{ v.a *= *p; v.b[1] = v.a; *p += v.b[0]; return v; }",
        "struct S s[2] = {{1}}; s[0].a = z[0]; s[0].b[0] = z[1]; s[0].b[1] = 0; double complex t = z[2]; s[1] = g(s[0], &t); w[0] = s[1].a; "
        "w[1] = s[1].b[1]; w[2] = t; struct S *q = &s[1]; q->a /= 2; w[3] = q->a; q->b[0] = x[1]; w[4] = s[n[0] & 1].b[0];",
    ),
    "parts": (
        "",
        "double complex t; __real__ t = x[0]; __imag__ t = x[1]; w[0] = t; w[1] = __imag__ z[0] + __real__ x[0]; "
        "__imag__ w[2] += 3; __real__ w[3]++; w[4] = __imag__ 3.0; w[5] = cimag(z[1]) + creal(x[2]) * conj(z[2]); "
        "x[3] = cimagf(f[1]) + crealf(z[0]); double *p = (double *)&t; p[0] = 7; w[6] = t;",
    ),
    "seen as reals": (
        "",
        "double *p = (double *)z, s = 0; for (int i = 0; i < 16; i++) s += p[i] * i; for (int i = 1; i < 8; i++) "
        "{ p[2 * i] = x[i]; p[2 * i + 1] *= -x[i]; } x[0] = s; double complex *q = (double complex *)(x + 2); q[1] *= I; "
        "memcpy(w, z + 1, (n[0] & 3) * sizeof *w); memset(f, 0, sizeof f[0]); p = (double *)w; x[1] = p[n[1] & 15];",
    ),
    "unions": (
        "union U { double complex c; double d[2]; unsigned long u[2]; } u; union V { float complex c; double d; } v;",
        "u.c = z[0]; u.d[1] = 3; w[0] = u.c; u.u[0] ^= 1ul << 63; w[1] = u.c; v.c = z[1]; x[0] = v.d; v.d = x[1]; w[2] = v.c;",
    ),
    "pointers and loops": (
        "static void swap(double complex *p, double complex *q) { double complex t = *p; *p = *q; *q = t; }",
        "double complex s = 0; for (int i = 0; i < 8; i++) s += z[i] * conj(z[7 - i]); double complex *p = z; "
        "while (p < z + 4) s -= *p++; w[0] = s; swap(w, w + 3); p = x[0] > 0 ? w : z; p[4] *= 2; double complex m[2][3]; "
        "for (int i = 0; i < 6; i++) m[i / 3][i % 3] = z[i] - i * I; w[1] = m[1][n[0] & 1] * m[0][2];",
    ),
    "choices": (
        "",
        "w[1] = x[0] > 0 ? z[0] : x[1]; w[2] = x[0] > 0 ? 1 : 2 * I; w[3] = (w[4] = z[1], w[4] + 1); "
        "w[5] = ({ double complex t = z[2]; t * t; }); if (z[3]) n[0] = 1; n[1] = !z[4] + (z[0] && w[1]) + (z[5] == z[5]); "
        "for (int i = 0; i < 8; i++) { switch (i & 3) { case 0: w[i] = z[i]; break; case 1: w[i] = z[i] * 2; case 2: "
        "w[i] += I; break; default: w[i] = conj(z[i]); } if (cabs(w[i]) > 1) continue; w[i] /= cabs(w[i]); }",
    ),
    "from and to reals": (
        "_Bool b; float r;",
        "x[0] = z[0]; x[1] += z[1]; x[2] *= z[2]; n[0] = z[3]; n[1] = (int)(z[0] * 5); r = (float)z[1]; b = z[2]; "
        "x[3] = creal(z[0] * z[1]) + cimag(x[4]); x[5] -= I; n[1] += z[1]; w[0] = n[2]; w[1] = (double complex)x[6] * n[3]; "
        "w[2] = f[0] * x[0] + f[1] * n[4] + r; f[2] = z[4]; f[3] *= 2.5; f[1] += 1.1; f[0] -= b;",
    ),
    "calls": (
        "static double complex sq(double complex a) { return a * a; } static float complex half(float complex a) { return a / 2; }\n"
        "static double complex (*const k[2])(double complex) = {sq, sq}; static double norm(double complex a) "
        "{ double p = creal(a), q = cimag(a); return p * p + q * q; }",
        "w[0] = sq(z[0]); w[1] = sq(x[0]); w[2] = norm(z[1]); w[3] = k[1](z[2]) - half(z[3]); static double complex t = 3 + I; "
        "t *= z[4]; w[4] = t;",
    ),
    "gnu": (
        "",
        "__complex__ double t = 3.0 + 2.5i; w[0] = t * z[0]; w[1] = 1.0fi * x[0] + 0x1p-2j; w[2] = ~z[1]; w[3] = t++ + --t; "
        "w[4] = +t; w[5] = !t; __typeof__(t) y = t--; w[6] = y; w[7] = (double _Complex){2.0};",
    ),
    "order": (
        "static double complex g(void) { w[7] = 9; x[7] = 5; return 2 + I; } static double h(void) { w[7] = 8; return 3; }",
        "w[0] = w[7] + g(); w[7] = z[7]; w[1] = w[7] - g(); x[7] = 1; w[2] = x[7] * g(); x[7] = 1; w[3] = x[7] + g(); x[7] = 1; "
        "x[7] += g(); w[7] = 1; w[4] = w[7] * g(); w[7] = z[0]; w[7] *= g(); w[5] = w[7]; w[7] = 3; w[6] = w[7] == g(); "
        "w[7] = z[1]; w[0] += w[7] * h(); w[7] = z[1]; w[1] += w[7] + h(); w[7] = z[2]; w[2] -= h() - w[7]; w[7] = z[3]; w[3] /= g();",
    ),
    "the library": (
        "",
        "w[0] = cexp(z[0]); w[1] = csqrt(z[1]); w[2] = clog(z[2]); w[3] = cpow(z[0], z[1]); w[4] = csin(z[2]) + ccosh(z[3]); "
        "w[5] = catan(z[1]) * cabs(z[4]); w[6] = cexp(I * x[0]) + cproj(z[2]); w[7] = csqrtf(z[0]) + carg(z[3]); f[0] = cexpf(f[1]); "
        "f[1] = conjf(f[2]) + cabsf(f[3]) * cargf(f[3]);",
    ),
}


def text_of(declarations: str, statements: str) -> str:
    return f"{HEAD}{declarations}\nvoid kern(void)\n{{\n    {statements}\n}}\n"


def numbers(rng: np.random.Generator, t: str, shape: tuple[int, ...]) -> np.ndarray:
    if t[0] == "i":
        return rng.integers(-9, 9, shape).astype(t)
    values = rng.normal(size=shape) + (1j * rng.normal(size=shape) if t[0] == "c" else 0)
    return values.astype(t)


def run(text: str, variables: list[tuple], inputs: dict[str, np.ndarray], p: int, schedules: tuple[str, ...]) -> None:
    """Compare schedules with gcc."""
    expected = Original(text, "kern", variables).bulk(inputs, p, fresh="static" in text)
    understood = pipeline.understand(read_source(text), pipeline.Options(fn="kern"))
    inputs = {s.name: inputs[s.name] for s in understood.slots if s.name in inputs}
    for schedule in schedules:
        if schedule in ("gang", "native"):
            results = c2cu.compile(text, fn="kern", backend="cpu", schedule=schedule, verify=False)(inputs)
            if not isinstance(results, dict):
                results = {s.name: results for s in understood.slots if s.writes}
        else:
            results = run_on_cpu(emit_schedule(schedule, understood), inputs, p)
        for name in results.keys() & expected.keys():
            assert same(results[name], expected[name]), f"{name} differs under {schedule}\n{text}"


def judge(text: str, seed: int, schedules: tuple[str, ...]) -> None:
    rng = np.random.default_rng(seed)
    run(text, VARIABLES, {n: numbers(rng, t, (P, *shape)) for n, t, shape in VARIABLES}, P, schedules)


@pytest.mark.costly
@pytest.mark.parametrize("construct", sampled(CONSTRUCTS, 1))
@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
def test_constructs(construct):
    judge(text_of(*CONSTRUCTS[construct]), len(construct), ("gang",))


@pytest.mark.parametrize("construct", sampled(CONSTRUCTS, 6))
def test_constructs_that_stay_as_they_are(construct):
    judge(text_of(*CONSTRUCTS[construct]), len(construct), ("native",))


FOR_REGISTERS = [
    c for c in CONSTRUCTS if c not in ("constants", "members", "seen as reals", "pointers and loops", "the library")
]


@pytest.mark.parametrize("construct", sampled(FOR_REGISTERS, 4))
def test_constructs_in_cuda_text(construct):
    judge(text_of(*CONSTRUCTS[construct]), len(construct), ("registers",))


# Operations on special values

OPERATIONS = (
    "a*b a/b a+b a-b a*x a/x a+x a-x x*a x/a x+a x-a -a ~a conj(a) cproj(a) I*a a*I x+I*x (1+2*I)*a a/(2-I) 1/a".split()
)
TRUTHS = "a==b a!=b a==x x!=a !a a&&b (_Bool)a a?3:4".split()


def operations(t: str, count: int) -> tuple[str, list[tuple]]:
    """A program that does all operations with ``count`` operands, and its variables."""
    lines = [f"r[{k}][i] = {e};" for k, e in enumerate(OPERATIONS)] + [
        f"q[{k}][i] = {e};" for k, e in enumerate(TRUTHS)
    ]
    lines += ["p[i] = a; p[i] *= b; s[i] = a; s[i] /= b; p[i]++;"]
    if t == "float":
        lines = [x.replace("conj(", "conjf(").replace("cproj(", "cprojf(") for x in lines]
    text = (
        f"#include <complex.h>\n{t} complex A[{count}], B[{count}], p[{count}], s[{count}], r[{len(OPERATIONS)}][{count}];\n"
        f"{t} X[{count}]; int q[{len(TRUTHS)}][{count}];\nvoid kern(void)\n{{\n    for (int i = 0; i < {count}; i++) {{\n"
        f"    {t} complex a = A[i], b = B[i]; {t} x = X[i];\n    {' '.join(lines)}\n    }}\n}}\n"
    )
    c, f = ("c8", "f4") if t == "float" else ("c16", "f8")
    results = [
        ("p", c, (count,)),
        ("s", c, (count,)),
        ("r", c, (len(OPERATIONS), count)),
        ("q", "i4", (len(TRUTHS), count)),
    ]
    return text, [("A", c, (count,)), ("B", c, (count,)), ("X", f, (count,)), *results]


def operands(t: str) -> np.ndarray:
    """Four numbers in each row: all combinations of special ones, numbers of any size, and near the bounds at which
    GCC's division scales."""
    info, rng = np.finfo(t), np.random.default_rng(5)
    special = np.array([0.0, -0.0, 1, np.inf, -np.inf, np.nan, -2.25, info.max, info.tiny / 8], t)
    every = np.array(list(itertools.product(special, repeat=4)), t)
    bounds = np.array([info.max / 2, info.max / 2 * info.eps, info.tiny, info.eps, 1], t)
    bound = rng.choice(bounds, (4000, 4)) * rng.uniform(0.5, 2, (4000, 4)) * rng.choice([-1, 1], (4000, 4))
    with np.errstate(over="ignore"):
        anything = np.ldexp(rng.normal(size=(4000, 4)), rng.integers(info.minexp, info.maxexp, (4000, 4)))
        return np.concatenate([every, bound.astype(t), anything.astype(t), rng.normal(size=(1000, 4)).astype(t)])


def arrays(t: str, count: int, every: int = 1) -> tuple[int, dict[str, np.ndarray]]:
    numbers = operands(t)[::every]
    numbers = numbers[: len(numbers) // count * count].reshape(-1, count, 4)
    a, b = (np.ascontiguousarray(numbers[..., k : k + 2]).view("c8" if t == "f4" else "c16")[..., 0] for k in (0, 2))
    return len(numbers), {"A": a, "B": b, "X": np.ascontiguousarray(numbers[..., 1])}


@pytest.mark.slow
@pytest.mark.parametrize("t", [slow("double"), "float"])
def test_special_values(t):
    text, variables = operations(t, 64)
    p, inputs = arrays("f4" if t == "float" else "f8", 64)
    run(text, variables, inputs, p, ("gang", "native"))


@pytest.mark.slow
@pytest.mark.parametrize("t", sampled(["double", "float"], 1))
def test_special_values_in_cuda_text(t):
    text, variables = operations(t, 1)
    p, inputs = arrays("f4" if t == "float" else "f8", 1, every=5)
    run(text, variables, inputs, p, ("registers",))


#: What gcc may compute as something else: by a minus, by one, by zero, by a constant that a variable holds.
REWRITTEN = [
    *(
        "-z/(1.0+1.0*I) -z/-w z/-w 1/-z 1.0/-z (1.0-1.0*I)/-z -x/-z x/-z -x/z -1/-z I/-z -I/z -(z/w) -(z*w) "
        "-z*-w z/conj(1.0+0*I) z/CMPLX(-1.0,-0.0) z/(-1.0+0*I) z/(0*I+1) z*CMPLX(1,0) z+CMPLX(0,0) "
        "z-CMPLX(0,0) 0.0-z z-0.0 z+0.0 z*1 z/1 z*-1 z/-1.0 2*z-z z/z z*(1.0/0.0) 0.0*z z/0.0 z/(0.0+0*I) "
        "conj(-z) -conj(z) x+I*0.0 x*(I*I) z*I*I (0.0*I)-z -z+w z-(-w) -x*z"
    ).split(),
    "({ double complex k = 0.1 + 0.7 * I; k = k * k; z + k / (0.3 - I); })",
    "({ double complex k = 1; if (x > 0) k = 1; z / k; })",
    "({ double complex k = 1; if (x > 0) k = 0.3 + I; k *= k; z / k; })",
    "({ double complex k = I; for (int j = 0; j < 3; j++) k *= 0.3 + I; z * k; })",
]


@pytest.mark.slow
def test_what_gcc_rewrites():
    functions = (
        f"static __attribute__((noinline)) double complex f{k}(double complex z, double complex w, double x) {{ return {e}; }}\n"
        for k, e in enumerate(REWRITTEN)
    )
    calls = " ".join(f"r[{k}][i] = f{k}(A[i], B[i], X[i]);" for k in range(len(REWRITTEN)))
    text = (
        f"#include <complex.h>\ndouble complex A[64], B[64], r[{len(REWRITTEN)}][64]; double X[64];\n{''.join(functions)}"
        f"void kern(void) {{ for (int i = 0; i < 64; i++) {{ {calls} }} }}\n"
    )
    p, inputs = arrays("f8", 64)
    variables = [("A", "c16", (64,)), ("B", "c16", (64,)), ("X", "f8", (64,)), ("r", "c16", (len(REWRITTEN), 64))]
    run(text, variables, inputs, p, ("gang",))


# Programs

FFT = """#include <complex.h>
double complex x[16], w[8];
void kern(void)
{
    for (int i = 1, j = 0; i < 16; i++) {
        int bit = 8;
        for (; j & bit; bit >>= 1) j ^= bit;
        j ^= bit;
        if (i < j) { double complex t = x[i]; x[i] = x[j]; x[j] = t; }
    }
    for (int len = 2; len <= 16; len <<= 1)
        for (int i = 0; i < 16; i += len)
            for (int k = 0; k < len / 2; k++) {
                double complex u = x[i + k], v = x[i + k + len / 2] * w[16 / len * k];
                x[i + k] = u + v;
                x[i + k + len / 2] = u - v;
            }
}
"""
RECURSIVE = """#include <complex.h>
#include <math.h>
float complex x[16];
static void fft(float complex *a, float complex *out, int n, int step)
{
    if (step >= n) return;
    fft(out, a, n, step * 2);
    fft(out + step, a + step, n, step * 2);
    for (int i = 0; i < n; i += 2 * step) {
        float complex t = cexpf(-I * (float)M_PI * i / n) * out[i + step];
        a[i / 2] = out[i] + t;
        a[(i + n) / 2] = out[i] - t;
    }
}
void kern(void)
{
    float complex out[16];
    for (int i = 0; i < 16; i++) out[i] = x[i];
    fft(x, out, 16, 1);
}
"""
MANDELBROT = """#include <complex.h>
double complex c; int n;
void kern(void)
{
    double complex z = 0;
    n = 0;
    for (int i = 0; i < 50 && cabs(z) <= 2; i++, n++) z = z * z + c;
}
"""
FILTER = """#include <complex.h>
float complex x[24], y[24], h[5], state;
void kern(void)
{
    for (int i = 4; i < 24; i++) {
        float complex s = 0;
        for (int k = 0; k < 5; k++) s += x[i - k] * h[k];
        state = state * 0.5f + s;
        y[i] = state / (1.0f + cabsf(s));
    }
}
"""
SOLVER = """#include <complex.h>
double complex a[4][5];
void kern(void)
{
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < 4; i++)
            if (i != k) {
                double complex q = a[i][k] / a[k][k];
                for (int j = k; j < 5; j++) a[i][j] -= q * a[k][j];
            }
    for (int k = 0; k < 4; k++) a[k][4] /= a[k][k];
}
"""
PROGRAMS = {
    "fft": (FFT, [("x", "c16", (16,)), ("w", "c16", (8,))], ("gang", "registers", "block")),
    "recursive fft": (RECURSIVE, [("x", "c8", (16,))], ("gang",)),
    "mandelbrot": (MANDELBROT, [("c", "c16", ()), ("n", "i4", ())], ("gang",)),
    "filter": (
        FILTER,
        [("x", "c8", (24,)), ("y", "c8", (24,)), ("h", "c8", (5,)), ("state", "c8", ())],
        ("gang", "registers"),
    ),
    "linear equations": (SOLVER, [("a", "c16", (4, 5))], ("gang", "registers")),
}


@pytest.mark.parametrize("name", sampled(PROGRAMS, 4))
@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
def test_programs(name):
    text, variables, schedules = PROGRAMS[name]
    rng = np.random.default_rng(len(name))
    inputs = {n: numbers(rng, t, (P, *shape)) for n, t, shape in variables}
    run(text, variables, inputs, P, (*schedules, "native"))


@pytest.mark.parametrize(
    ("text", "inputs"),
    [
        (
            "double complex kern(double complex c, float complex *a) { a[1] *= 2; c += a[0]; return c * c; }",
            {"c": 1 - 2j, "a": [1j, 3]},
        ),
        (
            "void kern(int k, double complex *a) { for (int i = 0; i < k; i++) a[i] *= a[k - 1 - i]; }",
            {"k": 2, "a": [1j, 3]},
        ),
        ("double complex kern(const double complex m[][2]) { return m[0][1] / m[1][0]; }", {"m": [[1j, 3], [4, 5j]]}),
        ("double complex g = 3 + I; void kern(double complex *a) { g *= a[0]; a[1] = g; }", {"a": [1j, 3]}),
        (
            "double complex g; double kern(double complex *a) { __imag__ g = 5; return creal(g * a[0]); }",
            {"g": 2, "a": [1j]},
        ),
    ],
)
@pytest.mark.parametrize("alike", [False, True])
def test_parameters(text, inputs, alike):
    """They go in and out as NumPy's complex numbers; a scalar may be one number for all inputs."""
    text = f"#include <complex.h>\n{text}\n"
    types = {s.name: np.dtype(s.dtype) for s in c2cu.compile(text, fn="kern", backend="cpu").slots}
    first = {n: np.array(v, types[n]) for n, v in inputs.items()}
    arguments = {n: np.stack([v + k for k in range(5)]).astype(types[n]) for n, v in first.items()}
    arguments |= {n: v for n, v in inputs.items() if n == "k" or (alike and n == "c")}
    gang, native = (
        c2cu.bulk(text, arguments, fn="kern", backend="cpu", schedule=schedule, verify=False)
        for schedule in ("gang", "native")
    )
    gang, native = (r if isinstance(r, dict) else {"": r} for r in (gang, native))
    assert gang.keys() == native.keys()
    assert all(same(gang[n], native[n]) for n in native)


def test_one_number_for_all():
    text = "#include <complex.h>\ndouble complex g, x[2];\nvoid kern(void) { for (int i = 0; i < 2; i++) x[i] *= g; }\n"
    x = numbers(np.random.default_rng(1), "c16", (5, 2))
    out = c2cu.bulk(text, {"x": x}, shared={"g": 2 - 1j}, backend="cpu", schedule="gang")
    assert np.array_equal(out, x * (2 - 1j))
    with pytest.raises(c2cu.InputError, match="'n'"):
        c2cu.bulk("int n, x[2];\nvoid kern(void) { x[0] += n; }\n", {"x": np.ones((1, 2), "i4")}, shared={"n": 1j})


# What is left to the C itself


@pytest.mark.parametrize(
    "statement",
    [
        "_Complex int k = 3; x[0] = __real__ k;",
        "x[0] = creal(1 + 2i * x[1]);",
        "z[0] = csqrt(2.0 + 3.0 * I);",
        "long double complex t = z[0]; x[0] = creall(t * t);",
        "static const long double complex t = 2; x[0] = t;",
    ],
)
def test_not_analysed(statement):
    text = text_of("", statement)
    with pytest.raises(c2cu.UnsupportedError, match="long double|[cC]omplex|of a constant") as caught:
        c2cu.compile(text, fn="kern", backend="cpu", schedule="gang")
    assert caught.value.line is not None
    judge(text, 3, ("native",))


@pytest.mark.parametrize("schedule", ["private", "thread"])
def test_not_printed_as_cpp(schedule):
    with pytest.raises(c2cu.UnsupportedError, match="complex") as caught:
        emit_schedule(schedule, pipeline.understand(read_source(FFT), pipeline.Options(fn="kern")))
    assert caught.value.line is not None


# Random programs


class _Writer:
    """Writes a random program of complex and real numbers. Nothing is negated: where a quotient has the operands of
    another but for their signs, gcc takes the other's opposite, whose zeros may have other signs."""

    def __init__(self, seed: int):
        self.r = random.Random(seed)
        self.variables = ["u", "v", "q", "m[0]", "m[1]", "s.c", "g"]

    def real(self, depth: int) -> str:
        r = self.r
        if depth <= 0 or r.random() < 0.3:
            return r.choice(
                [f"x[{r.randrange(8)}]", f"n[{r.randrange(8)}]", "0.5", "-0.0", "3", "1e200", "(1.0 / 0.0)"]
            )
        c, e = self.complex(depth - 1), self.real(depth - 1)
        return r.choice(
            [
                f"creal({c})",
                f"cimag({self.either(depth - 1)})",
                f"__imag__ ({c})",
                f"(double)({c})",
                f"({c} {r.choice(['==', '!='])} {self.either(depth - 1)})",
                f"!{c}",
                f"({e} {r.choice('+-*')} {self.real(depth - 1)})",
                f"cabs({c})",
            ]
        )

    def either(self, depth: int) -> str:
        return self.complex(depth) if self.r.random() < 0.6 else self.real(depth)

    def complex(self, depth: int) -> str:
        r = self.r
        if depth <= 0 or r.random() < 0.2:
            return r.choice([*self.variables, f"z[{r.randrange(8)}]", f"f[{r.randrange(4)}]", "I", "(0.5 - 2 * I)"])
        c, e = self.complex(depth - 1), self.either(depth - 1)
        return r.choice(
            [
                f"({c} {r.choice('+-*/')} {e})",
                f"({e} {r.choice('+-*/')} {c})",
                f"({c} {r.choice('+-*/')} {self.complex(depth - 1)})",
                f"({r.choice('~+')}{c})",
                f"({self.real(depth - 1)} ? {c} : {e})",
                f"(double complex){e}",
                f"(float complex){c}",
                f"conj({e})",
                f"h({e}, {self.real(depth - 1)})",
                f"CMPLX({self.real(depth - 1)}, {self.real(depth - 1)})",
            ]
        )

    def statement(self) -> str:
        r, v = self.r, self.r.choice(self.variables)
        return r.choice(
            [
                f"{v} = {self.either(3)};",
                f"{v} {r.choice(['+=', '-=', '*=', '/='])} {self.either(2)};",
                r.choice([f"{v}++;", f"--{v};", f"w[0] += {v}--;"]),
                f"{v} = {self.real(1)} + I * {self.real(1)};",
                f"if ({self.either(2)}) {v} = {self.complex(2)};",
                f"for (int k = 0; k < 3; k++) {v} += {self.complex(2)};",
                f"w[{r.randrange(8)}] {r.choice(['=', '+=', '*='])} {self.complex(2)};",
                f"x[{r.randrange(8)}] {r.choice(['+=', '*='])} {self.either(2)};",
                f"f[{r.randrange(4)}] {r.choice(['=', '-=', '*=', '/='])} {self.either(2)};",
            ]
        )

    def text(self) -> str:
        lines = [self.statement() for _ in range(8)]
        lines += [f"w[{k}] += {v};" for k, v in enumerate(self.variables)]
        first = (
            "double complex u = z[0], v = x[0], m[2] = {z[1], z[4]}; float complex q = z[2]; struct S s = {1, z[3]};"
        )
        h = (
            "static double complex h(double complex a, double b) { if (creal(a) > b) return a - b; return a * 3 + b; }\n"
            "double complex g = 2 + I; struct S { int k; float complex c; };"
        )
        return text_of(h, "\n    ".join([first, *lines]))


def random_inputs(seed: int) -> dict[str, np.ndarray]:
    """Any numbers, and many special ones."""
    rng, out = np.random.default_rng(seed), {}
    for name, t, shape in VARIABLES:
        out[name] = numbers(rng, t, (P, *shape))
        if t != "i4":
            parts = out[name].view(out[name].real.dtype)
            special = rng.choice([0.0, -0.0, 1, np.inf, -np.inf, np.nan, 1e38, 1e-38], parts.shape)
            parts[...] = np.where(rng.random(parts.shape) < 0.3, special, parts)
    return out


@pytest.mark.costly
@pytest.mark.parametrize("seed", sampled(range(share(10, 12)), 3))
@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
def test_random_programs(seed):
    run(_Writer(seed).text(), VARIABLES, random_inputs(seed), P, ("gang",))
