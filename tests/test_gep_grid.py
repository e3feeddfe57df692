"""One large matrix on the whole device: every variant, executed on host threads, equals gcc's C bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from c2cu.schedule.gep.grid import VARIANTS, grid
from c2cu.schedule.gep.grid_shape import GridShape
from tests import nvcc
from tests.gep_host import run_launches, taken
from tests.oracle import Original, same
from tests.sample import sampled, slow

SMALL = GridShape(16, 8, 8, 16, 8)  # four threads
FLAT = GridShape(32, 8, 16, 16, 8)  # blocks of fewer steps than a tile has rows


def artifact(text: str, variant: str, shape: GridShape | None = SMALL, fp: str = "exact"):
    return grid(*taken(text, fp), variant, shape)


PATHS = """#define N {n}
{t} D[N][N];
void f(void) {{
    for (int k = 0; k < N; k++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                if (D[i][k] + D[k][j] < D[i][j]) D[i][j] = D[i][k] + D[k][j];
}}
"""
LEAST = """#define N {n}
int D[N][N];
static int least(int a, int b) {{ return a < b ? a : b; }}
void f(void) {{
    for (int k = 0; k < N; k++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) D[i][j] = least(D[i][j], D[i][k] + D[k][j]);
}}
"""
NEXT = """#define N {n}
short D[N][N];
unsigned char next[N][N];
void f(void) {{
    for (int k = 0; k < N; k++)
        for (int i = 0; i < N; i++) {{
            int a = D[i][k];
            if (a == 9999) continue;
            for (int j = 0; j < N; j++) {{
                int t = a + D[k][j];
                if (t < D[i][j]) {{
                    D[i][j] = t;
                    next[i][j] = next[i][k];
                }}
            }}
        }}
}}
"""
VIA = """#define N {n}
double D[N][N + 3];
int via[N][N];
void f(void) {{
    for (int k = 0; k < N; k++)
        for (int j = 0; j < N; j++)
            for (int i = 0; i < N; i++)
                if (D[i][k] + D[k][j] < D[i][j]) {{
                    D[i][j] = D[i][k] + D[k][j];
                    via[i][j] = k * 1000 + i - j;
                }}
}}
"""
CLOSURE = """#define N {n}
unsigned char R[N][N];
void f(void) {{
    for (int k = 0; k < N; k++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) R[i][j] = R[i][j] || (R[i][k] && R[k][j]);
}}
"""
TRUTH = CLOSURE.replace("unsigned char", "_Bool")
LU = """#define N {n}
float A[N][N];
void f(void) {{
    for (int k = 0; k < N; k++)
        for (int i = k + 1; i < N; i++) {{
            A[i][k] /= A[k][k];
            for (int j = k + 1; j < N; j++) A[i][j] -= A[i][k] * A[k][j];
        }}
}}
"""
JORDAN = """#define N {n}
double A[N][N];
void f(void) {{
    for (int k = 0; k < N; k++) {{
        double p = A[k][k];
        for (int j = 0; j < N; j++) A[k][j] /= p;
        for (int i = 0; i < N; i++) {{
            if (i == k) continue;
            double a = A[i][k];
            for (int j = 0; j < N; j++) A[i][j] -= a * A[k][j];
        }}
    }}
}}
"""
SOLVE = """#define N {n}
float A[N][N + 3];
void f(void) {{
    for (int k = 2; k < N - 1; k++)
        for (int i = k + 1; i < N; i++) {{
            float a = A[i][k] / A[k][k];
            for (int j = k; j < N + 1; j++) A[i][j] -= a * A[k][j];
        }}
}}
"""
WINDOW = """#define N {n}
float A[N + 2][N + 5];
void f(void) {{
    for (int k = 1; k < N - 2; k++)
        for (int i = 3; i < N - 1; i++)
            for (int j = 2; j < N + 4; j++) A[i][j] += A[i][k] * A[k][j] * 0.01f + A[k][k];
}}
"""
PRODUCT = """#define N {n}
float A[N][N], B[N][N], C[N][N];
void f(void) {{
    for (int k = 0; k < N; k++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) C[i][j] += A[i][k] * B[k][j];
}}
"""
PROGRAMS = {
    "least": (LEAST, lambda n: [("D", "i4", (n, n))]),
    "next": (NEXT, lambda n: [("D", "i2", (n, n)), ("next", "u1", (n, n))]),
    "via": (VIA, lambda n: [("D", "f8", (n, n + 3)), ("via", "i4", (n, n))]),
    "closure": (CLOSURE, lambda n: [("R", "u1", (n, n))]),
    "truth": (TRUTH, lambda n: [("R", "?", (n, n))]),
    "lu": (LU, lambda n: [("A", "f4", (n, n))]),
    "jordan": (JORDAN, lambda n: [("A", "f8", (n, n))]),
    "solve": (SOLVE, lambda n: [("A", "f4", (n, n + 3))]),
    "window": (WINDOW, lambda n: [("A", "f4", (n + 2, n + 5))]),
    "product": (PRODUCT, lambda n: [(x, "f4", (n, n)) for x in "ABC"]),
}
STAY = ("least", "via", "lu", "jordan", "solve", "product")  # rows and columns k stay in their own step


def data(variables, n: int, p: int) -> dict[str, np.ndarray]:
    """Numbers to start from, 0 from a node to itself."""
    rng = np.random.default_rng(n)
    out = {}
    for name, dtype, shape in variables:
        x = rng.uniform(1, 100, (p, *shape))
        if dtype in ("u1", "?") and name == "R":
            x = rng.random((p, *shape)) < 2 / n
        if name == "A" and dtype[0] == "f":
            x = rng.normal(size=(p, *shape)) + 10 * np.eye(*shape)
        if name == "D":
            x[:, range(n), range(n)] = 0
        out[name] = x.astype(dtype)
    return out


def check(text, variables, inputs, variant, shape=SMALL, seed: int | None = 0, **how) -> list[bool]:
    """That what runs is what gcc's C computes. Returns which inputs were done again in order."""
    p = len(next(iter(inputs.values())))
    expected = Original(text, "f", variables).bulk(inputs, p)
    result, again = run_launches(artifact(text, variant, shape), inputs, p, seed, **how)
    assert result
    for name, array in result.items():
        assert same(array, expected[name]), name
    return again


@pytest.mark.costly
@pytest.mark.parametrize(
    ("variant", "n"), sampled([("staged", 13), ("single", 13), ("recursive", 16), *((v, 47) for v in VARIANTS)], 3)
)
def test_paths(variant, n):
    variables = [("D", "f4", (n, n))]
    assert not any(check(PATHS.format(n=n, t="float"), variables, data(variables, n, 2), variant, at_once=4))


@pytest.mark.costly
@pytest.mark.parametrize("variant", ["staged", "single"])
def test_minima_are_choices_where_no_element_is_below_zero(variant):
    """Exact floats take either way, each input its own; of NaN and zeros of two signs a minimum makes other bits."""
    n = 37
    variables = [("D", "f4", (n, n))]
    D = data(variables, n, 5)["D"]
    rng = np.random.default_rng(1)
    D[1].flat[rng.integers(0, n * n, 90)] = -0.0
    D[2].flat[rng.integers(0, n * n, 90)] = np.nan
    D[3].flat[rng.integers(0, n * n, 90)] = np.inf
    D[4].flat[rng.integers(0, n * n, 9)] = -0.25
    text = PATHS.format(n=n, t="float")
    check(text, variables, {"D": D}, variant)
    assert "__vimin3_s32(" in artifact(text, variant).text  # of two steps at once
    assert "c2cu_look(" in artifact(text, variant, fp="fast").text


@pytest.mark.costly
@pytest.mark.parametrize(
    ("name", "variant"),
    sampled(
        [(n, v) for n in PROGRAMS for v in ("staged", "single", "recursive")]
        + [(n, v) for n in ("next", "lu", "window") for v in ("streams", "graph")],
        8,
    ),
)
def test_programs(name, variant):
    """Several arrays, every kind of type, parts of a matrix, rows that are scaled. The text of streams and graph is that
    of staged."""
    n = 35
    text, variables = PROGRAMS[name][0].format(n=n), PROGRAMS[name][1](n)
    again = check(text, variables, data(variables, n, 2), variant)
    assert not any(again) or name not in STAY


@pytest.mark.parametrize("variant", ["staged", "graph"])
@pytest.mark.parametrize("name", sampled(["least", "next", "lu", "jordan", "window"], 4))
def test_blocks_of_fewer_steps_than_rows(name, variant):
    n = 35
    text, variables = PROGRAMS[name][0].format(n=n), PROGRAMS[name][1](n)
    check(text, variables, data(variables, n, 1), variant, FLAT, seed=None)


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_negative_cycles(variant):
    """Rows and columns k move in their own step: these inputs, and no others, are done again, in the C's order. One
    memory serves for input and output."""
    n = 24
    for name in ("least", "next"):
        text, variables = PROGRAMS[name][0].format(n=n), PROGRAMS[name][1](n)
        inputs = data(variables, n, 3)
        inputs["D"][1, 5, 7], inputs["D"][1, 7, 5] = -40, -3
        assert check(text, variables, inputs, variant, in_place=True) == [False, True, False]


UPDATES = {
    "both inside": "for (int j = 0; j < N; j++) A[i][j] = A[i][k] * 3 + A[k][j] - A[k][k] - A[i][j];",
    "column hoisted": "unsigned a = A[i][k]; for (int j = 0; j < N; j++) A[i][j] = a * 3 + A[k][j] - A[i][j] * A[k][k];",
    "pivot hoisted": "unsigned a = A[k][k]; for (int j = 0; j < N; j++) A[i][j] = A[i][k] * a + A[k][j] - A[i][j] * 7;",
    "written before": "for (int j = 0; j < N; j++) { A[i][j] += A[k][j] * 3; B[i][j] = A[i][k] + B[k][j] + A[k][k]; }",
    "twice": "unsigned a = A[i][k]; for (int j = 0; j < N; j++) A[i][j] = a * 3 + A[i][k] * 5 - A[k][j];",
    "two": "for (int j = 2; j < N; j++) { unsigned a = A[i][j], b = B[i][j]; A[i][j] = a + b * A[i][k] + B[k][j];"
    " B[i][j] = a * A[k][j] + B[k][k]; }",
}


@pytest.mark.costly
@pytest.mark.parametrize("columns_outside", [False, True])
@pytest.mark.parametrize("name", sampled(UPDATES, 3))
def test_any_order_of_reads_when_rows_and_columns_move(name, columns_outside):
    """Every step moves them: what is done again reads old and new elements just as the C does."""
    n = 19
    body = UPDATES[name]
    if columns_outside and "unsigned a = A[i][k]; for" not in body:
        body = body.replace("int j", "int i").replace("j = ", "i = ").replace("j <", "i <").replace("j++", "i++")
    outer = "j" if "for (int i" in body else "i"
    text = (
        f"#define N {n}\nunsigned A[N][N], B[N][N];\nvoid f(void) {{\n    for (int k = 1; k < N; k++)\n"
        f"        for (int {outer} = 0; {outer} < N; {outer}++) {{\n            {body}\n        }}\n}}\n"
    )
    variables = [(x, "u4", (n, n)) for x in "AB"]
    inputs = {x: np.random.default_rng(k).integers(0, 1 << 32, (2, n, n), np.uint32) for k, x in enumerate("AB")}
    slots = {s.name for s in artifact(text, "staged").slots}
    again = check(text, variables, {x: a for x, a in inputs.items() if x in slots}, "staged")
    assert all(again)


@nvcc.needed
@pytest.mark.parametrize(
    ("name", "n", "variant"),
    [("least", 2100, "streams"), ("least", 600, "single"), ("next", 600, "staged"), ("jordan", 300, "recursive")],
)
def test_nvcc_takes_the_usual_shapes(name, n, variant, tmp_path):
    """Without a warning; the products of one int matrix keep all in registers."""
    kernels = nvcc.kernels(artifact(PROGRAMS[name][0].format(n=n), variant, None).text, tmp_path)
    if variant == "streams":
        assert kernels["c2cu_rest"].registers <= 128 and not kernels["c2cu_rest"].spilled


@pytest.mark.parametrize("variant", ["staged", slow("single"), slow("recursive")])
@pytest.mark.parametrize(
    ("t", "dtype"), sampled([("short", "i2"), ("unsigned char", "u1"), ("unsigned short", "u2")], 3)
)
def test_narrow_integers_go_by_pairs(t, dtype, variant):
    """Each input as its elements are: those that fit 15 bits two in a word, others one by one. A negative cycle, in a
    type that has it, is done again in order."""
    n = 35
    variables = [("D", dtype, (n, n))]
    D = data(variables, n, 4)["D"]
    rng = np.random.default_rng(3)
    most = np.iinfo(dtype).max
    D[1].flat[rng.integers(0, n * n, 700)] = most
    D[2] = rng.integers(most // 3, most, (n, n))
    if dtype == "i2":
        D[3, 4, 9], D[3, 9, 4] = -50, 20
    text = PATHS.format(n=n, t=t)
    made = artifact(text, variant)
    assert "__viaddmin_u16x2(" in made.text and ("c2cu_look(" in made.text) == (dtype != "u1")
    again = check(text, variables, {"D": D}, variant)
    assert again == [False, False, False, dtype == "i2"]


NOT_IN_PAIRS = {
    "a sum that is cut off": ("short", "short t = D[i][k] + D[k][j]; if (t < D[i][j]) D[i][j] = t;"),
    "another sum": ("short", "if (D[i][k] + D[k][j] + 1 < D[i][j]) D[i][j] = D[i][k] + D[k][j] + 1;"),
    "the greatest": ("short", "if (D[i][k] + D[k][j] > D[i][j]) D[i][j] = D[i][k] + D[k][j];"),
    "what else is stored": ("short", "if (D[i][k] + D[k][j] < D[i][j]) D[i][j] = D[i][k];"),
    "a condition besides": ("short", "if (D[i][k] != 99 && D[i][k] + D[k][j] < D[i][j]) D[i][j] = D[i][k] + D[k][j];"),
    "integers of 32 bits": ("int", "if (D[i][k] + D[k][j] < D[i][j]) D[i][j] = D[i][k] + D[k][j];"),
    "bytes with a sign": ("signed char", "if (D[i][k] + D[k][j] < D[i][j]) D[i][j] = D[i][k] + D[k][j];"),
}


@pytest.mark.parametrize("name", sampled(NOT_IN_PAIRS, 4))
def test_nothing_else_goes_by_pairs(name):
    t, body = NOT_IN_PAIRS[name]
    n = 24
    old = "if (D[i][k] + D[k][j] < D[i][j]) D[i][j] = D[i][k] + D[k][j];"
    text = PATHS.format(n=n, t=t).replace(old, f"{{ {body} }}")
    assert body in text and "__viaddmin_u16x2(" not in artifact(text, "staged").text
    variables = [("D", {"short": "i2", "int": "i4", "signed char": "i1"}[t], (n, n))]
    check(text, variables, data(variables, n, 1), "staged")


NOT_TWO_STEPS_AT_ONCE = {
    "a condition of integers": "float t = G[i][k] ? A[i][k] + A[k][j] : A[k][j]; if (t < A[i][j]) A[i][j] = t;",
    "another matrix is stored": "float t = A[i][k] + B[k][j]; C[i][j] = t < E[i][j] ? t : E[i][j];",
    "another matrix' element": "if (A[i][j] > A[i][k] + A[k][j] + E[i][j]) A[i][j] = A[i][k] + A[k][j] + E[i][j];",
}


@pytest.mark.parametrize("name", sampled(NOT_TWO_STEPS_AT_ONCE, 3))
def test_other_programs_of_floats_take_one_step_at_a_time(name):
    n = 37
    text = (
        f"#define N {n}\nfloat A[N][N], B[N][N], C[N][N], E[N][N];\nint G[N][N];\nvoid f(void) {{\n"
        f"    for (int k = 0; k < N; k++) for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) {{\n"
        f"        {NOT_TWO_STEPS_AT_ONCE[name]}\n    }}\n}}\n"
    )
    rng = np.random.default_rng(4)
    names = [x for x in "ABCEG" if f"{x}[" in NOT_TWO_STEPS_AT_ONCE[name]]
    variables = [(x, "i4" if x == "G" else "f4", (n, n)) for x in "ABCEG"]
    inputs = {x: rng.integers(0, 3 if x == "G" else 50, (2, n, n)).astype("i4" if x == "G" else "f4") for x in names}
    assert "__vimin3_s32(" not in artifact(text, "staged").text
    read = {s.name for s in artifact(text, "staged").slots if s.reads}
    check(text, variables, {x: a for x, a in inputs.items() if x in read}, "staged")
