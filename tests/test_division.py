"""Divisions by constants, done by products in SIMD lanes: every bit is the division's."""

import subprocess
from fractions import Fraction

import numpy as np
import pytest

import c2cu
from c2cu import pipeline
from c2cu.base import toolchain
from c2cu.base.ctype import DOUBLE, FLOAT
from c2cu.codegen.division import inverse, is_by_constant, is_slow
from c2cu.frontend.preprocess import read_source
from c2cu.ir.nodes import Binary, Const, Var, Variable
from c2cu.schedule.choose import emitted
from c2cu.schedule.gang import emit, passes, text
from c2cu.schedule.schedule import Candidate
from tests.cuda_host import run_on_cpu
from tests.oracle import same

SPECIAL = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    3.0,
    5e-324,
    -1e-310,
    2.0**-1000,
    2.0**-900,
    2.0**1000,
    1.7e308,
    np.inf,
    -np.inf,
    np.nan,
]


@pytest.fixture(params=["by products", "as it is"])
def products(request, monkeypatch):
    if not {"avx2", "fma"} <= toolchain.cpu_features():
        pytest.skip("this processor has no fused operations on 32 bytes")
    wanted = request.param == "by products"
    for module in (emit, passes, text):
        monkeypatch.setattr(module, "by_products", lambda _: wanted)
    return wanted


def compared(source: str, inputs, products: bool, **how):
    gang, native = (
        c2cu.compile(source, fn="k", backend="cpu", schedule=s, verify=False, **how) for s in ("gang", "native")
    )
    assert ("odd_f64(least1" in gang.source) == products
    assert same(gang(inputs), native(inputs))


def constants(rng) -> list[float]:
    plain = [3.0, 7.0, 10.0, -3.0, 0.1, -0.7, 2197.0, 1e6, 1e-6, 1.0000000000000002, 1.9999999999999998]
    return plain + (rng.uniform(1, 2, 21) * 2.0 ** rng.integers(-60, 60, 21)).tolist()


def test_quotients_of_all_kinds(products):
    """Random ones, those next to the middle between two doubles, and special ones."""
    rng = np.random.default_rng(1)
    cs = constants(rng)
    lines = "".join(f"    r[{k}] = x / {c!r};\n" for k, c in enumerate(cs))
    source = f"double x, r[{len(cs)}];\nvoid k(void) {{\n{lines}}}\n"
    x = rng.uniform(1, 2, 4000) * 2.0 ** rng.integers(-300, 300, 4000) * rng.choice([-1, 1], 4000)
    middle = [
        float((Fraction(q) + Fraction(1, 1 << 53)) * Fraction(c)) for q in rng.uniform(1, 2, 40).tolist() for c in cs
    ]
    compared(source, {"x": np.concatenate([x, middle, SPECIAL * 3])}, products)


def test_lanes_that_branch_and_lanes_that_refill(products):
    source = """
    double x, y, r; int n;
    void k(void) {
        double a = x, b = y; int t = 0;
        while (t < n && a < 1e3) {
            a = a / 3 + b / 7; b = b / -5 + a / 9 + 1;
            if (b > 0.5) { a = a + b / 11 + a / 13 + 2 / 3.0; b += a / 6; }
            t++;
        }
        r = a + b / 3;
    }"""
    rng = np.random.default_rng(2)
    inputs = {n: np.concatenate([rng.normal(scale=9, size=500), SPECIAL]) for n in "xy"}
    inputs["n"] = rng.integers(0, 60, len(inputs["x"])).astype(np.int32)
    compared(source, inputs, products, outputs=("r",))


def test_a_variable_that_is_read_before_it_is_assigned(products):
    source = """
    double x, r[3];
    void k(void) {
        double a = x;
        a = a / 3 + a / 7; r[0] = a;
        a = a / 5 + x / 9; r[1] = a;
        a = a / 11 - a; r[2] = a;
    }"""
    x = np.concatenate([np.random.default_rng(3).normal(size=300), SPECIAL])
    compared(source, {"x": x}, products)


@pytest.mark.parametrize("turns", [2, 3, 4, 21])
def test_a_variable_that_is_assigned_once_more_behind_the_last_division(products, turns):
    source = f"""double a, b, s;
    void k(void) {{
        double t = 0;
        for (int i = 0; i < {turns}; i++) {{ double f = a * i / 3.0 + b / 7 - a / 9; t = t * 0.5 + f; }}
        s = t;
    }}"""
    values = {n: np.concatenate([np.random.default_rng(5).normal(size=300), SPECIAL]) for n in "ab"}
    gang, native = (c2cu.compile(source, fn="k", backend="cpu", schedule=s, verify=False) for s in ("gang", "native"))
    assert same(gang(values), native(values))


TINY = np.concatenate([np.array([9, -9, 21, 33, 45]) * 2.0**-1074, np.arange(1, 9.0), [1e-310, 1e5]])
#: Statements among divisions that do harm if they are executed with quotients that are not right yet.
CAREFUL = {
    "a subscript that divides": "r = x/7; s = x/9; o[(int)(x/6*0x1p1000*0x1p74) & 7] = x/11 + 5;",
    "a subscript by a variable": "r = x/7; s = x/9; o[(int)(x/y) & 7] = x/11 + 5;",
    "a division of integers": "double q = x/6; int n = (int)(q*0x1p1000*0x1p74) - 1; o[0] = 100/n; r = q; s = x/7 + x/9;",
    "one of what is stored": "o[1] = x/6*0x1p1000*0x1p74; o[0] = 100/((int)o[1] - 1); r = x/3; s = x/7 + x/9;",
    "a dividend and a multiple of it": "r = x/3; o[0] = x/5; s = 1e-18*x/3e18;",
}


@pytest.mark.parametrize("body", CAREFUL.values(), ids=CAREFUL)
def test_what_is_tiny_in_the_wrong_place(products, body):
    source = f"double x, y, r, s, o[8];\nvoid k(void) {{ o[7] = y; {body} }}\n"
    near = np.random.default_rng(6).uniform(1, 2, 200) * 2.0 ** np.random.default_rng(7).integers(-905, -795, 200)
    x = np.concatenate([TINY, near])
    inputs = {"x": x, "y": np.concatenate([TINY / 3, near]), "o": np.zeros((len(x), 8))}
    gang, native = (
        c2cu.compile(source, fn="k", backend="cpu", schedule=s, outputs=("r", "s", "o"), verify=False)
        for s in ("gang", "native")
    )
    results = gang(inputs), native(inputs)
    assert all(same(results[0][n], results[1][n]) for n in "rso")
    artifact = emitted(
        pipeline.understand(read_source(source), pipeline.Options(fn="k")), Candidate("registers"), "cuda"
    )
    on_cpu = run_on_cpu(artifact, inputs, len(x))
    assert all(same(on_cpu[n], results[1][n]) for n in "rso")


def test_text_does_not_grow_with_quotients_of_quotients():
    def size(depth: int) -> int:
        sum_ = "x"
        for k in range(depth):
            sum_ = f"(1 + x * {sum_} / {2 * k + 3})"
        source = f"double x, r;\nvoid k(void) {{ r = {sum_}; }}\n"
        front = pipeline.understand(read_source(source), pipeline.Options(fn="k"))
        return len(emitted(front, Candidate("gang"), "cpu").text)

    assert size(12) < size(6) + 4000


def test_which_divisions_are_slow():
    x = Var(Variable("x", DOUBLE))
    slow = [3.0, 0.1, -7.0, 1e18]
    fast = [0.0, -0.0, 1.0, 2.0, -0.25, 1e300, 1e-300, float("inf"), float("nan")]
    assert all(is_by_constant(Binary("/", x, Const(c, DOUBLE), DOUBLE)) for c in slow)
    assert not any(is_slow(Binary("/", x, Const(c, DOUBLE), DOUBLE)) for c in fast)
    assert is_slow(Binary("/", x, x, DOUBLE)) and not is_by_constant(Binary("/", x, x, DOUBLE))
    single = Var(Variable("y", FLOAT))
    assert not is_slow(Binary("/", single, Const(3.0, FLOAT), FLOAT))
    assert not is_slow(Binary("*", x, Const(3.0, DOUBLE), DOUBLE))


def quotient(x: int, high: Fraction, low: Fraction) -> float:
    """fma(x, high, x * low)."""
    return float(x * high + Fraction(float(x * low)))


def near_middles(k: int) -> list[int]:
    """Numbers x of 53 bits for which x 2^s - m k is between -20 and 20 for a whole m, so that x / k is near to a middle
    between two doubles, or to a double."""
    found = []
    for s in range(48, 60):
        inverse_of_two = pow((k + 1) // 2, s, k)
        for rest in [r for r in range(-20, 21) if r]:
            x = rest * inverse_of_two % k
            found += [y for y in range(x, 1 << 53, k) if y >= 1 << 52]
    return found


def test_two_products_where_that_is_enough():
    """1 / c to twice the bits; and quotients next to a middle, of which most constants of 53 bits have some, are right."""
    rng = np.random.default_rng(4)
    cs = [c for c in constants(rng) + rng.uniform(1, 2, 150).tolist() if inverse(c) is not None]
    assert len(cs) > 140 and all(inverse(c) is not None for c in (3.0, 0.1, -0.7, 2197.0, 1e6, 1e-6))
    tried = 0
    for c in cs:
        high, low = (abs(Fraction(x)) for x in inverse(c))
        exact = abs(Fraction(c))
        assert abs((high + low) * exact - 1) < Fraction(1, 1 << 103)
        k = exact.numerator // (exact.numerator & -exact.numerator)
        near = near_middles(k) if k > 1 << 50 else []
        assert all(quotient(x, high, low) == float(x / exact) for x in near)
        tried += len(near)
    assert tried > 50_000


def test_what_no_inverse_is_taken_for_has_quotients_that_are_wrong():
    """Of each sum of two that could be taken for 1 / c, with both of one sign."""
    cs = [c for c in np.random.default_rng(5).uniform(1, 2, 150).tolist() if inverse(c) is None]
    assert len(cs) > 2
    for c in cs:
        exact = 1 / Fraction(c)
        near = near_middles(Fraction(c).numerator)
        for high in (float(exact), np.nextafter(float(exact), 0)):
            low = float(exact - Fraction(high))
            wrong = [x for x in near if quotient(x, Fraction(high), Fraction(low)) != float(x / Fraction(c))]
            assert low <= 0 or wrong


def test_constants_that_need_more_are_divided_by():
    few = [c for c in np.random.default_rng(5).uniform(1, 2, 200).tolist() if inverse(c) is None]
    assert few and not any(
        is_by_constant(Binary("/", Var(Variable("x", DOUBLE)), Const(c, DOUBLE), DOUBLE)) for c in few
    )


def test_it_compiles_for_longer_registers(monkeypatch):
    monkeypatch.setattr(toolchain, "vector_bytes", lambda: 64)
    source = "double x, q[4], r[4];\nvoid k(void) { for (int i = 0; i < 4; i++) r[i] = x / 3 + x / 7 - i / (x + 1) + q[i] / 9; }\n"
    front = pipeline.understand(read_source(source), pipeline.Options(fn="k"))
    artifact = emitted(front, Candidate("gang"), "cpu")
    flags = ["-O2", "-march=skylake-avx512", "-std=gnu11", "-ffp-contract=off", "-x", "c", "-S", "-o", "-", "-"]
    made = subprocess.run(["gcc", *flags], input=artifact.text, capture_output=True, text=True, check=True).stdout
    assert "odd_f64(least1" in artifact.text and "vfmadd" in made and "vminpd" in made and "%zmm" in made
