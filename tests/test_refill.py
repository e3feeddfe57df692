"""Data that decides on turns and subscripts, under the schedule ``registers``: executed on the CPU, equal to gcc."""

import re

import numpy as np
import pytest

from tests.cuda_host import run_on_cpu
from tests.data_ended import write
from tests.oracle import Original, same
from tests.programs import SEED, share
from tests.sample import sampled
from tests.test_registers import artifact


def judge(text: str, variables, inputs, p: int, in_a_row: int = 1) -> None:
    a = artifact(text, fn="kern")
    expected = Original(text, "kern", variables).bulk(inputs, p)
    for name, array in run_on_cpu(a, inputs, p, in_a_row=in_a_row if a.refill else 1).items():
        assert same(array, expected[name]), f"{name} differs\n{text}"


@pytest.mark.costly
@pytest.mark.parametrize("seed", sampled(range(share(8, 1)), 3))
def test_random_programs(seed):
    program = write(SEED * 10**9 + seed, by_data=seed % 2 > 0, divides=seed % 3 > 0)
    for p, in_a_row in ((1, 1), (203, 1), (203, 4)):
        judge(program.text, program.variables, program.inputs(p, seed), p, in_a_row=in_a_row)


FORMS = {
    "a counter": """int turns; double r;
        void kern(void) { double y = turns; for (int k = 0; k < turns; k++) { y = y * 0.5 + k; if (y > 90) break; } r = y; }""",
    "what comes before and after": """int turns; float a[7]; int n; long r;
        void kern(void) {
            float b[7]; for (int i = 0; i < 7; i++) b[i] = a[6 - i] * n;
            int k = 0; while (k++ < turns) b[k % 7] += k;
            for (int i = 0; i < 7; i++) a[i] = b[i] - i;
            r = k * 1000L + n; }""",
    "two loops": """int turns; int r, s;
        void kern(void) { for (int k = 0; k < turns; k++) r += k * s; while (r > 100) { r /= 2; s++; } }""",
    "a loop inside": """int turns; unsigned r;
        void kern(void) { unsigned x = turns; for (int k = 0; k < turns; k++) { unsigned y = x ^ k;
            while (y & 3) { y = y * 5 + 1; x += y >> 3; } } r = x; }""",
    "returns": """int turns; int r;
        void kern(void) { if (turns < 3) { r = -1; return; } for (int k = 0; ; k++) { if (k * k > turns) { r = k; return; } } }""",
}


NUMBERS = {"int": "int32", "unsigned": "uint32", "long": "int64", "float": "float32", "double": "float64"}


REFILLED = {name for name in FORMS if name != "returns"}  # there the loop stands in a branch


@pytest.mark.parametrize("name", FORMS)
def test_which_forms_refill(name):
    made = artifact(FORMS[name], fn="kern").refill
    assert (made is not None) == (name in REFILLED)


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("in_a_row", (1, 3))
def test_forms(name, in_a_row):
    p = 203
    declared = re.findall(r"(int|unsigned|long|float|double) ([^();]+);", FORMS[name].partition("void")[0])
    each = [(NUMBERS[t], x.strip()) for t, names in declared for x in names.split(",")]
    variables = [(x.partition("[")[0], d, (7,) if "[" in x else ()) for d, x in each]
    rng = np.random.default_rng(1)
    inputs = {n: rng.integers(0, 40, (p, *s)).astype(d) for n, d, s in variables}
    judge(FORMS[name], variables, inputs, p, in_a_row=in_a_row)


def test_what_is_not_given_starts_anew_for_each_input():
    """A thread's next input does not see what the one before has left."""
    text = """int n = 5, seen[3] = {1, 2, 3}; int total;
    int kern(int turns) { for (int k = 0; k < turns; k++) { n += k; seen[n % 3 < 0 ? 0 : n % 3] += n; } total = seen[0] + seen[1] * 10 + seen[2] * 100; return n; }"""
    a = artifact(text, fn="kern")
    turns = np.random.default_rng(2).integers(0, 30, 203).astype(np.int32)
    once, often = (run_on_cpu(a, {"turns": turns}, 203, in_a_row=k) for k in (1, 4))
    n, total = [], []
    for t in turns:
        m, seen = 5, [1, 2, 3]
        for k in range(t):
            m += k
            seen[m % 3] += m
        n.append(m)
        total.append(seen[0] + seen[1] * 10 + seen[2] * 100)
    for result in (once, often):
        assert np.array_equal(result["return"], n) and np.array_equal(result["total"], total)


DIVIDED = """double x, y, z; double a[6], b[7];
void kern(void) {
    a[0] = x / 3; a[1] = x / y; a[2] = (x + z) / y - z / 0.1; a[3] = z / 1e-200; x = x / 7 + a[1]; a[4] = x / 10; a[5] = 1 / x;
    double w = y - z;
    b[0] = z / 5; b[1] = 3 * z / -7; b[2] = -z / 11; b[3] = (y > 0 ? w / 13 : z / 1e-30) + w * 1e15 / 17; b[4] = w / -19;
    w = z * 1e-300;
    b[5] = w / 3; b[6] = 1e60 * w / -1e30;
}"""


def test_divisions_with_odd_operands():
    special = [
        0.0,
        -0.0,
        1.0,
        -3.5,
        np.inf,
        -np.inf,
        np.nan,
        5e-324,
        1e-310,
        2.0**-900,
        2.0**900,
        1e308,
        -1e-308,
        1e200,
    ]
    grid = np.array(np.meshgrid(special, special, special)).reshape(3, -1)
    inputs = dict(zip("xyz", (np.ascontiguousarray(a) for a in grid)))
    inputs |= {"a": np.zeros((grid.shape[1], 6)), "b": np.zeros((grid.shape[1], 7))}
    arrays = [("a", "float64", (6,)), ("b", "float64", (7,))]
    judge(DIVIDED, [(n, "float64", ()) for n in "xyz"] + arrays, inputs, grid.shape[1])


def test_tables_and_arrays_that_data_subscripts():
    text = """static const unsigned char t[11] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5}; static const double w[3] = {0.5, -1.25, 3};
    unsigned char m[9]; double r; int n;
    void kern(void) {
        int rank[9];
        for (int i = 0; i < 9; i++) rank[m[i] % 9] = t[m[i] % 11] + i;
        for (int i = 0; i < 9; i++) n += rank[m[i] % 9] * (i + 1);
        r = w[n % 3 < 0 ? 0 : n % 3];
    }"""
    rng = np.random.default_rng(3)
    inputs = {
        "m": rng.integers(0, 256, (99, 9)).astype(np.uint8),
        "r": np.zeros(99),
        "n": rng.integers(0, 50, 99).astype(np.int32),
    }
    judge(text, [("m", "uint8", (9,)), ("r", "float64", ()), ("n", "int32", ())], inputs, 99)
