"""The CPU's schedule `gep` against gcc's build of the same C, bit for bit."""

import _thread
import gc
import re
import threading
import time
from concurrent.futures import Future

import numpy as np
import pytest

import c2cu
from c2cu.runtime import cpu as cpu_runtime
from c2cu.runtime.cpu import FLAGS
from c2cu.schedule.gep import cpu
from tests.gep_cases import LOOPS, RECOGNISED
from tests.gep_programs import TYPES, program
from tests.oracle import Original, same, with_defines
from tests.sample import sampled, slow
from tests.test_gep import values

FW = f"#define N 16\nfloat D[N][N];\nvoid fw(void) {{ {LOOPS} if (D[i][k] + D[k][j] < D[i][j]) D[i][j] = D[i][k] + D[k][j]; }}\n"
NEXT = """#define N 16
int D[N][N]; short next[N][N];
void fw(void) {
    for (int k = 0; k < N; k++) for (int i = 0; i < N; i++) {
        if (D[i][k] == 1000000) continue;
        for (int j = 0; j < N; j++)
            if (D[i][k] + D[k][j] < D[i][j]) { D[i][j] = D[i][k] + D[k][j]; next[i][j] = next[i][k]; }
    }
}
"""
LU = """#define N 16
double A[N][N];
void lu(void) {
    for (int k = 0; k < N; k++)
        for (int i = k + 1; i < N; i++) {
            A[i][k] /= A[k][k];
            for (int j = k + 1; j < N; j++) A[i][j] -= A[i][k] * A[k][j];
        }
}
"""


@pytest.fixture
def small_tiles(monkeypatch):
    """Tiles as small as they may be, so that small matrices have several; and a compiler that is soon done."""
    monkeypatch.setattr(cpu, "BLOCK", 16)
    monkeypatch.setattr("c2cu.runtime.cpu.FLAGS", tuple("-O1" if f == "-O3" else f for f in FLAGS))


def graphs(p: int, n: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    d = rng.random((p, n, n), dtype=np.float32) * 10
    d[rng.random(d.shape) < 0.3] = np.inf
    d[:, range(n), range(n)] = 0
    return d


def by_gcc(text: str, fn: str, n: int, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    variables = [(name, str(a.dtype), a.shape[1:]) for name, a in inputs.items()]
    return Original(with_defines(text, {"N": n}), fn, variables).bulk(inputs, len(next(iter(inputs.values()))))


@pytest.mark.parametrize("n", sampled([2, 5, 17, 65, 64, 127, 193], 4))
def test_sizes(n):
    d = graphs(3, n)
    d[1, 0, 1], d[1, 1, 0] = -3, 1  # a negative cycle: the program as it stands
    result = c2cu.bulk(FW, d, backend="cpu", schedule="gep")
    assert same(result, by_gcc(FW, "fw", n, {"D": d})["D"])


@pytest.mark.costly
@pytest.mark.parametrize("name", sampled([name for name in RECOGNISED if "struct" not in name], 16))
def test_spellings(name, small_tiles):
    text, n = RECOGNISED[name][0], 45
    text = re.sub(r"#define N 12", f"#define N {n}", text)
    kernel = c2cu.compile(text, backend="cpu", schedule="gep")
    rng = np.random.default_rng(n)
    kinds = {v: k for k, v in TYPES.items()}
    inputs = {s.name: values(rng, kinds[str(np.dtype(s.dtype))], (6, *s.shape)) for s in kernel.slots if s.reads}
    for a in inputs.values():
        a[:4] = a[:4] > 0 if "closure" in name else abs(a[:4])
        a.reshape(6, -1)[:4, :: a.shape[-1] + 1] = 1 if kernel.plan.schedule == "gep" and "LU" in name else 0
    judge = c2cu.bulk(text, inputs, backend="cpu", schedule="native", p=6)
    results = kernel(inputs, p=6)
    for key in results if isinstance(results, dict) else [None]:
        a, b = (x if key is None else x[key] for x in (results, judge))
        assert same(a, b), (name, n, key)


@pytest.mark.parametrize("seed", sampled(range(30), 5))
def test_random_programs(seed, small_tiles):
    """Equal to gcc, or refused with a place."""
    made = program(seed)
    rng = np.random.default_rng(seed)
    inputs = {n: values(rng, t, (4, rows * columns)) for n, (t, rows, columns) in made.arrays.items()}
    variables = [(n, TYPES[t], (rows * columns,)) for n, (t, rows, columns) in made.arrays.items()]
    try:
        kernel = c2cu.compile(made.text, backend="cpu", schedule="gep")
    except c2cu.UnsupportedError as e:
        # Such loops do not compute it, there are none, or a matrix that they never reach is no input.
        assert e.code in ("C2CU038", "C2CU304", "C2CU311") and e.line
        return
    want = Original(made.text, "f", variables).bulk(inputs, 4)
    results = kernel({s.name: inputs[s.name].reshape(4, *s.shape) for s in kernel.slots if s.reads}, p=4)
    if not isinstance(results, dict):
        results = {next(s.name for s in kernel.slots if s.writes): results}
    for name, a in results.items():
        assert same(a.reshape(want[name].shape), want[name]), (seed, name)


@pytest.mark.costly
@pytest.mark.parametrize("threads", ["1", "3", "8"])
@pytest.mark.parametrize("text, fn", [(FW, "fw"), (LU, "lu")])
def test_threads(threads, text, fn, monkeypatch, small_tiles):
    """Any number of them share the tiles of one matrix."""
    monkeypatch.setenv("C2CU_THREADS", threads)
    n = 150
    a = graphs(1, n) if fn == "fw" else np.random.default_rng(1).random((1, n, n)) + 10 * np.eye(n)
    want = next(iter(by_gcc(text, fn, n, {"D" if fn == "fw" else "A": a}).values()))
    kernel = c2cu.compile(text, backend="cpu", schedule="gep", defines={"N": n})
    for _ in range(10):
        assert same(kernel(a), want)


@pytest.mark.slow
def test_several_arrays_and_negative_cycles():
    n, p = 100, 5
    rng = np.random.default_rng(0)
    d = rng.integers(1, 1000, (p, n, n)).astype(np.int32)
    d[rng.random(d.shape) < 0.5] = 1000000
    d[:, range(n), range(n)] = 0
    d[3, 7, 8], d[3, 8, 7] = -5, 2
    inputs = {"D": d, "next": np.broadcast_to(np.arange(n, dtype=np.int16), d.shape).copy()}
    results = c2cu.bulk(NEXT, inputs, backend="cpu", schedule="gep")
    for name, want in by_gcc(NEXT, "fw", n, inputs).items():
        assert same(results[name], want)


@pytest.mark.slow
def test_integers_that_wrap():
    d = np.full((1, 65, 65), 2**31 - 5, np.int32)
    d[0, range(65), range(65)] = 7  # so that d + d[k][k] wraps and row k moves
    assert same(c2cu.bulk(FW.replace("float", "int"), d, backend="cpu", schedule="gep"),
                by_gcc(FW.replace("float", "int"), "fw", 65, {"D": d})["D"])  # fmt: skip


def test_in_place_in_columns_and_from_part_of_an_array():
    d = graphs(4, 70)
    want = by_gcc(FW, "fw", 70, {"D": d})["D"]
    kernel = c2cu.compile(FW, backend="cpu", schedule="gep", defines={"N": 70})
    assert same(kernel(np.concatenate([d, d], 1)[:, :70]), want)
    columns = c2cu.compile(FW, backend="cpu", schedule="gep", layout="column", defines={"N": 70})
    assert same(np.moveaxis(columns(np.ascontiguousarray(np.moveaxis(d, 0, -1))), -1, 0), want)
    a = d.copy()
    assert kernel(a, out=a) is a and same(a, want)


def test_a_matrix_that_all_share_and_initial_values():
    text = """#define N 70
float A[N][N], B[N][N], C[N][N] = {{1, 2}, {3}};
void product(void) {
    for (int k = 0; k < N; k++) for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) C[i][j] += A[i][k] * B[k][j];
}
"""
    rng = np.random.default_rng(0)
    a, b = rng.random((3, 70, 70), dtype=np.float32), rng.random((70, 70), dtype=np.float32)
    result, want = (c2cu.bulk(text, {"A": a}, shared={"B": b}, backend="cpu", schedule=s) for s in ("gep", "native"))
    assert same(result, want) and result.dtype == np.float32


def test_streams_and_few_inputs_at_a_time():
    d = graphs(9, 40)
    want = by_gcc(FW, "fw", 40, {"D": d})["D"]
    got = list(c2cu.stream(FW, d, group=4, backend="cpu", schedule="gep", defines={"N": 40}))
    assert same(np.concatenate(got), want)


def test_refusals_have_a_place():
    text = FW.replace("D[k][j] < ", "D[k + 1][j] < ").replace("k < N", "k < N - 1")
    with pytest.raises(
        c2cu.UnsupportedError, match=r"not of Gaussian-elimination type: it also reads D\[k \+ 1\]\[j\]"
    ):
        c2cu.compile(text, backend="cpu", schedule="gep")
    with pytest.raises(c2cu.UnsupportedError, match=r"'s.D' is not an input or an output of its own"):
        c2cu.compile(RECOGNISED["a struct's member"][0], backend="cpu", schedule="gep")
    with pytest.raises(c2cu.UnsupportedError, match="no three nested loops"):
        c2cu.compile("int a[4];\nvoid f(void) { a[0]++; }\n", backend="cpu", schedule="gep")


@pytest.mark.slow
@pytest.mark.parametrize("threads", sampled(["2", "1"], 1))
def test_interrupted_while_threads_are_at_work(threads, monkeypatch):
    """What they use stays until they are done."""
    monkeypatch.setenv("C2CU_THREADS", threads)
    kernel = c2cu.compile(FW, backend="cpu", schedule="gep", defines={"N": 1500})
    d = graphs(1, 1500)
    timer = threading.Timer(0.05, _thread.interrupt_main)
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        kernel(d)
    timer.join()
    del d
    again = graphs(1, 1500, 1)
    assert same(kernel(again), kernel(again))


@pytest.mark.costly
@pytest.mark.parametrize("n, p, schedule", [slow((16, 1000, "gang")), (16, 1, "gang"), (64, 1, "gep"), (64, 100, "gang"), (128, 9, "gep")])  # fmt: skip
def test_the_choice(n, p, schedule):
    kernel = c2cu.compile(FW, backend="cpu", defines={"N": n})
    d = graphs(p, n)
    assert same(kernel(d), by_gcc(FW, "fw", n, {"D": d})["D"])
    assert kernel.plan.schedule == schedule


def test_a_truth_value_is_not_the_number_it_is_of():
    """Row k changes where i is k: 5 becomes 1."""
    text = f"""#define N 20
unsigned char D[N][N];
void f(void) {{ {LOOPS} if (i == k) {{ _Bool t = D[i][j]; D[i][j] = t; }} else D[i][j] = D[i][j] | (D[i][k] & D[k][j]); }}
"""
    d = np.random.default_rng(0).integers(0, 6, (3, 20, 20)).astype(np.uint8)
    assert same(c2cu.bulk(text, d, backend="cpu", schedule="gep"), by_gcc(text, "f", 20, {"D": d})["D"])


@pytest.mark.slow
def test_what_is_interrupted_ends_before_its_memory_is_freed(monkeypatch):
    """Interrupted while both workers are at it: they are told to stop, and it goes after them."""
    events, stopped = [], threading.Event()
    both = threading.Barrier(3)

    class Function:
        def __init__(self, call):
            self.call = call

        def __call__(self, *args):
            return self.call(*args)

    def work(state):
        both.wait(10)
        stopped.wait(10)
        time.sleep(0.05)
        events.append("left")

    class Library:
        c2cu_begin, c2cu_work = Function(lambda table, k: 1), Function(work)
        c2cu_stop = Function(lambda state: (events.append("stop"), stopped.set()))
        c2cu_end = Function(lambda state: events.append("end"))

    def result(self, timeout=None):
        both.wait(10)
        raise KeyboardInterrupt

    monkeypatch.setattr(Future, "result", result)
    with pytest.raises(KeyboardInterrupt):
        cpu_runtime.Team(Library).run(None, 1, 2)
    for _ in range(100):  # whoever comes last frees it
        gc.collect()
        time.sleep(0.05 if "end" not in events else 0)
    assert events == ["stop", "left", "left", "end"]
