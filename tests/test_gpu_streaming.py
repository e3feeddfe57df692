"""Streams on CUDA devices: copies, kernels and their order. Skipped, visibly, where there is none."""

import warnings

import numpy as np
import pytest

import c2cu
import c2cu.streaming.streams
from c2cu.runtime import arrays, cuda
from tests.test_streaming import SORT, TWO, chunks, ended, inputs

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not cuda.available(), reason="no CUDA device, or CuPy is missing")]


def pinned(a):
    """A copy of an array in page-locked memory."""
    import cupy

    memory = cupy.cuda.alloc_pinned_memory(max(1, a.nbytes))
    out = np.frombuffer(memory, a.dtype, a.size).reshape(a.shape)
    out[...] = a
    return out


@pytest.mark.parametrize("locked", [False, True])
@pytest.mark.parametrize("schedule", ["registers", "thread", "private"])
def test_equals_the_cpu(schedule, locked):
    a = inputs(20000)
    expected = np.sort(a, 1)
    a = pinned(a) if locked else a
    program = c2cu.compile(SORT, backend="cuda", schedule=schedule)
    for how in ({}, {"group": 1}, {"group": 999}, {"group": 4096, "depth": 1}, {"group": 700, "interval": 0.001}):
        most = 300 if how.get("group") == 1 else len(a)
        with program.stream(chunks(a[:most], 3000), **how) as s:
            result = np.concatenate(list(s))
        assert np.array_equal(result, expected[:most]), how
        assert s.memory > 0 and s.device_memory > 0 and s.devices[0] == "cuda:0"
    assert ended()


@pytest.mark.parametrize("schedule", ["registers", "thread", "private"])
def test_column_layout(schedule):
    a = np.ascontiguousarray(inputs(5000).T)
    program = c2cu.compile(SORT, backend="cuda", schedule=schedule, layout="column")
    result = np.concatenate(list(program.stream(a, group=640)), axis=1)
    assert np.array_equal(result, np.sort(a, 0))


@pytest.mark.parametrize("layout", ["row", "column"])
def test_structs_shared_and_numbers(layout):
    rng = np.random.default_rng(3)
    t = np.dtype({"names": ["x", "y"], "formats": ["<i4", "<f8"], "offsets": [0, 8], "itemsize": 16})
    q = np.zeros((500, 2), t)
    q["x"], q["y"] = rng.integers(-9, 9, (500, 2)), rng.random((500, 2))
    w = rng.random(3)
    expected = c2cu.bulk(TWO, {"q": q}, shared={"w": w, "k": 3}, backend="cpu")
    structs = q if layout == "row" else np.ascontiguousarray(q.T)
    groups = list(c2cu.stream(TWO, {"q": structs}, shared={"w": w, "k": 3}, group=60, backend="cuda", layout=layout))
    for name in expected:
        joined = np.concatenate([r[name] for r in groups], axis=0 if layout == "row" else -1)
        assert np.array_equal(joined if layout == "row" else np.moveaxis(joined, -1, 0), expected[name]), name


def test_working_storage_in_turns(monkeypatch):
    """A schedule whose working storage for a group is more than a share of the memory."""
    monkeypatch.setattr(cuda, "SHARE", 1e-6)
    a = inputs(20000)
    for schedule in ("thread", "private"):
        program = c2cu.compile(SORT, backend="cuda", schedule=schedule)
        assert np.array_equal(np.concatenate(list(program.stream(a, group=9000))), np.sort(a, 1))


def test_results_are_kept():
    a = inputs(50000)
    groups = list(c2cu.stream(SORT, a, group=1000, backend="cuda"))
    assert np.array_equal(np.concatenate(groups), np.sort(a, 1))


def test_device_arrays_stay_on_the_device():
    import cupy

    a = inputs(5000)
    groups = list(c2cu.stream(SORT, (cupy.asarray(x) for x in chunks(a, 700)), group=640, backend="cuda"))
    assert all(isinstance(r, cupy.ndarray) for r in groups) and [len(r) for r in groups] == [640] * 7 + [520]
    assert np.array_equal(cupy.concatenate(groups).get(), np.sort(a, 1))


def test_bulk_goes_in_groups(monkeypatch):
    """Host arrays, many bytes: through a stream, to `out` too; arrays that overlap: not."""
    a = inputs(2 << 20)
    expected = np.sort(a, 1)
    program = c2cu.compile(SORT, backend="cuda")
    taken = []
    monkeypatch.setattr(
        "c2cu.streaming.streams.in_groups", lambda *x, f=c2cu.streaming.streams.in_groups: taken.append(1) or f(*x)
    )
    assert arrays.in_groups(program.slots, {"a": a}, None, "row")
    assert np.array_equal(program(a), expected) and len(taken) == 1
    for out in (np.empty_like(a), pinned(a)):
        result = program(pinned(a), out=out)
        assert result is out and np.array_equal(out, expected)
    assert len(taken) == 3
    both = np.concatenate([a[:1], a])
    program(both[1:], out=both[:-1])
    assert np.array_equal(both[:-1], expected) and len(taken) == 3
    same = a.copy()
    program(same, out=same)
    assert np.array_equal(same, expected) and len(taken) == 4


def test_a_group_that_does_not_fit_is_halved():
    import cupy

    a = inputs(1000)
    program = c2cu.compile(SORT, backend="cuda")
    pool = cupy.get_default_memory_pool()
    pool.free_all_blocks()
    before = pool.get_limit()
    pool.set_limit(size=pool.total_bytes() + (8 << 20))
    try:
        with pytest.warns(c2cu.StreamWarning, match="not enough memory for groups of 1000000 inputs"):
            s = program.stream(a, group=1000000)
        assert s.group < 1000000 and np.array_equal(np.concatenate(list(s)), np.sort(a, 1))
    finally:
        pool.set_limit(size=before)


def test_what_was_done_when():
    a = pinned(inputs(100000))
    s = c2cu.stream(SORT, a, group=10000, backend="cuda", timeline=True, devices=[0])
    for _ in s:
        pass
    spans = s.spans()
    assert {x.what for x in spans} == {"in", "kernel", "out"} and {x.group for x in spans} == set(range(10))
    for k in range(10):
        mine = {x.what: x for x in spans if x.group == k}
        assert mine["in"].end <= mine["kernel"].end <= mine["out"].end
        assert all(x.start <= x.end for x in mine.values())


def test_all_devices():
    if cuda.device_count() < 2:
        pytest.skip("one CUDA device only")
    a = inputs(200000)
    s = c2cu.stream(SORT, a, group=1000, backend="cuda", timeline=True)
    assert len(s.devices) == cuda.device_count()
    assert np.array_equal(np.concatenate(list(s)), np.sort(a, 1))
    assert {x.device for x in s.spans()} == set(s.devices)
    s = c2cu.stream(SORT, a, group=1000, backend="cuda", devices=[1])
    assert s.devices == ("cuda:1",) and np.array_equal(np.concatenate(list(s)), np.sort(a, 1))


def test_devices_that_are_not_there():
    for wrong in ([99], [], [0, 0], [-1]):
        with pytest.raises(c2cu.InputError, match="C2CU207"):
            c2cu.stream(SORT, inputs(3), backend="cuda", devices=wrong)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(list(c2cu.stream(SORT, inputs(3), backend="cuda", devices=[0]))) == 1
