"""Inputs whose loops turn about as often go side by side, and nobody sees that in the results."""

import subprocess
import sys

import numpy as np
import pytest

import c2cu
from c2cu.schedule.gang import alike

pytestmark = pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
rng = np.random.default_rng(7)

DISTANCE = """
unsigned char a[24], b[24]; T la, lb; int dist;
void k(void) {
    int row[25];
    for (int j = 0; j <= (int)lb; j++) row[j] = j;
    for (int i = 1; i <= (int)la; i++) {
        int diag = row[0];
        row[0] = i;
        for (int j = 1; j <= (int)lb; j++) {
            int up = row[j], d = diag + (a[i - 1] != b[j - 1]);
            if (up + 1 < d) d = up + 1;
            if (row[j - 1] + 1 < d) d = row[j - 1] + 1;
            row[j] = d;
            diag = up;
        }
    }
    dist = row[lb];
}
"""
FIELDS = """
struct size { char name[3]; short rows; double x; unsigned columns; };
double k(struct size s, const double *m) {
    double sum = 0;
    for (int i = 0; i < s.rows; i++)
        for (unsigned j = 0; j < s.columns; j++) sum += m[(i * 7 + j) % 16] * (s.x + i) - j;
    return sum;
}
"""
ENDS = """
#include <stdlib.h>
int k(int n, int m, const int *a) {
    int s = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) s += 1000 / a[(i ^ j) & 7] + (s << 1);
    if (s < 0) exit(3);
    return s;
}
"""
IN_PLACE = """
void k(int n, int v[4]) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < v[3]; j++) { v[0] += i ^ v[1]; v[1] = v[1] * 5 + j; v[2] ^= v[0] + v[1]; }
}
"""


def both(text, inputs, **options):
    """(gang's results, native's), and what gang sorts by."""
    programs = [c2cu.compile(text, backend="cpu", schedule=s, verify=False, **options) for s in ("gang", "native")]
    results = [p(inputs) for p in programs]
    return *results, programs[0].loaded.artifact.alike


@pytest.mark.parametrize("p", [1, 5, 33, alike.BLOCK, 2 * alike.BLOCK + 17])
@pytest.mark.parametrize("kind, dtype", [("int", "i4"), ("unsigned char", "u1"), ("long", "i8"), ("short", "i2")])
def test_lengths(kind, dtype, p):
    inputs = {n: rng.integers(0, 3, (p, 24)).astype(np.uint8) for n in "ab"}
    inputs |= {n: rng.integers(0, 25, p).astype(dtype) for n in ("la", "lb")}
    gang, native, numbers = both(DISTANCE.replace("T", kind), inputs)
    assert np.array_equal(gang, native)
    assert set(numbers) == {"la", "lb"}


def test_one_number_for_all_is_not_sorted_by():
    inputs = {n: rng.integers(0, 3, (50, 24)).astype(np.uint8) for n in "ab"}
    inputs |= {"la": rng.integers(0, 25, 50).astype(np.int32)}
    text = DISTANCE.replace("T la, lb; int dist;\nvoid k(void)", "int dist;\nvoid k(int la, int lb)")
    program = c2cu.compile(text, backend="cpu", schedule="gang")
    right = c2cu.bulk(text, {**inputs, "lb": 11}, backend="cpu", schedule="native")
    assert np.array_equal(program({**inputs, "lb": 11}), right)
    assert program.loaded.artifact.alike == ("la",)


@pytest.mark.parametrize("rows", [3, 900])
def test_fields_and_what_is_far_larger(rows):
    s = np.zeros(5000, c2cu.compile(FIELDS, backend="cpu", schedule="native").slots[0].dtype)
    s["rows"], s["columns"], s["x"] = rng.integers(-1, 4, 5000), rng.integers(0, 5, 5000), rng.normal(size=5000)
    s["rows"][77] = rows
    gang, native, numbers = both(FIELDS, {"s": s, "m": rng.normal(size=(5000, 16))}, shapes={"m": 16})
    assert np.array_equal(gang, native)
    assert len(numbers) == 2


def test_inputs_that_end_early_or_fault():
    p = alike.BLOCK + 100
    a = rng.integers(1, 9, (p, 8)).astype(np.int32)
    a[rng.integers(0, p, 40), rng.integers(0, 8, 40)] = -999
    a[rng.integers(0, p, 40), rng.integers(0, 8, 40)] = 0
    inputs = {"n": rng.integers(0, 6, p).astype(np.int32), "m": rng.integers(0, 6, p).astype(np.int32), "a": a}
    gang, native, numbers = both(ENDS, inputs, shapes={"a": 8}, status=True)
    assert set(numbers) == {"n", "m"}
    assert set(native["status"]) == {0, 3, 136}
    assert np.array_equal(gang["status"], native["status"])
    fine = native["status"] == 0
    assert np.array_equal(gang["return"][fine], native["return"][fine])


def test_in_place():
    p = 2 * alike.BLOCK + 5
    v = rng.integers(0, 9, (p, 4)).astype(np.int32)
    n = rng.integers(0, 9, p).astype(np.int32)
    gang, native, numbers = both(IN_PLACE, {"n": n, "v": v})
    assert "n" in numbers and np.array_equal(gang, native)
    c2cu.compile(IN_PLACE, backend="cpu", schedule="gang", verify=False)({"n": n, "v": v}, out={"v": v})
    assert np.array_equal(v, native)


BREAKS = DISTANCE.replace("diag = up;", "diag = up; if (d > 9) break;")
STOPS = "int k(int most, double x) { int i = 0; while (i < most && x < 1e6) { x = x * x + sqrt(x); i++; } return i; }"


@pytest.mark.parametrize("text, numbers", [
    (DISTANCE, {"la", "lb"}),
    (BREAKS, {"la", "lb"}),  # where only loops inside end otherwise
    (DISTANCE.replace("row[0] = i;", "row[0] = i; if (diag > 9) break;"), set()),
    ("#include <math.h>\n" + STOPS, set()),
    ("int k(int n, int a) { for (int i = 0; i < n; i++) a += i; return a; }", set()),  # too little to be sorted
])  # fmt: skip
def test_what_is_sorted_by(text, numbers):
    program = c2cu.compile(text.replace("T la", "int la"), backend="cpu", schedule="gang")
    inputs = {s.name: np.zeros((9, *s.shape), s.dtype) for s in program.slots if s.reads and not s.writes}
    program(inputs)
    assert set(program.loaded.artifact.alike) == numbers
    assert ("alike(g->order" in program.source) is bool(numbers)


def test_explain_says_so(tmp_path):
    (tmp_path / "k.c").write_text(DISTANCE.replace("T la", "int la"))
    command = [sys.executable, "-m", "c2cu", "explain", tmp_path / "k.c", "--backend", "cpu", "--schedule", "gang"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "inputs are sorted by lb and la: those whose loops turn about as often go side by side" in said


SPOILS = """
void k(int n, int m, int v[8]) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) { v[(i + j) & 7] += i ^ v[1]; v[1] = v[1] * 5 + j; v[2] ^= 1000 / v[7] + v[i & 7]; }
}
"""


def test_a_fault_in_place_ends_its_input_only():
    p = 5000
    v = rng.integers(1, 99, (p, 8)).astype(np.int32) * 8 + 1
    inputs = {"n": rng.integers(1, 3, p).astype(np.int32), "m": rng.integers(1, 3, p).astype(np.int32)}
    v[77] = [1, 0, 0, 0, 0, 0, 0, 0]
    programs = [c2cu.compile(SPOILS, backend="cpu", schedule=s, verify=False, status=True) for s in ("native", "gang")]
    done = []
    for program in programs:
        there = v.copy()
        done.append((program({**inputs, "v": there}, out={"v": there})["status"], there))
    assert set(done[0][0]) == {0, 136} == set(done[1][0])
    fine = done[0][0] == 0
    assert np.array_equal(done[0][0], done[1][0]) and np.array_equal(done[0][1][fine], done[1][1][fine])
