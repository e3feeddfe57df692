"""Inputs that would end the process: by a division by zero, a null pointer, too deep a recursion."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import c2cu

pytestmark = pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")

DIVIDES = "int k(int a, int b) { return a / b; }"
LOOP = """
void k(int a[2]) {  /* the lanes take new inputs as they end */
    int n = 0;
    while (a[0] != 1) { a[0] = a[0] & 1 ? 3 * a[0] + 1 : a[0] / 2; n++; }
    a[1] = 1000 / (n - a[1]);
}
"""
GLOBAL = """
double *u;
double total(double scale, int n) {
    double s = 0;
    for (int i = 0; i < n; i++) s += scale * u[i];
    return s;
}
"""
DEEP = "int k(int n) { volatile char room[1000]; room[n % 1000] = 1; return n ? k(n + 1) + room[3] : 0; }"
STORES = "void k(int *p, int n) { p[0]++; if (n) *(int *)(n * 8L) = 1; }"


def ended(error: c2cu.ExitError) -> dict[int, int]:
    """The statuses of the inputs that ended early, by number."""
    return {int(k): int(error.status[k]) for k in np.flatnonzero(error.early)}


@pytest.mark.parametrize("p", [5, 1000])
@pytest.mark.parametrize("schedule", ["gang", "native"])
def test_a_division_by_zero_ends_its_input_only(schedule, p):
    rng = np.random.default_rng(p)
    a, b = rng.integers(-99, 99, p).astype(np.int32), rng.integers(1, 9, p).astype(np.int32)
    b[[2, p - 1]] = 0
    a[1], b[1] = -(2**31), -1  # whose result is too large
    with pytest.raises(c2cu.ExitError, match="division of whole numbers by zero") as e:
        c2cu.bulk(DIVIDES, {"a": a, "b": b}, backend="cpu", schedule=schedule)
    assert ended(e.value) == {1: 136, 2: 136, p - 1: 136}
    rest = np.setdiff1d(np.arange(p), [1, 2, p - 1])
    assert (e.value.outputs[rest] == (a[rest] / b[rest]).astype(int)).all()


@pytest.mark.parametrize("schedule", ["gang", "native"])
def test_calls_that_come_again(schedule):
    program = c2cu.compile(DIVIDES, backend="cpu", schedule=schedule, status=True)
    a, b = np.arange(40, dtype=np.int32), np.full(40, 2, np.int32)
    for zero in (None, 3, None, 39):
        b[:] = 2
        b[zero if zero is not None else []] = 0
        done = program({"a": a, "b": b})
        assert ended_at(done["status"]) == ([] if zero is None else [zero])


def ended_at(status) -> list[int]:
    assert set(status) <= {0, 136}
    return np.flatnonzero(status).tolist()


@pytest.mark.parametrize("schedule", ["gang", "native"])
def test_lanes_that_are_refilled(schedule):
    rng = np.random.default_rng(3)
    a = np.stack([rng.integers(1, 500, 3000), np.full(3000, -1)], axis=1).astype(np.int32)
    a[700] = [8, 3]
    with pytest.raises(c2cu.ExitError) as e:
        c2cu.bulk(LOOP, a, backend="cpu", schedule=schedule)
    assert ended(e.value) == {700: 136}
    right = c2cu.bulk(LOOP, np.delete(a, 700, 0), backend="cpu", schedule="native")
    assert (np.delete(e.value.outputs, 700, 0) == right).all()


def test_no_input_is_lost_in_place():
    a = np.stack([np.arange(1, 401), np.full(400, -1)], axis=1).astype(np.int32)
    a[7] = [8, 3]
    program = c2cu.compile(LOOP, backend="cpu", schedule="gang", verify=False)
    assert program.loaded.artifact.refill is not None
    with pytest.raises(c2cu.ExitError) as e:
        program(a, out=a)
    assert e.value.code == "C2CU174"


@pytest.mark.parametrize("text, inputs, status", [
    (GLOBAL, {"scale": np.ones(9), "n": np.arange(9, dtype=np.int32) % 2}, 139),
    (DEEP, {"n": np.arange(9, dtype=np.int32) % 2}, 139),
    ("int k(int n) { if (n) __builtin_trap(); return 3; }", {"n": np.arange(9, dtype=np.int32) % 2}, 132),
    (STORES, {"p": np.zeros((9, 4), np.int32), "n": np.arange(9, dtype=np.int32) % 2}, 139),
])  # fmt: skip
def test_other_faults(text, inputs, status):
    with pytest.raises(c2cu.ExitError) as e:
        c2cu.bulk(text, inputs, backend="cpu", schedule="native")
    assert ended(e.value) == dict.fromkeys(range(1, 9, 2), status)


def test_streams_raise_too():
    stream = c2cu.stream(DIVIDES, [{"a": np.ones(9, np.int32), "b": np.arange(9, dtype=np.int32)}], backend="cpu")
    with pytest.raises(c2cu.ExitError):
        list(stream)


STATE = """
#include <stdlib.h>
int a[4];
static int count = 0;
int k(void) { count++; int *m = malloc(4); *m = a[0]; int r = 1000 / *m; free(m); return r + count; }
"""


def run(text: str, **environment: str) -> int:
    """The exit status of a process of its own."""
    command = [sys.executable, "-W", "ignore", "-c", f"import os, numpy as np, c2cu\n{text}"]
    return subprocess.run(command, stderr=subprocess.DEVNULL, timeout=120, env={**os.environ, **environment}).returncode


def test_threads_that_begin_at_once_share_the_handler():
    text = f"""
a = np.arange(400000, dtype=np.int32).reshape(-1, 4) % 50
try:
    c2cu.compile({STATE!r}, backend="cpu", schedule="native", verify=False)({{"a": a}})
except c2cu.ExitError as e:
    os._exit(3 if e.early.sum() == (a[:, 0] == 0).sum() else 4)
"""
    assert run(text, C2CU_THREADS="4") == 3


@pytest.mark.parametrize("schedule", ["gang", "native"])
def test_results_that_go_to_memory_that_is_not_there(schedule, tmp_path):
    text = f"""
out = np.memmap({str(tmp_path / "out")!r}, dtype=np.int32, mode="w+", shape=(64, 1024))
text = "int a[1024], r[1024]; void k(void) {{ for (int i = 0; i < 1024; i++) r[i] = a[i] * 3; }}"
program = c2cu.compile(text, backend="cpu", schedule={schedule!r}, verify=False)
os.truncate({str(tmp_path / "out")!r}, 40960)
program({{"a": np.ones((64, 1024), np.int32)}}, out={{"r": out}})
"""
    assert run(text) == -signal.SIGBUS


def test_a_signal_that_is_sent_is_no_fault():
    text = f'c2cu.bulk({DIVIDES!r}, {{"a": np.ones(9, np.int32), "b": np.ones(9, np.int32)}}, backend="cpu")\n'
    assert run(text + "import signal; os.kill(os.getpid(), signal.SIGSEGV)") == -signal.SIGSEGV


def test_faults_of_others_are_theirs():
    text = f"""
import ctypes, numpy as np, c2cu
c2cu.bulk({DIVIDES!r}, {{"a": np.ones(9, np.int32), "b": np.ones(9, np.int32)}}, backend="cpu")
ctypes.string_at(0)
"""
    assert subprocess.run([sys.executable, "-c", text], stderr=subprocess.DEVNULL).returncode == -11


@pytest.mark.parametrize("body, may", [
    ("for (int i = 0; i < 8; i++) a[i] = a[i] / 7 + a[i] % 3 + 5 / (i + 1);", False),
    ("f[0] = 1 / f[1];", False),
    ("if (a[0] > 3) a[1] = 0;", False),
    ("a[0] = 7 / a[1];", True),
    ("a[0] = 7 % a[1];", True),
    ("a[0] = a[1] / -1;", True),
    ("a[a[0]] = 1;", True),
    ("if (a[0]) a[8] = 1;", True),
])  # fmt: skip
def test_only_a_kernel_that_may_fault_is_watched(body, may):
    program = c2cu.compile(f"int a[8]; float f[2]; void k(void) {{ {body} }}", backend="cpu", schedule="gang")
    assert (program.loaded.artifact.again is not None) is may
