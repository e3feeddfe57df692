"""Loops of Gaussian-elimination type: what is recognised, what is not and why, and that the form is the program."""

import numpy as np
import pytest
from click.testing import CliRunner

from c2cu import pipeline
from c2cu.cli import main
from c2cu.frontend.options import options_of
from c2cu.frontend.preprocess import read_source
from c2cu.gep import Gep, NotGep, recognise
from c2cu.gep.distances import distances
from tests import gep_executor
from tests.gep_cases import HEAD, IJ, LOOPS, NEAR, RECOGNISED, matrix
from tests.gep_programs import TYPES, program
from tests.oracle import Original, same
from tests.sample import sampled, slow


def recognised(text: str, **options) -> Gep | NotGep | None:
    front = pipeline.understand(read_source(text), options_of(**options))
    assert front.analysis is not None
    return recognise(front.analysis.kernel)


@pytest.mark.parametrize("name", sampled(RECOGNISED, 1))
def test_recognised(name):
    text, regions, parts, moves = RECOGNISED[name]
    g = recognised(text)
    assert isinstance(g, Gep), g
    assert [r.name for r in g.regions] == regions.split()
    assert len(g.scale) == parts
    assert (g.row_moves, g.column_moves) == tuple(map(bool, moves))


MATRICES = "float A[8][8], B[8][8], C[8][8], D[8][8][8];\nvoid f(void) {\n%s}\n"
THREE = "    for (int k = 0; k < 8; k++)\n        for (int i = 1; i < 7; i++)\n            for (int j = 1; j < 7; j++) %s;\n"


@pytest.mark.parametrize(
    "update, is_near",
    [
        ("C[k][j] += A[k][i] * B[i][j]", False),
        ("A[i][j] = A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1]", False),
        ("D[k][i][j] = D[k][i][j - 1] + A[i][j]", False),
        ("A[i][j] += A[i][k] * A[k][j - 1]", True),
        ("A[i][j] += A[k][i]", True),
    ],
)
def test_only_what_looks_like_it_is_told_what_is_missing(update, is_near, tmp_path, monkeypatch):
    text = MATRICES % (THREE % update)
    g = recognised(text)
    assert isinstance(g, NotGep) and g.is_near == is_near
    (tmp_path / "f.c").write_text(text)
    for backend in ("cpu", "cuda"):
        said = CliRunner().invoke(main, ["explain", str(tmp_path / "f.c"), "--backend", backend]).output
        assert ("not of Gaussian-elimination type" in said) == is_near, said


@pytest.mark.parametrize("name", sampled(NEAR, 1))
def test_near_misses_say_where_and_why(name):
    text, message = NEAR[name]
    shapes = {"d": (144,)} if "float *d" in text else None
    g = recognised(text, shapes=shapes)
    assert isinstance(g, NotGep)
    assert g.message == message
    assert "HERE" in text.split("\n")[g.loc.line - 1], g.loc


@pytest.mark.parametrize(
    "text",
    [
        "int a[4];\nvoid f(void) { a[0] = 1; }\n",
        f"{HEAD}float D[N][N];\nvoid f(void) {{ {IJ} D[i][j] *= 2; }}\n",
    ],
)
def test_nothing_is_said_of_other_programs(text):
    assert recognised(text) is None


def test_updates_are_counted():
    text, *_ = RECOGNISED["LU"]
    g = recognised(text)
    assert isinstance(g, Gep)
    assert g.updates == sum((12 - k - 1) ** 2 for k in range(12))
    assert (g.rows, g.columns) == (12, 12)


# Distances: matrices that a negative cycle leaves below 0 on the diagonal


@pytest.mark.parametrize("t", ["float", slow("int"), "short"])
@pytest.mark.parametrize(
    "body, least",
    [
        ("if (s < D[i][j]) D[i][j] = s;", True),
        ("if (D[i][j] >= s) D[i][j] = s;", True),
        ("if (!(D[i][j] <= s)) D[i][j] = s;", True),
        ("D[i][j] = D[i][j] < s ? D[i][j] : s;", True),
        ("if (i != j) if (s < D[i][j]) D[i][j] = s;", True),
        ("if (s < D[i][j]) if (i != j) D[i][j] = s;", True),
        ("if (!(s >= D[i][j] || i == j)) D[i][j] = s;", True),
        ("if (s > D[i][j]) D[i][j] = s;", False),
        ("if (!(s < D[i][j])) D[i][j] = s;", False),
        ("if (D[i][k] < D[i][j]) D[i][j] = s;", False),
        ("if (s < D[i][j]) D[i][j] = D[i][k];", False),
        ("if (s < D[i][j] || i == j) D[i][j] = s;", False),
        ("D[i][j] = s < D[i][j] ? D[i][j] : s;", False),
        ("D[i][j] = s;", False),
    ],
)
def test_distances_are_told_from_other_matrices(t, body, least):
    g = recognised(matrix(f"{LOOPS} {{ {t} s = D[i][k] + D[k][j]; {body} }}", t))
    assert isinstance(g, Gep)
    assert [r.name for r in distances(g)] == ["D"] * least


# The form, executed


def values(rng: np.random.Generator, t: str, shape: tuple[int, ...]) -> np.ndarray:
    """Elements of a C type: small numbers, also negative ones and infinities."""
    d = np.dtype(TYPES[t])
    if d.kind == "f":
        some = rng.choice([0, -0.0, 1, 2, 3, 0.5, -1, np.inf, 7, 1.25], size=shape)
        return (some if rng.random() < 0.5 else rng.normal(size=shape)).astype(d)
    if d.kind == "b":
        return rng.random(shape) < 0.5
    return rng.integers(0 if d.kind == "u" or rng.random() < 0.5 else -4, 10, size=shape).astype(d)


def compare(g: Gep, original: Original, inputs: dict[str, np.ndarray], p: int, seed: int) -> int:
    """How many of p inputs were told to keep rows and columns k where they are; all of these equal the original."""
    want = original.bulk(inputs, p)
    compared = 0
    for q in range(p):
        got, moved = gep_executor.run(g, {n: a[q].ravel().tolist() for n, a in inputs.items()}, seed + q)
        compared += not moved
        for name, cells in got.items():
            result = np.array(cells).astype(want[name].dtype).reshape(want[name].shape[1:])
            assert moved or same(result, want[name][q]), (seed, name, result, want[name][q])
    return compared


@pytest.mark.parametrize(
    "name", sampled([n for n, (text, *_) in RECOGNISED.items() if "struct" not in text and "(float" not in text], 4)
)
def test_the_form_is_the_program(name):
    text = RECOGNISED[name][0].replace("#define N 12", "#define N 5")
    g = recognised(text)
    assert isinstance(g, Gep)
    kinds = {v: k for k, v in TYPES.items()}
    extents = {r.name: (5, 5) for r in g.regions}
    if name == "augmented":
        extents["A"] = (5, 8)
    if name == "part of a larger matrix":
        extents["D"] = (9, 14)
    variables = [(r.name, r.type.numpy, extents[r.name] if name != "flat" else (25,)) for r in g.regions]
    rng = np.random.default_rng(7)
    inputs = {n: values(rng, kinds[str(np.dtype(t))], (8, *s)) for n, t, s in variables}
    for (_, width), a in zip(extents.values(), inputs.values()):  # the first four have no negative cycle
        if not g.scale and name != "augmented":
            a[:4] = a[:4] > 0 if "closure" in name else abs(a[:4])
            a.reshape(8, -1)[:4, :: width + 1] = 0
    assert compare(g, Original(text, "f", variables), inputs, 8, 0) >= 4 * (name not in ("max-times", "max-min"))


def test_a_negative_cycle_moves_a_row():
    g = recognised(RECOGNISED["if"][0])
    assert isinstance(g, Gep)
    d = np.full((12, 12), 5.0, np.float32)
    np.fill_diagonal(d, 0)
    assert not gep_executor.run(g, {"D": d.ravel().tolist()})[1]
    d[3, 4], d[4, 3] = 1, -2
    assert gep_executor.run(g, {"D": d.ravel().tolist()})[1]


@pytest.mark.parametrize("seed", sampled(range(50), 5))
def test_random_programs(seed):
    """Never a wrong result where the form says that rows and columns stay, or where it was checked that they do."""
    made = program(seed)
    g = recognised(made.text)
    if not isinstance(g, Gep):
        pytest.skip("not of the type")
    rng = np.random.default_rng(seed)
    inputs = {n: values(rng, t, (4, rows * columns)) for n, (t, rows, columns) in made.arrays.items()}
    variables = [(n, TYPES[t], (rows * columns,)) for n, (t, rows, columns) in made.arrays.items()]
    compared = compare(g, Original(made.text, "f", variables), inputs, 4, seed)
    assert compared == 4 or g.row_moves or g.column_moves
