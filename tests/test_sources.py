"""Several source files are one program, as the linker sees it."""

import ctypes
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import c2cu
from c2cu.cli import main
from c2cu.frontend.preprocess import read_source
from tests.compiled import compiled_once, loaded
from tests.oracle import FLAGS
from tests.sample import slow

P = 5
HEADER = """
#ifndef COMMON_H
#define COMMON_H
#define SCALE 2.0f
struct vec { float x[3]; };
typedef struct { int n; float w[4]; } weights;
enum kind { DOT = 1, SUM };
extern const float table[];
extern int total;
float dot(const struct vec *a, const struct vec *b);
float pick(enum kind k, float a, float b);
static inline float sq(float x) { return x * x; }
static const float half[2] = {0.5f, 0.25f};
#endif
"""
A = """
#include "common.h"
static float helper(float x) { return x + 1.0f; }
static int state = 3;
void kern(float x[4], const struct vec *v, float out[4]) {
    for (int i = 0; i < 4; i++) out[i] = helper(x[i]) * table[i] + dot(v, v) * SCALE + sq(x[i]) * half[1];
    state++;
    total = state + DOT;
}
"""
B = """
#include "common.h"
const float table[] = {1, 2, 3, 4};
int total;
static int state = 5;
static float helper(float x) { return x * SCALE; }
float dot(const struct vec *a, const struct vec *b) {
    float state2 = 0, helper2 = half[0];
    for (int i = 0; i < 3; i++) state2 += helper(a->x[i]) * b->x[i];
    return pick(SUM, state2 + state, helper2);
}
float pick(enum kind k, float a, float b) { return k == SUM ? a + b : a * b; }
"""


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Writes files, and stands where they are."""
    monkeypatch.chdir(tmp_path)

    def write(**texts: str) -> list[str]:
        for name, text in texts.items():
            Path(name.replace("__", "/")).parent.mkdir(exist_ok=True)
            Path(name.replace("__", "/") + (".h" if name.endswith("common") else ".c")).write_text(text)
        return [n.replace("__", "/") + ".c" for n in texts if not n.endswith("common")]

    return write


def linked(names: list[str], fn: str, *arrays: np.ndarray, returns=None, extra: tuple[str, ...] = ()) -> list:
    """gcc's build of the files: what ``fn`` leaves in each array, and returns, for each of P inputs in a fresh library."""
    calls = []
    for k in range(P):
        library = Path(f"judge{k}.so").absolute()
        subprocess.run(["gcc", "-O1", *FLAGS, "-shared", "-fPIC", *extra, *names, "-lm", "-o", library], check=True)
        f = getattr(loaded(library), fn)
        f.restype = returns
        copies = [a[k].copy() for a in arrays]
        value = f(*(ctypes.c_void_p(c.ctypes.data) for c in copies))
        calls.append((*copies, value))
    return [np.array(column) for column in zip(*calls)]


def numbers(*shape, dtype="float32"):
    return np.random.default_rng(7).integers(1, 9, (P, *shape)).astype(dtype)


@pytest.mark.parametrize("schedule", [slow("auto"), "gang", slow("native")])
def test_statics_of_one_name_a_common_header_and_an_array_sized_elsewhere(files, schedule):
    names = files(common=HEADER, a=A, b=B)
    x, out = numbers(4), np.zeros((P, 4), "f4")
    v = np.zeros(P, [("x", "f4", 3)])
    v["x"] = numbers(3)
    got = c2cu.bulk(names, {"x": x, "v": v}, fn="kern", backend="cpu", schedule=schedule)
    _, _, want, _ = linked(names, "kern", x, v.view("f4").reshape(P, 3), out)
    assert (got["out"] == want).all()
    assert (got["total"] == 5).all() and (got["state"] == 4).all()


def test_a_static_of_another_file_is_told_apart_and_reported_under_its_own_name(files):
    names = files(
        a="static int t[4]; int f(int i); int kern(int i[1]) { t[1]++; return t[*i & 3] + f(*i); }",
        b="static int t[4] = {1, 2, 3, 4};\nint f(int i) { return t[i & 3] + (int)sizeof t[5]; }",
    )
    report = c2cu.check(names, fn="kern")
    second = next(f for f in report.findings if f.file == "b.c")
    assert (second.line, second.column) == (2, 25)
    assert "subscript of 't' depends" in str(c2cu.NotObliviousWarning(report))
    assert "t__b" not in str(c2cu.NotObliviousWarning(report))
    i = numbers(1, dtype="int32")
    got = c2cu.bulk(names, {"i": i, "t": np.zeros((P, 4), "i4")}, fn="kern", backend="cpu")
    i = i[:, 0] & 3
    assert (got["return"] == (i == 1) + np.array([1, 2, 3, 4])[i] + 4).all()


def test_structs_and_enums_of_one_name_that_differ(files):
    names = files(
        a="struct s { int a, b; }; enum { N = 3 }; typedef short T; int f(int x);\n"
        "int kern(int x) { struct s v = {x, N}; T t = 70000; return v.a * v.b + t + sizeof(struct s) + f(x); }",
        b="struct s { char c; double d; }; enum { N = 5 }; typedef long T;\n"
        "int f(int x) { struct s v = {x, N}; T t = 70000; return v.c + v.d + t + sizeof(struct s); }",
    )
    x = numbers(dtype="int32")
    f = lambda x: x + 5 + 70000 + 16  # noqa: E731
    got = c2cu.bulk(names, x, fn="kern", backend="cpu")
    assert (got == x * 3 + 70000 - 65536 + 8 + f(x)).all()


def test_a_static_object_in_a_header_is_one_in_each_file(files):
    common = "static int n; static int next(void) { return ++n; }\nint g(void);"
    names = files(
        common=common,
        a='#include "common.h"\nint kern(int x) { next(); return next() * 100 + g() + x; }',
        b='#include "common.h"\nint g(void) { return next(); }',
    )
    x = numbers(dtype="int32")
    start = np.zeros(P, "i4")
    got = c2cu.bulk(names, {"x": x, "n": start, "n__b": start}, fn="kern", backend="cpu")
    assert (got["return"] == 201 + x).all()


def test_locals_members_labels_and_parameters_of_a_renamed_name_stay(files):
    names = files(
        a="static int t(int x) { return x; } int f(int x); int kern(int x) { return t(x) + f(x); }",
        b="struct q { int t; }; static int t(int x) { return 2 * x; } static int u(int t) { return t; }\n"
        "int f(int x) { struct q q = {.t = x}; int y = t(x); { int t = 3; y += t + q.t; } for (int t = 0; t < 2; t++) y += t;"
        " return y + u(x) + t(1); }",
    )
    x = numbers(dtype="int32")
    assert (c2cu.bulk(names, x, fn="kern", backend="cpu") == x + 2 * x + 3 + x + 1 + x + 2).all()


def test_macros_are_a_files_own(files):
    names = files(
        a="#define N 4\nint f(int x); int kern(int D[N]) { int s = 0; for (int i = 0; i < N; i++) s += D[i]; return f(s); }",
        b="#define N 7\nint f(int x) { int N2 = N; return x + N2; }",
        c="int N = 1;",
    )
    D = numbers(4, dtype="int32")
    assert (c2cu.bulk(names, D, fn="kern", backend="cpu") == D.sum(1) + 7).all()


def test_an_extent_in_two_files_binds_from_the_array(files):
    text = "#define N 64\nvoid g(int D[N][N]);\nvoid {}(int D[N][N]) {{ for (int i = 0; i < N; i++) D[i][i] {}; {} }}"
    names = files(a=text.format("kern", "++", "g(D);"), b=text.format("g", "*= 2", ""))
    D = numbers(3, 3, dtype="int32")
    got = c2cu.bulk(names, D, fn="kern", backend="cpu")
    want = D.copy()
    want[:, range(3), range(3)] = 2 * (D[:, range(3), range(3)] + 1)
    assert (got == want).all()


def test_includes_are_relative_to_each_file_and_a_change_is_seen(files):
    names = files(a__common="#define K 1\n", b__common="#define K 2\n", a__k="", b__k="")
    Path("a/k.c").write_text('#include "common.h"\nint f(int x); int kern(int x) { return x + K * 10 + f(x); }')
    Path("b/k.c").write_text('#include "common.h"\nint f(int x) { return K; }')
    x = numbers(dtype="int32")
    assert (c2cu.bulk(names, x, fn="kern", backend="cpu") == x + 12).all()
    Path("b/common.h").write_text("#define K 3\n")
    assert (c2cu.bulk(names, x, fn="kern", backend="cpu") == x + 13).all()


@pytest.mark.slow
def test_the_kernel_and_main_may_be_in_any_file(files, capfd):
    names = files(
        io='#include <stdio.h>\nextern int x, y; void kern(void);\nint main(void) { if (scanf("%d", &x) != 1) return 1;\n'
        '#pragma kernel\n  kern();\n  printf("%d\\n", y); return 0; }',
        data="int x, y;",
        work="extern int x, y; static int twice(int v) { return 2 * v; } void kern(void) { y = twice(x); }",
    )
    x = numbers(dtype="int32")
    assert (c2cu.bulk(names, {"x": x}, backend="cpu") == 2 * x).all()
    text = c2cu.translate(names, p=3, target="cpu")
    program = compiled_once(["gcc", "-O1", "-w", "-x", "c", "-", "-lm"], text)
    done = subprocess.run([program], input=b"4 5 6", capture_output=True)
    assert done.stdout == b"8\n10\n12\n"
    run = [sys.executable, "-m", "c2cu", "run", *names, "--p", "3", "--backend", "cpu"]
    assert subprocess.run(run, input=b"4 5 6", capture_output=True).stdout == b"8\n10\n12\n"


def test_streams_and_dask_take_several_files(files):
    names = files(
        a="static int n; int f(int); int kern(int x) { n = 2; return f(x) + n; }",
        b="static int n = 10; int f(int x) { n += x; return x < 2 ? n : f(x - 1); }",
    )
    x = numbers(dtype="int32")
    batches = [{"x": x[:2]}, {"x": x[2:]}]
    stream = c2cu.stream(names, batches, fn="kern", backend="cpu", group=3)
    got = np.concatenate([np.asarray(r["return"]) for r in stream])
    want = []
    for k, number in enumerate(x):
        library = Path(f"judge{k}.so").absolute()
        subprocess.run(["gcc", "-O1", *FLAGS, "-shared", "-fPIC", *names, "-o", library], check=True)
        want.append(loaded(library).kern(int(number)))
    assert (got == want).all()
    dask = pytest.importorskip("dask.array")
    from c2cu.dask import map_bulk

    out = map_bulk(names, {"x": dask.from_array(x, chunks=2)}, fn="kern", backend="cpu")
    assert (out["return"].compute() == want).all()


def test_one_of_the_files_may_be_stdin_or_text(files):
    files(b="int f(int x) { return 3 * x; }")
    text = "int f(int x); int kern(int x) { return f(x) + 1; }\n"
    x = numbers(dtype="int32")
    assert (c2cu.bulk([text, "b.c"], x, fn="kern", backend="cpu") == 3 * x + 1).all()
    assert (c2cu.bulk(["b.c", Path("b.c"), text][1:], x, fn="kern", backend="cpu") == 3 * x + 1).all()
    np.save("x.npy", x)
    run = ["run", "-", "b.c", "--fn", "kern", "--in", "x.npy", "--out", "y.npy"]
    assert CliRunner().invoke(main, [*run, "--backend", "cpu"], input=text).exit_code == 0
    assert (np.load("y.npy") == 3 * x + 1).all()
    twice = CliRunner().invoke(main, [run[0], "-", *run[1:]])
    assert twice.exit_code == 2


def test_two_definitions_are_an_error_with_both_places(files):
    names = files(
        a="int f(int x) { return x; }\nint kern(int x) { return f(x); }", b="\nint f(int x) { return 2 * x; }"
    )
    with pytest.raises(c2cu.ParseError) as e:
        c2cu.check(names, fn="kern")
    assert (e.value.code, e.value.file, e.value.line) == ("C2CU114", "b.c", 2)
    assert [str(n.loc) for n in e.value.diagnostic.notes] == ["a.c:1:5"]
    with pytest.raises(c2cu.ParseError, match="C2CU114"):
        c2cu.check(["a.c", "a.c"], fn="kern")
    files(a="int n; int kern(int x) { return x + n; }", b="int n;")
    with pytest.raises(c2cu.ParseError, match="'n' is defined in two files"):
        c2cu.check(["a.c", "b.c"], fn="kern")


def test_a_weak_definition_gives_way(files):
    weak = "__attribute__((weak)) int f(int x) { return x; }\n__attribute__((weak)) int n = 1;\n"
    names = files(
        a=weak + "int kern(int x) { return f(x) + n; }",
        b="int f(int x) { return 10 * x; }\nint n = 5;",
        c="int g(void);\nint __attribute__((weak))\nf(int x) { return 0; }",
    )
    x = numbers(dtype="int32")
    for order in (names, names[::-1]):
        assert (c2cu.bulk(order, {"x": x}, fn="kern", backend="cpu") == 10 * x + 5).all()
    assert (c2cu.bulk([names[0], names[2]], {"x": x}, fn="kern", backend="cpu") == x + 1).all()


def test_a_static_is_not_what_another_file_calls_undeclared(files):
    names = files(
        a="int kern(int x) { return f(x); }", b="static int f(int x) { return x; } int g(int x) { return f(x); }"
    )
    with pytest.raises(c2cu.Error, match="a.c:1:26"):
        c2cu.bulk(names, numbers(dtype="int32"), fn="kern", backend="cpu")


def test_what_the_parser_does_not_take_in_one_file(files):
    odd = 'static int twice(int x) {{ return ({{ int y = {} * x; __asm__("nop"); y; }}); }}\n'
    names = files(
        a=odd.format(2) + "int f(int x);\nint other(void) { return twice(1); }\nint kern(int x) { return x + f(x); }",
        b=odd.format(3) + "int g(int x) { return twice(x); }\nint f(int x) { return x * 5; }",
    )
    x = numbers(dtype="int32")
    assert (c2cu.bulk(names, x, fn="kern", backend="cpu") == 6 * x).all()
    assert c2cu.check(names, fn="kern").oblivious
    with pytest.raises(c2cu.UnsupportedError, match="b.c:1"):
        c2cu.compile(names, fn="g", backend="cpu", schedule="gang")


def test_a_file_of_statics_may_stand_twice(files):
    names = files(a="int kern(int x) { return x; }", b="static int unused(void) { return 1; }")
    x = numbers(dtype="int32")
    assert (c2cu.bulk([*names, "b.c"], x, fn="kern", backend="cpu") == x).all()


def test_a_missing_definition_that_the_kernel_reaches(files):
    names = files(a="int f(int);\nint kern(int x) { return f(x); }", b="int g(int);\nint h(int x) { return g(x); }")
    with pytest.raises(c2cu.UnsupportedError) as e:
        c2cu.bulk(names, numbers(dtype="int32"), fn="kern", backend="cpu")
    assert (e.value.file, e.value.line, e.value.column) == ("a.c", 2, 26)
    files(a="int kern(int x) { return x; }", b="extern int n; int g(int x) { return x + n; }")
    c2cu.bulk(names, numbers(dtype="int32"), fn="kern", backend="cpu")
    with pytest.raises(c2cu.UnsupportedError, match="b.c:1:12.*'n'"):
        c2cu.bulk(names, {"x": numbers(dtype="int32"), "n": 3}, fn="g", backend="cpu", schedule="native")


def test_declarations_of_another_type(files):
    names = files(a="extern float n;\nint kern(int x) { return n; }", b="int n;")
    with pytest.raises(c2cu.ParseError) as e:
        c2cu.check(names, fn="kern")
    assert (e.value.code, e.value.file, e.value.line) == ("C2CU009", "a.c", 1)
    files(a="int f(unsigned char *p, int n);\nint kern(unsigned char p[4]) { return f(p, 4); }")
    files(b="int f(char *p, int n) { return p[0] + n; }")
    p = numbers(4, dtype="uint8")
    assert (c2cu.bulk(names, p, fn="kern", backend="cpu") == p[:, 0] + 4).all()


def test_what_is_no_c_is_found_in_the_right_file(files):
    names = files(a="int kern(int x) { return x; }", b="\n\nint f(int x) { return y; }")
    with pytest.raises(c2cu.ParseError) as e:
        c2cu.check(names, fn="kern")
    assert (e.value.file, e.value.line) == ("b.c", 3)
    files(b="#include <nowhere.h>\n")
    with pytest.raises(c2cu.ParseError) as e:
        c2cu.check(names, fn="kern")
    assert (e.value.file, e.value.line) == ("b.c", 1)


def test_an_unknown_definition_is_one_that_no_file_uses(files):
    names = files(a="int kern(int x) { return x; }", b="#ifdef FAST\n#endif\n")
    c2cu.check(names, fn="kern", defines={"FAST": 1})
    with pytest.raises(c2cu.ParseError, match="FSAT"):
        c2cu.check(names, fn="kern", defines={"FSAT": 1})


def test_no_file_and_wrong_kinds():
    for wrong in ([], [3], [["a.c"]]):
        with pytest.raises(c2cu.InputError):
            c2cu.check(wrong)


def test_fingerprints_and_pickles_have_all_files(files):
    names = files(a="int f(int); int kern(int x) { return f(x); }", b="int f(int x) { return x; }")
    before = c2cu.compile(names, fn="kern", backend="cpu").fingerprints()
    Path("b.c").write_text("int f(int x) { return x + 1; }")
    after = c2cu.compile(names, fn="kern", backend="cpu").fingerprints()
    assert before["the C text"] != after["the C text"]
    assert len(pickle.loads(pickle.dumps(read_source(names))).units) == 2
