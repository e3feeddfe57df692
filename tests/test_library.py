"""The library's behaviour beyond the examples: binding, layouts, sharing, outputs, caching."""

import os
import pickle
import stat
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest
from click.testing import CliRunner

import c2cu
from c2cu.base.cache import Cache, key
from c2cu.base.recent import Recent
from c2cu.cli import main
from c2cu.runtime import cpu
from tests.sample import sampled
from tests.workloads import EXAMPLES

FW = EXAMPLES / "floyd_warshall.c"
rng = np.random.default_rng(5)


@pytest.mark.parametrize("schedule", sampled(["gang", "native"], 1))
def test_extent_binds_from_the_shape(schedule):
    d = rng.random((7, 5, 5), dtype=np.float32)
    result = c2cu.bulk(FW, d, backend="cpu", schedule=schedule)
    for k in range(5):
        d = np.minimum(d, d[:, :, k : k + 1] + d[:, k : k + 1, :])
    assert np.array_equal(result, d)


def test_defines_override():
    assert c2cu.compile(FW, defines={"N": 3}, backend="cpu").slots[0].shape == (3, 3)


@pytest.mark.slow
def test_column_layout():
    a = rng.random((6, 32), dtype=np.float32)
    columns = c2cu.bulk(EXAMPLES / "bitonic_sort.c", np.ascontiguousarray(a.T), backend="cpu", layout="column")
    assert np.array_equal(columns.T, np.sort(a, axis=1))


@pytest.mark.parametrize("schedule", ["gang", "native"])
def test_parameters_shared_and_bulk(schedule):
    text = """
    double dot(const float *a, const float *w, int n, float scale) {
        double s = 0;
        for (int i = 0; i < n; i++) s += a[i] * w[i];
        return s * scale;
    }"""
    a, w = rng.random((50, 6), dtype=np.float32), rng.random(6, dtype=np.float32)
    scale = rng.random(50, dtype=np.float32)
    result = c2cu.bulk(text, {"a": a, "n": 6, "scale": scale}, shared={"w": w}, backend="cpu", schedule=schedule)
    expected = np.zeros(50)
    for i in range(6):
        expected += (a[:, i] * w[i]).astype(np.float32)
    assert np.array_equal(result, expected * scale)
    one = c2cu.bulk(text, {"a": a, "n": 3, "scale": 1.0}, shared={"w": w}, backend="cpu", schedule=schedule)
    assert one.shape == (50,) and one.dtype == np.float64


def test_a_length_given_as_a_number_is_oblivious():
    text = "void k(int *a, int n) {\n    for (int i = 0; i < n; i++) a[i] *= 2;\n}\n"
    a = np.ones((3, 4), np.int32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert c2cu.bulk(text, {"a": a, "n": 2}, backend="cpu", strict=True).tolist() == [[2, 2, 1, 1]] * 3
    with pytest.raises(c2cu.NotObliviousError):
        c2cu.bulk(text, {"a": a, "n": np.arange(3, dtype=np.int32)}, backend="cpu", strict=True)
    with pytest.warns(c2cu.NotObliviousWarning, match="loop condition depends on input data"):
        result = c2cu.bulk(text, {"a": a, "n": np.arange(3, dtype=np.int32)}, backend="cpu")
    assert result.tolist() == [[1, 1, 1, 1], [2, 1, 1, 1], [2, 2, 1, 1]]


def test_shared_names_of_the_pragma():
    text = (
        "int w[2], a[3];\nvoid k(void) {\n    for (int i = 0; i < 3; i++) a[i] += w[i & 1];\n}\n"
        "int main(void) {\n#pragma kernel shared(w)\n    k();\n    return 0;\n}\n"
    )
    a = np.zeros((4, 3), np.int32)
    result = c2cu.bulk(text, {"a": a, "w": np.array([5, 7], np.int32)}, backend="cpu")
    assert result.tolist() == [[5, 7, 5]] * 4


@pytest.mark.parametrize("schedule", ["gang", "native"])
def test_output_parameter_with_a_shape(schedule):
    text = "void k(const int *a, int *o) {\n    for (int i = 0; i < 3; i++)\n        o[i] = 2 * a[i];\n}\n"
    a = rng.integers(0, 99, (9, 3)).astype(np.int32)
    assert np.array_equal(c2cu.bulk(text, a, shapes={"o": (3,)}, backend="cpu", schedule=schedule), 2 * a)


@pytest.mark.parametrize("schedule", ["gang", "native"])
def test_parameters_have_names_that_generated_code_has_too(schedule):
    text = "int out;\nvoid kern(int s, int state, int slots, int run) {\n    out = s - 2 * state + slots * run;\n}\n"
    a = np.arange(5, dtype=np.int32)
    inputs = {"s": a, "state": a, "slots": a, "run": a}
    assert list(c2cu.bulk(text, inputs, backend="cpu", schedule=schedule)) == [i * i - i for i in range(5)]


@pytest.mark.parametrize("schedule", ["gang", "native"])
def test_globals_start_as_c_says(schedule):
    text = "int t[4] = {5, 6}, s, out;\nvoid k(void) {\n    s += t[1];\n    out = s + t[3];\n}\n"
    result = c2cu.bulk(text, {"s": np.arange(3, dtype=np.int32)}, backend="cpu", schedule=schedule)
    assert list(result["out"]) == [6, 7, 8] and "t" not in result


@pytest.mark.parametrize("schedule", ["gang", "native"])
def test_partly_written_output_keeps_what_is_given(schedule):
    text = "int a, o[2];\nvoid k(void) {\n    if (a > 0) o[0] = a;\n}\n"
    a = np.array([-1, 4], np.int32)
    options = {"backend": "cpu", "schedule": schedule}
    assert c2cu.bulk(text, {"a": a}, **options).tolist() == [[0, 0], [4, 0]]
    o = np.full((2, 2), 9, np.int32)
    assert c2cu.bulk(text, {"a": a, "o": o}, **options).tolist() == [[9, 9], [4, 9]]
    assert (o == 9).all()


def test_scratch_of_some_inputs_is_not_asked_for():
    """However a scalar is given."""
    text = "static double m;\ndouble f(double y[3], double q) { if (y[0] > q) { m = y[1]; return m * 2; } return 0; }\n"
    y = np.arange(9.0).reshape(3, 3)
    for q in (np.full(3, 2.0), 2.0):
        assert c2cu.bulk(text, {"y": y, "q": q}, backend="cpu")["return"].tolist() == [0, 8, 14]


def test_static_scratch_is_no_output():
    text = (
        "static int t[4];\nint a[4];\nvoid k(void) {\n    for (int i = 0; i < 4; i++) t[i] = a[i];\n"
        "    for (int i = 0; i < 4; i++) a[i] = t[3 - i];\n}\n"
    )
    a = np.arange(8, dtype=np.int32).reshape(2, 4)
    assert np.array_equal(c2cu.bulk(text, a, backend="cpu"), a[:, ::-1])


@pytest.mark.parametrize("schedule", ["auto", "native"])
@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("static int c;\nint y;\nvoid k(int a) { c = a; c += 2; y = c; }", [2, 3, 4]),
        ("static struct { int q; float z; } c;\nint y;\nvoid k(int a) { c.q = a; y = c.q + 1; }", [1, 2, 3]),
        ("static int c;\nint y;\nvoid k(int a) { c = a; while (c > 1) c /= 2; y = c; }", [0, 1, 1]),
        (
            "static int s;\nstatic int next(void) { return s = 5 * s + 1; }\nint y;\nvoid k(int a) { s = a; y = next(); }",
            [1, 6, 11],
        ),
        ("static int c;\nvoid k(int a) { c = 0; c += a; }", [0, 1, 2]),  # else nothing came out
    ],
)
def test_static_scratch_that_is_no_array(text, result, schedule):
    a = np.arange(3, dtype=np.int32)
    assert c2cu.bulk(text, a, backend="cpu", schedule=schedule).tolist() == result


def test_what_ends_early_leaves_no_scratch_behind():
    text = (
        "#include <stdlib.h>\nstatic int s;\nint y;\nstatic int next(void) { s *= 3; if (s > 6) exit(3); return s; }\n"
        "void k(int a) { s = a; y = next(); }\n"
    )
    outs = c2cu.bulk(text, np.arange(4, dtype=np.int32), backend="cpu", status=True)
    assert {n: a.tolist() for n, a in outs.items()} == {"y": [0, 3, 6, 0], "status": [0, 0, 0, 3]}


def test_out_and_in_place():
    a = rng.random((40, 32), dtype=np.float32)
    expected = np.sort(a, axis=1)
    target = np.empty_like(a)
    assert c2cu.bulk(EXAMPLES / "bitonic_sort.c", a, out=target, backend="cpu") is target
    assert np.array_equal(target, expected)
    c2cu.bulk(EXAMPLES / "bitonic_sort.c", a, out=a, backend="cpu")
    assert np.array_equal(a, expected)


def test_permuting_inputs_permutes_outputs():
    a = rng.random((100, 32), dtype=np.float32)
    order = rng.permutation(100)
    program = c2cu.compile(EXAMPLES / "bitonic_sort.c", backend="cpu")
    assert np.array_equal(program(a)[order], program(a[order]))


def test_not_oblivious_still_runs():
    text = "unsigned x, n;\nvoid k(void) {\n    while (x != 0) {\n        n += x & 1;\n        x >>= 1;\n    }\n}\n"
    x = rng.integers(0, 2**32, 70, dtype=np.uint32)
    for schedule in ("gang", "native"):
        result = c2cu.bulk(text, {"x": x, "n": np.zeros(70, np.uint32)}, backend="cpu", schedule=schedule)
        assert result["n"].tolist() == [int(v).bit_count() for v in x]


@pytest.mark.slow
def test_a_kernel_longer_than_the_unrolling_budget():
    text = (
        "int a[8];\nvoid k(void) {\n" + "".join(f"    a[{i % 8}] += a[{i % 5}] ^ {i};\n" for i in range(2000)) + "}\n"
    )
    a = rng.integers(-99, 99, (20, 8)).astype(np.int32)
    results = [c2cu.bulk(text, a, backend="cpu", schedule=s) for s in ("gang", "native")]
    assert np.array_equal(*results)


@pytest.mark.slow
def test_same_bytes_under_two_hash_seeds():
    script = (
        "import c2cu; print(c2cu.translate('examples/montgomery.c', p=8)); "
        "print(c2cu.translate('examples/bitonic_sort.c', p=8, target='cpu'))"
    )
    texts = [
        subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            check=True,
            cwd=EXAMPLES.parent,
            env={**os.environ, "PYTHONHASHSEED": s},
        ).stdout
        for s in ("1", "2")
    ]
    assert texts[0] == texts[1] and len(texts[0]) > 1000


def test_threads_share_the_work(monkeypatch):
    a = rng.random((5000, 32), dtype=np.float32)
    monkeypatch.setattr(cpu, "threads", lambda: 3)
    assert np.array_equal(c2cu.bulk(EXAMPLES / "bitonic_sort.c", a, backend="cpu"), np.sort(a, axis=1))


@pytest.mark.slow
def test_second_process_does_not_compile(tmp_path):
    script = "import c2cu, numpy as np; c2cu.bulk('examples/prefix_sums.c', np.ones((3, 1024), 'f4'), backend='cpu')"
    log = tmp_path / "log"
    fake = tmp_path / "cc"
    fake.write_text(f'#!/bin/sh\necho "$*" >> {log}\nexec gcc "$@"\n')
    fake.chmod(0o755)
    env = {**os.environ, "CC": str(fake), "C2CU_CACHE_DIR": str(tmp_path / "cache")}
    counts = []
    for _ in range(2):
        subprocess.run([sys.executable, "-c", script], check=True, env=env, cwd=EXAMPLES.parent)
        counts.append(log.read_text().count("-shared"))
    assert counts == [1, 1]


def test_cache_is_atomic_bounded_and_survives_failure(tmp_path):
    cache, names = Cache(tmp_path, limit=300), [key(k) for k in range(4)]
    with pytest.raises(RuntimeError):
        cache.put(key("bad"), ".so", _fail)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "notes.txt").write_text("n" * 1000)
    for k, name in enumerate(names):
        assert cache.put(name, ".so", lambda: b"x" * 100) == b"x" * 100
        os.utime(tmp_path / f"{name}.so", (k, k))
    left = {f"{n}.so" for n in names[2:]} | {"notes.txt"}
    assert {p.name for p in tmp_path.iterdir()} == left, "it removes nothing but entries"
    workers = [threading.Thread(target=lambda: cache.put(key("race"), ".so", lambda: b"same")) for _ in range(8)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    assert cache.get(key("race"), ".so") == b"same"


def _fail():
    raise RuntimeError


def test_key_tells_parts_apart():
    assert key("ab", "c") != key("a", "bc")


def test_read_only_home(tmp_path):
    home = tmp_path / "home"
    home.write_text("a file: nothing can be made below it")
    env = {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    env.pop("C2CU_CACHE_DIR", None)
    script = "import c2cu, numpy as np; print(c2cu.bulk('examples/prefix_sums.c', np.ones((2, 1024), 'f4'), backend='cpu')[1, -1])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=env, cwd=EXAMPLES.parent)
    assert done.stdout.strip() == "1024.0", done.stderr
    assert stat.S_ISREG(home.stat().st_mode)


def test_import_is_light():
    script = "import sys, c2cu; print('numpy' in sys.modules, 'cupy' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert out == ["False", "False"]


def test_errors_and_warnings_cross_processes():
    """Worker processes (pytest-xdist, Dask, multiprocessing) send them pickled."""
    with pytest.raises(c2cu.Error) as caught:
        c2cu.compile("void f(int *a) { a[0] = b; }", fn="f")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), str(again), again.line) == (type(caught.value), str(caught.value), 1)
    source = "void f(unsigned a[2]) { while (a[0]) a[0] >>= 1; }"
    with pytest.warns(c2cu.NotObliviousWarning) as told:
        c2cu.bulk(source, np.ones((2, 2), np.uint32), backend="cpu")
    again = pickle.loads(pickle.dumps(told[0].message))
    assert isinstance(again, c2cu.NotObliviousWarning)
    assert str(again) == str(told[0].message) and again.report.findings[0].loc.line == 1


@pytest.mark.parametrize("schedule", ["gang", "native"])
def test_a_scalar_given_as_a_number_and_then_as_an_array(schedule):
    """Both calls may run the same text, with another meaning of its slots."""
    text = (
        "int k(const int *a, int n) {\n    int s = 0;\n    for (int i = 0; i < n; i++) s += a[i];\n    return s;\n}\n"
    )
    a = np.ones((4, 10), np.int32)
    options = {"backend": "cpu", "schedule": schedule}
    assert c2cu.bulk(text, {"a": a, "n": 9}, **options).tolist() == [9] * 4
    with pytest.warns(c2cu.NotObliviousWarning):
        result = c2cu.bulk(text, {"a": a, "n": np.array([9, 7, 8, 3], np.int32)}, **options)
    assert result.tolist() == [9, 7, 8, 3]


@pytest.mark.parametrize("schedule", ["gang", "native"])
def test_a_parameter_by_value_is_the_kernels_own_copy(schedule):
    text = "int k(int n, const int *a) {\n    while (n > 3) n -= 3 + a[0];\n    n++;\n    return n;\n}\n"
    options = {"backend": "cpu", "schedule": schedule}
    a = np.array([[0], [1]], np.int32)
    assert c2cu.check("int k(int n) {\n    while (n > 3) n -= 3;\n    return n;\n}\n").oblivious
    with pytest.warns(c2cu.NotObliviousWarning):
        assert c2cu.bulk(text, {"n": 9, "a": a}, **options).tolist() == [4, 2]
    with pytest.warns(c2cu.NotObliviousWarning):
        assert c2cu.bulk(text, {"n": np.array([9, 2], np.int32), "a": a}, **options).tolist() == [4, 3]


NOT_OBLIVIOUS = "unsigned a[2];\nvoid k(void) {\n    while (a[0]) a[0] >>= 1;\n}\n"


@pytest.mark.parametrize(
    "use",
    [
        lambda: c2cu.bulk(NOT_OBLIVIOUS, np.ones((2, 2), np.uint32), backend="cpu"),
        lambda: c2cu.compile(NOT_OBLIVIOUS, backend="cpu"),
        lambda: c2cu.translate(NOT_OBLIVIOUS + "int main(void) {\n    k();\n    return 0;\n}\n", p=2),
    ],
)
def test_a_warning_points_at_the_users_line(use, monkeypatch):
    monkeypatch.setattr("c2cu.api._programs", Recent(9))
    with pytest.warns(c2cu.NotObliviousWarning) as told:
        use()
    assert [w.filename for w in told] == [__file__]


def test_a_program_says_what_it_is():
    program = c2cu.compile(FW, backend="cpu", schedule="native")
    assert repr(program).endswith(
        "kernel floyd_warshall (D: float32 (p, 16, 16) required out), backend cpu, schedule native>"
    )
    text = "struct s { int x; };\nvoid k(const float *a, struct s *b) {\n    for (b->x = 0; a[b->x] > 0; b->x++);\n}\n"
    assert "a: float32 (p, n) required; b: struct (p,) out), built" in repr(c2cu.compile(text, backend="cpu"))


SCALED = "int n;\nfloat a[4], w[4];\nvoid k(void) {\n    for (int i = 0; i < n; i++) a[i] *= w[i];\n}\n"  # only n must be given


def test_a_bare_array_that_is_another_inputs():
    with pytest.raises(c2cu.InputError, match="does not have exactly one input"):
        c2cu.bulk(SCALED, np.ones((2, 4), np.float32), backend="cpu")


@pytest.mark.parametrize("n", [3, np.int32(3), np.array(3, np.int32)])
def test_a_global_scalar_given_as_a_number(n):
    a = np.ones((2, 4), np.float32)
    with pytest.raises(c2cu.InputError) as caught:
        c2cu.bulk(SCALED, {"a": a, "w": a, "n": n}, backend="cpu")
    assert "shared={'n': 3} / --shared n=3" in str(caught.value)
    assert c2cu.bulk(SCALED, {"a": a, "w": 2 * a}, shared={"n": 3}, backend="cpu").tolist() == [[2, 2, 2, 1]] * 2


@pytest.mark.parametrize(("layout", "index"), sampled([("row", "None"), ("column", "..., None")], 1))
def test_the_axis_of_inputs_is_missing(layout, index, tmp_path):
    """Of one graph. What the error says to write is what runs."""
    d = rng.random((5, 5), dtype=np.float32)
    expected = c2cu.bulk(FW, d[None], backend="cpu")[0]
    hint = f"axis counts inputs: D[{index}] makes it one input"
    with pytest.raises(c2cu.InputError, match="3 dimensions, not 2") as caught:
        c2cu.bulk(FW, d, backend="cpu", layout=layout)
    assert hint in str(caught.value)
    result = c2cu.bulk(FW, eval(f"D[{index}]", {"D": d}), backend="cpu", layout=layout)
    assert np.array_equal(result.reshape(5, 5), expected)
    np.save(tmp_path / "d.npy", d)
    command = [
        "run",
        str(FW),
        "--in",
        f"D={tmp_path / 'd.npy'}",
        "--out",
        f"D={tmp_path / 'o.npy'}",
        "--layout",
        layout,
    ]
    said = CliRunner().invoke(main, [*command, "--backend", "cpu"])
    assert said.exit_code == 1 and hint in said.stderr
    with pytest.raises(c2cu.InputError) as caught:
        c2cu.bulk(FW, d[0, 0], backend="cpu", layout=layout)
    assert "makes it one input" not in str(caught.value)


def test_flat_inputs_get_their_axes_back():
    d = rng.random((3, 16, 16), dtype=np.float32)
    with pytest.raises(c2cu.InputError) as caught:
        c2cu.bulk(FW, d.reshape(3, -1), backend="cpu")
    hint = "D.reshape(-1, 16, 16)"
    assert f"{hint} has each input's axes" in str(caught.value)
    result = c2cu.bulk(FW, eval(hint, {"D": d.reshape(3, -1)}), backend="cpu")
    assert np.array_equal(result, c2cu.bulk(FW, d, backend="cpu"))


def test_check_for_one_number():
    text = "void f(int n, float a[8]) { for (int i = 0; i < n; i++) a[i] *= 2; }\n"
    assert c2cu.check(text, shared={"n": 8}).constant_time
    assert c2cu.check("int m;\n" + text, shared={"n": 8, "m": 9}).constant_time  # which the kernel does not touch
    for n in (9, "9", np.int32(9), np.array(9, np.int32)):
        with pytest.raises(c2cu.UnsupportedError, match="element 8 is outside 'a'"):
            c2cu.check(text, shared={"n": n})


def test_schedules_are_listed_with_their_variants():
    with pytest.raises(c2cu.InputError) as caught:
        c2cu.compile(FW, backend="cuda", schedule="gep:tile")
    hint = caught.value.diagnostic.hint
    assert "thread, private, gep:tiles, gep:bits, gep:staged" in hint and hint.endswith("gep:bands")
    with pytest.raises(c2cu.InputError) as caught:
        c2cu.compile(FW, backend="cpu", schedule="gep:tile")
    assert caught.value.diagnostic.hint == "choose one of auto, gep, gang, native, gang:two"


def test_p_that_disagrees():
    with pytest.raises(c2cu.InputError, match="p is 3, but 'D' has 2"):
        c2cu.bulk(FW, np.ones((2, 16, 16), np.float32), backend="cpu", p=3)


@pytest.mark.parametrize("schedule", ["gang", "native"])
def test_every_rounding_stays(schedule):
    """A float sum of doubles, turn after turn: GCC 12's SLP vectoriser at -O3 keeps it in double between turns."""
    text = """#include <math.h>
float y[2]; unsigned short z;
void f(void) { int k = 4; do { y[k & 1] += sqrt(fabs((double)z)); } while (--k > 0); }
"""
    y = np.stack([np.arange(200, dtype=np.float32) * 1e-3 - 5.5742908, np.arange(200) * 0.37 + 3], 1).astype(np.float32)
    z = (np.arange(200) * 7 + 5).astype(np.uint16)
    result = c2cu.bulk(text, {"y": y, "z": z}, backend="cpu", schedule=schedule)
    for k in (4, 3, 2, 1):
        y[:, k & 1] = (y[:, k & 1].astype(np.float64) + np.sqrt(z.astype(np.float64))).astype(np.float32)
    assert np.array_equal(result, y)


def test_a_missing_axis_says_nothing_of_extents():
    """Of an array with too few or too many axes no extent is taken."""
    text = "#define M 3\n#define N 5\nvoid f(double u[M][N]) { for (int i = 0; i < M; i++) u[i][0] += u[i][N - 1]; }\n"
    for shape in ((3, 5), (3, 5, 1, 1)):
        with pytest.raises(c2cu.InputError, match=r"expected \(p, 3, 5\): 3 dimensions"):
            c2cu.bulk(text, np.zeros(shape))
    assert c2cu.bulk(text, np.ones((2, 4, 6)))[0, :, 0].tolist() == [2] * 4


def test_a_missing_number_may_be_given_for_all():
    text = "void f(int *a, int n) { a[0] += n; }\n"
    a = np.zeros((2, 1), np.int32)
    with pytest.raises(c2cu.InputError, match="'n' is missing") as caught:
        c2cu.bulk(text, {"a": a})
    assert "shared={'n': ...} / --shared n=..." in str(caught.value)
    assert c2cu.bulk(text, {"a": a}, shared={"n": 7}).tolist() == [[7], [7]]


@pytest.mark.parametrize("declared, as_zero", [("hist[8]", "hist[8] = {0};"), ("hist", "hist = 0;")])
def test_a_global_that_is_to_start_at_zero_may_say_so(declared, as_zero):
    text = "unsigned char x[4];\nunsigned %s;\nvoid k(void) {\n    for (int i = 0; i < 4; i++) hist%s += 1;\n}\n"
    index = "[x[i] & 7]" * ("[" in declared)
    x = np.array([[0, 1, 1, 7]], np.uint8)
    inputs = {"x": x} if index else {}
    with pytest.raises(c2cu.InputError, match="'hist' is missing") as caught:
        c2cu.bulk(text % (declared, index), inputs, p=1, backend="cpu")
    assert f"write that: '{as_zero}'" in str(caught.value)
    assert c2cu.bulk(text % (as_zero[:-1], index), inputs, p=1, backend="cpu").sum() == 4


def test_what_is_missing_of_a_pointer_parameter_has_no_first_value_in_c():
    with pytest.raises(c2cu.InputError, match="'a' is missing") as caught:
        c2cu.bulk("void k(int a[4]) { a[0]++; }\n", {}, p=1, backend="cpu")
    assert "zero" not in str(caught.value)


def test_a_bare_array_is_told_what_is_to_be_given():
    """What is required first, and no output."""
    text = "float a[4], b[4], out[4], twice[4];\nint n;\nvoid k(void) {\n%s}\n"
    loop = (
        "    for (int i = 0; i < 4; i++) twice[i] = 2 * a[i];\n    for (int i = 0; i < n; i++) out[i] = a[i] + b[i];\n"
    )
    with pytest.raises(c2cu.InputError) as caught:
        c2cu.bulk(text % loop, np.ones((2, 4), np.float32), backend="cpu")
    assert "give a dict of arrays by name; required: a, n; optional: b" in str(caught.value).splitlines()[-1]
    with pytest.raises(c2cu.InputError, match="give p=, the number of inputs, alone"):
        c2cu.bulk(text % "    n = 3;\n    twice[0] = 2;\n", np.ones((2, 4), np.float32), backend="cpu")


def test_a_conversion_is_python():
    for text, a in (("struct S { int n; } in;", np.zeros(2)), ("float in;", np.zeros(2))):
        with pytest.raises(TypeError) as caught:
            c2cu.bulk(
                text + "\nint o;\nvoid k(void) { o = sizeof in; %s }\n" % ("in.n++;" if "S" in text else "in++;"), a
            )
        hint = str(caught.value).splitlines()[-1]
        assert "in_" in hint and "in." not in hint.replace("in_.", "") and "in[" not in hint


@pytest.mark.parametrize(
    "type_, dtype, how",
    [("char", "u1", "a.view('int8')"), ("unsigned", "i4", "a.view('uint32')"), ("int", "i8", "a.astype('int32')")],
)
def test_a_dtype_of_the_other_sign_is_the_same_bits(type_, dtype, how):
    text, a = f"{type_} a[2];\nvoid k(void) {{ a[0] = a[1]; }}\n", np.array([[1, 200]], dtype)
    with pytest.raises(TypeError, match="C2CU043") as caught:
        c2cu.bulk(text, a, backend="cpu")
    assert how in str(caught.value).splitlines()[-1]
    assert c2cu.bulk(text, eval(how), backend="cpu").view(dtype)[0, 0] == 200 or dtype == "i8"


def test_a_file_of_almost_that_name(tmp_path):
    (tmp_path / "lcs.c").write_text("int a; void f(void) { a++; }\n")
    with pytest.raises(c2cu.Error) as caught:
        c2cu.check(tmp_path / "lsc.c")
    assert f"did you mean '{tmp_path / 'lcs.c'}'?" in str(caught.value)


HALF = "int k(int a) { return a / 2; }"


@pytest.mark.parametrize(
    "options",
    [{name: value} for name in ("shared", "include_dirs", "outputs", "fn", "defines", "shapes") for value in (3, [3], b"z", np.ones(2))]
    + [{"out": {3: 4}}, {"shared": {3: 4}}, {"schedule": 3}, {"tune": np.ones(2)}, {"strict": np.ones(2)}],
    ids=repr,
)  # fmt: skip
def test_what_is_of_the_wrong_kind(options):
    with pytest.raises(c2cu.InputError, match="C2CU058") as caught:
        c2cu.bulk(HALF, np.arange(3, dtype=np.int32), backend="cpu", **options)
    assert isinstance(caught.value, TypeError) and "hint: give" in str(caught.value)


@pytest.mark.parametrize("name", ["backend", "fp", "math", "layout", "verify", "stdio", "pack"])
@pytest.mark.parametrize("value", [3, [], {}, np.ones(2)], ids=repr)
def test_no_choice_of_an_option(name, value):
    with pytest.raises(c2cu.InputError, match=f"{name} cannot be .*C2CU051"):
        c2cu.bulk(HALF, np.arange(3, dtype=np.int32), **{"backend": "cpu", name: value})


def test_one_name_for_a_list_of_one(tmp_path):
    (tmp_path / "half.h").write_text("#define HALF 2\n")
    text = '#include "half.h"\nint x, y;\nvoid k(int a) { x = a / HALF; y = a; }'
    found = c2cu.bulk(text, np.arange(3, dtype=np.int32), backend="cpu", include_dirs=tmp_path, outputs="x")
    assert found.tolist() == [0, 0, 1]
    assert c2cu.check("int n, x[4];\nvoid k(void) { x[n] = 1; }", shared="n").oblivious


def test_a_number_that_is_too_large_for_a_float():
    text = "float k(float a) { return a; }"
    with pytest.raises(c2cu.InputError, match=r"1e\+300, which does not fit float32"):
        c2cu.bulk(text, {"a": 1e300}, p=2, backend="cpu")
    assert c2cu.bulk(text, {"a": float("inf")}, p=2, backend="cpu").tolist() == [np.inf] * 2


def test_a_kernel_that_is_no_name():
    with pytest.raises(TypeError, match="fn cannot be 3.*C2CU058"):
        c2cu.compile("int x;\nvoid k(void) { x = 1; }\n", fn=3)
