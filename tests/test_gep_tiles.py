"""The schedule ``gep`` of the GPU for many small matrices, executed on the CPU and compared with gcc's build."""

from dataclasses import replace

import numpy as np
import pytest

import c2cu
from c2cu import pipeline
from c2cu.frontend.preprocess import Source
from c2cu.gep import Range, recognise
from c2cu.gep.semiring import proof
from c2cu.schedule import registry
from c2cu.schedule.choose import choose, emitted
from c2cu.schedule.gep.tiles import sides_of, tiles
from c2cu.schedule.gep.tiles_shape import TileShape, shapes
from c2cu.schedule.schedule import Candidate
from tests.cuda_host import run_on_cpu
from tests.oracle import Original, same
from tests.sample import sampled


@pytest.fixture(autouse=True)
def quick(tmp_path, monkeypatch):
    """Tracers compiled in less time."""
    from c2cu.trace import run

    monkeypatch.setenv("C2CU_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(run, "FLAGS", ("-O0", "-w"))


def understood(text, **options):
    front = pipeline.understand(Source("<input>", text), pipeline.Options(fn="k", **options))
    assert front.analysis is not None, front.why_not
    return front, recognise(front.analysis.kernel)


def tiles_of(text, shape=None, fp="exact", threads=0, **options):
    front, gep = understood(text, **options)
    return tiles(front.analysis, gep, front.slots, front.layout, fp, shape, threads)


def judge(text, inputs, p, artifact=None, expected=None, **how):
    """Compare all outputs of p inputs."""
    a = artifact or tiles_of(text)
    variables = [(s.name, s.dtype, s.shape) for s in a.slots]
    shared = [s.name for s in a.slots if s.shared]
    whole = {n: np.broadcast_to(x, (p, *x.shape)) if n in shared else x for n, x in inputs.items()}
    expected = expected or Original(text, "k", variables).bulk(whole, p)
    result = run_on_cpu(a, {n: x if n in shared else x[:p] for n, x in inputs.items()}, p, **how)
    assert result
    for name, array in result.items():
        assert same(array, expected[name][:p]), f"{name} differs\n{text}"
    return expected


FOR = "for (int k = 0; k < N; k++)\n    for (int i = 0; i < N; i++)\n      for (int j = 0; j < N; j++)\n        "
PATHS = {
    "if": "float D[N][N];\nvoid k(void) { " + FOR + "if (D[i][k] + D[k][j] < D[i][j]) D[i][j] = D[i][k] + D[k][j]; }",
    "greater": "float D[N][N];\nvoid k(void) { " + FOR + "{ float t = D[i][k] + D[k][j]; if (D[i][j] > t) D[i][j] = t; } }",
    "min": "static float least(float a, float b) { return a < b ? a : b; }\nfloat D[N][N];\nvoid k(void) { "
    + FOR
    + "D[i][j] = least(D[i][j], D[i][k] + D[k][j]); }",
    "fminf": "#include <math.h>\nfloat D[N][N];\nvoid k(void) { " + FOR + "D[i][j] = fminf(D[i][j], D[i][k] + D[k][j]); }",
    "guards": "float D[N][N];\nvoid k(void) { " + FOR + "if (i != k && j != k && i != j && D[i][k] + D[k][j] < D[i][j]) D[i][j] = D[i][k] + D[k][j]; }",
    "hoisted": "float D[N][N];\nvoid k(void) {\n  for (int k = 0; k < N; k++)\n    for (int i = 0; i < N; i++) {\n      float a = D[i][k];\n"
    "      if (a > 50) continue;\n      for (int j = 0; j < N; j++) if (a + D[k][j] < D[i][j]) D[i][j] = a + D[k][j];\n    }\n}",
    "columns first": "float D[N][N];\nvoid k(void) {\n  for (int k = 0; k < N; k++)\n    for (int j = 0; j < N; j++) {\n      float b = D[k][j];\n"
    "      for (int i = 0; i < N; i++) { float t = D[i][k] + b; if (t < D[i][j]) D[i][j] = t; }\n    }\n}",
}  # fmt: skip


def sized(text, n):
    return f"#define N {n}\n" + text


def graphs(rng, p, n, dtype="float32"):
    D = rng.random((p, n, n)).astype(dtype) if dtype[0] == "f" else rng.integers(0, 60, (p, n, n)).astype(dtype)
    D[:, range(n), range(n)] = 0
    return D


@pytest.mark.costly
@pytest.mark.parametrize("name", sampled(PATHS, 3))
def test_shortest_paths(name):
    """In every spelling; some inputs have negative cycles, NaN, infinities and zeros of both signs."""
    text, rng = sized(PATHS[name], 17), np.random.default_rng(1)
    D = graphs(rng, 9, 17)
    D[2, 5, 5] = D[7, 0, 0] = D[7, 3, 3] = -0.5
    D[3].flat[rng.integers(0, 289, 40)] = np.nan
    D[4].flat[rng.integers(0, 289, 40)] = -0.0
    D[8].flat[rng.integers(0, 289, 40)] = np.inf
    D[6].flat[rng.integers(0, 289, 40)] *= -1
    D[1].flat[rng.integers(0, 289, 10)] = -np.inf
    expected = judge(text, {"D": D}, 9)
    judge(text, {"D": D}, 9, expected=expected, in_place=True)


@pytest.mark.parametrize("n", sampled([33, 2, 3, 5, 16, 31], 3))
def test_sizes(n):
    text, rng = sized(PATHS["if"], n), np.random.default_rng(n)
    a = tiles_of(text)
    D = graphs(rng, 33, n)
    D[4, 0, 0] = -1
    expected = None
    for p in (33, 1, 5):
        expected = judge(text, {"D": D}, p, a, expected, shift=4 * (p == 5), in_place=p == 1)


SHAPES = [
    TileShape(4, 4, 4, 5, 5),
    TileShape(1, 1, 1, 17, 17),
    TileShape(2, 6, 2, 3, 9),
    TileShape(4, 8, 4, 3, 5),
    TileShape(4, 4, 8, 2, 3, 3),
    TileShape(2, 2, 4, 3, 5, 3),
    TileShape(1, 2, 3, 3, 6, 3),
    TileShape(4, 4, 4, 3, 5, 2),
    TileShape(4, 8, 8, 1, 3, 3),
]


@pytest.mark.parametrize("shape", sampled(SHAPES, 6), ids=str)
@pytest.mark.slow
def test_shapes(shape):
    """Several units and several bands, of any form; some inputs are done again, others not."""
    rng = np.random.default_rng(3)
    D = graphs(rng, 6, 17)
    D[1, 3, 3] = D[4, 16, 16] = -0.25
    for name in ("if", "min"):
        text = sized(PATHS[name], 17)
        expected = judge(text, {"D": D}, 6, tiles_of(text, shape))
        judge(text, {"D": D}, 6, tiles_of(text, shape), expected, in_place=True, shift=4)


def loops(body, before=""):
    return f"for (int k = 0; k < N; k++) {{\n    {before}\n    for (int i = 0; i < N; i++)\n      for (int j = 0; j < N; j++)\n        {body}\n  }}"


HOPS = """int D[N][N]; short next[N][N];
void k(void) {
  for (int k = 0; k < N; k++)
    for (int i = 0; i < N; i++) {
      int a = D[i][k];
      if (a == 1000000) continue;
      for (int j = 0; j < N; j++) { int t = a + D[k][j]; if (t < D[i][j]) { D[i][j] = t; next[i][j] = next[i][k]; } }
    }
}"""
BEFORE = """double D[N][N]; unsigned char last[N][N];
void k(void) { for (int k = 0; k < N; k++) for (int i = 0; i < N; i++) for (int j = 0; j < N; j++)
  if (D[i][k] + D[k][j] <= D[i][j]) { D[i][j] = D[i][k] + D[k][j]; last[i][j] = last[k][j] ^ k; } }"""
LU = """float A[N][N];
void k(void) {
  for (int k = 0; k < N; k++)
    for (int i = k + 1; i < N; i++) {
      A[i][k] /= A[k][k];
      for (int j = k + 1; j < N; j++) A[i][j] -= A[i][k] * A[k][j];
    }
}"""
JORDAN = """double A[N][N + 3];
void k(void) {
  for (int k = 0; k < N; k++) {
    double p = A[k][k];
    for (int j = 0; j < N + 3; j++) A[k][j] /= p;
    for (int i = 0; i < N; i++) {
      if (i == k) continue;
      double f = A[i][k];
      for (int j = 0; j < N + 3; j++) A[i][j] -= f * A[k][j];
    }
  }
}"""
AUGMENTED = """float A[N][N + 5];
void k(void) {
  for (int k = 0; k < N - 1; k++)
    for (int i = k + 1; i < N; i++) {
      float f = A[i][k] / A[k][k];
      for (int j = k; j < N + 1; j++) A[i][j] -= f * A[k][j];
    }
}"""
CROUT = """float A[N][N];
void k(void) {
  for (int k = 0; k < N; k++) {
    for (int j = k + 1; j < N; j++) A[k][j] /= A[k][k];
    for (int i = k + 1; i < N; i++) for (int j = k + 1; j < N; j++) A[i][j] -= A[i][k] * A[k][j];
  }
}"""
BOTH = """float A[N][N], B[N][N];
void k(void) {
  for (int k = 2; k < N; k++) {
    float w = A[k][k];
    for (int i = 1; i < N; i++) A[i][k] = A[i][k] * 0.5f + w;
    float b = B[k][k];
    for (int j = 3; j < N - 2; j++) { B[k][j] += b; A[k][j] -= b * B[k][j]; }
    for (int i = 0; i < N - 1; i++) for (int j = k; j < N; j++) if (i != k && j > k) { A[i][j] += A[i][k] * B[k][j] * i; B[i][j] -= A[i][k] + j; }
  }
}"""
FORMS = {
    "hops": HOPS,
    "last": BEFORE,
    "lu": LU,
    "jordan": JORDAN,
    "augmented": AUGMENTED,
    "crout": CROUT,
    "both": BOTH,
    "product": "float A[N][N], B[N][N], C[N][N];\nvoid k(void) { " + loops("C[i][j] += A[i][k] * B[k][j];") + " }",
    "wide product": "double A[N][N + 2], B[N][N + 3], C[N][N + 4];\nvoid k(void) { for (int k = 0; k < N; k++) "
    "for (int i = 0; i < N; i++) for (int j = 0; j < N + 2; j++) C[i][j] += A[i][k] * B[k][j]; }",
    "mixed": "short A[N][N]; int B[N][N]; unsigned char C[N][N]; long S[N][N];\nvoid k(void) { " + loops("S[i][j] += A[i][k] * B[k][j] - C[i][j];") + " }",
    "closure": "unsigned char R[N][N];\nvoid k(void) { " + loops("R[i][j] = R[i][j] || (R[i][k] && R[k][j]);") + " }",
    "closure of bits": "unsigned R[N][N];\nvoid k(void) { " + loops("R[i][j] |= R[i][k] & R[k][j];") + " }",
    "closure, bool": "_Bool R[N][N];\nvoid k(void) { " + loops("if (R[i][k] && R[k][j]) R[i][j] = 1;") + " }",
    "closure, or": "short R[N][N];\nvoid k(void) { " + loops("R[i][j] |= R[i][k] && R[k][j];") + " }",
    "bottleneck": "float W[N][N];\nvoid k(void) { "
    + loops("{ float t = W[i][k] < W[k][j] ? W[i][k] : W[k][j]; if (t > W[i][j]) W[i][j] = t; }") + " }",
    "minimax": "int W[N][N];\nvoid k(void) { " + loops("{ int t = W[i][k] < W[k][j] ? W[k][j] : W[i][k]; W[i][j] = t < W[i][j] ? t : W[i][j]; }") + " }",
    "reliable": "float P[N][N];\nvoid k(void) { " + loops("if (P[i][k] * P[k][j] > P[i][j]) P[i][j] = P[i][k] * P[k][j];") + " }",
    "longest": "int D[N][N];\nvoid k(void) { " + loops("if (D[i][k] + D[k][j] > D[i][j]) D[i][j] = D[i][k] + D[k][j];") + " }",
    "any": "unsigned X[N][N];\nvoid k(void) { " + loops("X[i][j] = X[i][j] * 3 ^ X[i][k] + X[k][j] * X[k][k] + k;") + " }",
}  # fmt: skip


def filled(rng, slots, p):
    """Random elements, some of them special."""
    out = {}
    for s in slots:
        t, shape = np.dtype(s.dtype), (s.shape if s.shared else (p, *s.shape))
        if t.kind == "f":
            a = rng.normal(size=shape).astype(t)
            a.flat[rng.integers(0, a.size, a.size // 200)] = rng.choice([0.0, -0.0, np.inf, np.nan], a.size // 200)
        else:
            a = rng.integers(0, 2 if t.kind == "b" else 50, shape).astype(t)
        out[s.name] = a
    return out


@pytest.mark.parametrize("name", sampled(FORMS, 12))
@pytest.mark.slow
def test_forms(name):
    rng = np.random.default_rng(7)
    for n in (13, 33):
        text = sized(FORMS[name], n)
        a = tiles_of(text)
        inputs = filled(rng, a.slots, 4)
        if name == "longest":
            inputs["D"] *= -1
        expected = judge(text, inputs, 4, a, in_place=n == 13)
        if n == 13:
            banded = tiles_of(text, TileShape(2, 2, 4, 3, 4, 3)) if "N + " not in text and "20" not in text else a
            judge(text, inputs, 4, banded, expected, in_place=True)


TYPES = {"int": "int32", "unsigned": "uint32", "short": "int16", "unsigned char": "uint8", "long": "int64", "double": "float64"}  # fmt: skip


@pytest.mark.parametrize("t", sampled(TYPES, 3))
@pytest.mark.slow
def test_types(t):
    """Sums that wrap, cycles that are negative; by minima and by maxima."""
    n, rng, d = 9, np.random.default_rng(5), np.dtype(TYPES[t])
    D = graphs(rng, 12, n, TYPES[t])
    if d.kind != "f":
        most, least = np.iinfo(d).max, np.iinfo(d).min
        D[1, range(n), range(n)] = 3
        D[1].flat[rng.integers(0, n * n, 20)] = most
        D[2].flat[rng.integers(0, n * n, 20)] = most
        D[3, range(n), range(n)] = most
        D[4].flat[rng.integers(0, n * n, 20)] = least
        D[5, range(n), range(n)] = rng.integers(0, most, n)
        D[6] = rng.integers(least, most, (n, n), d, endpoint=True)
        D[7] = D[6] // 2
        D[8] = rng.integers(0, most, (n, n), d, endpoint=True)
        D[9] = D[8]
        D[8, range(n), range(n)] = D[7, range(n), range(n)] = 0
    if d.kind != "u":
        D[10, 3, 3] = D[11, 8, 8] = -1
    for op in "<>":
        for equal in ("", "="):
            body = loops(f"if (D[i][k] + D[k][j] {op}{equal} D[i][j]) D[i][j] = D[i][k] + D[k][j];")
            judge(sized(f"{t} D[N][N];\nvoid k(void) {{ {body} }}", n), {"D": D}, 12)


def known(text):
    proven = proof(understood(sized(text, 8))[1])
    if proven is None:
        return None
    tests = (proven.diagonal, proven.elements, *(proven.both or ()))
    return " ".join(f"{t.op}{t.value.value:g}" for t in tests if t is not None)


def body(text, t="float"):
    return f"{t} X[N][N];\nvoid k(void) {{ " + loops(text) + " }"


SUM, MIN = "X[i][k] + X[k][j]", "(X[i][k] < X[k][j] ? X[i][k] : X[k][j])"
PROOFS = [
    (PATHS["if"], "<0"),
    (PATHS["greater"], "<0"),
    (PATHS["fminf"], "<0"),
    (PATHS["min"], None),
    (PATHS["hoisted"], "<0"),
    (FORMS["hops"], "<0 >0 >1.07374e+09"),
    (FORMS["last"], None),
    (FORMS["reliable"], ">1 <0"),
    (FORMS["bottleneck"], ""),
    (FORMS["minimax"], ""),
    (FORMS["longest"], ">0 <0 <-1.07374e+09"),
    (FORMS["closure"], ""),
    (FORMS["closure of bits"], ""),
    (FORMS["closure, bool"], ""),
    (FORMS["closure, or"], ""),
    (FORMS["any"], None),
    (body(f"if ({SUM} < X[i][j]) X[i][j] = {SUM};", "short"), None),
    (body(f"if ({SUM} < X[i][j]) X[i][j] = {SUM};", "unsigned char"), ""),
    (body(f"unsigned char t = {SUM}; if (t < X[i][j]) X[i][j] = t;".join("{}"), "unsigned char"), None),
    (body(f"if ({SUM} <= X[i][j]) X[i][j] = {SUM};", "unsigned"), ">0 >2.14748e+09"),
    (body(f"if ({SUM} <= X[i][j]) X[i][j] = {SUM};"), None),
    (body(f"if ({SUM} + 1 < X[i][j]) X[i][j] = {SUM} + 1;"), None),
    (body(f"if ({MIN} >= X[i][j]) X[i][j] = {MIN};"), None),
    (body(f"if ({MIN} < X[i][j]) X[i][j] = {MIN};"), None),
    (body("if (X[i][k] * X[k][j] < X[i][j]) X[i][j] = X[i][k] * X[k][j];"), None),
    (body("X[i][j] = X[i][j] && (X[i][k] || X[k][j]);", "int"), ""),
    (body("X[i][j] = X[i][j] ^ (X[i][k] & X[k][j]);", "int"), None),
    (body("X[i][j] = X[i][j] || (X[i][k] > 2 && X[k][j]);", "int"), None),
    (body("X[i][j] = X[i][j] != (X[i][k] && X[k][j]);", "int"), None),
    (body("X[i][j] |= X[i][k] && (X[k][j] & 2);", "int"), None),
    (body("if (X[i][k] && X[k][j]) X[i][j] = (char)X[i][j] | 1;", "int"), None),
]


@pytest.mark.parametrize("text, tests", sampled(PROOFS, 1))
def test_what_is_known_of_a_form(text, tests):
    assert known(text) == tests


@pytest.mark.parametrize(
    "text, message, code",
    [
        (sized("float D[N][N];\nvoid k(void) { for (int k = 0; k < N - 1; k++) for (int i = 0; i < N; i++) for (int j = 0; j < N; j++)\n"
         "D[i][j] += D[k + 1][j]; }", 8), r"<input>:4:12: error: not of Gaussian-elimination type: it also reads D\[k \+ 1\]\[j\]", "C2CU038"),
        ("float s[8];\nvoid k(void) { for (int i = 0; i < 8; i++) s[i] += 1; }", "no three nested loops", "C2CU304"),
        (sized("struct P { float x, y; } D[N][N];\nvoid k(void) { " + loops("D[i][j].x += D[i][k].x * D[k][j].y;") + " }", 8), "'D.x' is part of a struct", "C2CU090"),
        (sized("float A[N][N];\nvoid k(void) { " + loops("A[i][j] += A[i][k] * A[k][j];", "for (int j = 0; j < N; j++) A[k][j] = A[j][k];") + " }", 8), r"it computes A\[k\]\[j\] from A\[i\]\[k\]", "C2CU038"),
    ],
)  # fmt: skip
def test_refused(text, message, code):
    with pytest.raises(c2cu.UnsupportedError, match=message) as caught:
        tiles_of(text)
    assert caught.value.code == code and caught.value.line


@pytest.mark.slow
def test_what_is_given_and_what_is_not():
    """Initial values, shared matrices, constants, and elements that no step touches."""
    text = """
    const float T[6][6] = {{1, 2, 3, 4, 5, 6}, {0, 1, 0.5f}, {2, 0, 1}, {0}, {1, 1, 1, 1, 1, 1}, {3}};
    float W[6][6] = {{1, 2}, {3, 4, 5}}, S[6][6], D[8][7];
    void k(void) {
      for (int k = 0; k < 6; k++) for (int i = 0; i < 6; i++) for (int j = 0; j < 6; j++)
        if (i != k && j != k) D[i][j] += W[i][k] * D[k][j] - S[k][j] * T[i][k];
    }"""
    rng = np.random.default_rng(6)
    D, S, W = (rng.random(s, np.float32) for s in ((5, 8, 7), (6, 6), (5, 6, 6)))
    front, gep = understood(text, shared=("S",))
    a = tiles(front.analysis, gep, front.slots, front.layout, "exact")
    initial = np.zeros((5, 6, 6), np.float32)
    initial[:, 0, :2], initial[:, 1, :3] = [1, 2], [3, 4, 5]
    for w in (None, W):
        inputs = {"D": D, "S": S} | ({"W": w} if w is not None else {})
        variables = [(s.name, s.dtype, s.shape) for s in a.slots if s.name != "T"]
        whole = {"D": D, "S": np.broadcast_to(S, (5, 6, 6)), "W": initial if w is None else W}
        expected = Original(text, "k", variables).bulk(whole, 5)
        judge(text, inputs, 5, a, expected)
        judge(text, inputs, 5, a, expected, in_place=True)


def test_fast_uses_minima():
    assert "fminf(" in tiles_of(sized(PATHS["if"], 32), fp="fast").text
    assert "MINIMA ? fminf(" in tiles_of(sized(PATHS["if"], 32)).text  # exact: two ways, by the input
    hops = tiles_of(sized("int D[N][N];\nvoid k(void) { " + loops("if (D[i][k] + D[k][j] < D[i][j]) D[i][j] = D[i][k] + D[k][j];") + " }", 32))  # fmt: skip
    assert "min((" in hops.text


def test_chosen_and_tuned():
    """Of the CUDA schedules, for what it takes; with other numbers of threads where there are tiles for them."""
    front, _ = understood(sized(PATHS["if"], 32))
    plan, artifact = choose(front, "cuda")
    assert plan.schedule == artifact.schedule == "gep" and plan.estimates[-1].threads * artifact.inputs == plan.threads
    others = registry.find("cuda", "gep").schedule.alternatives(Candidate("gep"), artifact)
    threads = artifact.threads // artifact.inputs
    assert {c.threads for c in others} == {threads // 2, 2 * threads}
    for c in others:
        a = emitted(front, c, "cuda")
        assert a.threads // a.inputs in (c.threads, 32)
    with pytest.raises(c2cu.UnsupportedError, match="no tile size gives an input 77 threads"):
        emitted(front, Candidate("gep", 77), "cuda")


@pytest.mark.parametrize("n", sampled([4, 16, 33, 64, 100, 128, 200, 256, 300, 512], 1))
def test_the_best_shape_fits(n):
    _, gep = understood(sized(PATHS["if"], n)) if n <= 64 else (None, None)
    if gep is None:
        gep = resized(n)
    sides = sides_of(gep)
    for s in shapes(gep, sides):
        assert s.band * s.bands >= n and s.width >= n and s.block <= 1024
        assert s.places * s.shared_bytes(sides) <= 227 << 10 and s.inputs * s.threads <= s.block
        assert s.rows % s.unit == s.columns % s.unit == 0
    assert shapes(gep, sides)


def test_rows_that_are_too_long():
    front, _ = understood(sized(PATHS["if"], 16))
    with pytest.raises(c2cu.UnsupportedError, match="the rows of the matrix are too long for the registers"):
        tiles(front.analysis, resized(40000), front.slots, front.layout, "exact")


def resized(n):
    """The loops of 16 nodes as they would be for n, without tracing them."""
    _, g = understood(sized(PATHS["if"], 16))
    span = Range(0, n)
    region = replace(g.regions[0], extents=(n, n))
    return replace(g, k=span, strides=((region, n),), update=replace(g.update, rows=span, columns=span))


def test_the_same_text_every_time():
    text = sized(FORMS["hops"], 20)
    assert tiles_of(text).text == tiles_of(text).text


MORE = {
    "another value": ("float", "if (D[i][k] + D[k][j] < D[i][j]) D[i][j] = D[i][k] + D[k][j] + 3;"),
    "its negative": ("float", "if (D[i][k] * D[k][j] > D[i][j]) D[i][j] = -(D[i][k] * D[k][j]);"),
    "bits cut off": ("int", "D[i][j] = (unsigned char)D[i][j] | (D[i][k] & D[k][j]);"),
    "bits of another": ("int", "D[i][j] = D[i][j] ? (D[i][j] | 1) : (D[i][k] && D[k][j] ? D[k][j] : 0);"),
}


@pytest.mark.parametrize("name", sampled(MORE, 2))
def test_what_is_almost_a_semiring_is_compared_at_every_step(name):
    """After a step elements may be anywhere, or row k may change in bits that others take."""
    kind, update = MORE[name]
    assert proof(understood(sized(f"{kind} D[N][N];\nvoid k(void) {{ {FOR} {update} }}", 8))[1]) is None


def test_a_row_that_is_scaled_may_hide_what_was_below_zero():
    text = PATHS["if"].replace(
        "k++)\n    for (int i", "k++) {\n    for (int j = 0; j < N; j++) D[k][j] += 2;\n    for (int i"
    )
    g = understood(sized(text + " }", 8))[1]
    assert g.scale
    assert proof(g) is None
