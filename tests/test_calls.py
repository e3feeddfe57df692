"""Calls of one program again and again: fast where they are alike, and each as right, or as wrong, as the first."""

import gc
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import c2cu
from c2cu.program import brief, prepared
from c2cu.runtime import addresses, cpu, recycled
from tests.oracle import Original, same

SUM = "int f(int a[8]) { int s = 0; for (int i = 0; i < 8; i++) s += a[i]; return s; }\n"
STEP = "int a[4];\nvoid k(void) { for (int i = 0; i < 4; i++) a[i] = 3 * a[i] + 1; }\n"
TWO = (
    "float a[4], b[4], c[4];\nvoid k(void) { for (int i = 0; i < 4; i++) { b[i] = a[i] + 1; c[i] = a[3 - i] * 2; } }\n"
)
SCALE = "double f(double x, double factor) { return x * factor; }\n"
POINTS = """struct point { char tag; double x, y; };
struct point points[3];
void move(void) { for (int i = 0; i < 3; i++) { points[i].x += points[i].y; points[i].tag++; } }
"""
LARGE = "float a[1024];\nvoid k(void) { for (int i = 0; i < 1024; i++) a[i] += 1; }\n"
ENDLESS = "int f(int n) { unsigned x = n; while (x != 1) x = x * 3 / 2 + 1 - x / 2; return x; }\n"
SCHEDULES = ["gang", "native"]


def compiled(text, **options):
    return c2cu.compile(text, backend="cpu", **options)


@pytest.fixture
def again(monkeypatch):
    """The results of calls that were done as an earlier one was."""
    monkeypatch.setattr("c2cu.program.contest.ENOUGH", 60.0)  # a first call may take long on a busy machine
    done = []
    whole = prepared.Prepared.__call__

    def call(self, *arguments):
        result = whole(self, *arguments)
        if result is not prepared.MISS:
            done.append(result)
        return result

    monkeypatch.setattr(prepared.Prepared, "__call__", call)
    return done


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("p", [1, 5, 200])
def test_results_are_gccs_each_time(schedule, p, again):
    rng = np.random.default_rng(p)
    program, original = compiled(STEP, schedule=schedule), Original(STEP, "k", [("a", "i4", (4,))])
    results = []
    for _ in range(4):
        a = rng.integers(-(2**31), 2**31, (p, 4)).astype("i4")
        results.append((program(a), original.bulk({"a": a}, p)["a"]))
        results.append((program({"a": a}), results[-1][1]))
    assert len(again) == 6  # but for the first of each form
    assert all(same(x, y) for x, y in results)  # also those of earlier calls


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_structs(schedule, again):
    dtype = np.dtype({"names": ["tag", "x", "y"], "formats": ["i1", "f8", "f8"], "offsets": [0, 8, 16], "itemsize": 24})
    rng = np.random.default_rng(0)
    program, original = compiled(POINTS, schedule=schedule), Original(POINTS, "move", [("points", dtype, (3,))])
    for p in (3, 3, 4000, 4000, 4000):
        points = np.zeros((p, 3), dtype)
        points["x"], points["y"] = rng.random((2, p, 3))
        points["tag"] = rng.integers(0, 100, (p, 3))
        result = program(points)
        assert same(result, original.bulk({"points": points}, p)["points"])
        padding = result.view("u1").reshape(p, 3, 24)[..., 1:8]
        assert not padding.any()
        result.view("u1")[...] = 255  # what memory that is recycled holds
    assert len(again) == 3


def test_the_results_of_one_call_are_not_those_of_the_next():
    program = compiled(SUM)
    results = [program(np.full((2, 8), k, "i4")) for k in range(5)]
    assert [r.tolist() for r in results] == [[8 * k, 8 * k] for k in range(5)]


@pytest.mark.parametrize("p", [1, 300])
def test_into_arrays_of_the_users(p, again):
    program, rng = compiled(TWO), np.random.default_rng(0)
    a = rng.random((p, 4), dtype=np.float32)
    expected = program({"a": a})
    b, c = np.empty_like(a), np.empty_like(a)
    result = program({"a": a}, out={"b": b, "c": c})
    assert result["b"] is b and result["c"] is c and len(again) == 1
    assert same(b, expected["b"]) and same(c, expected["c"])
    only = program({"a": a}, out={"c": c})
    assert only["c"] is c and only["b"] is not b and same(only["b"], b) and len(again) == 2


@pytest.mark.parametrize("first", [0, 1, 5])
def test_into_its_input(first, again):
    program = compiled(STEP)
    x = np.arange(4 * 20, dtype=np.int32).reshape(-1, 4)
    source, out = x[:8], x[first : 8 + first]
    program(source)
    expected = 3 * source + 1
    assert program(source, out=out) is out and np.array_equal(out, expected)
    assert len(again) == (first != 1 and first != 5)


def test_into_what_another_variable_is_read_from(again):
    program = compiled(TWO)
    a = np.random.default_rng(0).random((40, 4), dtype=np.float32)
    program({"a": a})
    expected = a[:, ::-1] * 2
    assert same(program({"a": a}, out={"c": a})["c"], expected) and not again


def wrong_dtype(program, a):
    program(a.astype("i8"))


def other_byte_order(program, a):
    program(a.astype(">i4"))


def wrong_shape(program, a):
    program(a[:, :5])


def unknown_name(program, a):
    program({"b": a})


def wrong_out(program, a):
    program(a, out=np.empty(len(a), "f4"))


def short_out(program, a):
    program(a, out=np.empty(len(a) - 1, "i4"))


def read_only_out(program, a):
    out = np.empty(len(a), "i4")
    out.flags.writeable = False
    program(a, out=out)


def no_dict(program, a):
    program(a, shared=[3])


WRONG = [wrong_dtype, other_byte_order, wrong_shape, unknown_name, wrong_out, short_out, read_only_out, no_dict]


@pytest.mark.parametrize("mistake", WRONG)
def test_mistakes_are_said_as_at_first(mistake):
    a = np.ones((4, 8), "i4")
    messages = []
    for earlier in (0, 2):
        program = compiled(SUM)
        for _ in range(earlier):
            program(a)
        with pytest.raises(c2cu.Error) as e:
            mistake(program, a)
        messages.append(str(e.value))
    assert messages[0] == messages[1]


def test_out_twice():
    program = compiled(TWO)
    a, b = np.ones((2, 3, 4), "f4")
    for _ in range(2):
        program({"a": a})
        with pytest.raises(c2cu.InputError, match="share memory|same memory"):
            program({"a": a}, out={"b": b, "c": b})


@pytest.mark.parametrize("view", [lambda x: x[::2], lambda x: x[::-1], lambda x: x.copy(order="F")])
def test_arrays_that_do_not_lie_in_order(view, again):
    program, whole = compiled(SUM), np.arange(80, dtype="i4").reshape(10, 8)
    a = view(whole)
    program(a.copy(order="C"))
    assert program(a).tolist() == a.sum(axis=1).tolist() and not again


def test_misaligned(again):
    program = compiled(SUM)
    a = np.frombuffer(bytes(1) + np.arange(16, dtype="i4").tobytes(), "u1")[1:].view("i4").reshape(2, 8)
    program(a.copy())
    assert program(a).tolist() == [28, 92] and not again


def test_numbers_are_told_apart_by_their_bits(again):
    program = compiled(SCALE)
    x = np.array([1.0, 2.0])
    for factor in (0.0, -0.0, 2.0, np.nan, 0.0, -0.0, np.float64(2), True):
        expected = x * factor
        assert same(program({"x": x}, shared={"factor": factor}), expected)
    assert len(again) == 2


def test_the_plan_is_that_of_the_latest_call():
    program = compiled("int f(int n, const int *a) { int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }\n")
    short, long = np.ones((3, 4), "i4"), np.ones((3, 6), "i4")
    for a in (short, long, short, long, short):
        n = a.shape[1]
        assert program({"a": a}, shared={"n": n}).tolist() == [n] * 3
        assert next(s.shape for s in program.slots if s.name == "a") == (n,)


def test_inputs_that_end_early(again):
    text = "#include <stdlib.h>\nint f(int n) { if (n < 0) exit(-n); return n + 1; }\n"
    program, n = compiled(text), np.array([1, -3, 4], "i4")
    for _ in range(3):
        with pytest.raises(c2cu.ExitError) as e:
            program(n)
        assert e.value.status.tolist() == [0, 3, 0] and e.value.outputs.tolist() == [2, 0, 5]
        assert "input 1 with status 3" in str(e.value)
    assert len(again) == 2
    told = compiled(text, status=True)
    for _ in range(3):
        assert told(n)["status"].tolist() == [0, 3, 0]


def test_several_threads_at_once():
    program = compiled(TWO)
    wrong = []

    def work(k):
        for n in range(200):
            a = np.full((1 + k % 2, 4), k + n, "f4")
            r = program({"a": a})
            if not (np.array_equal(r["b"], a + 1) and np.array_equal(r["c"], a * 2)):
                wrong.append((k, n))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


INTERRUPTED = """
import os, signal, sys, threading
import numpy as np
import c2cu
program = c2cu.compile("int f(int n) { volatile int x = 0; while (n) x++; return x; }\\n", schedule=sys.argv[1])
for _ in range(3):
    program(np.zeros(1, "i4"))
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    program(np.ones(1, "i4"))
except KeyboardInterrupt:
    print(program(np.zeros(1, "i4")))
"""


@pytest.mark.slow
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_later_call_can_be_interrupted(schedule):
    """Calls that came before with the same shapes were short; this one does not end, and does not keep the process."""
    command = [sys.executable, "-W", "ignore", "-c", INTERRUPTED, schedule]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.stdout == "[0]\n", done.stderr


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("members, full", [("float a, b; int c[2];", True), ("char a; float b; int c[2];", False),
    ("double b; union { int c[2]; long d; };", False)])  # fmt: skip
def test_bytes_that_no_result_has_are_zero(members, full, schedule, monkeypatch):
    """All others are written, whatever recycled memory holds."""
    text = (
        f"struct s {{ {members} }}; struct s v[2]; int x;\nvoid k(void) {{ if (x > 2) v[1].c[0] = x; v[0].b = 1; }}\n"
    )
    program = compiled(text, fn="k", schedule=schedule, outputs=["v"])
    of_v = next(s for s in program.slots if s.name == "v")
    v = np.zeros((7, 2), of_v.dtype)
    used: list[bool] = []

    def dirty(shape, dtype):
        used.append(True)
        return np.full((*shape, dtype.itemsize), 0xAB, np.uint8).view(dtype)[..., 0]

    monkeypatch.setattr(recycled, "empty", dirty)
    results = program({"x": np.arange(7, dtype="i4"), "v": v})
    assert bool(used) is full
    expected = v.copy()
    expected["b"][:, 0] = 1
    if "c" in expected.dtype.names:
        expected["c"][3:, 1, 0] = np.arange(3, 7)
        assert results.tobytes() == expected.tobytes()
    assert (np.frombuffer(results.tobytes(), np.uint8) != 0xAB).all()


def test_what_is_short_needs_no_thread(monkeypatch):
    program = compiled(SUM)
    a = np.ones((3, 8), "i4")
    program(a)
    monkeypatch.setattr(cpu, "_pool", None)
    assert program(a).tolist() == [8] * 3


def test_what_has_been_short_needs_no_thread(monkeypatch):
    """What the trace bounds it to is too long, and what a call has taken is not."""
    monkeypatch.setenv("C2CU_THREADS", "1")
    monkeypatch.setattr(brief, "BRIEF", 0.0)
    program = compiled(SUM)
    a = np.ones((64, 8), "i4")
    for _ in range(2):
        program(a)
    monkeypatch.setattr(cpu, "_in_helper", None)
    assert program(a).tolist() == [8] * 64


def test_large_results_are_recycled_when_nobody_refers_to_them():
    program = compiled(LARGE)
    a = np.zeros((1000, 1024), "f4")
    first = program(a)
    where, view = first.ctypes.data, first[3:5]
    del first
    second = program(a)
    assert second.ctypes.data != where  # the view lives in the first
    assert (view == 1).all() and (second == 1).all()
    del view
    gc.collect()
    third = program(a + 1)
    assert third.ctypes.data == where and (third == 2).all() and (second == 1).all()
    assert third.flags.writeable and third.flags.c_contiguous


def test_recycled_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(recycled, "_most", lambda: 3 * recycled.LEAST)
    recycled._rooms.clear()
    several = [recycled.empty((recycled.LEAST,), np.dtype("u1")) for _ in range(5)]
    assert len({a.ctypes.data for a in several}) == 5 and len(recycled._rooms) == 3
    del several
    again = [recycled.empty((recycled.LEAST,), np.dtype("u1")) for _ in range(5)]
    many = [recycled.empty((recycled.LEAST,), np.dtype("u1")) for _ in range(3 * recycled.ROOMS)]
    assert len(recycled._rooms) <= recycled.ROOMS and many
    assert len({a.ctypes.data for a in again}) == 5 and all(a.ctypes.data % recycled.LINE == 0 for a in again)
    del again
    assert recycled.empty((4 * recycled.LEAST,), np.dtype("u1")).flags.owndata
    zeros = recycled.zeros((recycled.LEAST,), np.dtype("u1"))
    zeros[...] = 1
    del zeros
    assert not recycled.zeros((recycled.LEAST,), np.dtype("u1")).any()


def test_memory_is_recycled_by_several_threads():
    """No two arrays that live are in one place."""

    def turns(number: int) -> int:
        for k in range(300):
            a = recycled.empty((recycled.LEAST + k % 3,), np.dtype("u1"))
            a[:] = number
            if (view := a[::1000]).min() != number or view.max() != number:
                return k
        return -1

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(turns, range(8))) == {-1}


def test_addresses():
    whole = np.arange(12, dtype="f4").reshape(3, 4)
    for a in (whole, whole[1:], whole.T, whole[::-1], np.zeros(()), np.empty(0)):
        assert addresses.address(a) == a.ctypes.data


def test_bulk_tells_options_apart():
    """Each option is part of what a text is remembered by."""
    a = np.arange(8, dtype="i4").reshape(1, 8)
    for _ in range(2):
        assert c2cu.bulk(SUM, a, backend="cpu").tolist() == [28]
        assert c2cu.bulk(SUM, {"a": a}, backend="cpu", status=True)["status"].tolist() == [0]
        assert c2cu.bulk(SUM.replace("8", "N"), a, backend="cpu", defines={"N": 8}).tolist() == [28]
        with pytest.raises(c2cu.InputError):
            c2cu.bulk(SUM, a, backend="cpu", pack=3)
        with pytest.raises(c2cu.InputError):
            c2cu.bulk(SUM, a, backend="cpu", layout="rows")


def test_bulk_sees_a_header_that_changes(tmp_path):
    header, a = tmp_path / "factor.h", np.ones((1, 4), "i4")
    text = '#include "factor.h"\nint a[4];\nvoid k(void) { for (int i = 0; i < 4; i++) a[i] *= FACTOR; }\n'
    for factor in (3, 3, 5):
        header.write_text(f"#define FACTOR {factor}\n")
        assert c2cu.bulk(text, a, backend="cpu", include_dirs=[str(tmp_path)]).tolist() == [[factor] * 4]
        assert c2cu.bulk(text, a, backend="cpu", include_dirs=(str(tmp_path),)).tolist() == [[factor] * 4]


def test_a_bare_array_beside_a_shared_one():
    text = "void f(const float x[4], const float w[4], float y[4]) { for (int i = 0; i < 4; i++) y[i] = x[i] * w[i]; }"
    program = c2cu.compile(text, shared=["w"], backend="cpu", verify=False)
    x, w = np.arange(12, dtype="f4").reshape(3, 4), np.full(4, 10, "f4")
    for _ in range(3):
        assert np.array_equal(program(x, shared={"w": w}), 10 * x)


def test_a_nan_is_not_another_nan():
    program = c2cu.compile(
        "double a, o;\nvoid f(double n) { o = n; }", shared=["n"], fn="f", backend="cpu", verify=False
    )
    for n in (float("nan"), -float("nan"), float("nan")):
        assert np.signbit(program(p=2, shared={"n": n})).all() == np.signbit(n)
