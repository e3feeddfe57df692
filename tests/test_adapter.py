"""Kernel parameters that C does not give the form of an array: ``T **``, ``void *``, arrays of variable length."""

import numpy as np
import pytest

import c2cu
from c2cu import pipeline
from c2cu.frontend.options import options_of
from c2cu.frontend.preprocess import read_source
from c2cu.schedule.choose import choose
from tests.cuda_host import run_on_cpu
from tests.oracle import Original
from tests.sample import sampled, slow

P = 5
A = np.random.default_rng(3).normal(size=(P, 3, 4))
SUM = "*s = 0; for (int i = 0; i < 3; i++) for (int j = 0; j < 4; j++) *s += a[i][j] * (i - j);"
EXPECTED = (A * (np.arange(3)[:, None] - np.arange(4))).reshape(P, 12).cumsum(1)[:, -1]
PROGRAMS = {
    "rows": (f"void k(double **a, double *s) {{ {SUM} }}", {"a": (3, 4)}),
    "const rows": (f"void k(const double *const *a, double *s) {{ {SUM} }}", {"a": (3, 4)}),
    "an array of rows": (f"typedef double real;\nvoid k(real *a[], real *s) {{ {SUM} }}", {"a": (3, 4)}),
    "rows of a function below": (
        f"static void sum(double **a, double *s) {{ {SUM} }}\nvoid k(double **a, double *s) {{ sum(a, s); }}",
        {"a": (3, 4)},
    ),
    "names of all kinds": (
        f"void k(double **i, double *s, int n) {{ double **a = i; {SUM} }}",
        {"i": (3, 4)},
    ),
    "a type of rows": (f"typedef double **mat;\nvoid k(const mat a, double *s) {{ {SUM} }}", {"a": (3, 4)}),
    "a type of a row": (f"typedef double *vec;\nvoid k(vec *a, vec s) {{ {SUM} }}", {"a": (3, 4)}),
    "a type of a row that stays": (
        f"typedef const double *row;\nvoid k(row const a[], double *s) {{ {SUM} }}",
        {"a": (3, 4)},
    ),
    "a parameter called like its type": (
        f"typedef double real;\nreal k(double *s, real **real) {{ double **a = real; {SUM} return *s; }}",
        {"real": (3, 4)},
    ),
    "macros called like its names": (
        f"void k(double **a, double *s) {{ {SUM} }}\n#define a 5\n#define k(a, s) s",
        {"a": (3, 4)},
    ),
    "bytes seen as numbers": (
        f"void k(const void *v, double *s) {{ const double (*a)[4] = v; {SUM} }}",
        {"v": (12, "float64")},
    ),
}


@pytest.mark.costly
@pytest.mark.parametrize("schedule", ["auto", slow("gang"), "native", "private", slow("thread")])
@pytest.mark.parametrize("name", sampled(PROGRAMS, 2))
def test_results(name, schedule):
    text, shapes = PROGRAMS[name]
    shapes = {**shapes, "s": 1}
    name = next(iter(shapes))
    inputs = {name: A.reshape(P, 12) if name == "v" else A}
    if schedule in ("private", "thread"):
        front = pipeline.understand(read_source(text), options_of("k", shapes=shapes))
        try:
            result = run_on_cpu(choose(front, "cuda", schedule)[1], inputs, P)["s"]
        except c2cu.UnsupportedError:
            assert schedule == "thread"  # pointers in memory have no form in columns
            return
    else:
        result = c2cu.bulk(text, inputs, fn="k", shapes=shapes, backend="cpu", schedule=schedule)
    result = result["s"] if isinstance(result, dict) else result
    assert np.allclose(result[:, 0], EXPECTED, rtol=1e-12)


@pytest.mark.parametrize("schedule", ["gang", "native"])
def test_types_of_a_second_file(schedule, tmp_path):
    """Which the first has too, with another meaning; messages show the user's own line."""
    text = f"typedef double real; struct s {{ real x; }};\nstatic void k(real **a, struct s *s0) {{ real *s = &s0->x; {SUM} }}"
    first = "typedef float real; struct s { int y; }; static int k(struct s *s, real *r) { return s->y + *r; } int t = sizeof(k);"
    for name, content in (("a.c", first), ("b.c", text)):
        (tmp_path / name).write_text(content)
    files = [tmp_path / "a.c", tmp_path / "b.c"]
    result = c2cu.bulk(files, {"a": A}, fn="k__b", shapes={"s0": ()}, backend="cpu", schedule=schedule)
    assert np.allclose(result["x"].reshape(P), EXPECTED, rtol=1e-12)
    with pytest.raises(c2cu.Error, match=r"b\.c:2:\d+: error"):
        c2cu.compile(files, fn="k__b", shapes={"a": (3, 3)}, backend="cpu")


def test_the_arrays_of_a_call_say_the_shape():
    text = f"void k(double **a, double *s) {{ {SUM} }}"
    assert np.allclose(c2cu.bulk(text, {"a": A}, backend="cpu", shapes={"s": 1})[:, 0], EXPECTED, rtol=1e-12)
    in_columns = c2cu.bulk(text, {"a": np.moveaxis(A, 0, -1)}, backend="cpu", shapes={"s": 1}, layout="column")
    assert np.allclose(in_columns[0], EXPECTED, rtol=1e-12)
    assert "oblivious: yes" in str(c2cu.check(text, shapes={"a": (3, 4), "s": 1}))


def test_results_come_out_of_rows():
    """As CasADi writes its functions."""
    text = (
        "int f(const double **arg, double **res, long *iw, double *w, int mem) {\n"
        "    w[0] = arg[0][0] + arg[1][1];\n    if (res[0] != 0) res[0][0] = w[0] * 2;\n    return 0;\n}\n"
    )
    results = c2cu.bulk(text, {"arg": A[:, :2]}, fn="f", shapes={"res": (1, 1)}, backend="cpu")
    assert np.array_equal(results["res"][:, 0, 0], (A[:, 0, 0] + A[:, 1, 1]) * 2)


MOVES = {
    "swapped": "double *t = a[0]; a[0] = a[1]; a[1] = t; a[0][0] = 100;",
    "the same twice": "a[0] = a[1]; a[1][0] = 100;",
    "elsewhere": "static double b[3] = {7, 8, 9}; *a = b; a[1][0] = 100; b[1]++;",
    "stepped": "a[0]--; a[0]++; a[1][2] = 5;",
}


@pytest.mark.parametrize("schedule", ["auto", "native", "private"])
@pytest.mark.parametrize("name", sampled(MOVES, 1))
def test_rows_that_change_places(name, schedule):
    """What a C caller finds behind the addresses."""
    text = f"int k(double **a) {{ {MOVES[name]} return 3; }}"
    caller = (
        f"{text}\ndouble m[2][3]; int r; void caller(void) {{ double *a[2] = {{m[0], m[1]}}, c[2][3]; r = k(a);"
        " for (int i = 0; i < 6; i++) c[i / 3][i % 3] = a[i / 3][i % 3];"
        " for (int i = 0; i < 6; i++) m[i / 3][i % 3] = c[i / 3][i % 3]; }"
    )
    m = A[:, :2, :3].copy()
    expected = Original(caller, "caller", [("m", "float64", (2, 3)), ("r", "int32", ())]).bulk({"m": m}, P, fresh=True)
    if schedule == "private":
        front = pipeline.understand(read_source(text), options_of("k", shapes={"a": (2, 3)}))
        result = run_on_cpu(choose(front, "cuda", schedule)[1], {"a": m}, P)
    else:
        result = c2cu.bulk(text, {"a": m}, backend="cpu", schedule=schedule)
    assert np.array_equal(result["a"], expected["m"]) and np.array_equal(result["return"], expected["r"])


def test_arrays_of_variable_length():
    one = "void k(int n, double a[n], double *s) { *s = 0; for (int i = 0; i < n; i++) *s += a[i]; }"
    vector = A[:, 0]
    expected = vector.cumsum(1)[:, -1]
    for schedule in ("gang", "native"):
        result = c2cu.bulk(one, {"a": vector, "n": 4}, backend="cpu", schedule=schedule)
        assert np.array_equal(result.reshape(P), expected)
    two = f"void k(int n, int m, double a[n][m], double *s) {{ {SUM.replace('< 3', '< n').replace('< 4', '< m')} }}"
    for schedule in ("gang", "native"):
        result = c2cu.bulk(
            two, {"a": A, "n": 3, "m": 4}, backend="cpu", schedule=schedule, shapes={"s": 1}, outputs=["s"]
        )
        assert np.allclose(result[:, 0], EXPECTED, rtol=1e-12)


VARIABLE = {
    "three extents": ("const double a[n][m][k]", (2, 3, 4), "a[i][j][l]"),
    "the last one is constant": ("const double a[n][m][4]", (2, 3, 4), "a[i][j][l]"),
    "a pointer to rows": ("const double (*a)[m]", (2, 12), "a[i][m / 3 * j + l]"),
    "a pointer to matrices": ("const double (*restrict a)[m][k]", (2, 3, 4), "a[i][j][l]"),
}


@pytest.mark.parametrize("schedule", ["gang", "native"])
@pytest.mark.parametrize("name", VARIABLE)
def test_rows_of_variable_length(name, schedule):
    """Before a call `compile` does not know how long they are; `check` has its answer where the numbers are given."""
    declared, shape, element = VARIABLE[name]
    text = f"void f(int n, int m, int k, {declared}, double *s) {{\n for (int i = 0; i < 2; i++)"
    text += f" for (int j = 0; j < 3; j++) for (int l = 0; l < 4; l++) *s += {element} * (i + 3 * j - l); }}\n"
    program = c2cu.compile(text, fn="f", backend="cpu", schedule=schedule, shapes={"s": (1,)})
    assert next(s.shape for s in program.slots if s.name == "a") == (-1,) * len(shape)
    numbers = {"n": 2, "m": shape[1], "k": 4}
    assert c2cu.check(text, fn="f", shared=numbers, shapes={"s": (1,)}).oblivious
    a = np.random.default_rng(4).normal(size=(P, *shape))
    s = np.zeros((P, 1))
    i, j, k = np.indices((2, 3, 4))
    expected = (a.reshape(P, 24) * (i + 3 * j - k).reshape(24)).cumsum(1)[:, -1:]
    result = program({**numbers, "a": a, "s": s})
    assert np.array_equal(result, expected) and program.slots[3].shape == shape
    with pytest.raises(c2cu.InputError, match="input 'a' is missing"):
        program({**numbers, "s": s})


def test_what_runs_is_not_known_before_the_length_of_rows():
    program = c2cu.compile("void k(int n, double a[n][n]) { a[0][0] = 1; }", fn="k", backend="cpu")
    with pytest.raises(c2cu.UnsupportedError, match="1:27: error: the extent of an array is not a constant"):
        _ = program.plan


def test_an_output_of_variable_rows_needs_its_shape():
    text = "void f(int n, int m, const int *x, int y[n][m]) { for (int i = 0; i < n; i++) y[i][m - 1] = x[i]; }\n"
    program = c2cu.compile(text, fn="f", backend="cpu")
    x = np.arange(6, dtype="i4").reshape(3, 2)
    with pytest.raises(c2cu.UnsupportedError, match="extent of an array is not a constant"):
        program({"n": 2, "m": 3, "x": x})
    y = c2cu.bulk(text, {"n": 2, "m": 3, "x": x}, fn="f", backend="cpu", shapes={"y": (2, 3)})
    assert np.array_equal(y[:, :, 2], x) and not y[:, :, :2].any()


def test_a_pointer_to_structs_takes_as_many_as_a_call_brings():
    text = "struct P { double x, y; };\nvoid k(struct P *p, int n, double *o) { *o = 0; for (int i = 0; i < n; i++) *o += p[i].x * p[i].y; }"
    p = np.zeros((P, 6), [("x", "f8"), ("y", "f8")])
    p["x"], p["y"] = 2, np.arange(P)[:, None]
    assert c2cu.bulk(text, {"p": p, "n": 6}, backend="cpu").reshape(P).tolist() == [12.0 * k for k in range(P)]


@pytest.mark.parametrize(
    ("text", "shapes", "message"),
    [
        (PROGRAMS["rows"][0], {}, r"1:16: error: parameter 'a' of the kernel is a 'double \* \*'"),
        (PROGRAMS["rows"][0], {"a": 12}, r"1:16: error: parameter 'a' of the kernel is a 'double \* \*'"),
        (PROGRAMS["bytes seen as numbers"][0], {"v": (4, "float65")}, "dtype of 'v' cannot be 'float65'"),
        (PROGRAMS["rows"][0], {"a": ((3, 4), "float32")}, "the shape of 'a' cannot be"),
        (
            "void k(int n, double a[n][n], double b[][2], double *s) { *s = a[0][0] + b[0][0]; }",
            {"a": (2, 2), "b": (2, 3), "s": 1},
            "b",
        ),
        ("void k(double **k) { k[0][0] = 1; }", {"k": (2, 2)}, "parameter 'k' of the kernel is"),
        (
            "void k(double ***a) { a[0][0][0] = 1; }",
            {"a": (2, 2, 2)},
            "1:17: error: parameter 'a' of the kernel is.*C2CU177",
        ),
        (
            "typedef int (*f)(void);\nvoid k(double **a, f g) { **a = g(); }",
            {"a": (2, 2)},
            "2:22: error: parameter 'g'",
        ),
    ],
)
def test_mistakes(text, shapes, message):
    with pytest.raises(c2cu.Error, match=message):
        c2cu.compile(text, fn="k", shapes=shapes, backend="cpu")


def test_on_the_command_line(tmp_path):
    from click.testing import CliRunner

    from c2cu.cli import main

    source = tmp_path / "k.c"
    source.write_text(PROGRAMS["bytes seen as numbers"][0])
    np.save(tmp_path / "v.npy", A.reshape(P, 12))
    out = tmp_path / "s.npy"
    words = ["run", str(source), "--backend", "cpu", "--in", f"v={tmp_path / 'v.npy'}", "--shape", "v=12:float64"]
    done = CliRunner().invoke(main, [*words, "--shape", "s=1", "--out", f"s={out}"])
    assert done.exit_code == 0, done.output
    assert np.allclose(np.load(out)[:, 0], EXPECTED, rtol=1e-12)


@pytest.mark.parametrize("n", [4000, 5000])
def test_rows_may_be_as_long_as_the_numbers_say(n):
    text = "float b[3];\nvoid k(int n, int m, float a[n][m]) { for (int i = 0; i < n; i++) a[i][m - 1] += 1; b[%s] = 1; }\n"
    assert c2cu.check(text % 2, shared={"n": n, "m": n}).oblivious
    with pytest.raises(c2cu.Error, match="outside 'b'"):
        c2cu.check(text % 3, shared={"n": 40, "m": 40})
