"""`c2cu run` a group at a time: every kind of file, faults, interruption and what a later run makes of it."""

import functools
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest
from click.testing import CliRunner

import c2cu
from c2cu.cli import main
from tests.sample import sampled

ROW = 64  # floats of an input

#: An input takes as long as `turns` says, so that a run can be interrupted; from 40 on its results stay the same.
SLOW = """
float a[64], b[64];
int sum;
void k(int turns) {
    sum = 0;
    for (int i = 0; i < 64; i++) {
        float x = a[i];
        for (int t = 0; t < turns; t++) x = x * 0.5f + 1.0f;
        b[i] = x + a[i];
        sum += (int)(b[i] * 8.0f);
    }
}
"""


def command(*args):
    return [sys.executable, "-m", "c2cu", "run", "slow.c", "--backend", "cpu", *map(str, args)]


def run(*args, **options):
    """The finished run, in a process of its own where there are options of one."""
    if options:
        return subprocess.run(command(*args), **{"capture_output": True, "timeout": 300, **options})
    with warnings.catch_warnings():
        done = CliRunner().invoke(main, command(*args)[3:])
    return subprocess.CompletedProcess(args, done.exit_code, done.stdout_bytes, done.stderr)


def usual(turns=3, out="b=b.npy", group=64):
    return ("--in", "a=a.npy", "--in", f"turns={turns}", "--out", out, "--group", group)


def expected(a, turns=3):
    x = a.copy()
    for _ in range(min(turns, 40)):
        x = x * np.float32(0.5) + np.float32(1)
    b = x + a
    return b, (b * np.float32(8)).astype(np.int32).sum(axis=1, dtype=np.int32)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory with a program and 1,000 inputs."""
    (tmp_path / "slow.c").write_text(SLOW)
    np.save(tmp_path / "a.npy", data(1000))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def data(p):
    return np.random.default_rng(p).random((p, ROW), dtype=np.float32)


def left(folder):
    """Files that no user asked for."""
    return sorted(f.name for f in folder.iterdir() if f.name.startswith("."))


def begun(arguments, enough=lambda: True, limit=120):
    """A run that has written part of its results: its journal says more than 0."""
    process = subprocess.Popen(command(*arguments), stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + limit
    while time.monotonic() < until and process.poll() is None and not (done_by_journal() and enough()):
        time.sleep(0.01)
    assert process.poll() is None, f"ended too early: {process.communicate()[1]}"
    assert done_by_journal(), "nothing was done in time"
    return process


def done_by_journal(name="b.npy"):
    try:
        with open(f".{name}.journal") as f:
            return json.load(f)["done"]
    except FileNotFoundError:
        return 0


@functools.cache
def pace():
    """Seconds that a turn of an input takes."""
    program = c2cu.compile(SLOW, backend="cpu")
    a, turns = data(8192), 10_000
    program({"a": a, "turns": 1})
    start = time.perf_counter()
    program({"a": a, "turns": turns})
    return (time.perf_counter() - start) / len(a) / turns


def long_run(folder, seconds=5.0, p=40_000):
    """Arguments of a run that takes about so long, whatever this machine is."""
    np.save(folder / "a.npy", data(p))
    return usual(max(40, int(seconds / p / pace())), group=256)


# every kind of file


@pytest.mark.parametrize("group", [1000, 64, 1])
def test_npy_has_the_bytes_of_numpy_save(folder, group):
    done = run(*usual(group=group), "--out", "sum=sum.npy")
    assert done.returncode == 0 and done.stderr == "", done.stderr
    b, total = expected(np.load("a.npy"))
    np.save("want_b.npy", b)
    np.save("want_sum.npy", total)
    assert (folder / "b.npy").read_bytes() == (folder / "want_b.npy").read_bytes()
    assert (folder / "sum.npy").read_bytes() == (folder / "want_sum.npy").read_bytes()
    assert left(folder) == []


def test_column_layout_and_fortran_order(folder):
    a = np.load("a.npy")
    np.save("a.npy", np.asfortranarray(a.T))
    assert run(*usual(), "--out", "sum=sum.npy", "--layout", "column").returncode == 0
    b, total = expected(a)
    assert np.array_equal(np.load("b.npy"), b.T) and np.array_equal(np.load("sum.npy"), total)
    assert np.load("b.npy").flags.c_contiguous


@pytest.mark.parametrize("layout", ["row", "column"])
def test_raw_zipped_and_zarr_files(folder, layout):
    zarr = pytest.importorskip("zarr")
    a = np.load("a.npy")
    b, total = expected(a)
    stored = a if layout == "row" else np.ascontiguousarray(a.T)
    right = b if layout == "row" else np.ascontiguousarray(b.T)
    chunks = (48, ROW) if layout == "row" else (ROW, 48)
    zarr.create_array("a.zarr", data=stored, chunks=chunks)
    np.savez("a.npz", a=stored)
    stored.tofile("a.bin")
    for ending in ("npz", "zarr", "bin"):
        done = run("--in", f"a=a.{ending}", "--in", "turns=3", "--group", 70, "--layout", layout,
                    "--out", "b=b.zarr", "--out", f"sum=sum.{ending if ending != 'zarr' else 'bin'}")  # fmt: skip
        assert done.returncode == 0, done.stderr
        opened = zarr.open_array("b.zarr", mode="r")
        assert np.array_equal(opened[...], right) and opened.chunks[0 if layout == "row" else -1] == 70
        assert left(folder) == []
    assert np.array_equal(np.load("sum.npz")["sum"], total)
    assert np.array_equal(np.fromfile("sum.bin", np.int32), total)


def test_large_parts_are_read_by_several_threads(folder, monkeypatch):
    from c2cu.io import sources

    monkeypatch.setattr(sources, "PIECE", 1000)
    monkeypatch.setattr(sources, "count_copiers", lambda: 3)
    a = data(1000)
    np.save("f.npy", np.asfortranarray(a))
    for name in ("a.npy", "f.npy"):
        for first, last in ((0, 1000), (3, 900), (999, 1000), (5, 5)):
            assert np.array_equal(sources.open_source(name, None, "row").take(first, last), a[first:last])
    source = sources.open_source("a.npy", None, "row")
    os.truncate("a.npy", 100_000)
    with pytest.raises(c2cu.InputError, match=r"'a.npy' was cut short while it was read: 100000 bytes of 256128"):
        source.take(0, 1000)


@pytest.mark.parametrize("options", [("--group", "64"), ()])
def test_a_raw_file_in_column_layout_reads_back(folder, options):
    a = np.load("a.npy")
    np.save("a.npy", np.ascontiguousarray(a.T))
    for source, out in (("a.npy", "b.bin"), ("b.bin", "c.bin")):
        args = ("--in", f"a={source}", "--in", "turns=3", "--out", f"b={out}", "--layout", "column", *options)
        assert run(*args).returncode == 0
    right = expected(expected(a)[0])[0]
    assert np.array_equal(np.fromfile("c.bin", np.float32).reshape(ROW, -1), right.T)


def test_a_zarr_that_is_there_is_replaced(folder):
    zarr = pytest.importorskip("zarr")
    zarr.create_array("b.zarr", data=np.zeros((3, 3)))
    assert run(*usual(out="b=b.zarr")).returncode == 0
    assert np.array_equal(zarr.open_array("b.zarr", mode="r")[...], expected(np.load("a.npy"))[0])
    assert left(folder) == []


def test_damaged_and_missing_zarr(folder):
    zarr = pytest.importorskip("zarr")
    zarr.create_array("a.zarr", data=np.load("a.npy"), chunks=(100, ROW))
    (folder / "a.zarr" / "c" / "3" / "0").write_bytes(b"junk")
    done = run("--in", "a=a.zarr", "--in", "turns=3", "--out", "b=b.npy", "--group", 64)
    assert (
        done.returncode == 1 and "'a.zarr' is not a whole zarr array" in done.stderr and "Traceback" not in done.stderr
    )
    done = run("--in", "a=none.zarr", "--in", "turns=3", "--out", "b=b.npy")
    assert done.returncode == 1 and "cannot read 'none.zarr'" in done.stderr


def test_structs_go_to_raw_files_but_not_to_zarr(folder):
    (folder / "slow.c").write_text("struct s { char c; double d; } v[2];\nvoid k(void) { v[0].d += 1; v[1].c += 1; }\n")
    t = np.dtype({"names": ["c", "d"], "formats": ["i1", "f8"], "offsets": [0, 8], "itemsize": 16})
    v = np.zeros((100, 2), t)
    v.tofile("v.bin")
    done = run("--in", "v=v.bin", "--out", "v=w.bin", "--group", 7)
    assert done.returncode == 0, done.stderr
    w = np.fromfile("w.bin", t).reshape(100, 2)
    assert (w["d"] == [1, 0]).all() and (w["c"] == [0, 1]).all()
    pytest.importorskip("zarr")
    done = run("--in", "v=v.bin", "--out", "v=w.zarr", "--group", 7)
    assert done.returncode == 1 and "zarr has no structs" in done.stderr and left(folder) == []


def test_no_input_but_p(folder):
    (folder / "slow.c").write_text("int o[2];\nvoid k(void) { o[0] = 5; o[1] = 6; }\n")
    assert run("--out", "o=o.npy", "--p", 10, "--group", 3).returncode == 0
    assert np.load("o.npy").tolist() == [[5, 6]] * 10


def test_no_inputs_at_all(folder):
    np.save("a.npy", data(0))
    done = run(*usual())
    assert done.returncode == 0 and np.load("b.npy").shape == (0, ROW), done.stderr
    np.save("a.npy", data(0).T)
    done = run("--in", "a=a.npy", "--in", "turns=3", "--out", "b=b.npy", "--layout", "column")
    assert done.returncode == 0 and np.load("b.npy").shape == (ROW, 0), done.stderr


def test_an_output_may_be_its_input(folder):
    a = np.load("a.npy")
    assert run(*usual(out="b=a.npy")).returncode == 0
    assert np.array_equal(np.load("a.npy"), expected(a)[0])


def never(*_, **__):
    raise AssertionError("it ran")


@pytest.fixture
def nothing_runs(monkeypatch):
    from c2cu.program import Program

    monkeypatch.setattr(Program, "stream", never)
    monkeypatch.setattr(Program, "__call__", never)


@pytest.mark.parametrize("options", [("--group", "64"), ()])
@pytest.mark.parametrize("out, said", [
    ("folder.npy", "cannot write 'folder.npy': Is a directory"),
    ("none/b.npy", "there is no directory 'none'"),
    ("a.npy/b.npy", "cannot write 'a.npy/b.npy': Not a directory"),
    ("x" * 300 + ".npy", "File name too long"),
    ("loop.npy", "Too many levels of symbolic links"),
    ("folder.zarr", "'folder.zarr' is a directory that holds something other than a zarr array"),
    ("group.zarr", "'group.zarr' is a directory that holds something other than a zarr array"),
    ("sealed/b.npy", "cannot write 'sealed/b.npy': Permission denied"),
])  # fmt: skip
def test_targets_are_checked_before_anything_runs(folder, nothing_runs, monkeypatch, options, out, said):
    for name in ("folder.npy", "folder.zarr", "group.zarr", "sealed"):
        os.mkdir(name)
    os.symlink("loop.npy", "loop.npy")
    (folder / "folder.zarr" / "thesis.txt").write_text("years of work")
    (folder / "group.zarr" / "zarr.json").write_text('{"zarr_format": 3, "node_type": "group"}')
    access = os.access  # whoever runs this may write anywhere
    monkeypatch.setattr(os, "access", lambda path, how: not str(path).endswith("sealed") and access(path, how))
    done = run(*usual(out=f"b={out}")[:-2], *options)
    assert done.returncode == 1 and said in done.stderr and "Traceback" not in done.stderr, done.stderr
    assert (folder / "folder.zarr" / "thesis.txt").exists() and (folder / "group.zarr" / "zarr.json").exists()
    assert left(folder) == []


@pytest.mark.parametrize("other, said", [
    ("./b.npy", "'b.npy' and './b.npy' are one file"),
    ("link.npy", "'b.npy' and 'link.npy' are one file"),
    ("there/b.npy", "'b.npy' and 'there/b.npy' are one file"),
])  # fmt: skip
def test_two_outputs_to_one_file(folder, nothing_runs, other, said):
    os.symlink("b.npy", "link.npy")
    os.symlink(".", "there")
    done = run(*usual(), "--out", f"sum={other}")
    assert done.returncode == 1 and said in done.stderr


def test_an_output_within_another(folder, nothing_runs):
    os.mkdir("b.zarr")
    done = run(*usual(out="b=b.zarr"), "--out", "sum=b.zarr/s.npy")
    assert done.returncode == 1 and "one lies within the other" in done.stderr


@pytest.mark.parametrize("exists", [False, True])
@pytest.mark.parametrize("options", [("--group", "64"), ()])
def test_a_link_is_written_through(folder, options, exists):
    os.mkdir("there")
    if exists:
        (folder / "there" / "c.npy").write_text("old")
    os.symlink("there/c.npy", "b.npy")
    assert run(*usual()[:-2], *options).returncode == 0
    assert os.readlink("b.npy") == "there/c.npy" and left(folder) == left(folder / "there") == []
    assert np.array_equal(np.load("there/c.npy"), expected(np.load("a.npy"))[0])


def test_an_empty_directory_becomes_a_zarr(folder):
    zarr = pytest.importorskip("zarr")
    os.mkdir("b.zarr")
    assert run(*usual(out="b=b.zarr")).returncode == 0
    assert np.array_equal(zarr.open_array("b.zarr", mode="r")[...], expected(np.load("a.npy"))[0])


def test_mode_bits_stay(folder):
    (folder / "b.npy").write_bytes(b"old")
    (folder / "b.npy").chmod(0o640)
    assert run(*usual(), "--out", "sum=sum.npy").returncode == 0
    mask = os.umask(0)
    os.umask(mask)
    assert (folder / "b.npy").stat().st_mode & 0o777 == 0o640
    assert (folder / "sum.npy").stat().st_mode & 0o777 == 0o666 & ~mask


# pipes


def test_pipe_to_pipe(folder):
    a = np.load("a.npy")
    done = run("--in", "a=-", "--in", "turns=3", "--out", "b=-", "--group", 64, input=(folder / "a.npy").read_bytes())
    assert done.returncode == 0, done.stderr
    np.save("want.npy", expected(a)[0])
    assert done.stdout == (folder / "want.npy").read_bytes()


@pytest.mark.parametrize("options", sampled([["--group", "64"], [], ["--group", "64", "--interval", "1ms"]], 2))
def test_a_pipe_that_trickles(folder, options):
    args = ("--in", "a=-", "--in", "turns=3", "--out", "b=-", *options)
    with open("out.npy", "wb") as out:
        process = subprocess.Popen(command(*args), stdin=subprocess.PIPE, stdout=out, stderr=subprocess.PIPE)
    whole = (folder / "a.npy").read_bytes()
    for k in range(0, len(whole), 49_991):
        if k > len(whole) // 2 and "--interval" in options:  # results come out before all has gone in
            until = time.monotonic() + 60
            while os.path.getsize("out.npy") < 64 * ROW * 4 and time.monotonic() < until:
                time.sleep(0.01)
            assert os.path.getsize("out.npy") >= 64 * ROW * 4
        process.stdin.write(whole[k : k + 49_991])
        process.stdin.flush()
        time.sleep(0.01)
    _, err = process.communicate(timeout=60)
    np.save("want.npy", expected(np.load("a.npy"))[0])
    assert process.returncode == 0 and (folder / "out.npy").read_bytes() == (folder / "want.npy").read_bytes(), err


@pytest.mark.parametrize("column", sampled([False, True], 1))
@pytest.mark.slow
def test_a_cut_pipe_says_how_many_came(folder, column):
    whole = (folder / "a.npy").read_bytes()
    cut = whole[: 128 + 300 * ROW * 4 + 5]
    options = () if column else ("--group", 64)
    done = run("--in", "a=-", "--in", "turns=3", "--out", "b=b.npy", *options, input=cut)
    assert done.returncode == 1 and b"'-' was cut short: 300 of 1,000 inputs came" in done.stderr, done.stderr
    assert not (folder / "b.npy").exists() and left(folder) == []
    for n in (0, 3, 50):  # within the header
        done = run("--in", "a=-", "--in", "turns=3", "--out", "b=b.npy", input=whole[:n])
        assert done.returncode == 1 and b"Traceback" not in done.stderr and b"'-'" in done.stderr


@pytest.mark.parametrize(
    "layout, out", sampled([("column", "b.npy"), ("column", "b.zarr"), ("row", "b.npy"), ("row", "b.zarr")], 2)
)
def test_a_pipe_that_is_read_whole_into_files(folder, layout, out):
    """Column layout, or Fortran order."""
    zarr = pytest.importorskip("zarr")
    a = np.load("a.npy")
    np.save("t.npy", np.ascontiguousarray(a.T) if layout == "column" else np.asfortranarray(a))
    args = ("--in", "a=-", "--in", "turns=3", "--out", f"b={out}", "--group", 64, "--layout", layout)
    done = run(*args, input=(folder / "t.npy").read_bytes())
    assert done.returncode == 0 and left(folder) == [], done.stderr
    b = np.load(out) if out.endswith("npy") else zarr.open_array(out, mode="r")[...]
    assert np.array_equal(b if layout == "row" else b.T, expected(a)[0])
    done = run(*args, "--resume", input=(folder / "t.npy").read_bytes())
    assert done.returncode == 1 and b"'-' can be read only once" in done.stderr


def npy_file(shape, dtype="<f4", version=1):
    text = repr({"descr": dtype, "fortran_order": False, "shape": shape})
    text += " " * (117 - len(text)) + "\n"
    return b"\x93NUMPY" + bytes((version, 0)) + len(text).to_bytes(2, "little") + text.encode() + bytes(4096)


ABSURD = [(-5, 64), (99999999999999999999, 64), (1 << 62, 64), (3, -1), (1 << 60, 0, 1 << 60)]


@pytest.mark.costly
@pytest.mark.parametrize(
    "shape, options",
    sampled([(shape, options) for shape in ABSURD for options in [("--group", "64"), (), ("--layout", "column")]], 4),
)
def test_absurd_headers(folder, shape, options):
    (folder / "absurd.npy").write_bytes(npy_file(shape))
    for name in ("-", "absurd.npy"):
        args = ("--in", f"a={name}", "--in", "turns=3", "--out", "b=b.npy", *options)
        done = run(*args, input=npy_file(shape), env={**os.environ})
        assert (
            done.returncode == 1 and re.search(rb"C2CU(056|341|342)", done.stderr) and name.encode() in done.stderr
        ), done.stderr
    assert left(folder) == []


def test_only_a_short_file_is_said_to_be_short(folder):
    whole = (folder / "a.npy").read_bytes()
    np.save("objects.npy", np.array([{}, 3], object), allow_pickle=True)
    (folder / "junk.npz").write_bytes(b"junk" * 99)
    (folder / "version.npy").write_bytes(npy_file((3, 64), version=9))
    (folder / "cut.npy").write_bytes(whole[:-1])
    (folder / "header.npy").write_bytes(whole[:50])
    (folder / "empty.npy").write_bytes(b"")
    for name, short in (("objects.npy", 0), ("junk.npz", 0), ("version.npy", 0), ("cut.npy", 1), ("header.npy", 1),
                        ("empty.npy", 1)):  # fmt: skip
        done = run("--in", f"a={name}", "--in", "turns=3", "--out", "b=b.npy")
        assert done.returncode == 1 and f"'{name}'" in done.stderr and "C2CU341" in done.stderr
        assert ("was it cut short while it was written?" in done.stderr) == bool(short), done.stderr


@pytest.mark.slow
def test_a_pipe_in_column_layout_is_read_whole(folder):
    a = np.load("a.npy")
    np.save("t.npy", np.ascontiguousarray(a.T))
    done = run("--in", "a=-", "--in", "turns=3", "--out", "b=-", "--group", 64, "--layout", "column",
                input=(folder / "t.npy").read_bytes())  # fmt: skip
    np.save("want.npy", np.ascontiguousarray(expected(a)[0].T))
    assert done.returncode == 0 and done.stdout == (folder / "want.npy").read_bytes(), done.stderr


def test_named_pipes(folder):
    os.mkfifo("in")
    feed = subprocess.Popen(["cp", "a.npy", "in"])
    assert run("--in", "a=in", "--in", "turns=3", "--out", "b=b.npy", "--group", 64).returncode == 0
    assert feed.wait(10) == 0 and np.array_equal(np.load("b.npy"), expected(np.load("a.npy"))[0])


def test_a_reader_that_leaves(folder):
    np.save("a.npy", data(20000))
    reader = subprocess.Popen(["head", "-c", "100"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    done = run(*usual(out="b=-"), capture_output=False, stdout=reader.stdin, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1 and "Traceback" not in done.stderr


def test_full_device(folder):
    done = run(*usual(out="b=/dev/full"))
    assert done.returncode == 1 and "cannot write '/dev/full': No space left on device" in done.stderr


# faults


@pytest.mark.slow
@pytest.mark.parametrize("remains", sampled([0.9, 0.0], 1))
def test_a_file_cut_short_before_and_while_it_is_read(folder, remains):
    """Also where a group that is being computed, or was not yet, lies beyond the end."""
    arguments = long_run(folder)
    process = begun(arguments)
    os.truncate("a.npy", int(os.path.getsize("a.npy") * remains) + 4096)
    error = process.communicate(timeout=120)[1]
    assert process.returncode == 1, (process.returncode, error)
    assert "'a.npy' was cut short while it was read" in error and "the results are discarded" in error
    assert "Traceback" not in error and not (folder / "b.npy").exists() and left(folder) == []
    done = run(*arguments)
    assert done.returncode == 1 and "'a.npy' is not a whole array file" in done.stderr


def meddling(change, *arguments):
    """A run within which ``change`` happens after the last input was taken."""
    code = (
        "import os, numpy as np\n"
        "from c2cu import program as compiled\nfrom c2cu.io import runs\n"
        "def change():\n"
        f"    {change}\n"
        "stream, call = runs._written, compiled.Program.__call__\n"
        "def streamed(*a):\n"
        "    yield from stream(*a)\n"
        "    change()\n"
        "def called(self, *a, **k):\n"
        "    found = call(self, *a, **k)\n"
        "    change()\n"
        "    return found\n"
        "runs._written, compiled.Program.__call__ = streamed, called\n"
        "from c2cu.cli import main; main(prog_name='c2cu')"
    )
    args = command(*arguments)[3:]
    return subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("change, said", [
    ("os.truncate('a.npy', os.path.getsize('a.npy') - 100)", "was cut short while it was read"),
    ("np.load('a.npy', mmap_mode='r+')[3] = 7", "was changed while it was read"),
    ("os.truncate('a.npy', 5000); os.truncate('a.npy', 256128)", "was changed while it was read"),
])  # fmt: skip
@pytest.mark.parametrize("options", sampled([["--group", "64"], []], 1))
@pytest.mark.slow
def test_an_input_that_is_changed_while_it_is_read(folder, options, change, said):
    """Nothing appears, though nothing was read after the change: what was read before may be wrong."""
    done = meddling(change, *usual()[:-2], *options)
    assert done.returncode == 1 and f"'a.npy' {said}" in done.stderr, done.stderr
    assert "the results are discarded" in done.stderr and not (folder / "b.npy").exists() and left(folder) == []


@pytest.mark.slow
def test_a_shared_array_or_a_zarr_that_is_changed_while_it_is_read(folder):
    zarr = pytest.importorskip("zarr")
    zarr.create_array("a.zarr", data=np.load("a.npy"), chunks=(100, ROW))
    arguments = ("--in", "a=a.zarr", "--in", "turns=3", "--out", "b=b.npy", "--group", 64)
    done = meddling("os.unlink('a.zarr/c/9/0')", *arguments)
    assert done.returncode == 1 and "'a.zarr' was changed while it was read" in done.stderr
    np.save("s.npy", data(1)[0])
    program = "float a[64], b[64], s[64];\nvoid k(void) { for (int i = 0; i < 64; i++) b[i] = a[i] + s[i]; }\n"
    (folder / "slow.c").write_text(program)
    arguments = ("--in", "a=a.npy", "--shared", "s=s.npy", "--out", "b=b.npy", "--group", 64)
    done = meddling("np.load('s.npy', mmap_mode='r+')[3] = 7", *arguments)
    assert done.returncode == 1 and "'s.npy' was changed while it was read" in done.stderr
    assert not (folder / "b.npy").exists() and left(folder) == []


def test_an_input_that_is_replaced_meanwhile_is_no_fault(folder):
    """What was opened is still there."""
    right = expected(np.load("a.npy"))[0]
    done = meddling("np.save('n.npy', np.zeros(3)); os.replace('n.npy', 'a.npy')", *usual())
    assert done.returncode == 0 and np.array_equal(np.load("b.npy"), right), done.stderr


def test_a_full_disk_is_told_before_anything_runs(folder):
    np.save("a.npy", data(20000))

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))

    done = run(*usual(), preexec_fn=limit, text=True)
    assert done.returncode == 1 and "cannot write 'b.npy': File too large" in done.stderr
    assert not (folder / "b.npy").exists() and left(folder) == []


def went_on(done, count: int) -> bool:
    """Resumed at input `count`, which is all that it said."""
    assert done.stderr.strip() == f"note: {count:,} inputs are done: the run continues after them [C2CU366]", (
        done.stderr
    )
    return done.returncode == 0


@pytest.mark.slow
def test_a_disk_that_fills_up_in_mid_run(folder):
    """Where room cannot be reserved, what is done is kept."""
    np.save("a.npy", data(20000))
    code = (
        "import errno, os\n"
        "pwrite = os.pwrite\n"
        "def full(file, data, start):\n"
        "    if start + len(data) > 3 << 20: raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))\n"
        "    return pwrite(file, data, start)\n"
        "os.pwrite = full\n"
        "from c2cu.cli import main; main(prog_name='c2cu')"
    )
    done = subprocess.run([sys.executable, "-c", code, *command(*usual())[3:]], capture_output=True, text=True)
    assert done.returncode == 1 and "cannot write 'b.npy': No space left on device" in done.stderr, done.stderr
    here = ((3 << 20) - 128) // (4 * ROW) // 64 * 64
    assert f"{here:,} of 20,000 inputs are done; --resume goes on from there" in done.stderr
    assert not (folder / "b.npy").exists() and done_by_journal() == here
    done = run(*usual(), "--resume")
    assert went_on(done, here)
    assert np.array_equal(np.load("b.npy"), expected(np.load("a.npy"))[0]) and left(folder) == []


@pytest.mark.slow
def test_two_runs_on_one_target(folder):
    arguments = long_run(folder, seconds=30.0)
    first = begun(arguments)
    second = run(*arguments)
    assert second.returncode == 1 and "another run is writing 'b.npy'" in second.stderr
    first.kill()
    first.wait()
    assert run("--in", "a=a.npy", "--in", "turns=40", *arguments[4:]).returncode == 0 and left(folder) == []
    assert np.array_equal(np.load("b.npy"), expected(np.load("a.npy"), 40)[0])


def test_a_wrong_array_leaves_nothing(folder):
    np.save("a.npy", data(1000).astype(np.float64))
    done = run(*usual())
    assert done.returncode == 1 and "dtype float64, expected float32" in done.stderr and left(folder) == []


# interruption


@pytest.mark.slow
@pytest.mark.parametrize(
    "number, status", sampled([(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)], 3)
)
def test_signals_keep_what_is_done(folder, number, status):
    arguments = (*long_run(folder), "--out", "sum=sum.bin")
    process = begun(arguments)
    process.send_signal(number)
    error = process.communicate(timeout=60)[1]
    assert process.returncode == status
    done = done_by_journal()
    assert f"interrupted: {done:,} of 40,000 inputs are done; --resume goes on from there" in error and 0 < done < 40000
    assert not (folder / "b.npy").exists() and not (folder / "sum.bin").exists()
    assert left(folder) == [".b.npy.journal", ".b.npy.partial", ".sum.bin.journal", ".sum.bin.partial"]
    again = run(*arguments, "--resume")
    assert went_on(again, done) and left(folder) == []
    b, total = expected(np.load("a.npy"), 40)
    assert np.array_equal(np.load("b.npy"), b) and np.array_equal(np.fromfile("sum.bin", np.int32), total)


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["npy", "zarr"])
def test_killed_three_times_and_resumed(folder, ending):
    if ending == "zarr":
        pytest.importorskip("zarr")
    arguments = [a if a != "b=b.npy" else f"b=b.{ending}" for a in long_run(folder, seconds=12.0)]
    process, reached = subprocess.Popen(command(*arguments)), [0]
    for _ in range(3):
        until = time.monotonic() + 60
        while done_by_journal(f"b.{ending}") <= reached[-1] and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(random.uniform(0, 1.5))
        assert process.poll() is None
        process.kill()
        process.wait()
        reached.append(done_by_journal(f"b.{ending}"))
        assert reached[-1] > reached[-2] and not (folder / f"b.{ending}").exists()
        process = subprocess.Popen(command(*arguments, "--resume"), stderr=subprocess.DEVNULL)
    assert process.wait(300) == 0 and left(folder) == []
    os.rename(f"b.{ending}", f"resumed.{ending}")
    assert run("--in", "a=a.npy", "--in", "turns=40", *arguments[4:]).returncode == 0
    assert contents(folder / f"resumed.{ending}") == contents(folder / f"b.{ending}")
    if ending == "npy":
        assert np.array_equal(np.load("b.npy"), expected(np.load("a.npy"), 40)[0])


def contents(path):
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    return {str(f.relative_to(path)): f.read_bytes() for f in files if f.is_file()}


@pytest.mark.slow
@pytest.mark.parametrize("moved", [1, 2])
def test_killed_while_outputs_are_moved_into_place(folder, moved):
    """After some of the renames, before the journal is removed."""
    code = (
        "import os, signal\n"
        "from c2cu.io import files\n"
        "settle, count = files.settle, []\n"
        "def killed(*a):\n"
        "    settle(*a); count.append(1)\n"
        f"    if len(count) == {moved}: os.kill(os.getpid(), signal.SIGKILL)\n"
        "files.settle = killed\n"
        "from c2cu.cli import main; main(prog_name='c2cu')"
    )
    args = (*usual(), "--out", "sum=sum.npy")
    done = subprocess.run([sys.executable, "-c", code, *command(*args)[3:]], capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL and (folder / "b.npy").exists()
    done = run(*args, "--resume")
    assert went_on(done, 1000)
    b, total = expected(np.load("a.npy"))
    assert np.array_equal(np.load("b.npy"), b) and np.array_equal(np.load("sum.npy"), total) and left(folder) == []


def interrupted(folder):
    arguments = long_run(folder)
    process = begun(arguments)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    return arguments


@pytest.mark.slow
def test_what_has_changed_is_not_resumed(folder):
    arguments = interrupted(folder)
    done_before = done_by_journal()
    (folder / "slow.c").write_text(SLOW.replace("0.5f", "0.25f"))
    done = run(*arguments, "--resume")
    assert (
        done.returncode == 1 and "'b.npy' cannot be resumed: the C text changed since it was interrupted" in done.stderr
    )
    assert "without --resume to start anew" in done.stderr and done_by_journal() == done_before
    (folder / "slow.c").write_text("// a comment is no change\n" + SLOW)
    changed = ("--in", "a=a.npy", "--in", "turns=9", *arguments[4:])
    done = run(*changed, "--resume")
    assert done.returncode == 1 and "shared 'turns' changed since" in done.stderr
    done = run(*arguments, "--resume", "--fp", "fast")
    assert done.returncode == 1 and "--fp changed since" in done.stderr
    os.utime("a.npy")
    done = run(*arguments, "--resume")
    assert done.returncode == 1 and "input 'a' changed since" in done.stderr


def test_the_journal_counts_what_is_on_the_disk():
    from c2cu.io.journal import Checkpoints

    told = []

    class Slow:
        written = 0

        def flush(self):
            told.append(("flushed", self.written))
            self.written += 64  # another group, while the disk is at work

    class Record:
        def write(self, done):
            told.append(("journal", done))

    checkpoints = Checkpoints(Record(), [Slow()], 1000)
    assert checkpoints.save() == 0 and told == [("flushed", 0), ("journal", 0)]


@pytest.mark.parametrize("text", [
    "", "{", "{}", "[]", "7", '{"version": 1}', '{"version": 3, "run": {}}', '{"version": 3, "done": -5, "run": {}}',
    '{"version": 3, "done": 1001, "run": {}}', '{"version": 3, "done": "64", "run": {}}', '{"version": 3, "done": 64, "run": []}',
])  # fmt: skip
def test_a_damaged_journal_is_none(folder, text):
    (folder / ".b.npy.journal").write_text(text)
    (folder / ".b.npy.partial").write_bytes(b"junk")
    done = run(*usual(), "--resume")
    assert done.returncode == 0 and "nothing to resume" in done.stderr and left(folder) == []
    assert np.array_equal(np.load("b.npy"), expected(np.load("a.npy"))[0])


def stopped(arguments, groups=5):
    """A run that fails after so many groups, and leaves what it did."""
    from c2cu.io import sinks, zarr_files

    with pytest.MonkeyPatch.context() as patch:
        for kind in (sinks.FileSink, zarr_files.ZarrSink):
            patch.setattr(kind, "write", failing(kind.write, groups))
        done = run(*arguments)
    assert done.returncode == 1 and "--resume goes on from there" in done.stderr, done.stderr


def failing(write, groups):
    def once(self, first, part):
        if first >= groups * 64:
            raise c2cu.Error("C2CU057", "no more")
        write(self, first, part)

    return once


@pytest.mark.parametrize("layout", ["row", "column"])
def test_a_partial_file_that_is_shorter_is_not_resumed(folder, layout):
    a = np.load("a.npy")
    if layout == "column":
        np.save("a.npy", np.ascontiguousarray(a.T))
    arguments = (*usual(), "--layout", layout)
    stopped(arguments)
    whole = os.path.getsize(".b.npy.partial")
    os.truncate(".b.npy.partial", 1000)
    done = run(*arguments, "--resume")
    assert done.returncode == 1 and ".b.npy.partial' has 1000 bytes, but the run wrote" in done.stderr
    assert "without --resume to start anew" in done.stderr and not (folder / "b.npy").exists()
    assert run(*arguments).returncode == 0 and left(folder) == []
    stopped(arguments)
    os.truncate(".b.npy.partial", whole + 1)
    assert f"has {whole + 1} bytes, but the run wrote {whole}" in run(*arguments, "--resume").stderr


def test_an_input_that_was_moved_is_the_same(folder):
    stopped(usual())
    here = done_by_journal()
    os.mkdir("there")
    os.rename("a.npy", "there/a.npy")
    os.symlink("there/a.npy", "a.npy")
    done = run(*usual(), "--resume")
    assert went_on(done, here)
    assert np.array_equal(np.load("b.npy"), expected(np.load("a.npy"))[0]) and left(folder) == []


def test_a_zarr_goes_on_with_its_chunks(folder):
    zarr = pytest.importorskip("zarr")
    stopped(usual(out="b=b.zarr"))
    assert run(*usual(out="b=b.zarr", group=100), "--resume").returncode == 0
    opened = zarr.open_array("b.zarr", mode="r")
    assert opened.chunks == (64, ROW) and np.array_equal(opened[...], expected(np.load("a.npy"))[0])


def test_a_damaged_partial_zarr_is_not_resumed(folder):
    pytest.importorskip("zarr")
    arguments = usual(out="b=b.zarr")
    stopped(arguments)
    (folder / ".b.zarr.partial" / "zarr.json").write_text("{")
    done = run(*arguments, "--resume")
    assert done.returncode == 1 and ".b.zarr.partial' is not a whole zarr array" in done.stderr, done.stderr
    assert "Traceback" not in done.stderr and not (folder / "b.zarr").exists()
    assert run(*arguments).returncode == 0 and left(folder) == []


def test_a_run_in_one_call_takes_the_place_of_an_interrupted_one(folder):
    stopped((*usual(), "--out", "sum=sum.npy"))
    assert len(left(folder)) == 4
    assert run(*usual()[:-2]).returncode == 0
    assert np.array_equal(np.load("b.npy"), expected(np.load("a.npy"))[0])
    assert left(folder) == [".sum.npy.journal", ".sum.npy.partial"]


@pytest.mark.slow
def test_a_run_in_one_call_waits_for_no_other(folder):
    process = begun(long_run(folder, seconds=30.0))
    np.save("c.npy", data(10))
    done = run("--in", "a=c.npy", "--in", "turns=3", "--out", "b=b.npy")
    process.kill()
    process.wait()
    assert done.returncode == 1 and "another run is writing 'b.npy'" in done.stderr


@pytest.mark.slow
def test_without_resume_a_run_starts_anew(folder):
    arguments = interrupted(folder)
    changed = ("--in", "a=a.npy", "--in", "turns=1", *arguments[4:])
    assert run(*changed).returncode == 0 and left(folder) == []
    assert np.array_equal(np.load("b.npy"), expected(np.load("a.npy"), 1)[0])
    done = run(*changed, "--resume")
    assert done.returncode == 0 and "nothing to resume for 'b.npy': the run starts at the beginning" in done.stderr


@pytest.mark.slow
def test_another_run_of_one_of_the_outputs_ends_the_journal(folder):
    """Its partial file is that run's from then on."""
    arguments = (*long_run(folder), "--out", "sum=sum.npy")
    process = begun(arguments)
    process.kill()
    process.wait()
    alone = subprocess.Popen(
        command("--in", "a=-", *arguments[2:4], "--out", "sum=sum.npy", "--group", 256), stdin=subprocess.PIPE
    )
    alone.stdin.write((folder / "a.npy").read_bytes()[: 128 + 300 * 4 * ROW])
    alone.stdin.flush()
    time.sleep(2)
    alone.kill()
    alone.wait()
    done = run(*arguments, "--resume")
    assert done.returncode == 0 and "nothing to resume" in done.stderr
    b, total = expected(np.load("a.npy"), 40)
    assert np.array_equal(np.load("b.npy"), b) and np.array_equal(np.load("sum.npy"), total)


@pytest.mark.parametrize("options, said", [
    (("--in", "a=-", "--out", "b=b.npy"), "'-' can be read only once"),
    (("--in", "a=a.npy", "--out", "b=b.npz"), "'b.npz' is written in one run"),
    (("--in", "a=a.npy", "--out", "b=-"), "'-' is written in one run"),
])  # fmt: skip
@pytest.mark.slow
def test_what_cannot_be_resumed(folder, options, said):
    done = run(*options, "--in", "turns=3", "--resume", input=(folder / "a.npy").read_bytes())
    assert done.returncode == 1 and said in done.stderr.decode() and left(folder) == []


@pytest.mark.slow
def test_an_interrupted_run_that_cannot_be_resumed_leaves_nothing(folder):
    process = subprocess.Popen(
        command("--in", "a=-", "--in", "turns=3", "--out", "b=b.npy", "--group", 9),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdin.write((folder / "a.npy").read_bytes()[:20000])
    process.stdin.flush()
    until = time.monotonic() + 60
    while ".b.npy.partial" not in left(folder) and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    error = process.communicate(timeout=60)[1]
    assert process.returncode == 130 and b"such a run cannot be resumed" in error
    assert left(folder) == [] and not (folder / "b.npy").exists()


# memory, progress, options


@pytest.mark.slow
def test_peak_memory_does_not_grow_with_the_file(folder):
    peaks = []
    for size in (1, 400):
        p = size * (1 << 20) // (4 * ROW)
        block = data(4096)
        out = np.lib.format.open_memmap("a.npy", "w+", np.float32, (p, ROW))
        for k in range(0, p, 4096):
            out[k : k + 4096] = block[: len(out) - k]
        out.flush()
        del out
        code = (
            "from c2cu.cli import main\n"
            "try: main(prog_name='c2cu')\n"
            "except SystemExit as e: assert not e.code\n"
            "print([l.split()[1] for l in open('/proc/self/status') if l.startswith('VmHWM')][0])"
        )
        args = command(*usual(group=4096))[3:]
        done = subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        peaks.append(int(done.stdout) >> 10)
        b = np.load("b.npy", mmap_mode="r")
        assert np.array_equal(b[-4096:], expected(block)[0][-len(b[-4096:]) :])
    assert peaks[1] < peaks[0] + 160, f"{peaks} MiB"


@pytest.mark.slow
def test_progress_only_on_a_terminal(folder):
    arguments = long_run(folder, seconds=3.0)
    main, side = os.openpty()
    process = subprocess.Popen(command(*arguments), stderr=side)
    os.close(side)
    shown = b""
    while True:
        try:
            shown += os.read(main, 4096)
        except OSError:
            break
    os.close(main)
    assert process.wait(60) == 0
    assert b"of 40,000 inputs" in shown and b"inputs/s" in shown and b"GB/s" in shown and b"left" in shown
    assert run(*arguments).stderr == ""


def test_progress_in_words():
    from c2cu.io.progress import Progress

    p = Progress(5000, 1_000_000, done=1000)
    assert p.words(2000, 2.0) == "2,000 of 5,000 inputs, 500 inputs/s, 0.50 GB/s, 0:06 left"
    assert p.words(1000, 2.0).endswith("- left")
    assert Progress(10**7, 1).words(100, 1.0).endswith("27:46:39 left")


def test_quantities():
    from c2cu.base.quantities import numbers, seconds, size

    assert [size(t) for t in ("2G", "2GiB", "1.5k", "512", "3mb")] == [2 << 30, 2 << 30, 1536, 512, 3 << 20]
    assert [seconds(t) for t in ("5ms", "200us", "0.5s", "2")] == [0.005, pytest.approx(0.0002), 0.5, 2.0]
    assert numbers("0,1") == (0, 1)
    for read, wrong in (
        (size, "2X"),
        (size, "0"),
        (seconds, "5 hours"),
        (seconds, "-1"),
        (numbers, "0,0"),
        (numbers, "a"),
    ):
        with pytest.raises(ValueError, match="is no"):
            read(wrong)


@pytest.mark.parametrize("options, said", [
    (("--memory", "lots"), "'lots' is no size"),
    (("--interval", "soon"), "'soon' is no time"),
    (("--devices", "first"), "'first' is no list of numbers"),
    (("--depth", "0"), "0 is not in the range"),
    (("--p", "99999999999999999999"), "99999999999999999999 is more than"),
    (("--group", "99999999999999999999"), "99999999999999999999 is more than"),
])  # fmt: skip
def test_options_that_make_no_sense(folder, options, said):
    done = run(*usual(), *options)
    assert done.returncode == 2 and said in done.stderr


@pytest.mark.parametrize("option", ["--p", "--group"])
def test_counts_that_no_machine_has(folder, option):
    options = {"--p": "10", option: "99999999999999999999"}
    args = [text for pair in options.items() for text in pair]
    done = CliRunner().invoke(main, ["translate", "slow.c", *args])
    assert done.exit_code == 2 and "99999999999999999999 is more than" in done.output


@pytest.mark.parametrize("extent", ["99999999999999999999", "²", "1" * 5000])
def test_extents_that_no_array_has(folder, extent):
    done = run(*usual(), "--shape", f"b={extent}")
    assert done.returncode == 2 and "is not a list of numbers up to 2^62" in done.stderr


def test_a_shape_of_what_the_c_fixes(folder):
    done = run(*usual(), "--shape", "b=99999999999")
    assert done.returncode == 1 and "the shape of 'b' is given as 99999999999, but the C says 64" in done.stderr, (
        done.stderr
    )
    assert run(*usual(), "--shape", "b=64").returncode == 0


def test_options_reach_the_engine(folder, monkeypatch):
    from c2cu.api import Program

    received = {}
    engine = Program.stream

    def stream(self, batches, **options):
        received.update(options)
        return engine(self, batches, shared=options["shared"], group=options["group"])

    monkeypatch.setattr(Program, "stream", stream)
    options = "--memory 64M --interval 5ms --latency-target 20ms --devices 0,1 --depth 3"
    done = CliRunner().invoke(main, ["run", "slow.c", "--backend", "cpu", *map(str, usual()), *options.split()])
    assert done.exit_code == 0, done.output
    parsed = {"group": 64, "memory": 64 << 20, "interval": 0.005, "latency_target": 0.02, "devices": (0, 1), "depth": 3}
    assert {n: received[n] for n in parsed} == parsed and received["p"] is None and received["shared"]["turns"] == 3


def test_warnings_of_the_engine_are_told(folder, monkeypatch):
    from c2cu.program import Program
    from c2cu.streaming.streams import StreamWarning

    engine = Program.stream

    def stream(self, batches, **options):
        warnings.warn("a device failed and is left out", StreamWarning, stacklevel=2)
        return engine(self, batches, **options)

    monkeypatch.setattr(Program, "stream", stream)
    done = run(*usual())
    assert done.returncode == 0 and "warning: a device failed and is left out" in done.stderr


def test_zarr_that_is_not_installed(folder, monkeypatch):
    from c2cu.base.diagnostics import InputError
    from c2cu.io import zarr_files

    monkeypatch.setitem(sys.modules, "zarr", None)
    with pytest.raises(InputError, match=r"needs zarr, which is not installed"):
        zarr_files.ZarrSource("a.zarr", "row")


@pytest.mark.slow
def test_a_file_system_full_for_journals(folder):
    """The directory goes away in mid-run: an error, no hang."""
    arguments = long_run(folder)
    os.mkdir("out")
    process = subprocess.Popen(
        command(*[a if a != "b=b.npy" else "b=out/b.npy" for a in arguments]), stderr=subprocess.PIPE, text=True
    )
    until = time.monotonic() + 60
    while not os.path.exists("out/.b.npy.journal") and time.monotonic() < until:
        time.sleep(0.01)
    shutil.rmtree("out")
    error = process.communicate(timeout=120)[1]
    assert process.returncode == 1 and "cannot write" in error and "Traceback" not in error
