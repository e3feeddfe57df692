"""Functions of math.h for all lanes at once, with the bits of this machine's library."""

import ctypes
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import c2cu
from c2cu.base import toolchain
from c2cu.base.libm import FUNCTIONS, PAIRS
from c2cu.base.mathematics import fused, mathematics
from c2cu.schedule.gang import emit, functions, same_bits
from c2cu.schedule.gang.functions import SLOWER, names
from tests import oracle

pytestmark = [
    pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning"),
    pytest.mark.skipif(
        not toolchain.cpu_features() >= same_bits.NEEDS, reason="no AVX2 and FMA: lanes call the library"
    ),
]
rng = np.random.default_rng(3)

ARRAYS = """
#include <math.h>
void k(const T a[9], const T b[9], T r[9]) { for (int i = 0; i < 9; i++) r[i] = CALL; }
"""
NEWTON = """
#include <math.h>
int k(double *x) {  /* the lanes take new inputs as they end */
    int n = 0;
    while (fabs(exp(*x) - 3 * *x - 1.5) > 1e-9 && n < 99) { *x -= (exp(*x) - 3 * *x - 1.5) / (exp(*x) - 3); n++; }
    return n;
}
"""
BRANCHES = """
#include <math.h>
double k(double x, double y, int n) {
    double s = 0;
    for (int i = 0; i < n; i++) {
        if (x > i) s += sin(x * i) * log(y); else if (y > 2) s -= pow(y, x) + cos(s);
    }
    return s;
}
"""
MIXED = """
#include <math.h>
float k(float x, unsigned char n, long m) { return expf(x) * n + (float)tanh(m * 0.25) + sinf(x) * powf(x * x, 1.5f); }
"""


def same(a, b) -> bool:
    """Whether all bits are the same."""
    return a.tobytes() == b.tobytes()


def gang_and_native(text, inputs):
    """The results of both, and gang's program."""
    gang, native = (c2cu.compile(text, backend="cpu", schedule=s, verify=False) for s in ("gang", "native"))
    return gang(inputs), native(inputs), gang


def as_seen(name):
    """Skip where the library's build is one that was not seen."""
    if name in same_bits.TELLING and not mathematics().startswith(("glibc 2.36", "glibc 2.39")):
        pytest.skip(f"other builds of the library than Debian's and Ubuntu's may fuse other operations of {name}")


@pytest.mark.parametrize("name", [*sorted(names()), *PAIRS])
def test_every_function_has_the_librarys_bits(name):
    as_seen(name)
    assert same_bits.compared([name]) == {name: same_bits.EQUAL}


@pytest.mark.parametrize("name", sorted(names() - SLOWER))
def test_kernels_call_it(name):
    as_seen(name)
    t, parameters = FUNCTIONS[name]
    call = f"{name}(a[i]{', b[i]' if len(parameters) == 2 else ''})"
    dtype = f"f{t.size}"
    a, b = rng.normal(size=(2, 333, 9)) * 3
    a[:4] = [[0, -0.0, np.inf, -np.inf, np.nan, 1e-300, -1e300, 1, -1]] * 4
    with np.errstate(over="ignore"):
        inputs = {"a": a.astype(dtype), "b": b.astype(dtype)}
    gang, native, program = gang_and_native(ARRAYS.replace("T ", f"{t.name} ").replace("CALL", call), inputs)
    assert same(gang, native)
    assert program.loaded.artifact.functions == (name,)
    assert f"lanes_{name}(" in program.source


@pytest.mark.parametrize("text, inputs, functions", [
    (NEWTON, {"x": rng.uniform(2, 5, 1000)}, {"exp"}),
    (BRANCHES, {"x": rng.uniform(-5, 5, 500), "y": rng.uniform(.1, 5, 500), "n": rng.integers(0, 9, 500, "i4")},
     {"sin", "log", "pow", "cos"}),
    (MIXED, {"x": rng.normal(size=500).astype("f4"), "n": rng.integers(0, 255, 500, "u1"),
             "m": rng.integers(-9, 9, 500)}, {"expf", "tanh", "sinf", "powf"}),
])  # fmt: skip
def test_in_loops_and_branches(text, inputs, functions):
    gang, native, program = gang_and_native(text, inputs)
    for name in native if isinstance(native, dict) else [None]:
        assert same(gang[name], native[name]) if name else same(gang, native)
    assert set(program.loaded.artifact.functions) == functions
    assert not program.loaded.artifact.alone


TURNED = """
#include <math.h>
void k(const T a[9], T r[9], T s[9]) {
    for (int i = 0; i < 9; i++) {
        T v = a[i];
        r[i] = SIN(v) * 2;
        s[i] = COS(v) + SIN(v);
        if (v > 0) { v = v * 3; r[i] += COS(v); v = v - 1; s[i] -= SIN(v) / COS(v); }
        if (COS(r[i]) > SIN(r[i])) s[i] = SIN(COS(v)) * COS(COS(v));
    }
}
"""


@pytest.mark.parametrize(
    "t, pair, both", [("double", ("sin", "cos"), "sincos"), ("float", ("sinf", "cosf"), "sincosf")]
)
def test_sine_and_cosine_of_one_argument_are_one_function(t, pair, both):
    a = rng.normal(size=(333, 9)) * 30
    a[:4] = [[0, -0.0, np.inf, -np.inf, np.nan, 1e-30, -1e9, 1e-8, -1]] * 4
    text = TURNED.replace("T ", f"{t} ").replace("SIN", pair[0]).replace("COS", pair[1])
    gang, native, program = gang_and_native(text, {"a": a.astype("f8" if t == "double" else "f4")})
    assert same(gang["r"], native["r"]) and same(gang["s"], native["s"])
    assert both in program.loaded.artifact.functions
    assert program.source.count(f"    lanes_{both}(") >= 2


#: What changes between two uses of it.
STALE = {
    "sine": "for (int n = 0; n < 3; n++) { x = sin(x); double c = cos(x); r[0] += c; r[1] += c * c; }",
    "both": "for (int n = 0; n < 3; n++) { double s = sin(x); x = x * 0.5 + s; double c = cos(x); r[0] += s * c; r[1] += s - c; }",
    "neighbours": "for (int n = 0; n < 9; n++) { r[0] += T[i] * T[i + 1]; i = (i * 7 + 3) % 30; r[1] += T[i] * T[i + 1]; }",
    "moved": "for (int n = 0; n < 9; n++) { i = (i * 7 + 3) % 30; r[0] += T[i] * T[i + 1]; r[1] += T[i] * T[i + 1] + T[i + 2]; }",
}


@pytest.mark.parametrize("body", STALE)
def test_what_changes_is_loaded_and_called_anew(body):
    values = ", ".join(str(k * k % 37 + 0.25) for k in range(40))
    head = f"#include <math.h>\nstatic const double T[40] = {{{values}}};\n"
    text = f"{head}void k(double x, int i, double r[2]) {{ {STALE[body]} }}"
    inputs = {"x": rng.normal(size=99), "i": rng.integers(0, 30, 99, "i4"), "r": np.zeros((99, 2))}
    gang, native, _ = gang_and_native(text, inputs)
    assert same(gang, native)


@pytest.mark.parametrize("t, suffix", [("double", ""), ("float", "f")])
def test_least_and_largest_but_for_the_sign_of_zeros(t, suffix):
    """Of two zeros compilers take either."""
    body = "r[0] = fminX(a, 0.0); r[1] = fmaxX(0.0, a); r[2] = fmaxX(a, 0.0); r[3] = fminX(0.0, b);".replace(
        "X", suffix
    )
    text = f"#include <math.h>\nvoid k({t} a, {t} b, {t} r[4]) {{ {body} }}"
    a = np.array([0.0, -0.0, 1.5, -1.5, np.nan, np.inf, -np.inf] * 5, "f8" if t == "double" else "f4")
    gang, native, _ = gang_and_native(text, {"a": a, "b": -a, "r": np.zeros((35, 4), a.dtype)})
    assert same(gang + 0, native + 0)


@pytest.mark.parametrize("call", ["pow(a[i], 2)", "pow(a[i], -1)", "pow(2, a[i])", "pow(a[i], 0)", "powf(a[i], 2)"])
def test_what_compilers_have_in_place_of_a_call_stays(call):
    a = rng.normal(size=(300, 9)) * 10
    inputs = {"a": a, "b": a}
    gang, native, program = gang_and_native(ARRAYS.replace("T ", "double ").replace("CALL", call), inputs)
    assert same(gang, native)
    assert not program.loaded.artifact.functions


#: Bodies, and how many logarithms and how many whole powers their text has.
POWERS = {
    "a loop does not change the base": ("for (int i = 0; i < 9; i++) r[i] = pow(*a, b[i]);", 1, 0),
    "nor do two loops": (
        "for (int i = 0; i < 3; i++) { double y = a[i]; for (int j = 0; j < n; j++) r[i + j] += pow(y, b[j]); }",
        1,
        0,
    ),
    "it changes": ("for (int i = 0; i < n; i++) { r[i] = pow(x, b[i]); x = x * 1.5 - i; }", 0, 1),
    "one base twice": ("r[0] = pow(x, 0.3) + pow(x, b[0]); r[1] = pow(a[1], b[1]);", 1, 1),
    "its logarithm is old": ("r[0] = pow(x, b[0]); x += 1; r[1] = pow(x, b[0]);", 0, 2),
    "a power of a power": ("r[0] = pow(pow(x, b[0]), b[1]) * pow(x, b[2]);", 1, 1),
    "in a branch": ("for (int i = 0; i < n; i++) if (b[i] > 0) r[i] = pow(x, b[i]); else r[i] = 1;", 0, 1),
    "before a branch": ("r[0] = pow(x, b[0]); if (b[1] > 0) r[1] = pow(x, b[1]); else r[2] = pow(x, b[2]);", 1, 0),
    "stored between": ("r[0] = pow(r[1], b[0]); r[1] = x; r[2] = pow(r[1], b[0]);", 0, 2),
    "gcc has products in their place": ("r[0] = pow(x, 2.0) + pow(x, -1.0); r[1] = pow(x, b[0]);", 0, 1),
    "a loop without turns": (
        "static const int at[5] = {0, 1, 2, 3, 1 << 28}; "
        "for (int i = 0; i < 5; i++) for (int j = 0; j < (i < 4 ? 2 : 0); j++) r[i] += pow(a[at[i]], b[j]);",
        0,
        1,
    ),
    "until data says": ("while (pow(fabs(x), n) > 1) { r[n & 7] += pow(fabs(x), *b); n++; x /= 2; }", 1, 0),
}


@pytest.mark.parametrize("schedule", ["gang", "gang:two", "auto"])
@pytest.mark.parametrize("body, logarithms, whole", POWERS.values(), ids=POWERS.keys())
def test_powers_of_one_base_share_its_logarithm(body, logarithms, whole, schedule):
    text = (
        f"#include <math.h>\nvoid k(double x, int n, const double a[9], const double b[9], double r[9]) {{ {body} }}\n"
    )
    p = 200
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 5e-324, -2.0, 3.0, 1e308])
    x, a, b, r = (rng.uniform(-4, 4, (p, *n)) for n in ((), (9,), (9,), (9,)))
    x, b = np.where(rng.random(p) < 0.7, abs(x), x), np.where(rng.random(b.shape) < 0.3, np.rint(b), b)
    a, b = (np.where(rng.random(v.shape) < 0.1, rng.choice(special, v.shape), v) for v in (a, b))
    x = np.where((rng.random(p) < 0.2) & ("while" not in body), rng.choice(special, p), x)
    inputs = {"x": x, "n": np.full(p, 3, "i4") if "while" in body else 5, "a": a, "b": b, "r": r}
    try:
        program = c2cu.compile(text, backend="cpu", schedule=schedule, fn="k")
    except c2cu.UnsupportedError:
        assert schedule == "gang:two" and "while" in body
        return
    results = program(inputs)
    right = c2cu.compile(text, backend="cpu", schedule="native", fn="k")(inputs)
    assert same(np.nan_to_num(results, nan=7e77), np.nan_to_num(right, nan=7e77))
    if schedule == "gang" and "while" not in body and usual_pow():
        kernel = program.source[program.source.index("static void kernel(") :]
        gangs = 2 if "struct gang *g1" in kernel else 1
        assert kernel.count("lanes_pow_logs(") == gangs * logarithms and kernel.count("lanes_pow(") == gangs * whole


def usual_pow() -> bool:
    """Whether lanes have this machine's pow."""
    return "pow" in same_bits.equal(frozenset({"pow"}))


@pytest.mark.parametrize("schedule", ["gang", "auto"])
@pytest.mark.parametrize("body", [
    "return x * cbrt(0.75);",
    "return x + tan(8.25) - erf(0.25) * sinh(1.75);",
    "double c = expm1(0.75); return c > 1 ? x * log10(0.75) : pow(x, log1p(2.0));",
    "float f = coshf(1.75f); return f * x + atan2(3.5, -0.75) + hypot(1.25, x);",
])  # fmt: skip
def test_functions_of_constants_are_rounded_as_gcc_does(body, schedule):
    x = rng.uniform(0.1, 9, 50)
    text = f"#include <math.h>\ndouble k(double x) {{ {body} }}"
    native = c2cu.bulk(text, x, backend="cpu", schedule="native")
    assert same(c2cu.bulk(text, x, backend="cpu", schedule=schedule), native)


def test_a_function_with_other_bits_is_called_lane_by_lane(monkeypatch):
    monkeypatch.setattr(
        same_bits, "compared", lambda names: {n: b"equal" if n == "sin" else b"different" for n in names}
    )
    monkeypatch.setattr(same_bits, "mathematics", lambda: "one whose cosine is another")
    a = rng.normal(size=(300, 9))
    text = ARRAYS.replace("T ", "double ").replace("CALL", "sin(a[i]) + cos(b[i]) * tgamma(a[i])")
    gang, native, program = gang_and_native(text, {"a": a, "b": a})
    assert same(gang, native)
    artifact = program.loaded.artifact
    assert (artifact.functions, artifact.alone) == (("sin",), ("cos", "tgamma"))


def test_explain_names_them(tmp_path):
    (tmp_path / "k.c").write_text("#include <math.h>\ndouble k(double x) { return exp(x) + acosh(x); }\n")
    command = [sys.executable, "-m", "c2cu", "explain", tmp_path / "k.c", "--backend", "cpu", "--schedule", "gang"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "exp: all lanes at once, with the bits of this machine's library" in said
    assert "acosh: lane by lane" in said


def test_a_translated_program_is_for_every_machine():
    text = "#include <math.h>\n#include <stdio.h>\ndouble k(double x) { return exp(x); }\n"
    main = 'int main(void) { double x, y; scanf("%lf", &x); y = k(x); printf("%g\\n", y); }\n'
    for schedule in (None, "gang"):
        assert "lanes_exp" not in c2cu.translate(text + main, p=9, target="cpu", schedule=schedule)
    assert "lanes_exp" not in c2cu.library(text, "bulk", target="cpu", schedule="gang").source


INTERPOLATED = """
#define N 50
DECLARED
double k(double x, int j) {
    int i = (int)x;
    double f = x - i, s = T[i] * (1 - f) + T[i + 1] * f;
    if (x > 20) s += T[j] - T[j + 1] + T[j + 2];
    while (s > 4) { i = (i + 7) % 40; s -= 1 + (T[i + 1] - T[i]); }
    return s;
}
"""


@pytest.mark.parametrize("declared", [
    f"static const double T[N] = {{{', '.join(str(x) for x in rng.normal(size=50))}}};",
    "double T[N];",
])  # fmt: skip
def test_neighbours_in_a_table_are_loaded_together(declared):
    inputs = {"x": rng.uniform(0, 40, 777), "j": rng.integers(0, 40, 777, "i4")}
    shared = {} if "static" in declared else {"T": rng.normal(size=50)}
    text = INTERPOLATED.replace("DECLARED", declared)
    gang, native = (c2cu.bulk(text, inputs, shared=shared, backend="cpu", schedule=s) for s in ("gang", "native"))
    assert same(gang, native)
    assert "pair_f64(" in c2cu.compile(text, backend="cpu", schedule="gang", shared=list(shared)).source


@pytest.mark.parametrize("name", [*sorted(names()), *PAIRS])
def test_longer_registers(name, monkeypatch, tmp_path):
    """Of processors that this one may not be: their instructions are written in C."""
    monkeypatch.setattr(toolchain, "vector_bytes", lambda: 64)
    text = same_bits.text([name])
    assert "#define W 8\n" in text and "typedef unsigned char mask;" in text
    (tmp_path / "immintrin.h").write_text(Path(__file__).with_name("avx512.h").read_text())
    (tmp_path / "k.c").write_text(text)
    machine = "-D__AVX512F__ -D__AVX512DQ__ -D__AVX512VL__ -D__AVX512BW__ -D__FMA__".split()
    command = ["gcc", "-O1", "-mfma", "-ffp-contract=off", "-w", "-shared", "-fPIC", "-fno-builtin", f"-I{tmp_path}"]
    path = tmp_path / "k.so"
    subprocess.run([*command, *machine, "-o", path, tmp_path / "k.c", "-lm"], check=True)
    _, parameters = FUNCTIONS[PAIRS.get(name, (name,))[0]]
    arguments = [same_bits.sample(np.dtype(f"f{p.size}"), rng) for p in parameters]
    pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in arguments]
    assert ctypes.CDLL(str(path)).__getitem__(f"different_{name}")(*pointers, ctypes.c_long(1 << 16)) == 0


@pytest.mark.parametrize("name", [*sorted(names()), *PAIRS])
def test_it_compiles_for_longer_registers(name, monkeypatch, tmp_path):
    monkeypatch.setattr(toolchain, "vector_bytes", lambda: 64)
    (tmp_path / "k.c").write_text(same_bits.text([name]))
    flags = ["-O2", "-march=skylake-avx512", "-std=gnu11", "-S", "-o", "-"]
    made = subprocess.run(["gcc", *flags, tmp_path / "k.c"], capture_output=True, text=True, check=True).stdout
    assert "zmm" in made or "ymm" in made


PRICES = """
#include <math.h>
T spot, strike, years, rate, volatility, call, put;
static T normal(T x) { return NORMAL; }
void k(void) {
    T root = volatility * SQRT(years);
    T d1 = (LOG(spot / strike) + (rate + volatility * volatility / 2) * years) / root;
    T d2 = d1 - root, now = strike * EXP(-rate * years);
    call = spot * normal(d1) - now * normal(d2);
    put = now * normal(-d2) - spot * normal(-d1);
}
"""


@pytest.mark.parametrize("t", ["double", "float"])
@pytest.mark.parametrize("normal", ["(T)0.5 * ERFC(-x / SQRT((T)2))", "ERFC(x * (T)-0.70710678118654752) / 2",
                                    "(T)0.5 * (1 + ERF(x * (T)0.70710678118654752))"])  # fmt: skip
def test_prices_of_calls_and_puts_call_half_as_often(normal, t):
    f = "f" if t == "float" else ""
    text = PRICES.replace("NORMAL", normal).replace("T ", f"{t} ").replace("(T)", f"({t})").replace("T)", f"{t})")
    for name in ("SQRT", "LOG", "EXP", "ERFC", "ERF"):
        text = text.replace(f"{name}(", f"{name.lower()}{f}(")
    values = {n: rng.uniform(low, high, 2000).astype(f"f{8 if t == 'double' else 4}") for n, low, high in
              (("spot", 1, 200), ("strike", 50, 150), ("years", -0.1, 2), ("rate", 0, 1), ("volatility", -0.1, 0.5))}  # fmt: skip
    values["volatility"][:99] = 0
    gang, native, program = gang_and_native(text, values)
    assert oracle.same(gang["call"], native["call"]) and oracle.same(gang["put"], native["put"])
    function = f"erfcs{f}" if "ERFC" in normal else f"erf{f}"
    kernel = program.source.partition("static void kernel(")[2]  # its text may stand there twice, for odd divisors
    assert kernel.count(f"lanes_{function}(") == 2 * kernel.count(f"lanes_log{f}(") > 0
    assert f"lanes_erfc{f}(" not in kernel


@pytest.mark.parametrize("body", [
    "y = -x; r[0] = erfc(x); x = x + 1; r[1] = erfc(y); r[2] = erfc(x);",
    "y = -x; r[0] = erfc(x); y = y + 1; r[1] = erfc(y); r[2] = erfc(-x);",
    "y = -x; x = x * 2; r[0] = erf(y); r[1] = erf(x); r[2] = erf(-x / 3) + erf(x / -3) * erf(x / 3);",
    "for (int i = 0; i < 9; i++) { y = -x; r[0] += erfc(y); x = x - 0.25; r[1] += erfc(x); } r[2] = erfc(-erfc(x)) - erfc(erfc(x));",
    "r[0] = erfc(-x * x); r[1] = erfc(x * -x); r[2] = erf(x * INFINITY) + erf(-x * INFINITY); if (erfc(x) > erfc(-x)) r[2] = y;",
])  # fmt: skip
def test_arguments_that_are_negations_and_that_are_not(body):
    x = np.concatenate(
        [rng.normal(size=300) * 3, [0.0, -0.0, np.inf, -np.inf, 30, -30, 6, -6, 0.25, -0.25, 22.6, -22.6]]
    )
    gang, native, _ = gang_and_native(f"#include <math.h>\nvoid k(double x, double y, double r[3]) {{ {body} }}",
                                      {"x": x, "y": x[::-1].copy(), "r": np.zeros((len(x), 3))})  # fmt: skip
    assert oracle.same(gang, native)


@pytest.mark.parametrize("build", [frozenset(), frozenset({"atan"})])
def test_what_builds_of_one_library_differ_in(build, monkeypatch, tmp_path):
    """The arguments are among those at which Debian's atan and Ubuntu's have another last bit."""
    monkeypatch.setenv("C2CU_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(functions, "fused", lambda: build)
    monkeypatch.setattr(emit, "equal", lambda names: names)
    x = np.array([*map(float.fromhex, same_bits.TELLING["atan"]), *rng.uniform(-15, 15, 2000)])
    ours = c2cu.compile("#include <math.h>\ndouble x, r; void k(void) { r = atan(x); }", backend="cpu", schedule="gang")
    assert "lanes_atan(" in ours.source
    as_seen("atan")
    differs = ours(x).view("i8") - np.array([math.atan(v) for v in x]).view("i8")
    assert (np.abs(differs[:4]) == (build != fused())).all() and not differs[4:].any()


@pytest.mark.parametrize("of_zero", ["0.0 - sqrt(0)", "sqrt(0.0) - 0.0", "0.0 - 0.0", "0.0f - sqrtf(0)", "0.0 - 1 * sqrt(0)",
                                     "2 * sqrt(0) - (x > 0)", "sqrt(0) * 2 - (x > 0)", "sqrt(-0.0)", "0.0 - sqrt(0) / 2"])  # fmt: skip
def test_signs_of_zeros_from_square_roots_of_constants(of_zero):
    text = f"#include <math.h>\nvoid k(double x, double *r) {{ *r = 1 / ({of_zero}) + sqrt(2) * x; }}"
    gang, native, _ = gang_and_native(text, {"x": np.array([-1.0, 0.5, -0.25, 1, -3, 2, 7, -7])})
    assert same(gang, native)
