"""Transitive closure on bits: which programs are one, and that what is launched computes what gcc's C does."""

from __future__ import annotations

import numpy as np
import pytest

import c2cu
from c2cu import pipeline
from c2cu.frontend.options import options_of
from c2cu.frontend.preprocess import read_source
from c2cu.gep import Gep, NotGep
from c2cu.gep.closure import closure
from c2cu.ir.nodes import Region
from c2cu.report import explain
from c2cu.schedule.choose import choose
from c2cu.schedule.gep.bits import BitShape, bits
from tests import nvcc
from tests.gep_cases import RECOGNISED
from tests.gep_host import run_launches, taken
from tests.oracle import Original, same
from tests.sample import sampled

SMALL = BitShape(128, 8, 64)
NARROW = BitShape(96, 4, 32)
DEEP = BitShape(64, 16, 64, depth=256)  # a block of steps has two units of four words
WIDE = BitShape(256, 4, 256)  # more threads than the square on the diagonal has rows

LOOPS = "for (int k = 0; k < N; k++) for (int i = 0; i < N; i++) for (int j = 0; j < N; j++)"


def program(body: str, t: str = "unsigned char", columns: str = "N") -> str:
    return f"#define N 12\n{t} R[N][{columns}];\nvoid f(void) {{\n    {body} // HERE\n}}\n"


def sized(text: str, n: int) -> str:
    return text.replace("#define N 12", f"#define N {n}")


OR = program(f"{LOOPS} R[i][j] = R[i][j] || (R[i][k] && R[k][j]);")
SPELLINGS = {
    "or-and": OR,
    "or-and of _Bool": OR.replace("unsigned char", "_Bool"),
    "bits": program(f"{LOOPS} R[i][j] |= R[i][k] & R[k][j];", "int"),
    "bits of long": program(f"{LOOPS} R[i][j] = R[i][j] | (R[k][j] & R[i][k]);", "unsigned long"),
    "if": program(f"{LOOPS} if (R[i][k] && R[k][j]) R[i][j] = 1;", "short"),
    "if of _Bool": program(f"{LOOPS} if (!R[i][j] && R[i][k]) R[i][j] = R[k][j];", "_Bool"),
    "hoisted": program(
        "for (int k = 0; k < N; k++) for (int i = 0; i < N; i++) { if (!R[i][k]) continue;"
        " for (int j = 0; j < N; j++) R[i][j] |= R[k][j]; }",
        "signed char",
    ),
    "columns outside": program(
        "for (int k = 0; k < N; k++) for (int j = 0; j < N; j++) for (int i = 0; i < N; i++)"
        " R[i][j] = R[i][k] != 0 & R[k][j] != 0 | R[i][j] != 0;"
    ),
    "choice": program(f"{LOOPS} R[i][j] = R[i][k] ? R[i][j] | R[k][j] : R[i][j];", "long long"),
    "part of a larger matrix": program(f"{LOOPS} R[i][j] |= R[i][k] & R[k][j];", columns="N + 7"),
}
TYPES = {"unsigned char": "u1", "_Bool": "?", "int": "i4", "unsigned long": "u8", "short": "i2", "signed char": "i1"}


def variables_of(text: str, n: int):
    t = text.splitlines()[1].partition(" R[")[0]
    return [("R", TYPES.get(t, "i8"), (n, n + 7 * ("N + 7" in text)))]


def artifact(text: str, shape: BitShape | None = SMALL):
    return bits(*taken(text), shape)


def graphs(variables, n: int) -> dict[str, np.ndarray]:
    """A random graph, a path through all vertices in random order, and one with all edges but a few."""
    (name, dtype, shape), rng = variables[0], np.random.default_rng(n)
    a = np.zeros((3, *shape), dtype)
    a[0, :, :n] = rng.random((n, n)) < 1.5 / n
    order = rng.permutation(n)
    a[1, order[:-1], order[1:]] = 1
    a[2, :, :n] = rng.random((n, n)) < 0.9
    a[:, :, n:] = 1
    return {name: a}


def check(text: str, n: int, inputs, shape=SMALL, variables=None, **how) -> list[bool]:
    """That what runs is what gcc's C computes. Returns which inputs were done again on their elements."""
    text = sized(text, n)
    variables = variables or variables_of(text, n)
    p = len(next(iter(inputs.values()), [0]))
    expected = Original(text, "f", variables).bulk(inputs, p)["R"]
    result, again = run_launches(artifact(text, shape), inputs, p, **how)
    assert same(result["R"], expected)
    return again


@pytest.mark.parametrize("name", sampled(SPELLINGS, 12))
@pytest.mark.slow
def test_spellings_and_types(name):
    """Inputs with elements other than 0 and 1, and no others, are done again; the C may change those, or keep them."""
    n = 140
    inputs = graphs(variables_of(SPELLINGS[name], n), n)
    a = inputs["R"]
    a[2] = a[1]
    some = np.nonzero(a[2, :, :n])
    a[2, some[0], some[1]] = np.random.default_rng(1).integers(2, 120, len(some[0]))
    others = [False, False, "_Bool" not in name]
    assert check(SPELLINGS[name], n, inputs, in_place=name != "or-and", at_once=1) == others


@pytest.mark.parametrize(
    ("n", "shape"),
    sampled([(290, NARROW), (2, SMALL), (31, SMALL), (128, NARROW), (100, WIDE), (300, SMALL), (330, DEEP)], 4),
)
@pytest.mark.slow
def test_sizes(n, shape):
    inputs = {x: a[:2] for x, a in graphs(variables_of(OR, n), n).items()}
    assert not any(check(OR, n, inputs, shape, in_place=True, at_once=2))


@pytest.mark.slow
def test_one_element_is_enough():
    n = 40
    inputs = graphs(variables_of(OR, n), n)
    inputs["R"][1, n - 1, n - 1] = 255
    assert check(OR, n, inputs) == [False, True, False]


@pytest.mark.slow
def test_elements_that_no_step_touches_do_not_matter():
    n, text = 40, SPELLINGS["part of a larger matrix"]
    inputs = graphs(variables_of(text, n), n)
    inputs["R"][:, :, n:] = 77
    assert not any(check(text, n, inputs))


@pytest.mark.slow
def test_a_matrix_that_is_not_given():
    """Its initialiser counts, or zero."""
    start = "R[N][N] = {{0, 1, 0, 0, 0}, {0, 0, 0, 0, 1}, {0}, {0}, {0, 0, 1}};"
    initialised = sized(OR.replace("R[N][N];", start), 5)
    for text in (initialised, initialised.replace("0, 1, 0", "0, 9, 0")):
        expected = Original(text, "f", [("R", "u1", (5, 5))])
        result, again = run_launches(artifact(text), {}, 1)
        assert same(result["R"], expected.bulk({}, 1)["R"]) and again == ["9" in text]
    assert not run_launches(artifact(sized(OR, 40)), {}, 1)[0]["R"].any()


def test_a_result_that_is_not_wanted():
    """Then nothing is stored, whatever the elements are."""
    made = artifact(sized(OR, 40))
    assert run_launches(made, {"R": np.full((1, 40, 40), 3, "u1")}, 1, names=())[1] == [False]


# recognition


def recognised(text: str) -> Gep:
    g = pipeline.understand(read_source(text), options_of()).gep
    assert isinstance(g, Gep), g
    return g


@pytest.mark.parametrize("name", SPELLINGS)
def test_closures(name):
    assert isinstance(closure(recognised(sized(SPELLINGS[name], 12))), Region)


def loops(update: str, t: str = "unsigned char", head: str = "", ranges: str = "") -> str:
    return program(f"{ranges or LOOPS} {{ {head} {update} }}", t)


BY_LOGIC = "by logical operators alone, R[i][j] does not become R[i][j] | (R[i][k] & R[k][j])"
NEAR = {
    "and-or": (loops("R[i][j] &= R[i][k] | R[k][j];"), BY_LOGIC),
    "xor": (loops("R[i][j] ^= R[i][k] & R[k][j];"), BY_LOGIC),
    "parity": (loops("R[i][j] = R[i][j] != (R[i][k] && R[k][j]);"), BY_LOGIC),
    "two for true": (loops("if (R[i][k] && R[k][j]) R[i][j] = 2;"), BY_LOGIC),
    "no way back": (loops("if (R[i][k] && !R[k][j]) R[i][j] = 1;"), BY_LOGIC),
    "only from the middle": (loops("if (R[i][k] && R[k][j] && R[k][k]) R[i][j] = 1;"), BY_LOGIC),
    "a counter": (loops("if (R[i][k] && R[k][j] && i != j) R[i][j] = 1;"), BY_LOGIC),
    "max-min": (loops("int t = R[i][k] < R[k][j] ? R[i][k] : R[k][j]; if (t > R[i][j]) R[i][j] = t;"), BY_LOGIC),
    "floats": (
        loops("if (R[i][k] && R[k][j]) R[i][j] = 1;", "float"),
        "'R' has elements of type float, not of an integer type",
    ),
    "two arrays": (
        loops("if (R[i][k] && R[k][j]) { R[i][j] = 1; via[i][j] = k; }").replace("void f", "int via[N][N];\nvoid f"),
        "it takes 2 arrays, not one",
    ),
    "all rows but one": (
        loops("R[i][j] |= R[i][k] & R[k][j];", ranges=LOOPS.replace("i = 0", "i = 1")),
        "not all of its loops go from 0 to 11",
    ),
    "all steps but one": (
        loops("R[i][j] |= R[i][k] & R[k][j];", ranges=LOOPS.replace("k < N", "k < N - 1")),
        "not all of its loops go from 0 to 10",
    ),
    "LU": (RECOGNISED["LU"][0], "it first computes D[i][k] anew"),
}


@pytest.mark.parametrize("name", sampled(NEAR, 1))
def test_near_misses_are_refused_with_a_reason(name):
    text, message = NEAR[name]
    assert closure(recognised(text)) == NotGep(message, closure(recognised(text)).loc)
    front = pipeline.understand(read_source(text), options_of())
    with pytest.raises(c2cu.UnsupportedError, match="not a transitive closure") as e:
        choose(front, "cuda", "gep:bits")
    assert message in str(e.value) and (name == "LU" or "HERE" in text.split("\n")[e.value.line - 1])


@pytest.mark.slow
def test_which_matrices_go_on_bits():
    def chosen(text: str, schedule: str) -> str:
        return choose(pipeline.understand(read_source(text), options_of()), "cuda", schedule)[0].schedule

    for schedule in ("auto", "gep"):
        assert chosen(sized(OR, 513), schedule) == "gep:bits"
        assert chosen(sized(OR, 512), schedule) == "gep"
        assert chosen(sized(NEAR["max-min"][0], 513), schedule) == "gep:graph"
    assert chosen(sized(OR, 20), "gep:bits") == "gep:bits"
    assert chosen(sized(OR, 600), "gep:streams") == "gep:streams"


@pytest.mark.slow
def test_explain_says_so():
    front = pipeline.understand(read_source(sized(OR, 600)), options_of())
    said = explain.explanation(front, "cuda", "gep", None, "exact", "a GPU")
    assert said["schedule"] == "gep:bits" and said["form"]["closure"]
    assert said["launches"]["c2cu_panels"] == said["launches"]["c2cu_rest"] == -(-600 // 128)
    other = pipeline.understand(read_source(NEAR["max-min"][0]), options_of())
    assert not explain.explanation(other, "cuda", "gep", None, "exact", "a GPU")["form"]["closure"]


def test_shapes_that_do_not_fit_together_are_refused():
    for shape in ((100,), (128, 6), (128, 32, 96), (128, 16, 48), (128, 32, 256, 2, 192)):
        with pytest.raises(ValueError, match="fit together"):
            BitShape(*shape)


@nvcc.needed
@pytest.mark.parametrize(("n", "t"), [(600, "int"), (9000, "unsigned char")])
def test_nvcc_takes_the_usual_shapes(n, t, tmp_path):
    """Without a warning; nothing is spilled, and two blocks share a multiprocessor."""
    made = artifact(sized(OR.replace("unsigned char", t), n), None)
    kernels = nvcc.kernels(made.text, tmp_path)
    for name in ("c2cu_pivot", "c2cu_panels", "c2cu_rest"):
        assert kernels[name].registers <= 128 and not kernels[name].spilled, name
    assert 2 * made.shared_bytes <= 227 << 10
