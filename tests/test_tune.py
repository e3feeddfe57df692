"""The planner's choice: by estimate, by what the compiler says of its result, and by measurement."""

import json
from dataclasses import dataclass

import numpy as np
import pytest
from click.testing import CliRunner

import c2cu
from c2cu import pipeline, tune
from c2cu.base.cache import Cache
from c2cu.base.diagnostics import CompileError, InputError
from c2cu.base.recent import Recent
from c2cu.cli import main
from c2cu.frontend.preprocess import read_source
from c2cu.report.explain import explanation, text
from c2cu.runtime import arrays, cpu, cuda, launch
from c2cu.schedule.artifact import Artifact
from c2cu.schedule.choose import Measurement, choose
from c2cu.schedule.estimate import Device, Estimate, preferred
from c2cu.schedule.schedule import Candidate
from c2cu.verdict import report_of
from tests.cuda_host import run_on_cpu
from tests.sample import sampled
from tests.workloads import EXAMPLES, WORKLOADS

FW = (
    (EXAMPLES / "floyd_warshall.c")
    .read_text()
    .replace(
        "void floyd_warshall(void) {",
        "void floyd_warshall(void) {\n    D[0][0] += 1;",  # so that `gep` does not take it
    )
)
SUM = "int a[40], o;\nvoid k(void) {\n    o = 0;\n    for (int i = 0; i < 40; i++) o += a[i];\n}\n"
LOOKUP = "unsigned char t[16], i[4], o[4];\nvoid k(void) {\n    for (int j = 0; j < 4; j++) o[j] = t[i[j] & 15];\n}\n"
NUMBER = "int a;\nvoid k(void) {\n    unsigned long at = (unsigned long)&a;\n    a = *(short *)(at + 2);\n}\n"
rng = np.random.default_rng(3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def cache(folder, monkeypatch):
    """A cache in which nothing was measured."""
    for path in folder.glob("*.tuned"):
        path.unlink()
    monkeypatch.setenv("C2CU_CACHE_DIR", str(folder))
    monkeypatch.setattr("c2cu.api._programs", Recent(9))


def understood(source, **options):
    return pipeline.understand(read_source(source), pipeline.Options(**options))


# Estimates

MEASURED = {  # milliseconds on an NVIDIA H200 for p inputs; "auto" must take the first, or gep
    "bitonic-32": (4 << 20, {"registers": 0.289, "block": 1.373, "thread": 2.486}),
    "fw-16": (128 << 10, {"block": 0.168, "thread": 2.110}),
    "fft-64": (64 << 10, {"registers": 0.030, "block": 0.051}),
    "dct-8x8": (1 << 20, {"registers": 0.075, "block": 0.365}),
    "montgomery-512": (2 << 20, {"registers": 0.222, "thread": 0.702}),
    "prefix-1024": (128 << 10, {"scan": 0.330, "thread": 1.226}),
}


@pytest.mark.parametrize("name", sampled(MEASURED, 2))
@pytest.mark.slow
def test_estimates_resemble_measurements(name):
    w = next(w for w in WORKLOADS if w.name == name)
    front = understood(w.path, defines={n: str(v) for n, v in w.defines.items()}, shared=w.shared)
    p, times = MEASURED[name]
    assert choose(front, "cuda", p=p)[0].schedule in ("gep", next(iter(times)))
    for schedule, ms in times.items():
        if schedule == "scan":  # it has no estimate: it is always taken before those that have
            continue
        (e,) = choose(front, "cuda", schedule)[0].estimates
        assert 1 / 4 < 1e3 * p * e.seconds(p) / ms < 4, schedule


def test_the_order_stands_where_estimates_are_close():
    first, close, fast = Estimate("a", 100), Estimate("b", 60), Estimate("c", 40)
    assert preferred([first, close], None) == 0 and preferred([first, close, fast], None) == 2
    assert preferred([first, None, fast], 10**9) == 2 and preferred([None, fast], None) == 0


def test_few_inputs_want_many_threads_each():
    one, many = Estimate("a", 100, 1), Estimate("b", 300, 128)
    assert [preferred([one, many], p) for p in (10, 10**6)] == [0 + 1, 0]
    small = Device(multiprocessors=1)
    assert [preferred([one, many], 5000, d) for d in (Device(), small)] == [1, 0]
    assert one.seconds(10**9) == pytest.approx(one.seconds())


@pytest.mark.slow
def test_a_schedule_that_is_far_slower_gives_way(monkeypatch):
    def slow_block(entry, artifact, trace):
        return Estimate(artifact.schedule, 1e6 if artifact.schedule == "block" else 1e5)

    monkeypatch.setattr("c2cu.schedule.choose.estimate", slow_block)
    plan, artifact = choose(understood(FW), "cuda", p=10**6)
    assert plan.schedule == artifact.schedule == "thread"
    assert "1024 bytes go out" in dict(plan.rejected)["registers"]
    assert dict(plan.rejected)["block"] == "an input takes 3.83 us by estimate, 383 ns under thread"
    assert [e.schedule for e in plan.estimates] == ["block", "thread"]


def test_what_is_close_to_the_limit_is_compared_with_nothing():
    plan, _ = choose(understood(EXAMPLES / "bitonic_sort.c"), "cuda")
    assert [e.schedule for e in plan.estimates] == ["registers"]


def test_what_was_not_traced_has_no_estimate():
    plan, _ = choose(understood(NUMBER), "cuda")
    assert plan.schedule == "private" and plan.estimates == ()


# What is measured


def measured(front, seconds, p=5000, schedule="auto", refuse=(), backend="cuda"):
    """`tune.tune` with times from ``seconds(artifact)``; also how often and with how many inputs each ran."""
    runs = []

    def load(artifact: Artifact) -> Artifact:
        if artifact.schedule in refuse:
            raise CompileError("C2CU061", "NVRTC does not take it\nat all")
        return artifact

    def run(artifact: Artifact, n: int) -> float:
        runs.append((artifact.schedule, n))
        return n * seconds(artifact)

    return tune.tune(front, backend, schedule, load, run, p), runs


def block_best(artifact: Artifact) -> float:
    threads = artifact.threads // artifact.inputs
    return {"block": {16: 1e-9, 32: 3e-9, 64: 2e-9}.get(threads, 1e-6)}.get(artifact.schedule, 1e-7)


@pytest.mark.slow
def test_candidates():
    tuning, runs = measured(understood(FW), block_best)
    assert [c for c, _ in tuning.times[:3]] == [Candidate("block", n) for n in (16, 64)] + [Candidate("block")]
    assert tuning.winner == Candidate("block", 16) and tuning.times[0][1] == pytest.approx(1e-9)
    assert {c.schedule for c, _ in tuning.times} == {"block", "thread", "private"} and tuning.p == 5000
    assert tuning.rejected[0][0] == "registers" and "1024 bytes go out" in tuning.rejected[0][1]
    often = {s: [r for r, _ in runs].count(s) for s in ("block", "thread")}
    assert often["thread"] == 1 < often["block"], "what cannot win is not repeated"


@pytest.mark.slow
def test_candidates_of_registers_and_of_the_cpu():
    tuning, _ = measured(understood(EXAMPLES / "bitonic_sort.c"), lambda a: 1 / a.inputs)
    assert tuning.winner == Candidate("registers", 128)
    tuning, _ = measured(understood(FW), lambda a: getattr(a, "lanes", 1) * 1e-6, backend="cpu")
    assert [c.schedule for c, _ in tuning.times] == ["native", "gang", "gang:two"]


@pytest.mark.slow
def test_one_schedule_by_name():
    tuning, _ = measured(understood(FW), block_best, schedule="block")
    assert {c.schedule for c, _ in tuning.times} == {"block"} and tuning.rejected == ()
    assert measured(understood(FW), block_best, schedule="registers")[0] is None


@pytest.mark.slow
def test_what_does_not_compile_is_rejected():
    tuning, _ = measured(understood(FW), block_best, refuse=("block",))
    assert tuning.winner.schedule == "thread" and dict(tuning.rejected)["block"] == "NVRTC does not take it"
    assert measured(understood(FW), block_best, refuse=("block", "thread", "private"))[0] is None


@pytest.mark.parametrize(
    "seconds, p, most", sampled([(1e-3, 10**6, 1 << 14), (1e-9, 10**6, (1 << 30) // 2048), (1e-9, 7, 7)], 2)
)
@pytest.mark.slow
def test_a_run_is_neither_long_nor_large(seconds, p, most):
    tuning, runs = measured(understood(FW), lambda _: seconds, p=p)
    assert tuning.p == max(n for _, n in runs) == most


@pytest.mark.slow
def test_time_runs_out(monkeypatch):
    monkeypatch.setattr(tune, "LIMIT", -1)
    tuning, _ = measured(understood(FW), block_best)
    assert tuning.winner == Candidate("block") and len(tuning.times) == 1
    assert dict(tuning.rejected)["thread"] == "there was no time left to measure it"


# What is remembered


@pytest.fixture
def device(monkeypatch):
    """A CUDA device that has a name and nothing else."""
    names = ["some GPU"]
    monkeypatch.setattr(cuda, "identity", lambda: tuple(names))
    monkeypatch.setattr(cuda, "device", Device)
    return names


FOUND = Measurement(10, ((Candidate("block", 64), 1e-9), (Candidate("thread"), 2e-9)), (("registers", "x.c:1: no"),))


def test_remembered(device):
    front = understood(FW)
    tune.remember(front, "cuda", "auto", 1000, FOUND)
    assert tune.recall(front, "cuda", "auto", 1000) == tune.recall(understood(FW), "cuda", "auto", 600) == FOUND
    assert tune.recall(front, "cuda", "auto", None) is tune.recall(front, "cuda", "auto", 2000) is None
    assert tune.recall(front, "cuda", "block", 1000) is tune.recall(front, "cpu", "auto", 1000) is None
    for other in (understood(FW, defines={"N": "8"}), understood(FW, fp="fast"), understood(SUM)):
        assert tune.recall(other, "cuda", "auto", 1000) is None
    again = Measurement(20, FOUND.times[1:])
    tune.remember(front, "cuda", "auto", 1000, again)
    assert tune.recall(front, "cuda", "auto", 1000) == again
    device[0] = "another GPU"
    assert tune.recall(front, "cuda", "auto", 1000) is None


def changed(**changes):
    data = {"p": 10, "times": [["block", 64, 1e-9]], "rejected": []}
    return json.dumps({**data, **changes})


BAD = [
    "",
    "{",
    "[]",
    "null",
    "\0\xff",
    changed(times=[]),
    changed(times=[["gang", 0, 1.0]]),
    changed(times=[["block", 64]]),
    changed(times=[["block", -1, 1.0]]),
    changed(times=[["block", 10**6, 1.0]]),
    changed(times=[["block", 64, "fast"]]),
    changed(times=[["block", 64, float("nan")]]),
    changed(times=5),
    changed(p=None),
    changed(rejected=[["block"]]),
]


@pytest.mark.parametrize("content", BAD)
def test_what_the_cache_should_not_hold_is_ignored(content, device):
    front = understood(FW)
    Cache().put(tune.name(front, "cuda", "auto", 9), ".tuned", lambda: content.encode())
    assert tune.recall(front, "cuda", "auto", 9) is None


# The library, on the CPU


@pytest.mark.slow
def test_results_are_the_winners(monkeypatch):
    d = rng.random((300, 16, 16), dtype=np.float32)
    expected = c2cu.bulk(FW, d, backend="cpu")
    slow = {"gep": 2.0, "gang": 1.0, "gang:two": 1.5, "native": 0.5}
    counts = []

    def timer(slots, inputs, layout):
        return lambda program, n: counts.append(n) or slow[program.artifact.schedule]

    monkeypatch.setattr(cpu, "timer", timer)
    program = c2cu.compile(FW, backend="cpu", tune=True)
    assert program.plan.schedule == "gang" and not counts
    assert np.array_equal(program(d), expected) and program.plan.schedule == "native"
    assert program.plan.measured.winner == Candidate("native") and max(counts) <= 300
    count = len(counts)
    for again in (program, c2cu.compile(FW, backend="cpu", tune=True), c2cu.compile(FW, backend="cpu")):
        assert np.array_equal(again(d[:270]), expected[:270])
        assert again.plan.schedule == "native" and len(counts) == count, "it is not measured twice"
    untuned = c2cu.compile(FW, backend="cpu")
    assert np.array_equal(untuned(d[:100]), expected[:100]) and untuned.plan.schedule == "gang"
    assert np.array_equal(program(d), expected) and program.plan.schedule == "native"


@pytest.mark.parametrize("layout", ["row", "column"])
def test_measuring_leaves_arrays_alone(layout):
    a = rng.integers(-99, 99, (500, 40)).astype(np.int32)
    matrix = a.copy() if layout == "row" else np.ascontiguousarray(a.T)
    text = SUM.replace("o += a[i]", "{ o += a[i]; a[i] = -a[i]; }")
    result = c2cu.bulk(text, {"a": matrix}, out={"a": matrix}, layout=layout, backend="cpu", tune=True)
    assert np.array_equal(result["o"], a.sum(axis=1))
    assert result["a"] is matrix and np.array_equal(matrix, -a if layout == "row" else -a.T)


def test_the_clock_runs():
    a = rng.integers(0, 256, (2000, 4)).astype(np.uint8)
    t = rng.integers(0, 256, 16).astype(np.uint8)
    program = c2cu.compile(LOOKUP, shared=("t",), backend="cpu", tune=True)
    assert np.array_equal(program({"i": a}, shared={"t": t}), t[a & 15])
    tuning = program.plan.measured
    assert {c.schedule for c, _ in tuning.times} == {"gang", "gang:two", "native"} and all(
        0 < s < 1 for _, s in tuning.times
    )
    assert 0 < tuning.p <= 2000  # fewer, where the machine is slow


@pytest.mark.slow
def test_lengths_and_p_without_arrays():
    text = "void k(float *o, int n) {\n    for (int i = 0; i < n; i++) o[i] = i;\n}\n"
    options = {"shapes": {"o": 3}, "backend": "cpu", "tune": True}
    assert c2cu.bulk(text, {"n": 2}, p=4, **options)[:, :2].tolist() == [[0, 1]] * 4
    assert c2cu.bulk(FW, np.ones((5, 3, 3), np.float32), backend="cpu", tune=True).shape == (5, 3, 3)
    assert c2cu.bulk(FW, np.ones((0, 16, 16), np.float32), backend="cpu", tune=True).shape == (0, 16, 16)


def test_a_users_mistake_stays_one():
    for d in (np.ones((4, 16, 16)), np.ones((4, 16), np.float32), [1, 2]):
        with pytest.raises(InputError):
            c2cu.bulk(FW, {"D": d}, backend="cpu", tune=True)
    with pytest.raises(InputError, match="is for backend cuda"):
        c2cu.compile(FW, backend="cpu", schedule="block", tune=True)


def test_a_winner_that_does_not_take_the_program():
    front = understood(NUMBER)
    tune.remember(front, "cpu", "auto", 3, Measurement(3, ((Candidate("gang"), 1e-9),)))
    program = c2cu.compile(NUMBER, backend="cpu")
    assert program(np.full(3, 7 << 16, np.int32)).tolist() == [7] * 3
    assert program.plan.schedule == "native" and program.plan.measured is None


def test_first_inputs():
    front = understood(LOOKUP, shared=("t",))
    i, t = np.zeros((9, 4), np.uint8), np.zeros(16, np.uint8)
    arguments = {"i": i, "t": t, "n": 3}
    first = arrays.first(arguments, front.slots, "row", 5)
    assert first["i"].shape == (5, 4) and first["t"] is t and first["n"] == 3
    assert arrays.first({"i": i.T}, front.slots, "column", 5)["i"].shape == (4, 5)
    assert arrays.count({"t": t, "i": i}, front.slots, "row", None) == 9
    assert arrays.count({"t": t, "i": i.T}, front.slots, "column", 4) == 9
    assert arrays.count({"n": 3}, front.slots, "row", 8) == 8


# The library on a device that the CPU stands in for


@dataclass(frozen=True)
class Loaded:
    artifact: Artifact
    drawback: str


@pytest.fixture
def stand_in(device, monkeypatch):
    """Runs artifacts for CUDA on the CPU. By schedule: the ``drawbacks`` that its compiler finds."""
    drawbacks = {}

    def run(program, slots, inputs, out, layout, stream, p):
        result = run_on_cpu(program.artifact, inputs, next(iter(inputs.values())).shape[0])
        return next(iter(result.values()))

    monkeypatch.setattr(launch, "load", lambda a: Loaded(a, "" if a.spills is None else drawbacks.get(a.schedule, "")))
    monkeypatch.setattr(launch, "timer", lambda *_: lambda program, n: n * block_best(program.artifact))
    monkeypatch.setattr(launch, "run", run)
    return drawbacks


@pytest.mark.slow
def test_a_block_that_spills_gives_way(stand_in):
    d = rng.random((70, 16, 16), dtype=np.float32)
    expected = c2cu.bulk(FW, d, backend="cpu")
    for drawback, schedule in (("", "block"), ("255 registers do not suffice", "thread")):
        stand_in["block"] = drawback
        program = c2cu.compile(FW, backend="cuda")
        assert program.plan.schedule == schedule and np.array_equal(program(d), expected)
        assert dict(program.plan.rejected).get("block", "") == drawback and "registers" in dict(program.plan.rejected)
    assert c2cu.compile(FW, backend="cuda", schedule="block").plan.schedule == "block"


@pytest.mark.slow
def test_few_inputs_may_be_scheduled_otherwise(stand_in, monkeypatch):
    def guess(entry, artifact, trace):
        return Estimate(artifact.schedule, *{"block": (3e5, 32)}.get(artifact.schedule, (1e5, 1)))

    monkeypatch.setattr("c2cu.schedule.choose.estimate", guess)
    d = rng.random((70, 16, 16), dtype=np.float32)
    program = c2cu.compile(FW, backend="cuda")
    assert program.plan.schedule == "thread"
    assert np.array_equal(program(d), c2cu.bulk(FW, d, backend="cpu")) and program.plan.schedule == "block"


@pytest.mark.slow
def test_the_measured_number_of_threads_runs(stand_in):
    d = rng.random((70, 16, 16), dtype=np.float32)
    program = c2cu.compile(FW, backend="cuda", tune=True)
    assert program.plan.threads // program.plan.lanes == 32
    assert np.array_equal(program(d), c2cu.bulk(FW, d, backend="cpu"))
    assert program.plan.measured.winner == Candidate("block", 16) and program.plan.threads // program.plan.lanes == 16


# What is said


def said(front, **options):
    e = explanation(front, "cuda", "auto", 1000, "exact", "some GPU", **options)
    return e, text(e, report_of(front)).splitlines()


@pytest.mark.slow
def test_explained(device):
    front = understood(FW)
    e, lines = said(front)
    assert (e["schedule"], e["lanes"], e["threads"]) == ("block", 4, 128) and e["measured"] is None
    assert [x["schedule"] for x in e["estimates"]] == ["block", "thread"]
    assert "schedule   block, 4 inputs in a block of 128 threads: 32 threads an input" in lines
    assert any(x.startswith("           by estimate: block ") and x.endswith(" an input, for p = 1,000") for x in lines)
    assert any("not registers: " in x for x in lines)
    tune.remember(front, "cuda", "auto", 1000, FOUND)
    e, lines = said(front)
    assert e["threads"] // e["lanes"] == 64 and json.loads(json.dumps(e)) == e
    chosen = "chosen by measurement: block with 64 threads 1 ns, thread 2 ns an input, for 10 inputs"
    assert f"           {chosen}" in lines and "           not measured: registers: x.c:1: no" in lines


def test_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sum.c").write_text(SUM)
    np.save("a.npy", np.arange(4000, dtype=np.int32).reshape(100, 40))

    def run(*arguments):
        return CliRunner().invoke(main, [str(a) for a in arguments])

    done = run("run", "sum.c", "--in", "a=a.npy", "--out", "o=o.npy", "--backend", "cpu", "--tune")
    assert done.exit_code == 0, done.output
    assert np.array_equal(np.load("o.npy"), np.load("a.npy").sum(axis=1))
    explained = run("explain", "sum.c", "--backend", "cpu", "--p", 100).output
    assert "chosen by measurement: " in explained and "for 100 inputs" in explained
    assert "chosen by measurement: " not in run("explain", "sum.c", "--backend", "cpu", "--p", 1000).output
    refused = run("run", "sum.c", "--p", 3, "--tune")
    assert refused.exit_code == 2 and "--tune goes with --in and --out" in refused.output


@pytest.mark.parametrize("kilobytes", [64, 99, 163])
def test_a_device_with_less_shared_memory(kilobytes):
    """The same schedule in another shape, where it has one, and nothing that does not fit."""
    w = next(w for w in WORKLOADS if w.name == "bitonic-1024")
    large = (str(EXAMPLES / "floyd_warshall.c"), {"N": 256})
    for path, defines, schedule in ((*large, "gep"), (str(w.path), dict(w.defines), "block")):
        front = pipeline.understand(read_source(path), pipeline.Options(defines=defines))
        plan, artifact = choose(front, "cuda", device=Device(shared_bytes=kilobytes << 10))
        assert plan.schedule == schedule
        assert 0 < artifact.shared_bytes <= kilobytes << 10
    assert choose(front, "cuda")[1].text == choose(front, "cuda", device=Device())[1].text
