"""Bulk runs on Dask: equal to `bulk`, on several processes, whichever of them die."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter

import numpy as np
import pytest

import c2cu
from tests.workloads import EXAMPLES

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

import c2cu.dask  # noqa: E402
from c2cu.runtime import cpu  # noqa: E402

pytestmark = pytest.mark.slow

FW = EXAMPLES / "floyd_warshall.c"
DOT = """
double dot(const float *a, const float *w, int n, float scale) {
    double s = 0;
    for (int i = 0; i < n; i++) s += a[i] * w[i];
    return s * scale;
}
"""
TWO = "int a[3], b = 5, c[2][2];\nvoid k(void) {\n    b += a[0];\n    c[0][1] = a[2] - b;\n    c[1][0] = 7;\n}\n"
SECONDS = 120  # after which something hangs
rng = np.random.default_rng(9)


def graphs(p: int, n: int = 16) -> np.ndarray:
    return rng.random((p, n, n), dtype=np.float32)


def local(**options):
    return dask.config.set(scheduler="synchronous", **options)


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    return tmp_path_factory.mktemp("compiler") / "log"


@pytest.fixture(scope="module")
def cluster(log):
    """Two processes of two threads. Each has a cache of its own, and a compiler that notes who calls it."""
    compiler = log.parent / "cc"
    compiler.write_text(f'#!/bin/sh\necho "$PPID $*" >> {log}\nexec gcc "$@"\n')
    compiler.chmod(0o755)
    env = {"CC": str(compiler), "C2CU_CACHE_DIR": "/proc/none"}
    options = {"n_workers": 2, "threads_per_worker": 2, "processes": True, "dashboard_address": ":0", "env": env}
    with distributed.LocalCluster(**options) as workers, distributed.Client(workers, timeout=SECONDS) as client:
        yield client


def boom(block):
    raise AssertionError("a task ran")


def lazy(a: np.ndarray, chunks=4):
    """An array that must not be computed."""
    return da.from_array(a, chunks=chunks).map_blocks(boom, meta=a[:0], dtype=a.dtype)


# one process


def test_chunks_of_one_array():
    d = graphs(50)
    result = c2cu.dask.map_bulk(FW, da.from_array(d, chunks=(13, 8, 5)), backend="cpu")
    assert (result.shape, result.dtype, result.chunks) == (d.shape, d.dtype, ((13, 13, 13, 11), (16,), (16,)))
    with local():
        blocks = [b.compute() for b in result.blocks]
        assert [(b.shape, type(b)) for b in blocks] == [((n, 16, 16), np.ndarray) for n in (13, 13, 13, 11)]
        assert np.array_equal(result.compute(), c2cu.bulk(FW, d, backend="cpu"))


@pytest.mark.parametrize("n", [5, 16])
def test_extents_bind_and_nothing_runs_before_it_must(n):
    result = c2cu.dask.map_bulk(FW, lazy(graphs(9, n)), backend="cpu")
    assert result.shape == (9, n, n) and type(result._meta) is np.ndarray
    assert c2cu.dask.map_bulk(FW, lazy(graphs(9, 4)), defines={"N": 4}, backend="cpu").shape == (9, 4, 4)


def test_chunks_that_differ_are_aligned():
    a, b = rng.integers(0, 99, (30, 3)).astype(np.int32), rng.integers(0, 99, 30).astype(np.int32)
    inputs = {"a": da.from_array(a, chunks=(7, 2)), "b": da.from_array(b, chunks=20)}
    result = c2cu.dask.map_bulk(TWO, inputs, backend="cpu")
    expected = c2cu.bulk(TWO, {"a": a, "b": b}, backend="cpu")
    assert result["c"].chunks == ((7, 7, 6, 1, 7, 2), (2,), (2,)) and result["b"].chunks == ((7, 7, 6, 1, 7, 2),)
    with local():
        (computed,) = dask.compute(result)
        assert np.array_equal(result["c"].compute(), expected["c"])  # alone, too
    assert list(computed) == list(expected)
    assert all(np.array_equal(computed[n], expected[n]) and computed[n].dtype == expected[n].dtype for n in expected)


@pytest.mark.parametrize("together", [dask.compute, lambda outputs: da.compute(*outputs.values())])
def test_all_outputs_of_a_chunk_come_from_one_run(together, monkeypatch):
    calls = []
    program = c2cu.dask._program
    monkeypatch.setattr(c2cu.dask, "_program", lambda work: calls.append(work) or program(work))
    outputs = c2cu.dask.map_bulk(TWO, {"a": da.ones((12, 3), chunks=5, dtype=np.int32)}, backend="cpu")
    with local():
        together(outputs)
    assert len(calls) == 3


@pytest.mark.parametrize("as_dask", [False, True])
def test_shared(as_dask):
    a, w, scale = rng.random((40, 6), np.float32), rng.random(6, np.float32), rng.random(40, np.float32)
    weights = da.from_array(w, chunks=4) if as_dask else w
    inputs = {"a": da.from_array(a, chunks=(16, 4)), "n": 5, "scale": da.from_array(scale, chunks=16)}
    result = c2cu.dask.map_bulk(DOT, inputs, shared={"w": weights}, backend="cpu")
    with local():
        expected = c2cu.bulk(DOT, {"a": a, "n": 5, "scale": scale}, shared={"w": w}, backend="cpu")
        assert np.array_equal(result.compute(), expected)
        count = c2cu.dask.map_bulk(DOT, {**inputs, "n": da.from_array(np.array(5, np.int32))}, shared={"w": weights})
        assert np.array_equal(count.compute(), expected)


def test_what_is_shared_is_one_value_of_the_graph():
    w = np.ones(100_000, np.float32)
    inputs = {"a": da.ones((40, 100_000), chunks=(2, -1), dtype=np.float32), "n": 5, "scale": 1.0}
    (result,) = dask.optimize(c2cu.dask.map_bulk(DOT, inputs, shared={"w": w}, backend="cpu"))
    sizes = [len(distributed.protocol.pickle.dumps(task)) for task in dict(result.__dask_graph__()).values()]
    assert sum(s > w.nbytes for s in sizes) == 1 and len(sizes) > 20


def test_numpy_beside_dask():
    a, b = rng.integers(0, 99, (30, 3)).astype(np.int32), rng.integers(0, 99, 30).astype(np.int32)
    result = c2cu.dask.map_bulk(TWO, {"a": da.from_array(a, chunks=8), "b": b}, backend="cpu")
    with local():
        assert np.array_equal(result["b"].compute(), a[:, 0] + b)


def test_structs():
    text = "struct s { char c; double d; } x[2];\nvoid k(void) {\n    x[1].d += x[0].d * x[0].c;\n}\n"
    t = np.dtype(c2cu.compile(text, backend="cpu").slots[0].dtype)
    x = np.zeros((9, 2), t)
    x["c"], x["d"] = rng.integers(0, 9, (9, 2)), rng.random((9, 2))
    result = c2cu.dask.map_bulk(text, da.from_array(x, chunks=4), backend="cpu")
    assert result.dtype == t
    with local():
        assert np.array_equal(result.compute(), c2cu.bulk(text, x, backend="cpu"))


def test_no_inputs_at_all():
    with local():
        result = c2cu.dask.map_bulk(FW, da.from_array(graphs(0)), backend="cpu").compute()
    assert result.shape == (0, 16, 16) and result.dtype == np.float32


def test_equal_calls_share_their_keys():
    d, other = da.from_array(graphs(8), chunks=3), da.from_array(graphs(8), chunks=3)
    options = {"backend": "cpu", "defines": {"N": 16}}
    name = c2cu.dask.map_bulk(FW, d, **options).name
    assert c2cu.dask.map_bulk(FW, d, **options).name == name
    assert c2cu.dask.map_bulk(FW, other, **options).name != name
    assert c2cu.dask.map_bulk(FW, d, schedule="native", **options).name != name
    a, w = da.ones((8, 3), chunks=3, dtype=np.float32), np.ones(3, np.float32)
    calls = [(2, w), (2, w.copy()), (2, 2 * w), (3, w)]
    names = [c2cu.dask.map_bulk(DOT, {"a": a, "n": n, "scale": 1.0}, shared={"w": w}).name for n, w in calls]
    assert names[0] == names[1] and len(set(names)) == 3


LOOP = "unsigned a[2];\nvoid k(void) {\n    while (a[0]) a[0] >>= 1;\n}\n"
A = np.ones((6, 3), np.int32)
MISTAKES = {
    "dtype": (TWO, {"a": A.astype(np.int64)}, {}),
    "shape": (TWO, {"a": np.ones((6, 4), np.int32)}, {}),
    "dimensions": (TWO, {"a": np.ones(6, np.int32)}, {}),
    "p": (TWO, {"a": A, "b": np.ones(7, np.int32)}, {}),
    "unknown name": (TWO, {"a": A, "x": A}, {}),
    "missing name": (TWO, {"b": A[:, 0]}, {}),
    "unknown shared": (TWO, {"a": A}, {"shared": {"x": 1}}),
    "shared and written": (TWO, {"a": A}, {"shared": {"b": 1}}),
    "extents": ("#define N 4\nint a[N], b[N];\nvoid k(void) {\n    for (int i = 0; i < N; i++) a[i] += b[i];\n}\n", {"a": A, "b": A[:, :2]}, {}),
    "unknown length": ("void k(const int *a, int *o, int n) {\n    for (int i = 0; i < n; i++) o[i] = a[i];\n}\n", {"a": A, "n": A[:, 0]}, {}),
    "number": (TWO, {"a": A, "b": 1}, {}),
    "no array": (TWO, {"a": [1, 2, 3]}, {}),
    "backend": (TWO, {"a": A}, {"backend": "gpu"}),
    "schedule": (TWO, {"a": A}, {"schedule": "fast"}),
    "schedule of the other backend": (TWO, {"a": A}, {"schedule": "registers"}),
    "schedule that does not take it": ("int f(int *a) {\n    __int128 x = a[0];\n    return x / a[1];\n}\n", A, {"schedule": "gang"}),
    "fp": (TWO, {"a": A}, {"fp": "slow"}),
    "macro": (TWO, {"a": A}, {"defines": {"N": 3}}),
    "function": (TWO, {"a": A}, {"fn": "f"}),
    "bare": (DOT, A, {}),
    "syntax": ("int a[3];\nvoid k(void) { a[0] = ; }\n", {"a": A}, {}),
    "bounds": ("int a[3];\nvoid k(void) {\n    a[3] = 1;\n}\n", {"a": A}, {}),
    "file": ("no_such_file.c", {"a": A}, {}),
    "strict": (LOOP, {"a": np.ones((6, 2), np.uint32)}, {"strict": True}),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_errors_come_at_once_and_are_bulks(mistake):
    text, inputs, options = MISTAKES[mistake]
    options = {"backend": "cpu", **options}
    with pytest.raises(c2cu.Error) as expected:
        c2cu.bulk(text, inputs, **options)
    as_dask = {n: lazy(a) if isinstance(a, np.ndarray) else a for n, a in inputs.items()} if isinstance(inputs, dict) else lazy(inputs)  # fmt: skip
    with pytest.raises(c2cu.Error) as caught:
        c2cu.dask.map_bulk(text, as_dask, **options)
    assert (type(caught.value), str(caught.value)) == (type(expected.value), str(expected.value))


def test_the_warning_points_at_the_users_line_once():
    with pytest.warns(c2cu.NotObliviousWarning) as told:
        result = c2cu.dask.map_bulk(LOOP, da.ones((6, 2), chunks=2, dtype=np.uint32), backend="cpu")
        with local():
            assert result.compute().tolist() == [[0, 1]] * 6
    assert [w.filename for w in told] == [__file__]


def test_a_length_that_dask_does_not_know():
    d = da.from_array(graphs(9), chunks=4)
    with pytest.raises(c2cu.InputError, match="does not know the shape of the input") as caught:
        c2cu.dask.map_bulk(FW, d[d[:, 0, 0] > 0.5], backend="cpu")
    assert "compute_chunk_sizes" in str(caught.value)
    w = da.ones(9, chunks=4, dtype=np.float32)
    with pytest.raises(c2cu.InputError, match="does not know the shape of 'w'"):
        c2cu.dask.map_bulk(DOT, {"a": d[:, 0], "n": 3, "scale": 1.0}, shared={"w": w[w > 0]}, backend="cpu")


def test_without_dask():
    script = (
        "import sys; sys.modules['dask'] = None\nimport c2cu\n"
        "try:\n    c2cu.dask.map_bulk\nexcept c2cu.CompileError as e:\n    print(e)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "error: c2cu.dask needs Dask [C2CU069]\nhint: run: pip install 'c2cu[dask]'\n"


def test_threads_have_a_limit(monkeypatch):
    monkeypatch.delenv("C2CU_THREADS", raising=False)
    usual = cpu.threads()
    with cpu.at_most(1):
        assert cpu.threads() == 1
    with cpu.at_most(10_000):
        assert cpu.threads() == usual
    monkeypatch.setenv("C2CU_THREADS", "3")
    with cpu.at_most(1):
        assert cpu.threads() == 3


# two processes


def test_two_processes_compile_each_program_once(cluster, log):
    a = rng.random((4000, 32), dtype=np.float32)
    source = EXAMPLES / "bitonic_sort.c"
    before = len(log.read_text().splitlines()) if log.exists() else 0
    for _ in range(2):
        result = c2cu.dask.map_bulk(source, da.from_array(a, chunks=125), backend="cpu")
        assert np.array_equal(cluster.compute(result).result(timeout=SECONDS), np.sort(a, axis=1))
    calls = log.read_text().splitlines()[before:]
    kernels = Counter(line.split()[0] for line in calls if "-shared" in line.split())
    pids = cluster.run(os.getpid).values()
    assert kernels == {str(pid): 1 for pid in pids}
    assert not [line for line in calls if "-iquote" in line.split()]  # the client preprocessed it


def test_threads_of_a_worker_are_its_share(cluster):
    assert cluster.submit(c2cu.dask._share).result(timeout=SECONDS) == 2
    assert c2cu.dask._share() is None


def test_a_worker_needs_no_file_of_the_source(cluster, tmp_path):
    folder, other = tmp_path / "source", tmp_path / "include"
    (folder / "deep").mkdir(parents=True)
    other.mkdir()
    (folder / "deep" / "x.h").write_text('#pragma once\n#include "../y.h"\n#define TWICE(x) ((x) * Y)\n')
    (folder / "y.h").write_text("#define Y 2\n")
    (other / "z.h").write_text("static int add(int x) { return x + N; }\n")
    (folder / "k.c").write_text(
        '#define N 3\n#include <math.h>\n#include "deep/x.h"\n#include <z.h>\nint a[N];\n'
        "void k(void) {\n    for (int i = 0; i < N; i++) a[i] = add(TWICE(a[i]));\n}\n"
    )
    a = rng.integers(0, 99, (20, 5)).astype(np.int32)
    result = c2cu.dask.map_bulk(folder / "k.c", da.from_array(a, chunks=6), fn="k", include_dirs=[other], backend="cpu")
    shutil.rmtree(folder)
    shutil.rmtree(other)
    assert np.array_equal(cluster.compute(result).result(timeout=SECONDS), 2 * a + 5)


def test_errors_of_a_worker_arrive(cluster):
    result = c2cu.dask.map_bulk(FW, da.from_array(graphs(8), chunks=4), backend="cuda")
    with pytest.raises(c2cu.CompileError, match="CuPy|no CUDA device"):
        cluster.compute(result).result(timeout=SECONDS)


def test_zarr_in_zarr_out(cluster, tmp_path):
    zarr = pytest.importorskip("zarr")
    a = rng.integers(0, 99, (60, 3)).astype(np.int32)
    da.from_array(a, chunks=(9, 2)).to_zarr(str(tmp_path / "a.zarr"))
    outputs = c2cu.dask.map_bulk(TWO, {"a": da.from_zarr(str(tmp_path / "a.zarr"))}, backend="cpu")
    for name, array in outputs.items():
        array.to_zarr(str(tmp_path / f"{name}.zarr"))
    for name, expected in c2cu.bulk(TWO, {"a": a}, backend="cpu").items():
        stored = zarr.open_array(str(tmp_path / f"{name}.zarr"), mode="r")
        assert stored.dtype == expected.dtype and np.array_equal(stored[:], expected)


SLOW = """
unsigned x;
void k(void) {
    for (int i = 0; i < 2000000; i++) x = x * 1664525u + 1013904223u;
}
"""


def test_a_killed_worker_loses_nothing():
    x = rng.integers(0, 2**32, 100 * 16, dtype=np.uint32)
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as workers, distributed.Client(workers, timeout=SECONDS) as client:
        result = c2cu.dask.map_bulk(SLOW, da.from_array(x, chunks=16), backend="cpu").persist()
        chunks = {f.key for f in distributed.futures_of(result)}
        pids, done = client.run(os.getpid), {}
        until = time.monotonic() + SECONDS
        while len(done) < 2 or min(map(len, done.values())) < 3:  # each has results of its own
            assert time.monotonic() < until
            time.sleep(0.02)
            done = {address: chunks.intersection(keys) for address, keys in client.has_what().items()}
        address, pid = next(iter(pids.items()))
        assert len(chunks) == 100 and sum(map(len, done.values())) < 100
        assert all(holders == (address,) for holders in client.who_has(list(done[address])).values())
        os.kill(pid, signal.SIGKILL)
        got = client.compute(result).result(timeout=SECONDS)
        assert pid not in client.run(os.getpid).values()
    assert got.shape == x.shape and np.array_equal(got, c2cu.bulk(SLOW, x, backend="cpu"))


@pytest.mark.gpu
def test_device_chunks_stay_on_the_device():
    from c2cu.runtime import cuda

    if not cuda.available():
        pytest.skip("no CUDA device, or CuPy is missing")
    import cupy

    d = graphs(50)
    on_device = da.from_array(d, chunks=13).map_blocks(cupy.asarray)
    result = c2cu.dask.map_bulk(FW, on_device, backend="cuda")
    assert isinstance(result._meta, cupy.ndarray)
    with local():
        computed = result.compute()
    assert isinstance(computed, cupy.ndarray) and np.array_equal(computed.get(), c2cu.bulk(FW, d, backend="cuda"))
    with pytest.raises(c2cu.InputError, match="lies on a CUDA device"):
        c2cu.dask.map_bulk(FW, on_device, backend="cpu")
