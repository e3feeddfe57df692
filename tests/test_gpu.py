"""The same comparisons on a CUDA device. Skipped, visibly, where there is none."""

import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import c2cu
from c2cu.runtime import cuda
from tests import conversions, whole_programs
from tests import test_annex_c as annex_c
from tests import test_gep_tiles as tiled
from tests import test_partial_evaluation as partial
from tests import test_wide as wide
from tests.oracle import Original, run_original, same
from tests.small_state import PROGRAMS as SMALL
from tests.whole_programs import PROGRAMS
from tests.workloads import SIZES, WORKLOADS, lu

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not cuda.available(), reason="no CUDA device, or CuPy is missing")]


@pytest.mark.parametrize("schedule", ["registers", "gep", "scan", "block", "thread", "private"])
@pytest.mark.parametrize("w", WORKLOADS, ids=lambda w: w.name)
def test_equals_gcc(w, schedule):
    try:
        program = w.compile(backend="cuda", schedule=schedule)
    except c2cu.UnsupportedError as e:
        assert schedule in ("registers", "gep", "scan", "block")
        pytest.skip(f"{schedule} does not take it: {e.diagnostic.message}")
    inputs = w.inputs(max(SIZES))
    expected = w.expected(inputs, max(SIZES))
    for p in SIZES:
        result = w.results(program(w.first(inputs, p)))
        for name in w.outputs:
            assert same(result[name], expected[name][:p]), (name, p)


def equals_gcc(text, variables, inputs, schedule, equal=same) -> None:
    """A function kern on a GPU under a schedule that may not take it, with a reason."""
    try:
        program = c2cu.compile(text, fn="kern", backend="cuda", schedule=schedule)
    except c2cu.UnsupportedError as e:
        pytest.skip(f"{schedule} does not take it: {e.diagnostic.message}")
    p = len(next(iter(inputs.values())))
    expected = Original(text, "kern", variables).bulk(inputs, p, fresh=True)
    given = {n: a for n, a in inputs.items() if n in {s.name for s in program.slots}}
    zeros = {s.name: np.zeros((p, *s.shape), s.dtype) for s in program.slots if s.required and s.name not in given}
    result = program({**zeros, **given}, p=p)
    result = result if isinstance(result, dict) else {next(s.name for s in program.slots if s.writes): result}
    for name, *_ in variables:
        assert equal(result.get(name, inputs[name]), expected[name]), name


@pytest.mark.parametrize("schedule", ["thread", "private"])
@pytest.mark.parametrize("entry", annex_c.PROGRAMS)
def test_c_that_is_not_cpp(entry, schedule):
    text = annex_c.text_of(*annex_c.PROGRAMS[entry])
    equals_gcc(text, annex_c.GLOBALS, annex_c.inputs_of(len(entry)), schedule)


@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize("schedule", ["thread", "private"])
@pytest.mark.parametrize("name", partial.PROGRAMS)
def test_what_lowering_resolves(name, schedule):
    text, inputs = partial.case(*partial.PROGRAMS[name])
    equals_gcc(text, partial.VARIABLES, inputs, schedule)


@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize("schedule", ["thread", "private", "auto"])
@pytest.mark.parametrize("idiom", wide.IDIOMS)
def test_128_bits(idiom, schedule):
    equals_gcc(wide.text_of(*wide.IDIOMS[idiom]), wide.VARIABLES, wide.inputs_of(len(idiom)), schedule)


@pytest.mark.parametrize("schedule", ["registers", "block", "thread", "private"])
@pytest.mark.parametrize("integers", conversions.INTEGERS)
@pytest.mark.parametrize("float_type", conversions.FLOATS)
def test_floats_that_no_integer_type_holds(float_type, integers, schedule):
    text, variables, inputs = conversions.case(float_type, integers)
    equals_gcc(text, variables, inputs, schedule)


@pytest.mark.parametrize("name", SMALL)
def test_small_states(name):
    """All in registers and without a spill; p of any size; views that are not aligned; shared arrays."""
    text, fn, variables = SMALL[name]
    rng = np.random.default_rng(1)
    p = 1000
    inputs = {
        n: (rng.normal(size=(p, *s)) if d[0] == "f" else rng.integers(0, 4, (p, *s))).astype(d) for n, d, s in variables
    }
    expected = Original(text, fn, variables).bulk(inputs, p)
    program = c2cu.compile(text, fn=fn, backend="cuda")
    dropped = [why for name, why in program.plan.rejected if name == "registers"]
    assert program.plan.schedule == "registers" or "spilled" in dropped[0], program.plan.rejected
    for count in SIZES:
        result = program({n: a[:count] for n, a in inputs.items() if n in {s.name for s in program.slots}}, p=count)
        result = result if isinstance(result, dict) else {next(s.name for s in program.slots if s.writes): result}
        assert all(same(a, expected[n][:count]) for n, a in result.items()), count


def test_unaligned_views():
    import cupy

    text, fn, variables = SMALL["paths"]
    d = np.random.default_rng(2).random((100, 8, 8), np.float32)
    memory = cupy.empty(d.size + 1, np.float32)
    view = memory[1:].reshape(d.shape)
    view[...] = cupy.asarray(d)
    result = c2cu.bulk(text, view, fn=fn, backend="cuda", schedule="registers")
    assert same(result.get(), Original(text, fn, variables).bulk({"D": d}, 100)["D"])


@pytest.mark.parametrize("n", [5, 33, 1000, 1024])
def test_streams(n):
    """Arrays of two types, p of any size, views that are not aligned."""
    import cupy

    text = (
        f"float x[{n}], y[{n}]; double d[{n}];\nvoid k(void) {{\n    y[0] = x[0];\n"
        f"    for (int i = 1; i < {n}; i++) {{ y[i] = 0.5f * y[i - 1] + x[i]; d[i] += d[i - 1] * x[i - 1]; }}\n}}\n"
    )
    rng = np.random.default_rng(4)
    inputs = {"x": rng.normal(size=(1000, n)).astype("float32"), "d": rng.normal(size=(1000, n))}
    variables = [("x", "float32", (n,)), ("y", "float32", (n,)), ("d", "float64", (n,))]
    expected = Original(text, "k", variables).bulk(inputs, 1000)
    for p in SIZES:
        result = c2cu.bulk(text, {k: a[:p] for k, a in inputs.items()}, backend="cuda", schedule="scan")
        assert all(same(result[k], expected[k][:p]) for k in "yd"), p
    memory = {k: cupy.empty(a.size + 1, a.dtype) for k, a in inputs.items()}
    views = {k: m[1:].reshape(inputs[k].shape) for k, m in memory.items()}
    for k, v in views.items():
        v[...] = cupy.asarray(inputs[k])
    result = c2cu.bulk(text, views, backend="cuda", schedule="scan")
    assert all(same(result[k].get(), expected[k]) for k in "yd")


def shared_out(text: str, inputs: dict, p: int, fp: str = "exact") -> None:
    """The schedule gep, with several numbers of threads, against gcc."""
    program = c2cu.compile(text, fn="k", backend="cuda", fp=fp)
    assert program.plan.schedule == "gep", program.plan.rejected
    expected = Original(text, "k", [(s.name, s.dtype, s.shape) for s in program.slots]).bulk(inputs, p)
    for count in sorted({1, 3, p}):
        result = program({n: a[:count] for n, a in inputs.items()})
        result = result if isinstance(result, dict) else {next(s.name for s in program.slots if s.writes): result}
        assert all(same(a, expected[n][:count]) for n, a in result.items()), (fp, count)


@pytest.mark.parametrize("n", [16, 17, 31, 33, 64, 100, 130, 200, 256])
@pytest.mark.parametrize("name", ["if", "min"])
def test_shortest_paths(name, n):
    """Some inputs have negative cycles; of the one form they show in the diagonal, of the other bits are compared."""
    rng = np.random.default_rng(n)
    p = 40 if n < 100 else 9
    D = tiled.graphs(rng, p, n)
    D[2, n // 2, n // 2] = D[7, 0, 0] = -0.25
    D[5].flat[rng.integers(0, n * n, n)] = -0.0
    D[4].flat[rng.integers(0, n * n, n)] = np.inf
    shared_out(tiled.sized(tiled.PATHS[name], n), {"D": D}, p)


@pytest.mark.parametrize("n", [9, 33, 96])
@pytest.mark.parametrize("name", [n for n in tiled.FORMS if n != "any"])
def test_loops_of_gaussian_elimination_type(name, n):
    text = tiled.sized(tiled.FORMS[name], n)
    slots = c2cu.compile(text, fn="k", backend="cuda", schedule="gep").slots
    inputs = tiled.filled(np.random.default_rng(n), slots, 50)
    if name == "longest":
        inputs["D"] *= -1
    program = c2cu.compile(text, fn="k", backend="cuda", schedule="gep")
    expected = Original(text, "k", [(s.name, s.dtype, s.shape) for s in slots]).bulk(inputs, 50)
    result = program(inputs)
    result = result if isinstance(result, dict) else {next(s.name for s in slots if s.writes): result}
    assert all(same(a, expected[k]) for k, a in result.items())


@pytest.mark.parametrize("name", ["fw-16", "fw-64", "lu-32"])
def test_tiles_of_other_forms(name):
    """Each number of threads that tuning tries."""
    w = next(w for w in (*WORKLOADS, lu(32)) if w.name == name)
    inputs = w.inputs(100)
    expected = w.expected(inputs, 100)[w.outputs[0]]
    program = w.compile(backend="cuda", tune=True, schedule="gep")
    assert same(program(inputs), expected)
    assert len(program.plan.measured.times) > 1 and not program.loaded.drawback


def test_what_spills_falls_to_the_next_schedule():
    lines = "\n".join(
        f"    for (int i = 0; i < 120; i++) a[i] = a[i] * a[(i * 7 + {k}) % 120] + a[(i + {k}) % 120];"
        for k in range(1, 6)
    )
    text = f"double a[120];\nvoid k(void) {{\n{lines}\n}}\n"
    program = c2cu.compile(text, backend="cuda")
    if program.plan.schedule == "registers":
        pytest.skip("this compiler finds registers enough")
    assert program.plan.rejected[0][0] == "registers" and "spilled" in program.plan.rejected[0][1]
    a = np.random.default_rng(3).normal(size=(50, 120))
    expected = Original(text, "k", [("a", "float64", (120,))]).bulk({"a": a}, 50)["a"]
    assert same(program(a), expected)
    assert same(c2cu.bulk(text, a, backend="cuda", schedule="registers"), expected)


def test_tuning(tmp_path, monkeypatch):
    monkeypatch.setenv("C2CU_CACHE_DIR", str(tmp_path))
    w = next(w for w in WORKLOADS if w.name == "fw-16")
    inputs = w.inputs(3000)
    expected = w.expected(inputs, 3000)["D"]
    program = w.compile(backend="cuda", tune=True)
    assert same(program(inputs), expected)
    tuning = program.plan.measured
    assert {"block", "thread", "private"} <= {c.schedule for c, _ in tuning.times}, tuning.rejected
    assert all(0 < seconds < 1e-3 for _, seconds in tuning.times) and tuning.p == 3000
    again = w.compile(backend="cuda")
    assert same(again(inputs), expected) and again.plan.measured == tuning


def test_device_arrays_stay_on_the_device():
    import cupy

    w = WORKLOADS[0]
    inputs = {n: cupy.asarray(a) for n, a in w.inputs(100).items()}
    before = {n: a.copy() for n, a in inputs.items()}
    stream = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.Device().synchronize()
    result = c2cu.bulk(w.path, inputs, backend="cuda", stream=stream)
    stream.synchronize()
    assert isinstance(result, cupy.ndarray)
    assert same(result.get(), w.expected(w.inputs(100), 100)["D"])
    assert all(bool((inputs[n] == before[n]).all()) for n in inputs)


@pytest.mark.parametrize("schedule", ["registers", "thread", "private"])
def test_column_layout(schedule):
    w = WORKLOADS[2]
    rows = w.inputs(77)["a"]
    columns = c2cu.bulk(w.path, np.ascontiguousarray(rows.T), backend="cuda", layout="column", schedule=schedule)
    assert same(np.ascontiguousarray(columns.T), w.expected({"a": rows}, 77)["a"])


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is missing")
@pytest.mark.parametrize("name", ["fw-16", "bitonic-32", "montgomery-512", "prefix-1024"])
def test_standalone(name, tmp_path):
    w = next(w for w in WORKLOADS if w.name == name)
    p = 2048
    inputs = w.inputs(p)
    runs = [as_text({n: a[k] for n, a in inputs.items()}) for k in range(p)]
    program = built(c2cu.translate(w.path, p=p), tmp_path)
    expected = b"".join(run_original(w.text, r) for r in runs)
    result = subprocess.run([str(program)], input="\n".join(runs).encode(), capture_output=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout == expected


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is missing")
@pytest.mark.parametrize("p, group", [(1, 1), (33, 7), (1000, 1), (1000, 64), (1000, 5000)])
@pytest.mark.parametrize("name", PROGRAMS)
def test_standalone_groups(name, p, group, tmp_path):
    program = built(c2cu.translate(PROGRAMS[name], p=p, group=group), tmp_path)
    done = subprocess.run([program], input="\n".join(whole_programs.inputs(name)[:p]).encode(), capture_output=True)
    assert (done.stdout, done.returncode) == whole_programs.expected(name, p), done.stderr


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is missing")
@pytest.mark.parametrize("name", ["columns", "private"])
def test_a_standalone_program_is_a_pipe(name, tmp_path):
    program = built(c2cu.translate(PROGRAMS[name], p=10**12, group=7), tmp_path)
    assert whole_programs.is_a_pipe(program, name, 7)


def built(text: str, folder, *options: str):
    """A CUDA program, compiled for the device that is there."""
    source, program = folder / "x.cu", folder / "x"
    source.write_text(text)
    command = ["nvcc", "-arch=native", *options, str(source), "-o", str(program)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 and "warning" not in done.stderr, done.stderr
    return program


def as_text(inputs: dict) -> str:
    """One run's stdin."""
    if "m" in inputs:
        return " ".join("".join(f"{v:08x}" for v in inputs[n][::-1]) for n in "xym")
    return " ".join(f"{v:.9g}" for a in inputs.values() for v in a.reshape(-1))


def test_explain_knows_the_devices_limits(tmp_path, monkeypatch):
    from c2cu.report import machine

    monkeypatch.setenv("C2CU_CACHE_DIR", str(tmp_path))
    single, double = machine.limits("cuda"), machine.limits("cuda", 8)
    assert single.bandwidth > 1e10 and single.rates["float"] > single.rates["wide"] > 1e10
    assert double.rates["float"] < single.rates["float"] and "multiprocessors" in single.rates_from


@pytest.mark.parametrize("schedule", ["thread", "private"])
def test_a_state_stays_on_the_device(schedule):
    """The steps are those of a state on the CPU; results are where the state is."""
    import cupy

    text = """unsigned seed = 1;
int x, board[8], view[8];
void step(int push) {
    seed = seed * 1664525u + 1013904223u;
    x += push;
    board[seed >> 29] += x;
    for (int i = 0; i < 8; i++) view[i] = board[i] + (int)seed;
}
"""
    seeds = np.arange(100, dtype="u4")
    states = [
        c2cu.compile(text, backend=backend, schedule=s).state(100, {"seed": seeds})
        for backend, s in (("cuda", schedule), ("cpu", "auto"))
    ]
    rng = np.random.default_rng(0)
    for turn in range(6):
        push = rng.integers(-3, 4, 100).astype("i4")
        there, here = (state.step(push) for state in states)
        assert same(there.get(), here)
        there, here = states[0].step(cupy.asarray(push)), states[1].step(push)
        assert same(there.get(), here), turn
    mask = seeds % 3 == 0
    for state in states:
        state.reset(mask)
        state["x"] = push
        state.step(push)
    for name in states[0]:
        assert same(states[0][name].get(), states[1][name]), name


@pytest.mark.parametrize("where", ["numpy", "cupy"])
def test_a_state_whose_shared_array_is_a_view(where):
    """Steps that come again know only where it is."""
    import importlib

    text = "double w[3], x[3];\nvoid k(void) { for (int i = 0; i < 3; i++) x[i] = x[i] * 0.5 + w[i]; }\n"
    w = np.arange(12.0).reshape(3, 4)
    there = importlib.import_module(where).asarray(w)[:, 1]
    states = [
        c2cu.compile(text, backend=backend, shared=["w"]).state(50, {"x": np.ones((50, 3))}, shared={"w": view})
        for backend, view in (("cuda", there), ("cpu", w[:, 1]))
    ]
    for _ in range(3):
        for state in states:
            state.step()
        assert same(states[0]["x"].get(), states[1]["x"])


def test_a_call_that_comes_again():
    """All but the addresses is decided once: other arrays, numbers, shared arrays, other numbers of inputs."""
    import cupy

    text = """
    double w[3], x[3]; float y; int n;
    void k(int by) { y = 0; for (int i = 0; i < 3; i++) y += w[i] * x[i] * by; n = by; }
    """
    program = c2cu.compile(text, backend="cuda", shared=["w"], fn="k")
    rng = np.random.default_rng(8)
    for turn in range(6):
        for p, by in ((100, 3), (100, 4), (7, 3)):
            w, x = rng.normal(size=3), rng.normal(size=(p, 3))
            result = program({"x": cupy.asarray(x), "by": by}, shared={"w": cupy.asarray(w)})
            y = np.zeros(p, np.float32)
            for i in range(3):
                y = (y + w[i] * x[:, i] * by).astype(np.float32)
            assert np.array_equal(result["y"].get(), y) and (result["n"].get() == by).all(), (turn, p, by)
    assert any(type(c).__name__ == "PreparedOnDevice" for c in program._calls.values())
    with pytest.raises(c2cu.InputError):
        program({"x": cupy.zeros((5, 3), np.float32), "by": 3}, shared={"w": cupy.zeros(3)})


@pytest.mark.parametrize("schedule", ["registers", "block"])
def test_a_call_that_comes_again_from_the_host(schedule):
    """NumPy arrays, structs, ``out=``, from threads too, without a way through CuPy's arrays."""
    import cupy

    struct = np.dtype({"names": ["n", "x"], "formats": ["i4", "f8"], "offsets": [0, 8], "itemsize": 16})
    text = """
    struct S { int n; double x; } s[2], t[2];
    float y[8]; int total;
    void k(const float w[8], int by) {
        total = 0;
        for (int i = 0; i < 8; i++) { y[i] = y[i] * w[7 - i] + by; total += (int)y[i]; }
        for (int i = 0; i < 2; i++) { t[i].n = s[i].n + by; t[i].x = s[i].x * y[i]; }
    }
    """
    if schedule == "block":
        text = "float y[8]; int total; void k(const float w[8]) { total = 1; for (int i = 0; i < 8; i++) y[i] = y[i] * w[i] + 3; }"
    program = c2cu.compile(text, backend="cuda", schedule=schedule, shared=["w"], fn="k")
    right = c2cu.compile(text, backend="cpu", schedule="native", shared=["w"], fn="k")
    rng = np.random.default_rng(4)

    def call(turn: int, p: int) -> None:
        inputs = {"y": rng.normal(size=(p, 8)).astype("f4")}
        if schedule == "registers":
            inputs["by"] = turn % 2
            inputs["s"] = rng.integers(0, 100, (p, 2, 16), np.uint8).view(struct).reshape(p, 2)
        w = rng.normal(size=8).astype("f4")
        before, wanted = inputs["y"].copy(), right(inputs, shared={"w": w})
        out = {"y": inputs["y"] if turn % 3 == 1 else np.empty((p, 8), "f4")} if turn % 3 else None
        results = program(inputs, shared={"w": w}, out=out)
        assert out is None or results["y"] is out["y"]
        assert all(type(a) is np.ndarray and a.tobytes() == wanted[n].tobytes() for n, a in results.items())
        there = {n: cupy.asarray(a) if n == "y" else a for n, a in {**inputs, "y": before}.items()}
        out = {"y": there["y"] if turn % 3 == 1 else cupy.empty((p, 8), "f4")} if turn % 3 else None
        if "s" in there:
            return
        results = program(there, shared={"w": cupy.asarray(w)}, out=out)
        assert out is None or results["y"] is out["y"]
        assert all(a.get().tobytes() == wanted[n].tobytes() for n, a in results.items())

    for turn in range(8):
        for p in (1, 33, 1000):
            call(turn, p)
    assert any(type(c).__name__ == "PreparedOnDevice" for c in program._calls.values())
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(call, range(8), [40] * 8))


def test_threads_that_refill():
    text = """double x; int turns; double r; int steps;
    void kern(void) { double y = x; int k = 0; while (k < turns && y < 1e6) { y = y * 1.5 / 3 + sin(y) / 7; k++; } r = y; steps = k; }"""
    text = "#include <math.h>\n" + text
    rng = np.random.default_rng(9)
    for p in (1, 33, 5000, 300_000):
        inputs = {"x": rng.normal(scale=9, size=p), "turns": rng.integers(0, 300, p).astype(np.int32)}
        program = c2cu.compile(text, fn="kern", backend="cuda", outputs=("r", "steps"))
        right = c2cu.compile(text, fn="kern", backend="cpu", schedule="native", outputs=("r", "steps"))(inputs)
        result = program(inputs)
        assert program.plan.schedule == "registers"
        assert all(same(result[n], right[n]) for n in ("r", "steps")), p


def test_structs_on_the_device():
    """Their bytes, a row for each input, in and out."""
    import cupy

    text = """
    struct S { int n; double x[2]; char c; } s[2], t;
    void k(void) { t.x[1] = s[0].x[0] * s[1].n; t.c += s[1].c; s[1].x[1] = t.n; }
    """
    struct = np.dtype(
        {"names": ["n", "x", "c"], "formats": ["i4", ("f8", 2), "i1"], "offsets": [0, 8, 24], "itemsize": 32}
    )
    rng = np.random.default_rng(10)
    s, t = (rng.integers(0, 100, (500, n, 32), np.uint8).view(struct).reshape(500, n) for n in (2, 1))
    host = c2cu.bulk(text, {"s": s, "t": t[:, 0]}, backend="cpu", schedule="native")
    rows = {"s": cupy.asarray(s.view(np.uint8).reshape(500, 64)), "t": cupy.asarray(t.view(np.uint8).reshape(500, 32))}
    for schedule in ("auto", "thread", "private"):
        result = c2cu.bulk(text, rows, backend="cuda", schedule=schedule)
        for name, array in result.items():
            ours = array.get().reshape(-1).view(struct).reshape(host[name].shape)
            for field in struct.names:
                assert same(ours[field], host[name][field]), (schedule, name, field)
