"""`c2cu.stream`: the same results as `bulk`, in order, in bounded memory, whatever batches, devices and consumers do."""

import gc
import itertools
import os
import subprocess
import sys
import textwrap
import threading
import time
import weakref

import numpy as np
import pytest

import c2cu
import c2cu.api
from c2cu.base.recent import Recent
from c2cu.runtime import pipe as pipes
from c2cu.runtime.cpu_pipe import CpuPipe
from c2cu.streaming.channel import Channel, Closed

SORT = """
#define N 8
float a[N];
void sort(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j + 1 < N; j++)
            if (a[j] > a[j + 1]) { float t = a[j]; a[j] = a[j + 1]; a[j + 1] = t; }
}
"""
TWO = """
struct point { int x; double y; };
struct point q[2];
int sum; double w[3];
void f(int k) { sum = 0; for (int i = 0; i < 2; i++) { sum += q[i].x * k; q[i].y += w[i + 1]; } }
"""


def inputs(p, seed=0):
    return np.random.default_rng(seed).random((p, 8), dtype=np.float32)


def chunks(a, most, seed=1):
    rng, at = np.random.default_rng(seed), 0
    while at < len(a):
        n = int(rng.integers(0, most))
        yield a[at : at + n]
        at += n


def ended():
    """Wait until no thread is left that ends with its stream; those of pools, c2cu_, stay. A busy machine takes long."""
    deadline = time.monotonic() + 30
    while any(t.name.startswith("c2cu-") for t in threading.enumerate()):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


@pytest.mark.parametrize("group", [1, 7, 64, 1000, 5000])
@pytest.mark.parametrize("most", [2, 50, 3000])
def test_any_batches_any_groups(group, most):
    p = 300 if group == 1 or most == 2 else 3000
    a = inputs(p)
    with c2cu.stream(SORT, chunks(a, most), group=group, backend="cpu") as s:
        groups = [(r.first, len(r), np.array(r)) for r in s]
    sizes = [n for _, n, _ in groups]
    assert sizes == [group] * (p // group) + [p % group] * (p % group > 0)
    assert [first for first, _, _ in groups] == [sum(sizes[:k]) for k in range(len(sizes))]
    assert np.array_equal(np.concatenate([r for _, _, r in groups]), c2cu.bulk(SORT, a, backend="cpu"))


def test_one_array_is_one_batch_and_nothing_is_nothing():
    a = inputs(1000)
    assert np.array_equal(np.concatenate(list(c2cu.stream(SORT, a, backend="cpu"))), np.sort(a, 1))
    assert list(c2cu.stream(SORT, [], backend="cpu")) == []
    assert list(c2cu.stream(SORT, [a[:0], a[:0]], backend="cpu")) == []


def test_a_program_is_compiled_once(monkeypatch):
    monkeypatch.setattr("c2cu.api._programs", Recent(9))
    compiled = []
    monkeypatch.setattr("c2cu.api.compile", lambda *a, f=c2cu.api.compile, **k: compiled.append(1) or f(*a, **k))
    for _ in range(3):
        assert len(list(c2cu.stream(SORT, inputs(5), backend="cpu"))) == 1
    assert len(compiled) == 1
    list(c2cu.stream(SORT, np.zeros((5, 4), np.float32), defines={"N": 4}, backend="cpu"))
    assert len(compiled) == 2


def test_column_layout():
    a = np.ascontiguousarray(inputs(777).T)
    parts = [a[:, :100], a[:, 100:101], a[:, 101:]]
    groups = list(c2cu.stream(SORT, parts, group=64, layout="column", backend="cpu"))
    assert [r.shape for r in groups] == [(8, 64)] * 12 + [(8, 9)]
    assert np.array_equal(np.concatenate(groups, axis=1), np.sort(a, 0))


def test_dicts_structs_shared_and_numbers():
    rng = np.random.default_rng(3)
    t = np.dtype({"names": ["x", "y"], "formats": ["<i4", "<f8"], "offsets": [0, 8], "itemsize": 16})
    q = np.zeros((500, 2), t)
    q["x"], q["y"] = rng.integers(-9, 9, (500, 2)), rng.random((500, 2))
    w = rng.random(3)
    expected = c2cu.bulk(TWO, {"q": q}, shared={"w": w, "k": 3}, backend="cpu")
    batches = ({"q": q[i : i + 37]} for i in range(0, 500, 37))
    groups = list(c2cu.stream(TWO, batches, shared={"w": w, "k": 3}, group=50, backend="cpu"))
    assert set(groups[0]) == set(expected) and len(groups) == 10
    for name in expected:
        assert np.array_equal(np.concatenate([r[name] for r in groups]), expected[name])
    assert [r.first for r in groups] == list(range(0, 500, 50)) and all(r.latency > 0 for r in groups)


def test_the_users_exception_comes_after_the_results_before_it():
    class Mine(Exception):
        pass

    def batches():
        yield inputs(250)
        raise Mine("no more")

    s = c2cu.stream(SORT, batches(), group=100, backend="cpu")
    sizes = []
    with pytest.raises(Mine, match="no more"):
        for r in s:
            sizes.append(len(r))
    assert sizes == [100, 100, 50]
    assert list(s) == [] and ended()


@pytest.mark.parametrize(
    "second, code, said",
    [
        (inputs(5).astype(np.float64), "C2CU043", "batch 2: input 'a' has dtype float64, expected float32"),
        (inputs(5)[:, :7], "C2CU046", r"batch 2: input 'a' has shape \(5, 7\), expected \(p, 8\)"),
        ({"b": inputs(5)}, "C2CU041", "batch 2: unknown input 'b'"),
        ({}, "C2CU040", "batch 2: input 'a' is missing"),
        (7, "C2CU044", "batch 2: input 'a' is of type int"),
    ],
)
def test_a_batch_that_changes(second, code, said):
    s = c2cu.stream(SORT, iter([inputs(250), second]), group=100, backend="cpu")
    sizes = []
    with pytest.raises(c2cu.InputError, match=said) as e:
        for r in s:
            sizes.append(len(r))
    assert e.value.code == code and sizes == [100, 100, 50] and ended()


def test_a_shared_array_that_changes():
    q = np.zeros((10, 2), np.dtype({"names": ["x", "y"], "formats": ["<i4", "<f8"], "offsets": [0, 8], "itemsize": 16}))
    w = np.arange(3.0)
    source = TWO.replace("double w[3];", "double w[3];")
    batches = [{"q": q, "w": w, "k": 2}, {"q": q, "w": w + 1, "k": 2}]
    with pytest.raises(c2cu.InputError, match="'w' is shared by all inputs, but differs"):
        list(c2cu.compile(source, shared=["w", "k"], backend="cpu").stream(batches))


def test_the_first_batch_is_checked_at_once():
    with pytest.raises(c2cu.InputError, match="has dtype int32"):
        c2cu.stream(SORT, [np.zeros((3, 8), np.int32)], backend="cpu")
    assert ended()


def test_a_consumer_that_stops():
    def endless():
        while True:
            yield inputs(100)

    s = c2cu.stream(SORT, endless(), group=64, backend="cpu")
    for _ in range(3):
        next(s)
    s.close()
    assert ended() and list(s) == []
    s = c2cu.stream(SORT, endless(), group=64, backend="cpu")
    next(s)
    del s  # forgotten
    gc.collect()
    assert ended()


def test_an_iterator_that_never_comes_back_holds_nothing_up():
    gate = threading.Event()
    came_back = threading.Event()

    def stuck():
        yield inputs(100)
        gate.wait(30)
        came_back.set()

    s = c2cu.stream(SORT, stuck(), group=50, backend="cpu")
    assert len(next(s)) == 50
    s.close()
    assert not came_back.is_set()
    gate.set()
    assert ended()


def test_a_slow_consumer_bounds_what_is_read():
    taken = itertools.count()
    read = 0

    def batches():
        nonlocal read
        for _ in range(200):
            read = next(taken) + 1
            yield inputs(50)

    s = c2cu.stream(SORT, batches(), group=50, backend="cpu")
    next(s)
    time.sleep(0.5)
    flight = s.depth + 1 + 2  # running, staged, lent
    assert read <= 1 + flight + 3, "more was read than there is memory for"
    assert sum(len(r) for r in s) == 199 * 50


def test_results_are_the_consumers_to_keep_and_to_write():
    a = inputs(5000)
    groups = []
    for r in c2cu.stream(SORT, a, group=100, backend="cpu"):
        r += 1
        groups.append(r)
    assert np.array_equal(np.concatenate(groups), np.sort(a, 1) + 1)


def test_buffers_go_with_the_stream():
    """At once: page-locked memory and a device's are too dear to wait for the garbage collector."""
    gc.collect()
    gc.disable()
    try:
        s = c2cu.stream(SORT, inputs(1000), group=100, backend="cpu")
        engine = weakref.ref(s._engine)
        for r in s:
            del r
        ended()
        assert engine() is None
    finally:
        gc.enable()


def test_memory_is_stated_and_kept():
    for memory in (1 << 14, 1 << 18, 1 << 22):
        s = c2cu.stream(SORT, inputs(3000), memory=memory, backend="cpu")
        assert 0 < s.memory <= memory and s.group >= 1
        assert sum(len(r) for r in s) == 3000
    assert c2cu.stream(SORT, inputs(3), memory="64K", backend="cpu").memory <= 1 << 16
    with pytest.raises(c2cu.InputError, match="'2X' is no size: write 2G"):
        c2cu.stream(SORT, inputs(3), memory="2X", backend="cpu")
    with pytest.raises(c2cu.InputError, match="memory limit of 100 bytes is not enough"):
        c2cu.stream(SORT, inputs(3), memory=100, backend="cpu")
    with pytest.raises(
        c2cu.InputError, match=r"groups of 5000 inputs take \d+ bytes of buffers, but the memory limit is 65536"
    ):
        c2cu.stream(SORT, inputs(3), memory=1 << 16, group=5000, backend="cpu")


@pytest.mark.parametrize(
    "wrong",
    [{"group": 0}, {"group": 1.5}, {"interval": -1}, {"interval": "soon"}, {"depth": 0}, {"latency_target": 0},
     {"devices": [0]}, {"group": 5, "latency_target": 1.0}],
)  # fmt: skip
def test_wrong_options(wrong):
    with pytest.raises(c2cu.InputError):
        c2cu.stream(SORT, inputs(3), backend="cpu", **wrong)


def test_an_interval_cuts_groups_that_are_not_full():
    taken = 0

    def trickle():
        nonlocal taken
        for k in range(30):
            yield inputs(1, seed=k)
            taken += 1
            time.sleep(0.01)

    s = c2cu.stream(SORT, trickle(), group=1000, interval=0.05, backend="cpu")
    groups = [np.array(next(s))]
    assert taken < 30, "the first group waits for no more"
    groups += [np.array(r) for r in s]
    assert len(groups) > 2, "without the interval there is one group"
    assert np.array_equal(np.concatenate(groups), np.sort(np.concatenate([inputs(1, seed=k) for k in range(30)]), 1))
    assert ended()


@pytest.mark.slow
def test_a_latency_target_is_met_by_measurement():
    a = inputs(20000)
    s = c2cu.stream(SORT, a, latency_target=0.5, backend="cpu")
    assert s.group in [x.group for x in s.curve] and all(x.latency > 0 and x.rate > 0 for x in s.curve)
    assert s.group == max(x.group for x in s.curve if x.latency <= 0.5)
    assert np.array_equal(np.concatenate(list(s)), np.sort(a, 1))
    s = c2cu.stream(SORT, [a[:0], a[:100]], latency_target=0.5, backend="cpu")
    assert np.array_equal(np.concatenate(list(s)), np.sort(a[:100], 1))
    with pytest.warns(c2cu.StreamWarning, match="no group meets a latency of 1e-06 ms"):
        s = c2cu.stream(SORT, a[:100], latency_target=1e-9, backend="cpu")
    assert np.array_equal(np.concatenate(list(s)), np.sort(a[:100], 1))


def test_one_input_may_take_more_than_the_usual_memory(monkeypatch):
    monkeypatch.setattr("c2cu.streaming.sizing.MEMORY", 100)
    for how in ({}, {"latency_target": 10.0}):
        s = c2cu.stream(SORT, inputs(5), backend="cpu", **how)
        assert s.group == 1 and s.memory > 100 and np.array_equal(np.concatenate(list(s)), np.sort(inputs(5), 1))
    with pytest.raises(c2cu.InputError, match="memory limit of 100 bytes is not enough"):
        c2cu.stream(SORT, inputs(5), latency_target=10.0, memory=100, backend="cpu")


# what users do


def test_a_batch_may_be_written_to_when_the_next_is_asked_for():
    def refilled():
        buffer = np.empty((30, 8), np.float32)
        for k in range(40):
            buffer[...] = inputs(30, seed=k)
            yield buffer[: 1 + k % 30]
            buffer[...] = -1

    expected = np.sort(np.concatenate([inputs(30, seed=k)[: 1 + k % 30] for k in range(40)]), 1)
    for how in ({"group": 7}, {"group": 500}, {"group": 64, "interval": 0.001}):
        assert np.array_equal(np.concatenate(list(c2cu.stream(SORT, refilled(), backend="cpu", **how))), expected)


def test_shared_arrays_of_any_order_that_change_later():
    source = "double w[3]; double a; void f(void) { a = a * 0 + w[0] + 10 * w[1] + 100 * w[2]; }"
    w = np.arange(6.0)[::2]
    s = c2cu.stream(source, [np.zeros(50), np.zeros(50)], shared={"w": w}, group=10, backend="cpu")
    w[...] = 0
    assert np.array_equal(np.concatenate(list(s)), np.full(100, 420.0))


def test_shared_arrays_in_batches_are_compared_by_their_bits():
    source = "double w[2]; double a; void f(void) { a = a + 1 / w[0]; }"
    program = c2cu.compile(source, shared=["w"], backend="cpu")
    odd = np.array([np.nan, 0.0])
    assert sum(len(r) for r in program.stream([{"a": np.ones(5), "w": odd}, {"a": np.ones(5), "w": odd}])) == 10
    zero = np.zeros(2)
    with pytest.raises(c2cu.InputError, match="'w' is shared by all inputs, but differs"):
        list(program.stream([{"a": np.ones(5), "w": zero}, {"a": np.ones(5), "w": -zero}]))


def test_two_threads_share_a_streams_results():
    a = inputs(20000)
    s = c2cu.stream(SORT, a, group=50, backend="cpu")
    groups = {}

    def work():
        for r in s:
            groups[r.first] = np.array(r)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    assert np.array_equal(np.concatenate([groups[k] for k in sorted(groups)]), np.sort(a, 1))


@pytest.mark.parametrize("how", [{}, {"interval": 0.01}])
def test_memory_that_is_not_there_is_told(how):
    with pytest.raises(c2cu.CompileError, match="not enough memory: Unable to allocate"):
        list(c2cu.stream(SORT, [inputs(10)], group=10**15, backend="cpu", **how))
    assert ended()


@pytest.mark.slow
def test_a_stream_in_a_cycle_is_closed_by_the_collector():
    class Node:
        pass

    def endless():
        while True:
            yield inputs(50)

    for how in ({"interval": 0.001}, {}):
        node = Node()
        node.me, node.stream = node, c2cu.stream(SORT, endless(), group=20, backend="cpu", **how)
        next(node.stream)
        del node
        for _ in range(3):
            gc.collect()
        assert ended()


def test_no_batches_at_all_is_a_mistake():
    for wrong in (None, 7, [None], [7]):
        with pytest.raises(c2cu.InputError):
            list(c2cu.stream(SORT, wrong, backend="cpu"))


def test_bytes_between_the_members_of_a_struct_are_zero():
    source = "struct s { char a; double b; }; struct s y; double x; void f(void) { y.a = 1; y.b = x; }"
    x = np.random.default_rng(0).random(3000)
    for result in (
        c2cu.bulk(source, {"x": x}, backend="cpu"),
        *c2cu.stream(source, {"x": x}, group=3000, backend="cpu"),
    ):
        raw = np.ascontiguousarray(result).view(np.uint8).reshape(3000, 16)
        assert not raw[:, 1:8].any() and raw[:, 8:].any()


def test_they_are_zero_in_results_that_are_kept_too():
    source = "struct s { char a; double b; }; struct s y; double x; void f(void) { y.a = 1; y.b = x; }"
    for r in list(c2cu.stream(source, {"x": np.ones(3000)}, group=100, backend="cpu")):
        assert not np.ascontiguousarray(r).view(np.uint8).reshape(-1, 16)[:, 1:8].any()


def script(text):
    command = [sys.executable, "-c", f"SORT = {SORT!r}\nimport c2cu, numpy as np\n" + textwrap.dedent(text)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
@pytest.mark.slow
def test_a_forked_process_and_a_thread_that_outlives_the_main_one():
    p = script(
        """
        import os, threading, time, warnings
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of any fork beside threads
        a = np.random.default_rng(0).random((5000, 8), np.float32)
        run = lambda: np.concatenate(list(c2cu.stream(SORT, a, group=500, backend="cpu")))
        c2cu.bulk(SORT, a, backend="cpu"), run()
        pid = os.fork()
        if pid == 0:
            os._exit(0 if np.array_equal(run(), np.sort(a, 1)) and len(c2cu.bulk(SORT, a, backend="cpu")) else 1)
        print(os.waitpid(pid, 0)[1])
        def later():
            time.sleep(0.5)
            print(np.array_equal(run(), np.sort(a, 1)), flush=True)
        threading.Thread(target=later).start()
        """
    )
    out, err = p.communicate(timeout=90)
    assert out.split() == ["0", "True"] and not err


# several devices, played by the CPU


class Device(CpuPipe):
    """Fails, or dawdles, at chosen groups. ``ran``: those that it did."""

    def __init__(
        self,
        name,
        program,
        layout,
        fixed,
        depth,
        fails=(),
        slow=0.0,
        most=None,
        group=0,
        unfinished=(),
        broken=False,
        failed=None,
        waits=999,
        ran=(),
    ):
        super().__init__(program, layout, fixed, depth)
        self.name, self.fails, self.slow, self.ran, self.closed = name, fails, slow, list(ran), 0
        self.unfinished, self.broken = unfinished, broken
        self.failed, self.waits = failed or threading.Event(), waits
        if most is not None and group > most:
            raise pipes.OutOfRoom("played")

    def start(self, number, inputs, outputs, count):
        if number in self.fails:
            for x in outputs:
                if x is not None:
                    x.view(np.uint8)[...] = 0xEE  # half of a result
            self.failed.set()
            raise RuntimeError(f"{self.name} is broken")
        if number >= self.waits:
            assert self.failed.wait(30)
        time.sleep(self.slow)
        return number, super().start(number, inputs, outputs, count)

    def finish(self, token):
        number, started = token
        if number in self.unfinished:
            self.failed.set()
            raise RuntimeError(f"{self.name} is lost")
        super().finish(started)
        self.ran.append(number)

    def allocate(self, nbytes):
        if self.broken and self.ran:
            raise RuntimeError(f"{self.name} has no memory any more")
        return super().allocate(nbytes)

    def close(self):
        self.closed += 1
        if self.broken:
            raise RuntimeError(f"{self.name} cannot be closed")


@pytest.fixture
def devices(monkeypatch):
    """Have streams run on these devices: (name, keywords of `Device`)."""
    made = []

    def use(*specifications):
        def build(artifact, loaded, layout, fixed, numbers, group, depth, chosen, note):
            made.clear()
            made.extend(Device(name, loaded, layout, fixed, depth, group=group, **how) for name, how in specifications)
            return list(made)

        monkeypatch.setattr("c2cu.backends.pipes", build)
        monkeypatch.setattr("c2cu.backends.count_devices", lambda backend, chosen: len(specifications))
        return made

    return use


def test_groups_go_to_all_devices(devices):
    made = devices(("one", {"slow": 0.005}), ("two", {"slow": 0.005}))
    a = inputs(4000)
    result = np.concatenate(list(c2cu.stream(SORT, a, group=100, backend="cpu")))
    assert np.array_equal(result, np.sort(a, 1))
    assert sorted(made[0].ran + made[1].ran) == list(range(40)), "nothing lost, nothing twice"
    assert min(len(made[0].ran), len(made[1].ran)) >= 8
    assert [d.closed for d in made] == [1, 1]


@pytest.mark.parametrize("when", [0, 1, 17, 30])
def test_a_device_that_fails_is_left_out(devices, when):
    failed = threading.Event()
    made = devices(("one", {"fails": range(when, 99), "failed": failed}), ("two", {"waits": when, "failed": failed}))
    a = inputs(4000)
    with pytest.warns(c2cu.StreamWarning, match="one failed and is left out: one is broken"):
        result = np.concatenate(list(c2cu.stream(SORT, a, group=100, backend="cpu")))
        if not any(n >= when for n in made[1].ran):
            pytest.fail("the other did nothing")
    assert np.array_equal(result, np.sort(a, 1))
    assert sorted(made[0].ran + made[1].ran) == list(range(40))


@pytest.mark.parametrize("when", [0, 3, 20])
def test_a_device_that_fails_at_the_end_of_a_group(devices, when):
    """While it is about to start the next one, and cannot be closed."""
    failed = threading.Event()
    one = {"unfinished": range(when, 99), "slow": 0.01, "broken": True, "failed": failed}
    made = devices(("one", one), ("two", {"waits": when, "failed": failed}))
    a = inputs(4000)
    with pytest.warns(c2cu.StreamWarning, match="one failed and is left out: one is lost"):
        result = np.concatenate(list(c2cu.stream(SORT, chunks(a, 300), group=100, backend="cpu")))
    assert np.array_equal(result, np.sort(a, 1)) and [d.closed for d in made] == [1, 1]


def test_a_device_without_memory(devices):
    """Another one gives it; where none does, that is told."""
    devices(("one", {"broken": True, "ran": [0]}), ("two", {}))
    a = inputs(4000)
    result = np.concatenate(list(c2cu.stream(SORT, chunks(a, 300), group=100, backend="cpu")))
    assert np.array_equal(result, np.sort(a, 1))
    devices(("one", {"broken": True, "ran": [0]}), ("two", {"broken": True, "ran": [0]}))
    with pytest.raises(c2cu.CompileError, match="two fails: two has no memory any more") as e:
        list(c2cu.stream(SORT, chunks(a, 300), group=100, backend="cpu"))
    assert e.value.code == "C2CU248" and ended()


def test_no_device_left(devices):
    devices(("one", {"fails": range(3, 99)}), ("two", {"fails": range(5, 99)}))
    s = c2cu.stream(SORT, inputs(4000), group=100, backend="cpu")
    got = 0
    with pytest.warns(c2cu.StreamWarning, match="failed and is left out"), pytest.raises(c2cu.CompileError) as e:
        for r in s:
            got += len(r)
    assert e.value.code == "C2CU248" and "is broken" in str(e.value) and got < 4000 and ended()


def test_a_device_with_little_memory_takes_smaller_groups(devices):
    devices(("one", {"most": 300}))
    a = inputs(4000)
    with pytest.warns(c2cu.StreamWarning) as said:
        s = c2cu.stream(SORT, a, group=1000, backend="cpu")
        result = np.concatenate(list(s))
    assert len(said) == 1 and "not enough memory for groups of 1000 inputs: they have 250" in str(said[0].message)
    assert s.group == 250 and np.array_equal(result, np.sort(a, 1)) and said[0].filename == __file__


def test_a_device_with_no_memory(devices):
    devices(("one", {"most": 0}))
    with pytest.raises(c2cu.CompileError, match="not enough memory for one input") as e:
        c2cu.stream(SORT, inputs(10), backend="cpu")
    assert e.value.code == "C2CU064"


def test_a_host_with_no_memory(monkeypatch):
    def allocate(self, nbytes):
        raise MemoryError("Unable to allocate 3 GiB")

    monkeypatch.setattr("c2cu.runtime.cpu_pipe.CpuPipe.allocate", allocate)
    with pytest.raises(c2cu.CompileError, match="not enough memory: Unable to allocate 3 GiB") as e:
        list(c2cu.stream(SORT, inputs(10), backend="cpu"))
    assert e.value.code == "C2CU253" and ended()


# channels


def test_a_channel_ends_from_either_side():
    c = Channel(2)
    c.put(2)
    c.put(3)
    c.put_first(1)
    assert [c.get(), c.get(), c.get(), c.get(wait=False)] == [1, 2, 3, None]
    c.put(1)
    c.put(2)
    blocked = threading.Thread(target=lambda: pytest.raises(Closed, c.put, 3))
    blocked.start()
    c.close()
    blocked.join(5)
    assert not blocked.is_alive()
    for ended in (c.get, lambda: c.put(4), lambda: c.put_first(4)):
        with pytest.raises(Closed):
            ended()
