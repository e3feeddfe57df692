"""The command line: which files it takes and writes, and what it says of options that make no sense."""

import os
import threading

import numpy as np
import pytest
from click.testing import CliRunner

from c2cu.cli import main
from c2cu.frontend.options import Options
from c2cu.frontend.preprocess import Source
from c2cu.ir.dump import dump
from c2cu.pipeline import PASSES, understand
from c2cu.report.stages import after
from c2cu.schedule.gang import emit
from c2cu.schedule.registry import REGISTRY
from tests.workloads import EXAMPLES

SUM = "int a[3], n, o;\nvoid k(void) {\n    o = 0;\n    for (int i = 0; i < n; i++) o += a[i];\n}\n"
PAIR = "int a[3], b[3], c;\nvoid k(void) {\n    c = b[0] = a[0] + a[1] + a[2];\n}\n"


def c2cu(*args):
    return CliRunner().invoke(main, [str(a) for a in args])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory with C files and arrays."""
    (tmp_path / "sum.c").write_text(SUM)
    (tmp_path / "pair.c").write_text(PAIR)
    np.save(tmp_path / "a.npy", np.arange(12, dtype=np.int32).reshape(4, 3))
    monkeypatch.chdir(tmp_path)
    return tmp_path


BAD_OPTIONS = [
    (["--in", "a=a.npy", "--in", "a=a.npy", "--out", "c=o.npy"], "--in has 'a' twice"),
    (["--in", "a=a.npy", "--out", "c=o.npy", "--out", "c=p.npy"], "--out has 'c' twice"),
    (["--in", "a=a.npy", "--out", "c=o.npy", "--out", "b=o.npy"], "--out has 'o.npy' twice"),
    (["--in", "a=a.npy", "--in", "a.npy", "--out", "c=o.npy"], "--in a.npy has no name"),
    (["--in", "a=a.npy"], "no --out says where a result goes"),
    (["--in", "a=a.npy", "--out", "o.npy"], "--out o.npy has no name"),
    (["--in", "a=a.npy", "--out", "a=o.npy"], "unknown output 'a'"),
    (["--in", "a=a.npy", "--out", "c=o.txt"], "'o.txt': files are .npy, .npz, .bin or .zarr, not '.txt'"),
    (["--in", "a=a.npy", "--out", "c=o"], "'o': files are .npy, .npz, .bin or .zarr, not without an ending"),
    (["--in", "a=a.dat", "--out", "c=o.npy"], "'a.dat': files are .npy, .npz, .bin or .zarr, not '.dat'"),
    (["--in", "a=a.npy", "--shared", "a=a.npy", "--shared", "a=a.npy", "--out", "c=o.npy"], "--shared has 'a' twice"),
]


@pytest.mark.parametrize("options, message", BAD_OPTIONS, ids=[m for _, m in BAD_OPTIONS])
def test_bad_options_of_run(folder, options, message):
    done = c2cu("run", "pair.c", "--backend", "cpu", *options)
    assert done.exit_code == 1 and message in done.output
    assert not list(folder.glob("[op].*")) and not (folder / "o").exists()


def test_every_kind_of_file(folder):
    for ending in ("npy", "npz", "bin"):
        done = c2cu(
            "run", "pair.c", "--backend", "cpu", "--in", "a.npy", "--out", f"c=c.{ending}", "--out", f"b=b.{ending}"
        )
        assert done.exit_code == 0, done.output
    assert np.load("c.npy").tolist() == np.load("c.npz")["c"].tolist() == np.fromfile("c.bin", "i4").tolist()
    assert np.load("c.npy").tolist() == [3, 12, 21, 30]
    done = c2cu("run", "pair.c", "--backend", "cpu", "--in", "a=b.npz", "--out", "c=d.npy")
    assert done.exit_code == 0 and np.load("d.npy").tolist() == [3, 12, 21, 30]


def test_an_archive_holds_inputs_and_outputs_by_name(folder):
    (folder / "two.c").write_text("int a[3], w, file, s[2];\nvoid k(void) { file = a[0] * w; s[0] = s[1] = a[2]; }\n")
    a, w = np.arange(12, dtype=np.int32).reshape(4, 3), np.array([1, 2, 3, 4], np.int32)
    np.savez("in.npz", a=a, w=w)
    run = ["run", "two.c", "--backend", "cpu"]
    for outs in (["all.npz"], ["file=all.npz", "s=all.npz"]):
        for more in ([], ["--group", "3"]):
            done = c2cu(*run, "--in", "in.npz", *(x for o in outs for x in ("--out", o)), *more)
            assert done.exit_code == 0, done.output
            with np.load("all.npz") as archive:
                assert {n: v.tolist() for n, v in archive.items()} == {
                    "file": (a[:, 0] * w).tolist(),
                    "s": [[x, x] for x in a[:, 2].tolist()],
                }
            (folder / "all.npz").unlink()
    assert c2cu(*run, "--in", "in.npz", "--out", "s=s.npy", "--out", "rest.npz").exit_code == 0
    assert np.load("rest.npz").files == ["file"] and np.load("s.npy").shape == (4, 2)


def test_an_archive_with_other_arrays_is_asked_by_name(folder):
    a = np.load("a.npy")
    np.savez("more.npz", a=a, A=a[:, :1])
    run = ["run", "pair.c", "--backend", "cpu", "--out", "c=c.npy"]
    done = c2cu(*run, "--in", "more.npz")
    assert done.exit_code == 1 and "holds an array 'A'" in done.output and "did you mean 'a'?" in done.output
    assert c2cu(*run, "--in", "a=more.npz").exit_code == 0 and np.load("c.npy").tolist() == [3, 12, 21, 30]
    np.savez("other.npz", x=a, y=a)
    assert "numpy.savez('other.npz', a=...)" in c2cu(*run, "--in", "a=other.npz").output
    assert "unknown input 'b2'" in c2cu(*run, "--in", "b2=other.npz").output
    assert "--out has './c.npz' twice" not in c2cu(*run, "--in", "a=a.npy", "--out", "b=./c.npz").output


def test_a_file_with_nothing_but_main_is_told_what_to_do(folder):
    (folder / "m.c").write_text("int main(void) {\n    return 0;\n}\n")
    done = c2cu("check", "m.c")
    assert done.exit_code == 1 and "move what runs for each input into a function" in done.output


def test_help_lists_the_schedules():
    page = " ".join(c2cu("run", "--help").output.split())
    schedules = "On a CPU: gep, gang, native; on a GPU: registers, gep, scan, block, thread, private."
    assert schedules in page


def test_check_and_explain_agree(folder):
    text = "float mean(const float *x, int n) {\n    float s = 0;\n    for (int i = 0; i < n; i++) s += x[i];\n    return s;\n}\n"
    (folder / "mean.c").write_text(text)
    said = (
        "mean.c:1:32: note: oblivious if 'n' is one number for all inputs; with one 'n' an input: no, line 3\n"
        "oblivious: yes; constant time: yes\n"
    )
    checked, explained = c2cu("check", "mean.c"), c2cu("explain", "mean.c")
    assert (checked.exit_code, checked.output) == (0, said)
    assert explained.exit_code == 0 and explained.output.startswith(said)
    assert "x: float32 (p, n), required input" in explained.output


def test_what_cannot_be_analysed_is_not_proved(folder):
    (folder / "s.c").write_text(
        "int a;\nint k(void) {\n    unsigned long at = (unsigned long)&a;\n    return *(short *)(at + 2);\n}\n"
    )
    done = c2cu("check", "s.c")
    assert done.exit_code == 3 and "oblivious: not proved; constant time: not proved" in done.output


@pytest.mark.parametrize("layout", ["row", "column"])
@pytest.mark.parametrize("group", [1, 3, 7, 100])
def test_groups_give_what_one_run_gives(folder, group, layout):
    a = np.random.default_rng(1).integers(-9, 9, (7, 3)).astype(np.int32)
    np.save("a7.npy", a if layout == "row" else np.ascontiguousarray(a.T))
    options = ("--in", "a=a7.npy", "--shared", "n=2", "--out", "o=o.npy", "--layout", layout, "--backend", "cpu")
    done = c2cu("run", "sum.c", *options, "--group", group)
    assert done.exit_code == 0, done.output
    assert np.array_equal(np.load("o.npy"), a[:, :2].sum(axis=1))


def test_groups_need_arrays_that_agree(folder):
    np.save("n.npy", np.ones(3, np.int32))
    done = c2cu("run", "sum.c", "--in", "a=a.npy", "--in", "n=n.npy", "--out", "o=o.npy", "--group", "2")
    assert done.exit_code == 1 and "inputs disagree on p: 'a' has 4, 'n' has 3" in done.output.replace("but ", "")
    assert c2cu("run", "sum.c", "--p", "3", "--group", "2").exit_code == 2
    assert c2cu("run", "sum.c", "--in", "a=a.npy", "--out", "o=o.npy", "--group", "0").exit_code == 2


def test_the_program_after_each_pass(folder):
    front = understand(Source("sum.c", SUM), Options(fn="k"))
    for name, _ in PASSES:
        done = c2cu("translate", "sum.c", "--emit", "ir", "--after", name)
        assert done.exit_code == 0, done.output
        assert done.stdout == dump(after(front, name))
    assert dump(front.analysis.kernel) == done.stdout == c2cu("translate", "sum.c", "--emit", "ir").stdout
    assert "for i.3 = 0 .. (n.1 - 1)" in done.stdout


def test_a_schedule_prints_what_its_last_pass_leaves(folder, monkeypatch):
    front = understand(Source("pair.c", PAIR), Options(fn="k"))
    gang = next(e.schedule for e in REGISTRY if e.name == "gang")
    got = []
    monkeypatch.setattr(emit, "gang", lambda u, *_, **__: got.append(u.kernel) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        gang.emit(front, 0, "")
    last = gang.pass_names[-1]
    assert dump(got[0]) == c2cu("translate", "pair.c", "--emit", "ir", "--after", f"gang:{last}").stdout


def test_an_unknown_pass_is_an_error_that_lists_them(folder):
    done = c2cu("translate", "sum.c", "--emit", "ir", "--after", "parse")
    assert done.exit_code == 2
    assert all(name in done.stderr for name in ("lower", "canonical", "gang:unroll", "block:minmax"))
    assert c2cu("translate", "sum.c", "--emit", "c", "--after", "lower").exit_code == 2


def test_what_a_schedule_makes_is_printed(folder):
    def printed(stage: str, *options: str) -> str:
        return c2cu("translate", "sum.c", "--emit", stage, *options).stdout

    one, two = (printed("cuda", "--schedule", s) for s in ("thread", "private"))
    assert one and two and one != two and "__id__" in one
    assert "kernel(struct gang" in printed("c", "--schedule", "gang")
    assert printed("plan", "--schedule", "thread").startswith("cuda: thread, ")
    assert printed("plan").count("\n") >= 2
    for status, *options in ((1, "c", "--schedule", "thread"), (2, "plan", "--schedule", "nothing")):
        done = c2cu("translate", "sum.c", "--emit", *options)
        assert done.exit_code == status and not done.stdout
    assert c2cu("translate", "sum.c", "--emit", "ir", "--schedule", "thread").exit_code == 2
    assert "gep:bands" in c2cu("translate", "--help").stdout.replace("\n", " ")


@pytest.mark.parametrize(
    "more, name", [(["--library", "--p", "5"], "--p"), (["--p", "5", "--threads", "32"], "--threads")]
)
def test_options_that_do_nothing_are_told(more, name, tmp_path):
    out = tmp_path / "x.c"
    done = CliRunner().invoke(
        main, ["translate", str(EXAMPLES / "floyd_warshall.c"), "--target", "cpu", "-o", str(out), *more]
    )
    assert not done.exit_code and out.exists() and f"note: {name} does nothing" in done.stderr


@pytest.mark.parametrize(
    ("name", "more", "note"),
    [
        ("x.cu", ["--schedule", "private", "--threads", "32"], "--threads does nothing here"),
        ("x.cu", ["--threads", "32"], None),
        ("x.c", ["--target", "cuda"], "'{}' holds CUDA C++; compilers know that by the ending .cu"),
        ("x.cu", ["--target", "cpu"], "'{}' holds C; compilers know that by the ending .c"),
    ],
)
def test_what_would_surprise_is_told(name, more, note, tmp_path):
    out = tmp_path / name
    done = CliRunner().invoke(
        main, ["translate", str(EXAMPLES / "floyd_warshall.c"), "--p", "5", "-o", str(out), *more]
    )
    assert not done.exit_code and out.exists()
    assert f"note: {note.format(out)}" in done.stderr if note else "nothing" not in done.stderr


def test_a_librarys_files_are_written_together(folder):
    (folder / "k.c").write_text("int a[3];\nvoid k(void) { a[0] = a[1]; }\n")
    (folder / "d" / "k_bulk.h").mkdir(parents=True)
    (folder / "d" / "k_bulk.cu").write_text("old")
    done = c2cu("translate", "k.c", "--library", "-o", "d/k_bulk.cu")
    assert done.exit_code == 1 and "'d/k_bulk.h': Is a directory" in done.stderr and "hint:" in done.stderr
    assert (folder / "d" / "k_bulk.cu").read_text() == "old"
    assert sorted(x.name for x in (folder / "d").iterdir()) == ["k_bulk.cu", "k_bulk.h"]
    (folder / "CMakeLists.txt").mkdir()
    done = c2cu("translate", "k.c", "--library", "--cmake", "-o", "k_bulk.cu")
    assert done.exit_code == 1 and "'CMakeLists.txt': Is a directory" in done.stderr
    assert not (folder / "k_bulk.cu").exists() and not (folder / "k_bulk.h").exists()


def test_a_library_to_a_pipe_leaves_it_a_pipe(folder):
    (folder / "k.c").write_text("int a[3];\nvoid k(void) { a[0] = a[1]; }\n")
    os.mkfifo(folder / "pipe")
    read = []
    reader = threading.Thread(target=lambda: read.append((folder / "pipe").read_text()), daemon=True)
    reader.start()
    assert c2cu("translate", "k.c", "--library", "--target", "cpu", "-o", "pipe").exit_code == 0
    reader.join(20)
    assert (folder / "pipe").is_fifo() and read and '#include "pipe.h"' in read[0]


def test_inputs_that_start_at_zero_are_told_once(folder):
    """Not what is given, what the C gives a value, and what the kernel never reads."""
    (folder / "gain.c").write_text(
        "int mode, gain, bias, more[2] = {7, 8}, o[3];\n"
        "void k(void) {\n    if (mode) for (int i = 0; i < mode; i++) o[i] = gain + bias * more[0];\n}\n"
    )
    np.save("mode.npy", np.array([0, 1, 3], np.int32))
    run = ["run", "gain.c", "--backend", "cpu", "--in", "mode=mode.npy", "--out", "o=o.npy"]
    told = "gain.c:1:11: note: inputs that are not given start at zero: gain, bias [C2CU430]"
    for more in ([], ["--group", 2]):
        done = c2cu(*run, *more)
        assert done.exit_code == 0 and done.output.count("[C2CU430]") == 1 and told in done.output
        assert "--in gain=FILE; where zero is meant, write that: 'gain = 0;'" in done.output
    assert np.load("o.npy").tolist() == [[0] * 3] * 3
    assert "C2CU430" not in c2cu(*run, "--in", "gain=mode.npy", "--shared", "bias=2").output
    assert np.load("o.npy").tolist() == [[0] * 3, [15, 0, 0], [17] * 3]


def test_explain_names_inputs_that_start_at_zero(folder):
    (folder / "gain.c").write_text("int x, gain, y;\nvoid k(void) { if (x > 3) y = x * gain; else y = x; }\n")
    assert "gain: int32 (p), input, zero unless given\n" in c2cu("explain", "gain.c", "--backend", "cpu").output
