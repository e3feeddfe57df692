"""The benchmarks' programs compute what their names say, and the harness sees a wrong result."""

import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import c2cu

pytest.importorskip("matplotlib")  # before the benchmarks, which draw

from benchmarks import gpu, math_lanes, measure, peers, plot_streaming, streaming, suite, vector_libraries
from c2cu.base import toolchain
from c2cu.schedule.gang.same_bits import NEEDS
from tests.oracle import same
from tests.workloads import WORKLOADS, fft, fir

pytestmark = pytest.mark.slow

FEW = ["--backend", "cpu", "--quick", "--repeats", "1"]


def workload(name: str):
    return next(w for w in WORKLOADS if w.name == name)


def run(w, inputs):
    return w.results(w.compile(backend="cpu")(inputs))


def test_fft_is_a_fourier_transform():
    w = fft(64)
    inputs = w.random(40)
    out = run(w, inputs)
    expected = np.fft.fft(inputs["re"] + 1j * inputs["im"])
    assert np.abs(out["re"] + 1j * out["im"] - expected).max() < 1e-4


def test_fir_is_a_convolution():
    w = fir(20, 5)
    inputs = w.random(3)
    expected = [np.convolve(x, inputs["h"], "valid") for x in inputs["x"]]
    assert np.abs(run(w, inputs)["y"] - expected).max() < 1e-5


def test_dct_is_a_cosine_transform():
    w = workload("dct-8x8")
    inputs = w.random(100)
    k = np.arange(8)
    basis = np.sqrt(np.where(k, 2, 1) / 8)[:, None] * np.cos((2 * k + 1) * k[:, None] * np.pi / 16)
    expected = 8 * basis @ inputs["block"].reshape(-1, 8, 8) @ basis.T
    assert np.abs(run(w, inputs)["block"].reshape(-1, 8, 8) - expected).max() < 1.5


def test_edit_distance():
    w = workload("edit-32")

    def pair(a: bytes, b: bytes):
        return [np.frombuffer(s.ljust(32, b"."), np.uint8) for s in (a, b)]

    a, b = zip(pair(b"kitten", b"sitting"), pair(b"", b""), pair(b"abc", b"bcd"), pair(b"a" * 32, b"b" * 32))
    assert run(w, {"a": np.stack(a), "b": np.stack(b)})["return"].tolist() == [3, 0, 2, 32]


def test_an_oracle_for_shared_inputs():
    """The oracle and the program agree on what is shared; a modulus of one's own gives another product."""
    w, unshared = workload("montgomery-512-shared"), workload("montgomery-512")
    inputs, others = w.inputs(5), unshared.inputs(5)
    assert inputs["m"].shape == (16,) and same(inputs["m"], others["m"][0])
    product, other = run(w, inputs)["r"], run(unshared, others)["r"]
    assert same(product[0], other[0]) and not np.array_equal(product[1:], other[1:])


def test_the_table(tmp_path, capsys):
    file = tmp_path / "x.json"
    assert gpu.main([*FEW, "--only", "bitonic-32,edit-32,fft-64", "--json", str(file)]) == 0
    printed = capsys.readouterr().out
    rows = json.loads(file.read_text())["rows"]
    assert [(r["workload"], r["fp"]) for r in rows] == [
        ("bitonic-32", "exact"),
        ("bitonic-32", "fast"),
        ("fft-64", "exact"),
        ("fft-64", "fast"),
        ("edit-32", "exact"),
    ]
    for r in rows:
        assert set(r["schedules"]) == {"gep", "gang", "native", "auto"} and r["workload"] in printed
        assert "refused" in r["schedules"].pop("gep")
        assert all(c["ms"] > 0 for c in (*r["schedules"].values(), *r["peers"].values()))
        assert r["schedules"]["auto"]["ms"] == r["schedules"]["gang"]["ms"]  # one text, measured once
    assert set(rows[0]["peers"]) == {"numpy.sort"}
    assert rows[-1]["bytes"] == rows[-1]["p"] * (32 + 32 + 4)


def test_a_wrong_result_is_seen(monkeypatch, capsys):
    honest = c2cu.Program.__call__

    def wrong(self, *args, **kwargs):
        result = honest(self, *args, **kwargs)
        if self.plan.schedule == "gang":
            result[-1, 3] += 1
        return result

    monkeypatch.setattr(c2cu.Program, "__call__", wrong)
    assert gpu.main([*FEW, "--only", "dct-8x8"]) == 1
    printed = capsys.readouterr().out
    assert "WRONG" in printed and "gang          wrong: 'block': 1 of 2560 elements differ" in printed


def test_a_refusal_says_why(tmp_path, monkeypatch, capsys):
    source = tmp_path / "halves.c"
    source.write_text(
        "float a;\nvoid f(void) {\n    unsigned long at = (unsigned long)&a;\n    a = *(short *)(at + 2);\n}\n"
    )
    halves = suite.Workload("halves", str(source), "f", {}, (("a", "float32", ()),), ("a",))
    monkeypatch.setattr(gpu, "CASES", (suite.Case(halves, 1000),))
    assert gpu.main(FEW) == 0
    printed = capsys.readouterr().out
    assert "gang          refused: " in printed and "halves.c:" in printed and "pointer" in printed


def test_a_fault_does_not_stop_the_others(monkeypatch, capsys):
    monkeypatch.setattr(gpu.registry, "names", lambda backend: ("sideways", "gang", "native"))
    honest = suite.Workload.compile

    def faulty(w, schedule, **options):
        assert schedule != "sideways", "there is a fault"
        return honest(w, schedule="gang" if schedule == "auto" else schedule, **options)

    monkeypatch.setattr(suite.Workload, "compile", faulty)
    assert gpu.main([*FEW, "--only", "dct-8x8"]) == 1
    printed = capsys.readouterr().out
    assert "sideways      failed: AssertionError: there is a fault" in printed and "gang  " in printed


def test_no_measurement_starts_late(monkeypatch, capsys):
    assert gpu.main([*FEW, "--only", "dct-8x8", "--seconds", "0"]) == 0
    assert "dct-8x8                skipped: no time left" in capsys.readouterr().out
    answers = iter([False])  # time runs out after the inputs were made
    monkeypatch.setattr(gpu.Run, "out_of_time", property(lambda run: next(answers, True)))
    assert gpu.main([*FEW, "--only", "dct-8x8"]) == 0
    assert "gang          skipped: no time left" in capsys.readouterr().out


@pytest.mark.parametrize("choice", [["--only", "bitonic-3"], ["--schedule", "thread"]])
def test_unknown_names(choice, capsys):
    with pytest.raises(SystemExit) as e:
        gpu.main([*FEW, *choice])
    assert e.value.code == 2 and f"unknown: {choice[1]}; choose from" in capsys.readouterr().err


def test_targets():
    case = suite.Case(workload("fw-16"), 1, ms={"exact": 2.0}, share=0.5, faster={"a": 3, "b": 3})
    row = {"fp": "exact", "copy_limit_ms": 1.0, "peers": {"a": {"ms": 4.5}}, "schedules": {"auto": {"ms": 1.8}}}
    results = [(t["target"], t["met"]) for t in gpu.targets(case, row)]
    assert results == [("2 ms", True), ("50% of the copy rate", True), ("3x a", False), ("3x b", None)]
    assert {t["met"] for t in gpu.targets(case, {**row, "schedules": {"auto": {"failed": ""}}})} == {None}


def test_every_case_names_peers_that_there_are():
    for case in suite.CASES:
        assert set(case.faster) <= set(case.peers) <= set(gpu.PEERS)
        assert set(case.ms) <= set(case.fps)


def test_steps_on_whole_arrays_are_floyd_and_warshalls(tmp_path):
    file = tmp_path / "x.json"
    assert gpu.main([*FEW, "--only", "fw-16,fw-64", "--schedule", "gang", "--json", str(file)]) == 0
    rows = json.loads(file.read_text())["rows"]
    assert len(rows) == 4 and all(r["peers"]["numpy.steps"]["ms"] > 0 for r in rows)


@pytest.mark.parametrize("name", ["jax.vmap", "torch.steps", "torch.compile", "torch.compile(step)"])
def test_peers_that_are_not_installed_are_missing(name, monkeypatch):
    monkeypatch.setitem(sys.modules, name.split(".")[0], None)
    with pytest.raises(peers.Missing, match=f"no {name.split('.')[0]}"):
        peers.PEERS[name].prepare(np, {})


@pytest.mark.parametrize("name", ["jax.vmap", "torch.steps", "torch.compile", "torch.compile(step)"])
def test_compiled_steps_do_the_same(name, monkeypatch):
    library = pytest.importorskip(name.split(".")[0])
    monkeypatch.setattr(peers, f"_{name.split('.')[0]}", lambda: library)  # on the CPU too
    inputs, peer = workload("fw-16").random(7), peers.PEERS[name]
    result = peer.prepare(np, inputs)()
    if peer.wait:
        peer.wait(result)
    assert same(peer.read(np, result)["D"], run(workload("fw-16"), inputs)["D"])


def test_a_library_with_streams_of_its_own_is_waited_for(monkeypatch):
    """Before its result is read, and once for all calls in a row."""
    done = []

    def prepare(xp, inputs):
        return lambda: done.append("call") or inputs["D"]

    def read(xp, a):
        assert done == ["call", "wait"]
        return {"D": a}

    peer = peers.Peer("cpu", prepare, read, lambda a: done.append("wait"))
    monkeypatch.setitem(gpu.PEERS, "its own", peer)
    d = np.ones((1, 2, 2), np.float32)
    setting = gpu.Run(measure.Host(), (), 2, True, 1.0, float("inf"))
    assert gpu.peer("its own", setting, gpu.Data({"D": d}, {"D": d}, 1))["ms"] > 0
    first, *rows = "".join(x[0] for x in done[2:]).split("w")[:-1]
    assert first == "c" and len(rows) == 3 and len(set(rows)) == 1 and rows[0] in measure.MOST * "c"


@pytest.mark.parametrize("late, runs", [(0, 1), (1, 2), (9, 4)])
def test_the_device_is_kept_busy_until_all_is_enqueued(late, runs):
    """The call is repeated behind a longer wait where the device was idle before the host was done; not for ever."""
    calls = []

    class Event:
        done = property(lambda self: len(calls) <= late)

        def record(self):
            pass

        synchronize = record

    device = object.__new__(measure.Device)
    device._busy = lambda blocks, threads, arguments: None
    device.xp = SimpleNamespace(cuda=SimpleNamespace(Event=Event, get_elapsed_time=lambda a, b: 0.5))
    assert device.once(lambda: calls.append(1) or "result") == (0.5, "result")
    assert len(calls) == runs


def test_the_kernel_alone_gets_fresh_data_each_time():
    launched = []
    loaded = SimpleNamespace(
        compile_seconds=0.1,
        resources={"c2cu_pack": {}, "c2cu_run": {}},
        artifact=SimpleNamespace(
            slots=[SimpleNamespace(name="x", writes=False), SimpleNamespace(name="y", writes=True)]
        ),
        table=lambda ins, outs: (ins, outs),
        working=lambda p: (p, "memory"),
        launch=lambda name, table, p, memory: launched.append((name, table, memory)),
    )
    device = object.__new__(measure.Device)
    device.once = lambda f: (0.25, f())
    figures = device.inside(SimpleNamespace(loaded=loaded), {"x": 1}, 2, 10)
    assert figures["run_ms"] == 0.25 and figures["compile_seconds"] == 0.1
    assert [n for n, _, _ in launched] == ["c2cu_pack", "c2cu_run"] * 6
    assert launched[0][1:] == (([1, None], [None, 2]), "memory")


@pytest.mark.slow
def test_real_work_is_measured_and_right(tmp_path):
    from benchmarks import real_work

    real_work.main(["--quick", "--json", str(tmp_path / "r.json")])
    rows = json.loads((tmp_path / "r.json").read_text())["rows"]
    assert len(rows) == 16 and all(r["ratio"] > 0 for r in rows)


@pytest.mark.slow
def test_real_work_for_a_gpu_is_measured_and_right(tmp_path, capsys):
    from benchmarks import gpu_real_work

    json_file = tmp_path / "g.json"
    gpu_real_work.main(["--quick", "--backend", "cpu", "--only", "crc32,mandelbrot,regex", "--json", str(json_file)])
    rows = {r["workload"]: r["schedules"]["auto"] for r in json.loads(json_file.read_text())["rows"]}
    assert len(rows) == 4 and all(r["ns"] > 0 and not r["differs"] for r in rows.values())
    assert "CRC-32, a table of 16" in capsys.readouterr().out


@pytest.mark.slow
def test_first_and_later_processes_are_measured(tmp_path):
    from benchmarks import processes

    processes.main(["--quick", "--json", str(tmp_path / "p.json")])
    (row,) = json.loads((tmp_path / "p.json").read_text())["rows"]
    assert row["first"] > row["later"] > 0 and len(row["parts"]) == 3


@pytest.mark.slow
def test_tables_of_their_own_are_measured_and_right(tmp_path):
    from benchmarks import own_tables

    own_tables.main(["--quick", "--json", str(tmp_path / "t.json")])
    assert len(json.loads((tmp_path / "t.json").read_text())["rows"]) == 5


@pytest.mark.slow
def test_worst_cases_are_measured_and_right(tmp_path):
    from benchmarks import worst_cases

    worst_cases.main(["--quick", "--json", str(tmp_path / "w.json")])
    rows = json.loads((tmp_path / "w.json").read_text())["rows"]
    assert len(rows) == 6 and all(r["ratio"] > 0 for r in rows)


@pytest.mark.slow
def test_generated_kernels_are_measured_and_right(tmp_path):
    from benchmarks import generated

    generated.main(["--quick", "--json", str(tmp_path / "g.json")])
    rows = json.loads((tmp_path / "g.json").read_text())["rows"]
    assert len(rows) >= 5 and all(r["ratio"] > 0 for r in rows)  # those of generators where these are installed


def test_streams_are_measured_and_drawn(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    assert streaming.main(["--backend", "cpu", "--quick", "--json", str(tmp_path / "s.json")]) == 0
    assert capsys.readouterr().out.count("knee") == 3
    data = json.loads((tmp_path / "s.json").read_text())
    assert all(row["gb_s"] > 0 for case in data["cases"].values() for row in case["sweep"])
    data["duplex_gb_s"], data["device"] = 100.0, "a device"
    data["cases"]["fw-16"]["timeline"] = [{"group": 1, "what": "kernel", "start_ms": 0.0, "end_ms": 1.0}]
    (tmp_path / "s.json").write_text(json.dumps(data))
    plot_streaming.main([str(tmp_path / "s.json"), str(tmp_path)])
    for name in ("streaming-groups.png", "streaming-timeline.png"):
        assert (tmp_path / name).read_bytes()[:4] == b"\x89PNG"


def test_a_wrong_group_is_noticed():
    r = streaming.ring(streaming.CASES[1], streaming.Setting("cpu", True))
    streaming.check(r, 16)
    next(iter(r.expected.values()))[40] += 1
    with pytest.raises(AssertionError, match="wrong in the group at 32"):
        streaming.check(r, 16)


@pytest.mark.skipif(not toolchain.cpu_features() >= NEEDS, reason="the processor lacks AVX2 or FMA")
def test_functions_in_lanes_beside_vector_libraries(tmp_path, monkeypatch, capsys):
    """A library whose exp is one unit too large, whose powf has its arguments in order, and which has no fmod."""
    library, report = tmp_path / "planted.so", tmp_path / "m.json"
    code = f"""
        #include <math.h>
        typedef double doubles __attribute__((vector_size({toolchain.vector_bytes()})));
        typedef float floats __attribute__((vector_size({toolchain.vector_bytes()})));
        enum {{ N = sizeof(doubles) / sizeof(double) }};
        doubles {vector_libraries.symbol("exp")}(doubles x) {{
            for (int l = 0; l < N; l++) x[l] = nextafter(exp(x[l]), INFINITY);
            return x;
        }}
        floats {vector_libraries.symbol("powf")}(floats x, floats y) {{
            for (int l = 0; l < 2 * N; l++) x[l] = powf(x[l], y[l]);
            return x;
        }}
    """
    flags = ("-O1", "-march=native", "-shared", "-fPIC")
    library.write_bytes(toolchain.compiled((*toolchain.find_compiler(), *flags), code))
    monkeypatch.setattr(vector_libraries, "FILES", {"planted": str(library), "absent": "libabsent.so.0"})
    math_lanes.main(["exp", "powf", "fmod", "--vectors", "--quick", "--json", str(report)])
    rows = {r["name"]: r["loops"] for r in json.loads(report.read_text())["rows"]}
    assert all(timed["ns"] > 0 for loops in rows.values() for timed in loops.values())
    right, wrong = {"differ": 0, "apart": 0, "anywhere": 0}, {"differ": 1, "apart": 1, "anywhere": 1}
    found = {name: {which: {**timed, "ns": 0} for which, timed in loops.items()} for name, loops in rows.items()}
    ours = {"scalar": {"ns": 0}, "ours": {"ns": 0, **right}}
    assert found == {
        "exp": {**ours, "planted": {"ns": 0, **wrong}},
        "powf": {**ours, "planted": {"ns": 0, **right}},
        "fmod": ours,
    }
    printed = capsys.readouterr().out
    assert "absent: skipped, as this machine has no libabsent.so.0" in printed
    assert next(line for line in printed.splitlines() if line.startswith("fmod")).rstrip().endswith("|        -")


@pytest.mark.parametrize("t", [np.float32, np.float64])
def test_distances_of_numbers(t):
    limits = np.finfo(t)
    least = limits.smallest_subnormal
    pairs = [
        (1, 1, None),
        (1 + limits.eps, 1, 1),
        (-1, -1 - limits.eps, 1),
        (0.0, -0.0, 0),
        (-least, 2 * least, 3),
        (np.inf, limits.max, 1),
        (np.nan, -np.nan, None),
    ]
    results, right = (np.array([p[k] for p in pairs], t) for k in (0, 1))
    expected = [d for *_, d in pairs if d is not None]
    assert vector_libraries.distances(results, right).tolist() == expected
    assert vector_libraries.distances(right, results).tolist() == expected
    ends = np.array([-limits.max], t), np.array([limits.max], t)
    largest = int(ends[1].view(f"u{limits.dtype.itemsize}")[0])
    assert vector_libraries.distances(*ends).tolist() == [2 * largest]
