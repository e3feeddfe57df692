"""Every mistake a user can make gives a place, a message and a way on; never a traceback, never a wrong number."""

import contextlib
import os
import re
import subprocess

import numpy as np
import pytest
from click.testing import CliRunner

import c2cu
from c2cu import pipeline
from c2cu.base.diagnostics import render
from c2cu.cli import main
from c2cu.frontend.options import options_of
from c2cu.frontend.preprocess import read_source
from c2cu.schedule.choose import choose
from c2cu.schedule.slots import MOST_SLOTS
from tests.sample import sampled
from tests.workloads import EXAMPLES

FW = EXAMPLES / "floyd_warshall.c"
TWO = "float a[4], b[4];\nvoid k(void) {\n    b[0] = a[0] + b[1];\n}\n"
graphs = np.ones((3, 16, 16), np.float32)

# text, (line, column), part of the message
BAD_C = [
    ("int x;\nint y;\n", (None, None), "no kernel function found"),
    (
        "int x;\nvoid f(void) { x = 1; }\nvoid g(void) { x = 2; }\n",
        (3, 6),
        "several functions could be the kernel: f, g",
    ),
    ("int x;\nvoid f(void) {\n    x = ;\n}\n", (3, 9), "syntax error"),
    ("int x;\nvoid f(void) {\n    x = 3\n}\n", (3, 10), "expected ';'"),
    ("int x;\nvoid f(void) {\n    x = 3;\n", (3, 10), "ends too early"),
    ("int x;\nvoid f(void) {\n    x = z;\n}\n", (3, 9), "'z' is not declared"),
    ("int x;\nvoid f(void) { x = g(1); }\n", (2, 20), "function 'g' is not declared"),
    ("#define TWICE(v) ((v) * )\nint x;\nvoid f(void) {\n    x = TWICE(x);\n}\n", (4, None), "syntax error"),
    ("#include <nothing.h>\nint x;\nvoid f(void) { x = 1; }\n", (1, 10), "nothing.h"),
    ("#if 1\nint x;\nvoid f(void) { x = 1; }\n", (1, None), "unterminated"),
    ("struct S { int a; } s;\nvoid f(void) {\n    s.b = 1;\n}\n", (3, 7), "no member 'b'"),
    (
        "float d[4];\nint main(void) {\n#pragma kernel\n    d[0] = 1;\n    return 0;\n}\nvoid f(void) { d[1] = 2; }\n",
        (4, None),
        "'#pragma kernel' is not followed by a call",
    ),
]


@pytest.mark.parametrize("text, place, message", BAD_C, ids=[m[:24] for _, _, m in BAD_C])
def test_bad_c(text, place, message):
    with pytest.raises(c2cu.Error) as caught:
        c2cu.check(text)
    error = caught.value
    assert message in error.diagnostic.message
    assert error.line == place[0]
    if place[1] is not None:
        assert error.column == place[1]
    if place[0] is not None:
        assert text.split("\n")[place[0] - 1] in str(error)


def test_a_mistake_in_a_macro_says_expanded_from():
    text = next(t for t, _, _ in BAD_C if "TWICE" in t)
    with pytest.raises(c2cu.ParseError) as caught:
        c2cu.check(text)
    assert "<input>:1:1: note: expanded from macro 'TWICE'" in str(caught.value)
    assert "    4 |     x = TWICE(x);\n      |         ^~~~~" in str(caught.value)


@pytest.mark.parametrize(
    "line, wrong",
    [
        ("double complex k(double complex *c, double complex x) { double complex s = x; return s + wrong; }", "wrong"),
        ("double k(double x) { return (isnan(x) ? INFINITY : x) + MOST(x, 3) + wrong; }", "wrong"),
        ("/* k */ int k(int x) { /* x */ return x + N + wrong; }", "wrong"),
        ("int k(int x) { return MOST(x, wrong); }", "MOST"),
        ("int k(int x) { return MOST(x, 2) + MOST(x, 4) + TWICE(x, wrong); }", "TWICE"),
        ('/* k */ int k(int x) { char *s = "a"; return x +; }', ";"),
    ],
)
def test_macros_and_comments_move_no_caret(line, wrong):
    """What the compiler makes of the line is longer or shorter."""
    macros = "#define N (unsigned long long)1234567\n#define MOST(a, b) ((a) > (b) ? (a) : (b))\n#define TWICE(a, b) ((b) * 2)\n"
    with pytest.raises(c2cu.ParseError) as e:
        c2cu.check(f"#include <complex.h>\n#include <math.h>\n{macros}{line}\n", fn="k")
    under = str(e.value).split("\n")[2]
    assert under.index("^") - len("      | ") == (line.rindex(wrong) if wrong != ";" else line.index("+;") + 1)


def test_what_c2cu_adds_to_a_file_is_not_pointed_to():
    text = "void k(const void *s, void *d, int n, float **rows) {\n    for (int i = 0; i < n; i++) rows[0][i] = i;\n}\n"
    report = c2cu.check(text, shapes={"rows": (3, 4)}, constant_time=True)
    printed = [render(d, report.sources) for d in report.shown("warning", True, True)]
    places = [re.match(r"<input>:(\d+):(\d+):", row) for p in printed for row in p.split("\n")]
    assert [m for m in places if m]
    assert all(int(m[2]) <= len(text.split("\n")[int(m[1]) - 1]) for m in places if m)


SQUARES = (
    "#include <stdio.h>\ndouble _Complex z;\nvoid k(void) {\n    z = z * z;\n}\nint main(void) {\n    double x;\n"
    '    if (scanf("%lf", &x) != 1) return 1;\n    z = x;\n#pragma kernel\n    k();\n    printf("%g\\n", __real__ z);\n'
    "    return 0;\n}\n"
)
ENDING = (
    "#include <stdio.h>\n#include <stdlib.h>\nint n;\nvoid k(void) {\n    if (n == 3) exit(5);\n    n++;\n}\n"
    'int main(void) {\n    if (scanf("%d", &n) != 1) return 1;\n#pragma kernel\n    k();\n    printf("%d\\n", n);\n'
    "    return 0;\n}\n"
)


def test_hints_do_not_advise_what_was_done():
    """What they advise works: main's complex numbers on the CPU, early ends under the default."""
    for schedule in (None, "auto"):
        with pytest.raises(c2cu.UnsupportedError) as e:
            c2cu.translate(SQUARES, p=2, schedule=schedule)
        hint = e.value.diagnostic.hint
        assert e.value.code == "C2CU011" and "--target cpu" in hint and "auto" not in hint
    assert c2cu.translate(SQUARES, p=2, target="cpu")
    with pytest.raises(c2cu.UnsupportedError) as e:
        c2cu.translate(ENDING, p=2, schedule="registers")
    assert e.value.code == "C2CU370" and "CPU, and in a whole program" in e.value.diagnostic.hint
    assert c2cu.translate(ENDING, p=2)
    with pytest.raises(c2cu.InputError, match="2,147,482,624 threads") as e:
        c2cu.translate(SQUARES, p=3_000_000_000)
    assert "--group 2147482624" in e.value.diagnostic.hint


def test_a_library_has_no_early_ends(tmp_path):
    (tmp_path / "k.c").write_text(ENDING)
    done = run(["translate", "k.c", "--library", "--target", "cpu", "-o", "l.c"], tmp_path)
    assert done.returncode == 1 and "C2CU370" in done.stderr
    assert "return a status" in done.stderr and "--schedule" not in done.stderr


CIRCLE = "int g(int);\nint f(int a) { return a > 0 ? g(a - 1) : 0; }\nint g(int a) { return a > 0 ? f(a - 1) : 0; }\n"


def test_of_many_names_the_first_are_said():
    text = "int n;\n" + "".join(f"void f{k}(void) {{ n = {k}; }}\n" for k in range(40))
    with pytest.raises(c2cu.ParseError, match="f14, f15, 24 more") as e:
        c2cu.compile(text)
    assert str(e.value).count("is defined here") == 16


def test_functions_that_call_each_other_are_all_candidates():
    with pytest.raises(c2cu.ParseError, match="several functions could be the kernel: f, g") as e:
        c2cu.check(CIRCLE)
    assert e.value.code == "C2CU136" and "fn= / --fn" in e.value.diagnostic.hint
    assert c2cu.compile(CIRCLE, fn="g", backend="cpu")


@pytest.mark.parametrize("pragma", ["c2cu declasify(a)", "c2cu", "c2cu publish(a)"])
@pytest.mark.parametrize(
    "text", ["int x;\nvoid k(int a) {{\n{}\n    x = a;\n}}\n", "int x;\n\n{}\nvoid k(int a) {{ x = a; }}\n"]
)
def test_an_unknown_pragma_of_c2cu(text, pragma):
    with pytest.raises(c2cu.ParseError) as e:
        c2cu.check(text.format(f"#pragma {pragma}"))
    assert (e.value.code, e.value.line) == ("C2CU007", 3) and "declassify(" in e.value.diagnostic.hint


def test_only_inputs_are_public():
    for name in ("nope", "return"):
        with pytest.raises(c2cu.InputError) as e:
            c2cu.check("int k(int key, int pub) { return key + pub; }\n", public=[name], constant_time=True)
        assert e.value.diagnostic.hint == "the public inputs: key, pub"


def test_a_definition_in_a_header_that_overrides_is_pointed_to(tmp_path):
    (tmp_path / "c.h").write_text("/* sizes */\n#define N 4\n")
    (tmp_path / "a.c").write_text('#include "c.h"\nint a[N];\nvoid k(void) { a[0] += N; }\n')
    with pytest.raises(c2cu.ParseError) as e:
        c2cu.check(tmp_path / "a.c", defines={"N": 3})
    assert (e.value.code, e.value.file, e.value.line) == ("C2CU135", str(tmp_path / "c.h"), 2)
    assert "    2 | #define N 4" in str(e.value)


def test_a_file_that_is_not_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "heat.c").write_text("int x;\nvoid k(void) { x++; }\n")
    np.save("sums.npy", np.ones(3, np.int32))
    (tmp_path / "bad.npy").write_bytes(b"junk" * 20)
    for name, words in (
        ("nope.c", "current folder"),
        ("haet.c", "did you mean 'heat.c'?"),
        ("no/heat.c", "no folder 'no'"),
    ):
        with pytest.raises(c2cu.ParseError) as e:
            c2cu.check(name)
        assert e.value.code == "C2CU001" and words in e.value.diagnostic.hint
    for name, words in (
        ("sum.npy", "did you mean 'sums.npy'?"),
        ("no/x.npy", "no folder 'no'"),
        ("bad.npy", "numpy.save"),
    ):
        done = run(["run", "heat.c", "--in", f"x={name}", "--out", "o.npy", "--backend", "cpu"])
        assert done.returncode == 1 and words in done.stderr.split("hint:")[1]


def test_a_constant_is_no_input():
    text = "static const float tw[4] = {1, 2, 3, 4};\nvoid k(float *a) { a[0] *= tw[1]; }\n"
    with pytest.raises(c2cu.InputError, match="unknown input 'tw'") as e:
        c2cu.bulk(text, {"a": np.ones((2, 1), np.float32), "tw": np.ones(4, np.float32)}, backend="cpu")
    assert "'tw' is const" in e.value.diagnostic.hint


def test_a_variable_of_an_unknown_type_is_no_input(tmp_path):
    text = "typedef int pair __attribute__((vector_size(8)));\n_Decimal64 x;\nint y;\nvoid k(void) { y = x > 1; }\n"
    with pytest.raises(c2cu.InputError, match=r"'x' is of a type that c2cu does not know \(line 2\)"):
        c2cu.bulk(text, {"x": np.ones(3)}, backend="cpu")
    (tmp_path / "k.c").write_text(text)
    np.save(tmp_path / "x.npy", np.ones(3))
    done = CliRunner().invoke(main, ["run", str(tmp_path / "k.c"), "--in", f"x={tmp_path / 'x.npy'}", "--out", "y=-"])
    assert done.exit_code == 1 and "'x' is of a type that c2cu does not know" in done.stderr


def test_a_type_without_a_name():
    with pytest.raises(c2cu.UnsupportedError) as e:
        c2cu.compile("void k(struct {int q;} x) { }\n", backend="cpu")
    assert e.value.code == "C2CU184" and "shape" not in e.value.diagnostic.hint


def test_text_is_not_converted_to_numbers():
    with pytest.raises(c2cu.InputError) as e:
        c2cu.bulk("int k(int a) { return a; }\n", {"a": "x"}, p=2, backend="cpu")
    assert "astype" not in e.value.diagnostic.hint


WRONG_VALUES = [
    ["run", "--schedule", "foo"],
    ["run", "--group", "0"],
    ["run", "--fp", "foo"],
    ["check", "--shape", "c=x"],
    ["check", "--shape", "c=0"],
    ["translate", "--p", "0"],
    ["translate", "--p", "3", "--threads", "0"],
    ["translate", "--p", "3", "--group", "0"],
    ["translate", "--p", "3", "--schedule", "foo"],
]


@pytest.mark.parametrize("words", WRONG_VALUES, ids=" ".join)
def test_a_wrong_value_of_an_option_is_wrong_usage(words):
    assert run([words[0], FW, *words[1:]]).returncode == 2


def test_writing_a_shared_variable():
    with pytest.raises(c2cu.UnsupportedError) as caught:
        c2cu.compile(TWO, shared=["b"], backend="cpu")
    assert caught.value.line == 3 and "'b' is shared by all inputs" in str(caught.value)


def test_strict():
    text = "int a[4], i;\nvoid k(void) {\n    a[i & 3] = 0;\n}\n"
    with pytest.raises(c2cu.NotObliviousError) as caught:
        c2cu.compile(text, strict=True, backend="cpu")
    assert (caught.value.line, caught.value.column) == (3, 7)
    assert "subscript of 'a'" in str(caught.value)


BAD_INPUT = [
    (FW, graphs.astype(np.float64), {}, TypeError, "'D' has dtype float64, expected float32"),
    (FW, graphs[0, 0], {}, ValueError, "expected (p, N, N)".replace("N", "16")),
    (FW, {}, {}, ValueError, "input 'D' is missing"),
    (FW, {"E": graphs}, {}, ValueError, "unknown input 'E'"),
    (FW, np.ones((3, 16, 8), np.float32), {}, ValueError, "'D' has extents 16 and 8, which are both N"),
    (FW, graphs, {"defines": {"N": 8}}, ValueError, "'D' has shape (3, 16, 16), expected (p, 8, 8)"),
    (FW, graphs, {"defines": {"M": 8}}, c2cu.ParseError, "unknown macro 'M'"),
    (FW, graphs, {"schedule": "warp"}, ValueError, "schedule cannot be 'warp'"),
    (FW, graphs, {"backend": "tpu"}, ValueError, "backend cannot be 'tpu'"),
    (FW, [[1.0]], {}, TypeError, "is of type list, not an array"),
    (FW, graphs, {"out": np.empty((2, 16, 16), np.float32)}, ValueError, "but p is 3"),
    (
        TWO,
        {"a": np.ones((3, 4), np.float32), "b": np.ones((4, 4), np.float32)},
        {},
        ValueError,
        "inputs disagree on p: 'a' has 3, 'b' has 4",
    ),
    (TWO, np.ones((3, 4), np.float32), {}, ValueError, "does not have exactly one input"),
    (
        "void k(float *a, float *o) {\n    for (int i = 0; i < 4; i++) o[i] = a[i];\n}\n",
        {"a": np.ones((3, 4), np.float32)},
        {},
        ValueError,
        "the length of 'o' is not known",
    ),
]


@pytest.mark.parametrize("src, inputs, options, kind, message", BAD_INPUT, ids=[m[:30] for *_, m in BAD_INPUT])
def test_bad_input(src, inputs, options, kind, message):
    with pytest.raises(kind) as caught:
        c2cu.bulk(src, inputs, **{"backend": "cpu", **options})
    assert isinstance(caught.value, c2cu.Error)
    assert message in str(caught.value)


def test_two_arrays_that_want_different_extents_are_both_named():
    text = "#define N 4\nfloat a[N], b[N];\nvoid k(void) {\n    a[0] += b[0];\n}\n"
    with pytest.raises(c2cu.InputError, match="'a' wants N = 5, but 'b' wants N = 6"):
        c2cu.bulk(text, {"a": np.ones((2, 5), np.float32), "b": np.ones((2, 6), np.float32)}, backend="cpu")


@pytest.mark.parametrize("schedule", ["gang", "native"])
@pytest.mark.parametrize("p", [0, 1])
def test_p_zero_and_one(p, schedule):
    result = c2cu.bulk(FW, graphs[:p], backend="cpu", schedule=schedule)
    assert result.shape == (p, 16, 16) and result.dtype == np.float32


def run(args, cwd="."):
    """A finished command line of c2cu, in this process."""
    with contextlib.chdir(cwd):
        done = CliRunner().invoke(main, list(map(str, args)))
    assert isinstance(done.exception, (SystemExit, type(None))), done.exc_info
    return subprocess.CompletedProcess(args, done.exit_code, done.stdout, done.stderr)


@pytest.mark.parametrize(
    "data, message",
    sampled(
        [
            (b"\x93NUMPY\x01\x00v\x00{'descr'", "whole array file"),
            (b"", "whole array file"),
            (b"junk" * 100, "whole array file"),
        ],
        2,
    ),
)
def test_half_written_npy(tmp_path, data, message):
    (tmp_path / "g.npy").write_bytes(data)
    done = run(["run", FW, "--in", f"D={tmp_path / 'g.npy'}", "--out", f"D={tmp_path / 'o.npy'}", "--backend", "cpu"])
    assert done.returncode == 1 and message in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "o.npy").exists()


def test_cut_short_npy(tmp_path):
    np.save(tmp_path / "g.npy", graphs)
    data = (tmp_path / "g.npy").read_bytes()
    (tmp_path / "g.npy").write_bytes(data[:-100])
    done = run(["run", FW, "--in", tmp_path / "g.npy", "--out", tmp_path / "o.npy", "--backend", "cpu"])
    assert done.returncode == 1 and "Traceback" not in done.stderr and "g.npy" in done.stderr


def test_full_disk_keeps_the_old_output(tmp_path):
    np.save(tmp_path / "g.npy", graphs)
    done = run(["run", FW, "--in", tmp_path / "g.npy", "--out", "/dev/full", "--backend", "cpu"])
    assert done.returncode == 1 and "No space left" in done.stderr and "Traceback" not in done.stderr
    done = run(["translate", FW, "--p", "2", "-o", tmp_path / "no" / "fw.cu"])
    assert done.returncode == 1 and "cannot write" in done.stderr


def test_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    from c2cu.io import files

    old = tmp_path / "o.npy"
    old.write_bytes(b"old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "_put", full)
    with pytest.raises(c2cu.InputError, match="No space left"):
        files.write(str(old), graphs)
    assert old.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["o.npy"]


@pytest.mark.parametrize(
    "data, message",
    [(b"", "is empty"), (b"  \n", "is empty"), (b"\0\1\2ELF\n{", "binary"), (bytes(range(1, 32)) * 20, "binary")],
)
def test_unreadable_c(tmp_path, data, message):
    path = tmp_path / "x.c"
    path.write_bytes(data)
    with pytest.raises(c2cu.ParseError, match=message):
        c2cu.check(path)
    with pytest.raises(c2cu.ParseError, match="cannot read"):
        c2cu.check(tmp_path / "missing.c")


def test_missing_compiler(monkeypatch, tmp_path):
    monkeypatch.setenv("CC", "/nowhere/cc")
    with pytest.raises(c2cu.CompileError, match="'/nowhere/cc' of \\$CC is not found"):
        c2cu.bulk(FW, graphs, backend="cpu")
    monkeypatch.delenv("CC")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)  # ziglang may be installed
    with pytest.raises(c2cu.CompileError, match="no C compiler found"):
        c2cu.compile(FW, backend="cpu")


def test_failing_compiler(monkeypatch, tmp_path):
    fake = tmp_path / "cc"
    fake.write_text('#!/bin/sh\ncase "$*" in *-E*|*--version*) exec gcc "$@";; esac\necho "out of order" >&2\nexit 1\n')
    fake.chmod(0o755)
    monkeypatch.setenv("CC", str(fake))
    monkeypatch.setenv("C2CU_CACHE_DIR", str(tmp_path / "cache"))
    with pytest.raises(c2cu.CompileError, match="out of order"):
        c2cu.compile(FW, backend="cpu")


def test_generated_code_that_fails_is_shown():
    from c2cu.base.toolchain import rejected

    error = rejected("cc", "int a;\nint b\nint c;\n", "<stdin>:3:1: error: expected ';'")
    assert ">    3 | int c;" in str(error) and "     2 | int b" in str(error)


def test_usage(monkeypatch):
    result = CliRunner().invoke(main, ["translate", str(FW)])
    assert result.exit_code == 2 and "--p" in result.output
    assert CliRunner().invoke(main, ["translate", str(FW), "--p", "0"]).exit_code == 2
    assert CliRunner().invoke(main, ["no-such-command"]).exit_code == 2


@pytest.mark.slow
def test_deep_expressions_do_not_crash():
    text = "int x;\nvoid k(void) {\n    x = " + " + ".join(["x"] * 3000) + ";\n}\n"
    assert c2cu.check(text).oblivious
    c2cu.check("int x;\nvoid k(void) {\n    x = " + "(" * 400 + "x" + ")" * 400 + ";\n}\n")


def test_os_errors_never_reach_the_user(tmp_path):
    done = run(["check", tmp_path])
    assert done.returncode == 1 and "Traceback" not in done.stderr
    if os.getuid() != 0:
        (tmp_path / "x.c").write_text("int x;")
        (tmp_path / "x.c").chmod(0)
        assert "Traceback" not in run(["check", tmp_path / "x.c"]).stderr


@pytest.mark.parametrize("name", sampled(["n\nl.c", "b{r}.c", 'q"u\\o.c', "hä.c", "a:1:2.c"], 3))
def test_any_file_name(tmp_path, name):
    (tmp_path / name).write_text("#define N 4\nfloat a[N];\nvoid k(void) {\n    a[0] = z + a[N - 1];\n}\n")
    done = run(["check", name], cwd=tmp_path)
    assert done.stderr.startswith(f"{name}:4:12: error: 'z' is not declared".replace("\n", "?"))
    assert "    4 |     a[0] = z + a[N - 1];\n      |            ^" in done.stderr
    with pytest.raises(c2cu.Error) as caught:
        c2cu.check(tmp_path / name)
    assert caught.value.file == str(tmp_path / name)


def test_an_included_file_of_any_name(tmp_path):
    (tmp_path / "hä.h").write_text("static void set(int *p) {\n    *p = z;\n}\n")
    (tmp_path / "k.c").write_text('#include "hä.h"\nint a;\nvoid k(void) { set(&a); }\n')
    with pytest.raises(c2cu.Error) as caught:
        c2cu.check(tmp_path / "k.c")
    assert caught.value.file.endswith("hä.h") and "    2 |     *p = z;\n      |          ^" in str(caught.value)


def test_no_c_at_all():
    with pytest.raises(c2cu.ParseError, match="'<input>' is empty"):
        c2cu.bulk("", graphs)


NOT_FLAT = [
    (
        "int o[2];\nvoid k(void) {\n    **(int **)o = 3;\n}\n",
        3,
        "stores a pointer",
    ),
    ("long double x;\nvoid k(void) {\n    x = x * 2;\n}\n", 3, "'x' is long double"),
    (
        "union { int *p; short s; } u;\nvoid k(void) {\n    u.s = 1;\n}\n",
        3,
        "'u' is a union of a pointer and other members",
    ),
]


@pytest.mark.parametrize("text, line, message", NOT_FLAT, ids=[m for *_, m in NOT_FLAT])
def test_a_schedule_that_cannot_take_the_program_shows_the_line(text, line, message):
    with pytest.raises(c2cu.UnsupportedError, match=message) as caught:
        c2cu.compile(text, backend="cpu", schedule="gang")
    assert caught.value.line == line
    assert f"    {line} | {text.splitlines()[line - 1]}\n      |" in str(caught.value)


@pytest.mark.parametrize("inputs", [{}, {"a": np.ones((3, 5), np.float32), "b": np.ones((3, 4), np.float32)}])
def test_errors_in_inputs_show_the_declaration(inputs):
    with pytest.raises(c2cu.InputError) as caught:
        c2cu.bulk(TWO, inputs, backend="cpu")
    assert "    1 | float a[4], b[4];\n      |       ^" in str(caught.value)


CONJUGATES = "struct P { float re, im; } x[4];\nvoid k(void) { for (int i = 0; i < 4; i++) x[i].im = -x[i].im; }\n"


def conjugates(x, wrong) -> np.ndarray:
    """The results for what the error says to write."""
    with pytest.raises(TypeError) as caught:
        c2cu.bulk(CONJUGATES, wrong, backend="cpu")
    hint = caught.value.diagnostic.hint.partition(": ")[2].partition(", x['re'] = ...")
    scope = {"x": wrong, "numpy": np, "count": x.shape}
    if hint[1]:
        exec(hint[0], scope)
        scope["x"]["re"], scope["x"]["im"] = x.real, x.imag
        return c2cu.bulk(CONJUGATES, scope["x"], backend="cpu")
    return c2cu.bulk(CONJUGATES, eval(hint[0], scope), backend="cpu")


def test_an_array_of_structs_is_made_as_the_error_says():
    """What the error says to write is what runs, and docs/language.md says where the dtype is."""
    x = np.arange(24, dtype=np.float32).view(np.complex64).reshape(3, 4)
    wide = np.zeros((3, 4), [("re", "f8"), ("im", "f8")])
    wide["re"], wide["im"] = x.real, x.imag
    for wrong in (x, wide):
        result = conjugates(x, wrong)
        assert result.dtype == np.dtype(c2cu.compile(CONJUGATES, backend="cpu").slots[0].dtype)
        assert np.array_equal(result.view(np.complex64), x.conj())


def test_strings_are_taken_as_the_error_says():
    text = "char s[9];\nint n;\nvoid k(void) { n = 0; for (int i = 0; i < 9; i++) n += s[i] != 0; }\n"
    strings = ["ACGT", "", "abcdefgh"]
    for wrong in (strings, np.array(strings), np.array(strings, "S"), np.array(strings, "S9")):
        with pytest.raises(TypeError) as caught:
            c2cu.bulk(text, {"s": wrong}, backend="cpu")
        right = eval(caught.value.diagnostic.hint.partition(": ")[2], {"s": wrong, "numpy": np})
        assert c2cu.bulk(text, {"s": right}, backend="cpu", outputs=["n"]).tolist() == [4, 0, 8]


def test_what_the_kernel_writes_is_not_to_be_shared():
    text = "static int ready;\nint o;\nvoid k(void) { if (!ready) ready = 3; o = ready; }\n"
    for inputs in ({}, {"ready": 0}):
        with pytest.raises(c2cu.InputError) as caught:
            c2cu.bulk(text, inputs, backend="cpu")
        assert "shared" not in caught.value.diagnostic.hint


@pytest.mark.slow
def test_more_variables_than_a_cuda_kernel_takes():
    n = MOST_SLOTS + 1
    statements = " ".join(f"a{k}++;" for k in range(n))
    text = "\n".join(f"int a{k};" for k in range(n)) + f"\nvoid f(void) {{ {statements} }}\n"
    front = pipeline.understand(read_source(text), options_of())
    assert choose(front, "cpu")[0].schedule == "gang"
    for schedule in ("auto", "thread", "private"):
        with pytest.raises(c2cu.UnsupportedError, match=f"{n} variables, .* at most {n - 1}") as caught:
            choose(front, "cuda", schedule)
        assert caught.value.line == n


def test_a_raw_file_of_the_wrong_size_is_said_once(tmp_path):
    (tmp_path / "odd.bin").write_bytes(b"abc")
    done = run(["run", FW, "--in", f"D={tmp_path / 'odd.bin'}", "--out", tmp_path / "o.npy", "--backend", "cpu"])
    assert done.returncode == 1 and done.stderr.count("C2CU345") == done.stderr.count("error:") == 1
    assert "has 3 bytes, which is no multiple of the 1024 of one input" in done.stderr


BEYOND = [
    ("void k(float *a, int n) {\n    for (int i = 0; i < n; i++)\n        a[i] *= 2;\n}\n", 3),
    ("void k(float *a, int n) {\n    while (n-- > 0)\n        *a++ *= 2;\n}\n", 3),
    ("void k(float *a, int n) {\n    *(a + n) = 2;\n}\n", 2),
    ("static void f(int n, float *b) {\n    b[n - 1] = 2;\n}\nvoid k(float *a, int n) {\n    f(n, a);\n}\n", 2),
]


@pytest.mark.parametrize("text, line", BEYOND)
def test_a_pointer_that_is_subscripted_wants_an_axis(text, line):
    """One array of n numbers is not n inputs of one number each."""
    with pytest.raises(c2cu.InputError, match=r"'a' has shape \(p,\), expected \(p, n\)") as caught:
        c2cu.bulk(text, {"a": np.ones(64, np.float32), "n": 64}, backend="cpu")
    assert caught.value.line == line and "a[None] makes it one input" in str(caught.value)
    assert c2cu.bulk(text, {"a": np.ones((1, 64), np.float32), "n": 3}, backend="cpu").shape == (1, 64)


def test_a_shared_pointer_that_is_subscripted_wants_an_axis():
    text = "float k(const float *w, float x) {\n    return x * w[3];\n}\n"
    with pytest.raises(c2cu.InputError, match=r"'w' has shape \(\), expected \(n,\)"):
        c2cu.bulk(text, np.ones(5, np.float32), shared={"w": np.float32(1)}, backend="cpu")


def test_a_pointer_to_one_number_wants_none():
    text = "static void set(int *p, int v) {\n    *p = v;\n    p[0]++;\n}\nvoid k(int a, int *out) {\n    set(out, a);\n}\n"
    a = np.arange(5, dtype=np.int32)
    assert c2cu.bulk(text, {"a": a, "out": np.zeros(5, np.int32)}, backend="cpu").tolist() == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("statement", "column", "words"),
    [
        ("s->a = 3;", 2, "invalid type argument of '->'"),
        ("s = x;", 5, "incompatible types when assigning"),
        ("break;", 1, "break statement not within loop or switch"),
        ("case 3: ;", 1, "case label not within a switch"),
        ("x = in + in;", 8, "invalid operands to binary +"),
        ("x = ~f;", 5, "wrong type argument to bit-complement"),
        ("switch (x) { case 1: x = 2; case 1: x = 3; }", 29, "duplicate case value"),
    ],
)
def test_what_is_no_c_is_refused_in_the_compilers_words(statement, column, words):
    text = f"struct S{{int a;}} s; int x; float f;\nvoid k(int *in) {{\n{statement}\n}}\n"
    with pytest.raises(c2cu.ParseError) as e:
        c2cu.check(text)
    assert (e.value.line, e.value.column, e.value.code) == (3, column, "C2CU008")
    assert words in str(e.value) and statement in str(e.value)


def test_translation_does_not_replace_its_source(tmp_path):
    source = tmp_path / "k.c"
    source.write_text(FINE := "int a[2];\nvoid k(void) { a[0]++; }\nint main(void) { k(); return 0; }\n")
    done = run(["translate", source, "--p", "2", "-o", source])
    assert done.returncode == 1 and "is the source itself" in done.stderr
    assert source.read_text() == FINE


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"src": None}, "the source cannot be None"),
        ({"src": b"int a;"}, "the source cannot be b'int a;'"),
        ({"inputs": {1: 2}}, "inputs cannot be {1: 2}"),
        ({"p": 2.0}, "p cannot be 2.0"),
        ({"p": "2"}, "p cannot be '2'"),
        ({"defines": 3}, "defines cannot be 3"),
        ({"defines": {3: 4}}, "defines cannot be {3: 4}"),
        ({"defines": {"N": None}}, "the macro 'N' cannot be None"),
        ({"shapes": 3}, "shapes cannot be 3"),
        ({"shapes": {"a": 2.5}}, "shape of 'a' cannot be 2.5"),
        ({"shapes": {"a": 0}}, "shape of 'a' is given as (0,)"),
        ({"shapes": {"a": (2, -1)}}, "shape of 'a' is given as (2, -1)"),
    ],
)
def test_arguments_of_the_wrong_kind(options, words):
    arguments = {"src": "int a[2];\nvoid f(void) { a[0] = 2; }\n", "inputs": None, "p": 2, "backend": "cpu", **options}
    with pytest.raises(c2cu.InputError) as e:
        c2cu.bulk(arguments.pop("src"), arguments.pop("inputs"), **arguments)
    assert words in str(e.value) and e.value.diagnostic.hint


def test_one_array_for_two_outputs():
    z = np.zeros((2, 2), np.int32)
    with pytest.raises(c2cu.InputError, match="share memory"):
        c2cu.bulk("int a[2], b[2];\nvoid f(void) { a[0] = b[0] = 1; }\n", p=2, out={"a": z, "b": z}, backend="cpu")


DOUBLED = "void f(int n, float *x, float *y) {\n    for (int i = 0; i < n; i++)\n        y[i] = 2 * x[i];\n}\n"


@pytest.mark.parametrize(
    "text, shapes, words",
    [
        (DOUBLED, {"y": (5, 8)}, ["1:31", "is given as 5,8, but in the C it has 1 extent", "leave p out"]),
        (DOUBLED, {"yy": 8}, ["unknown variable 'yy'", "did you mean 'y'?"]),
        (DOUBLED, {"Y": 8}, ["did you mean 'y'?"]),
        ("float a[4];\nvoid f(void) { a[0] = 1; }\n", {"a": (5,)}, ["1:7", "is given as 5, but the C says 4"]),
        ("void f(float y[][4]) { y[1][0] = 1; }\n", {"y": (2, 3)}, ["is given as 2,3, but the C says 2,4"]),
        ("float a;\nvoid f(void) { a = 1; }\n", {"a": (5,)}, ["but in the C it has no extent"]),
    ],
)
def test_shapes_that_are_none_of_the_programs(text, shapes, words):
    runs = (
        lambda: c2cu.check(text, shapes=shapes),
        lambda: c2cu.compile(text, shapes=shapes, backend="cpu"),
        lambda: c2cu.translate(text, p=2, shapes=shapes),
    )
    for run_it in runs:
        with pytest.raises(c2cu.InputError) as e:
            run_it()
        assert all(w in str(e.value) for w in words), str(e.value)


@pytest.mark.slow
def test_numbers_that_lead_out_of_bounds():
    """Where addresses come from a number that a call brings, they are looked at in that call."""
    program, x = c2cu.compile(DOUBLED, backend="cpu", shapes={"y": 8}), np.ones((5, 8), np.float32)
    assert np.array_equal(program({"n": 8, "x": x}), 2 * x)
    for n in (9, 10**9):
        with pytest.raises(c2cu.UnsupportedError) as e:
            program({"n": n, "x": x})
        assert e.value.code == "C2CU035" and "3:9" in str(e.value) and "element 8 is outside 'x'" in str(e.value)
    assert program({"n": 3, "x": x})[0].tolist() == [2, 2, 2, 0, 0, 0, 0, 0]
    text = (
        "void f(int n, float dt, int *a) { int t[4]; t[1] = 3; for (int i = 1; i < n; i++) a[0] += t[i] * (dt > 2); }\n"
    )
    program = c2cu.compile(text, backend="cpu")
    assert program({"n": 2, "dt": 3.0, "a": np.zeros((2, 1), np.int32)}).tolist() == [[3], [3]]
    with pytest.raises(c2cu.UnsupportedError, match="'t' is read before"):
        program({"n": 3, "dt": 3.0, "a": np.zeros((2, 1), np.int32)})


def test_global_numbers_that_lead_out_of_bounds():
    text = "float a[16], b[16];\nint n;\nvoid f(void) {{ for (int i = 0; i < {}; i++) b[i] = a[i]; }}\n"
    a = np.ones((4, 16), np.float32)
    program = c2cu.compile(text.format("n"), backend="cpu", shared=["n"])
    assert np.array_equal(program({"a": a}, shared={"n": 16}), a)
    more = "void g(void) { f(); for (int i = 0; i < n; i++) b[i] = 0; }\n"
    whole = c2cu.compile(text.format("17") + more, fn="g", shared=["n"], backend="cpu")
    for run_it in (lambda: program({"a": a}, shared={"n": 17}), lambda: whole({"a": a}, shared={"n": 3})):
        with pytest.raises(c2cu.UnsupportedError, match="element 16 is outside 'a'") as e:
            run_it()
        assert (e.value.code, e.value.line) == ("C2CU035", 3)


def test_what_a_number_does_not_lead_to_is_not_looked_at_again(monkeypatch):
    """One look for each number that addresses depend on, whatever others are."""
    text = "void f(int n, float dt, float *a) { for (int i = 0; i < n; i++) a[i] *= dt; }\n"
    program, a, examined = c2cu.compile(text, backend="cpu"), np.ones((2, 4), np.float32), []
    original = c2cu.pipeline.refuse_numbers
    monkeypatch.setattr("c2cu.pipeline.refuse_numbers", lambda f, v: examined.append(v) or original(f, v))
    for n, dt in ((4, 1.0), (4, 2.0), (3, 2.0), (4, 3.0), (3, 1.0)):
        program({"n": n, "dt": dt, "a": a})
    assert examined == [{"n": 4}, {"n": 3}]


def test_a_pointers_array_with_too_many_axes():
    with pytest.raises(c2cu.InputError, match=r"shape \(2, 3, 3\), expected \(p, n\): 2 dimensions, not 3") as e:
        c2cu.bulk(DOUBLED, {"n": 3, "x": np.ones((2, 3, 3), np.float32)}, backend="cpu")
    assert "x.reshape(len(x), -1)" in e.value.diagnostic.hint


def test_two_extents_of_one_array_that_are_one_macro():
    with pytest.raises(c2cu.InputError, match="an input's 'D' has extents 5 and 6, which are both N in the C"):
        c2cu.bulk(FW, np.ones((3, 5, 6), np.float32), backend="cpu")


ROTATE = 'unsigned k(unsigned w) {{\n    {} ("rorl $3,%0"{}:"+r" (w));\n    return w;\n}}\n'


def test_the_compilers_place_leads_where_the_parser_stops_at_something_valid():
    with pytest.raises(c2cu.ParseError) as e:
        c2cu.check("enum e {A, B};\nenum e {A, B};\n" + ROTATE.format("asm", ""))
    assert (e.value.code, e.value.line) == ("C2CU008", 2)


@pytest.mark.parametrize("words", ["asm", "__asm__", "asm volatile", "__asm__ __volatile__"])
@pytest.mark.parametrize("gap", ["", "\n        "])
def test_assembly_is_told_from_other_extensions(words, gap):
    with pytest.raises(c2cu.UnsupportedError) as e:
        c2cu.compile(ROTATE.format(words, gap), backend="cpu", schedule="gang")
    assert (e.value.code, e.value.line, e.value.column) == ("C2CU085", 2, 5)


@pytest.mark.parametrize(
    "text, named",
    [
        ("int k(int x) { int g(int y) { return y + x; } return g(3); }\n", "a function inside another"),
        ("int k(int x) { void *t[] = { &&a, &&b }; goto *t[x & 1]; a: return 1; b: return 2; }\n", "&&name"),
        ("int k(int x) { __label__ a; if (x) goto a; x = 4; a: return x; }\n", "__label__"),
        ("int k(int x) { __auto_type y = x; return y; }\n", "__auto_type"),
        ("struct s { int a; };\nint k(int x) { struct s v = { a: x }; return v.a; }\n", "name: value"),
    ],
)
def test_an_extension_is_named(text, named):
    with pytest.raises(c2cu.UnsupportedError) as e:
        c2cu.compile(text, backend="cpu", schedule="gang")
    assert e.value.code == "C2CU107" and named in e.value.diagnostic.message and "native" in e.value.diagnostic.hint


@pytest.mark.parametrize(
    "text, line",
    [
        ("namespace a {\nint k(int x) { return x; }\n}\n", 1),
        ("class P {\npublic:\n    int x;\n};\nint k(int x) { P p; p.x = x; return p.x; }\n", 1),
        ("int n;\ntemplate <typename T> T twice(T x) { return x + x; }\nint k(int x) { return twice(x); }\n", 2),
        ("using real = double;\nreal k(real x) { return x; }\n", 1),
        ("int k(int x) {\n    return std::max(x, 3);\n}\n", 2),
        ("int n;\nvoid k(float &x) { x += 1; }\n", 2),
        ("#include <math.h>\n#include <vector>\nint k(int x) { return x; }\n", 2),
        ('extern "C" int k(int x) { return x; }\n', 1),
        ("int n;\n__global__ void k(float *a) {\n    a[threadIdx.x] += 1;\n}\n", 2),
    ],
)
def test_another_language_than_c(text, line):
    with pytest.raises(c2cu.ParseError) as e:
        c2cu.check(text)
    assert (e.value.code, e.value.line) == ("C2CU183", line)
    assert ("CUDA" if "__global__" in text else "C++") in e.value.diagnostic.message


@pytest.mark.parametrize("name, language", [("k.cpp", "C++"), ("k.cc", "C++"), ("k.cxx", "C++"), ("k.cu", "CUDA")])
def test_the_files_name_tells_the_language(tmp_path, name, language):
    (tmp_path / name).write_text("int k(int *x) { return x == nullptr; }\n")
    with pytest.raises(c2cu.ParseError, match="C2CU183") as e:
        c2cu.check(tmp_path / name)
    assert f"this is {language}," in e.value.diagnostic.message


@pytest.mark.parametrize(
    "text",
    [
        '#ifdef __cplusplus\nextern "C" {\nnamespace a {}\n#endif\nint k(int x) { return x +; }\n',
        'int k(int x) { char *s = "a::b <<< namespace {"; return x +; } /* std::max */\n',
    ],
)
def test_c_with_a_mistake_is_no_other_language(text):
    with pytest.raises(c2cu.ParseError) as e:
        c2cu.check(text)
    assert e.value.code == "C2CU002"


def test_a_syntax_error_says_what_was_expected():
    with pytest.raises(c2cu.ParseError) as e:
        c2cu.check("int x;\nvoid f(void) {\n    x = 3\n}\n")
    assert str(e.value).startswith("<input>:3:10: error: syntax error: expected ';' before '}' token")
    with pytest.raises(c2cu.ParseError) as e:
        c2cu.check("int x;\nvoid f(void) {\n    x = 3 +;\n}\n")
    assert "<input>:3:12: note: the C compiler says here: expected expression before ';' token" in str(e.value)


@pytest.mark.parametrize("schedule", ["gan", "thread", ""])
def test_no_such_schedule_where_an_extent_is_open(schedule):
    text = "float k(const float *x, int n) { float s = 0; for (int i = 0; i < n; i++) s += x[i]; return s; }\n"
    with pytest.raises(c2cu.InputError):
        c2cu.bulk(text, {"x": np.ones((3, 5), "f4"), "n": 5}, backend="cpu", schedule=schedule)


def test_a_name_that_is_too_long():
    with pytest.raises(c2cu.ParseError, match="cannot read"):
        c2cu.check("a" * 300 + "/x.c")


def test_explain_without_inputs_or_lengths(tmp_path):
    (tmp_path / "f.c").write_text(DOUBLED)
    for p, said in ((0, "0 is less than 1"), (-1, "-1 is less than 1"), ("abc", "'abc' is no whole number")):
        done = run(["explain", tmp_path / "f.c", "--p", p])
        assert done.returncode == 2 and said in done.stderr
    done = run(["explain", tmp_path / "f.c", "--p", 10, "--backend", "cpu"])
    assert "memory     not known: the length of 'x' is not; --shape x=n tells it" in done.stdout


@pytest.mark.parametrize("word", ["kernal", "kernels", "Kernel", "kernl shared(x)"])
def test_a_misspelt_pragma(word):
    with pytest.raises(c2cu.ParseError, match="4:9: .*is not known") as e:
        c2cu.check(f"int x;\nvoid f(void) {{ x++; }}\nint main(void) {{\n#pragma {word}\n    f();\n    return 0;\n}}\n")
    assert e.value.diagnostic.hint == "did you mean '#pragma kernel'?"


def test_pragmas_of_others_are_nobodys():
    text = "int x;\nvoid f(void) { x++; }\nint main(void) {\n#pragma STDC FP_CONTRACT OFF\n#pragma once\n    f();\n    return 0;\n}\n"
    assert c2cu.check(text).oblivious
