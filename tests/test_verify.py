"""Verification: a fault in a schedule's text is found on the first call, whose results are right all the same."""

import json
import os
import re
import subprocess
import sys
import threading
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pycparser import c_ast as C

import c2cu
from c2cu.base.cache import cache_folder
from c2cu.base.recent import Recent
from c2cu.codegen.c_printer import CPrinter
from c2cu.codegen.cuda import CudaText
from c2cu.codegen.simd import Printer
from c2cu.frontend.options import Options
from c2cu.frontend.preprocess import Source
from c2cu.pipeline import understand
from c2cu.program import verify
from c2cu.program.verify import NATIVE
from c2cu.runtime import cpu
from c2cu.schedule import registry
from tests.cuda_host import run_on_cpu
from tests.sample import sampled
from tests.workloads import EXAMPLES

P = 300
TEXT = "float a[8];\nint n;\nvoid k(void) { for (int i = 0; i < 8; i++) { a[i] = a[i] * 0.5f - i; n += a[i] > 0; } }\n"
FW = """#define N 12
float D[N][N];
void fw(void) {
    for (int k = 0; k < N; k++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                if (D[i][k] + D[k][j] < D[i][j]) D[i][j] = D[i][k] + D[k][j];
}
"""
PRODUCT = FW.replace("D[N][N]", "A[N][N], B[N][N], C[N][N]").replace(
    "if (D[i][k] + D[k][j] < D[i][j]) D[i][j] = D[i][k] + D[k][j];", "C[i][j] = C[i][j] + A[i][k] * B[k][j];"
)
rng = np.random.default_rng(5)


@pytest.fixture(autouse=True)
def fresh(monkeypatch, tmp_path):
    """Nothing is known, and verification is on, as it is for users."""
    monkeypatch.setenv("C2CU_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("C2CU_VERIFY")
    monkeypatch.setattr(verify, "WAITING", 1000)  # other tests may keep the compiler busy
    forget(monkeypatch)


def forget(monkeypatch):
    """As in a new process."""
    monkeypatch.setattr(cpu, "_loaded", Recent(16))
    monkeypatch.setattr("c2cu.api._programs", Recent(16))


def data(p=P):
    return {"a": rng.random((p, 8), dtype=np.float32) * 20, "n": np.arange(p, dtype=np.int32)}


def right(text, inputs, **options):
    return c2cu.bulk(text, inputs, backend="cpu", schedule=NATIVE, **options)


@pytest.fixture
def planted(monkeypatch):
    """Plants a fault in a printer: sums of floats are printed as differences, and the other way round."""
    other = {"+": "-", "-": "+"}

    def plant(cls=Printer):
        name = "visit_BinaryOp" if cls is CPrinter else "binary"
        original = getattr(cls, name)

        def binary(self, e, *more):
            floating = self.floating(e) if cls is CPrinter else e.type.is_float
            if not floating or e.op not in other:
                return original(self, e, *more)
            if cls is CPrinter:
                return original(self, C.BinaryOp(other[e.op], e.left, e.right, e.coord))
            return original(self, replace(e, op=other[e.op]), *more)

        monkeypatch.setattr(cls, name, binary)

    return plant


@pytest.fixture
def runs(monkeypatch):
    """The numbers of inputs that native does beside a schedule."""
    counts, original = [], verify.Verification.run
    monkeypatch.setattr(
        verify.Verification, "run", lambda self, g, layout, p: counts.append(p) or original(self, g, layout, p)
    )
    return counts


def test_equal_results_are_noted_and_compared_once(runs, monkeypatch):
    inputs = data()
    expected = right(TEXT, inputs)
    assert not runs
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            results = c2cu.bulk(TEXT, inputs, backend="cpu", schedule="gang")
            assert all(np.array_equal(results[n], expected[n]) for n in expected)
        compared = sum(runs)
        assert runs[0] == 1 and 10 < compared <= verify.MOST
        forget(monkeypatch)
        c2cu.bulk(TEXT, inputs, backend="cpu", schedule="gang")
    assert sum(runs) == compared, "a later process has nothing to do"
    assert len(list(cache_folder().glob("*.verified"))) == 1


def test_a_fault_of_gangs_printer_is_found(planted, monkeypatch):
    planted()
    inputs = data()
    expected = right(TEXT, inputs)
    with pytest.warns(c2cu.MismatchWarning) as told:
        results = c2cu.bulk(TEXT, inputs, backend="cpu", schedule="gang")
    assert all(np.array_equal(results[n], expected[n]) for n in expected), "the results are the C's"
    text = str(told[0].message)
    assert re.search(r"schedule gang: 'a\[1\]' of input 0 is \S+, but the C gives \S+ \[C2CU255\]", text), text
    report = json.loads(Path(re.search(r"report, (\S+\.json)", text)[1]).read_text())
    assert (
        report["schedule"] == "gang" and "a[i] * 0.5f - i" in report["text"] and report["arrays (.npy in base64)"]["a"]
    )
    for _ in range(2):  # in this process and in the next: native runs it
        assert all(
            np.array_equal(x, expected[n]) for n, x in c2cu.bulk(TEXT, inputs, backend="cpu", schedule="gang").items()
        )
        forget(monkeypatch)


def last_input_wrong(monkeypatch) -> None:
    """Have gang compute one element of the last input wrongly."""
    original = cpu.CpuProgram.run

    def run(self, inputs, outputs, p):
        original(self, inputs, outputs, p)
        if self.artifact.schedule == "gang" and p == P:
            outputs[0][-1] += 1

    monkeypatch.setattr(cpu.CpuProgram, "run", run)


def test_one_lane_alone_is_wrong(planted, monkeypatch):
    """The last input, too, is among those compared."""
    last_input_wrong(monkeypatch)
    with pytest.warns(c2cu.MismatchWarning, match=f"of input {P - 1} is"):
        inputs = data()
        results = c2cu.bulk(TEXT, inputs, backend="cpu", schedule="gang")
    assert np.array_equal(results["a"], right(TEXT, inputs)["a"])


@pytest.mark.slow
def test_a_fault_of_gep_is_found(planted):
    planted()
    inputs = {n: rng.random((40, 12, 12), dtype=np.float32) for n in "ABC"}
    with pytest.warns(c2cu.MismatchWarning, match="schedule gep"):
        result = c2cu.bulk(PRODUCT, inputs, backend="cpu", schedule="gep")
    assert np.array_equal(result, right(PRODUCT, inputs))


@pytest.mark.parametrize("how", ["out is the input", "another out", "column", "a number", "column in place"])
def test_in_place_and_other_layouts(planted, how):
    text = "float a[8];\nvoid k(float s) { for (int i = 0; i < 8; i++) a[i] = a[i] * 0.5f - s; }\n"
    planted()
    a, layout = data()["a"], "column" if "column" in how else "row"
    a = np.ascontiguousarray(a.T) if layout == "column" else a
    options = {"shared": {"s": 3.0}, "layout": layout}
    expected = right(text, {"a": a}, **options)
    out = {"out is the input": a, "another out": a + 1, "column in place": a}.get(how)
    with pytest.warns(c2cu.MismatchWarning):
        result = c2cu.bulk(text, {"a": a}, out=out, backend="cpu", schedule="gang", **options)
    assert np.array_equal(result, expected) and (out is None or result is out)
    again = c2cu.bulk(text, {"a": result.copy()}, backend="cpu", schedule="gang", **options)
    assert np.array_equal(again, right(text, {"a": expected}, **options))


def test_in_place_without_a_fault():
    inputs = data()
    expected = right(TEXT, inputs)
    results = c2cu.bulk(TEXT, inputs, out=inputs, backend="cpu", schedule="gang", verify="strict")
    assert results["a"] is inputs["a"] and all(np.array_equal(inputs[n], expected[n]) for n in expected)


SUMS = "float a[64];\nvoid k(void) { float s = 0; for (int i = 0; i < 64; i++) { s = s + a[i]; a[i] = s; } }\n"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["thread", "private", "registers", "scan", "block", "gep"])
def test_a_fault_of_each_schedule_for_a_gpu_is_found(name, planted, monkeypatch):
    """Its text is executed by the CPU."""
    text, variable, shape = (SUMS, "a", (64,)) if name in ("scan", "registers") else (FW, "D", (12, 12))
    inputs = {variable: rng.random((70, *shape), dtype=np.float32)}
    monkeypatch.setattr("c2cu.tune.identity", lambda backend: (backend,))
    for fault in (False, True):
        if fault:
            planted(CPrinter if name in ("thread", "private") else CudaText)
        front = understand(Source("k.c", text), Options())
        artifact = registry.emit_schedule(name, front)
        proof = verify.Verification(front, artifact, "cuda", "auto")
        results = run_on_cpu(artifact, inputs, 70)
        mismatch = proof.compare(inputs, results, "row", range(70), 1.0, 0.001)
        assert (mismatch is not None) == fault and proof.equal == (not fault), name


def test_strict_raises(planted):
    planted()
    program = c2cu.compile(TEXT, backend="cpu", schedule="gang", verify="strict")
    with pytest.raises(c2cu.MismatchError, match="of input 0 is"):
        program(data())


def test_off_compares_nothing(planted, runs, recwarn):
    planted()
    inputs = data()
    results = c2cu.bulk(TEXT, inputs, backend="cpu", schedule="gang", verify=False)
    assert not np.array_equal(results["a"], right(TEXT, inputs)["a"]) and not runs and not len(recwarn)


def test_the_environment_decides_anew(runs, monkeypatch):
    inputs = data()
    monkeypatch.setenv("C2CU_VERIFY", "off")
    c2cu.bulk(TEXT, inputs, backend="cpu", schedule="gang")
    assert not runs
    monkeypatch.setenv("C2CU_VERIFY", "all")
    c2cu.bulk(TEXT, inputs, backend="cpu", schedule="gang")
    assert sum(runs) == P


def test_all_compares_every_input_of_every_call(runs, monkeypatch):
    program = c2cu.compile(TEXT, backend="cpu", schedule="gang", verify="all")
    for _ in range(2):
        program(data(5000))
    assert sum(runs) == 10000
    original = cpu.CpuProgram.run

    def run(self, inputs, outputs, p):
        original(self, inputs, outputs, p)
        if p == 5000:
            outputs[1][3333] += 1

    monkeypatch.setattr(cpu.CpuProgram, "run", run)
    with pytest.warns(c2cu.MismatchWarning, match="'n' of input 3333 is"):
        program(data(5000))


def test_an_unknown_mode():
    with pytest.raises(c2cu.InputError, match="verify"):
        c2cu.compile(TEXT, backend="cpu", verify="often")


def test_streams(planted, runs):
    inputs = data(1000)
    expected = right(TEXT, inputs)

    def streamed():
        batches = ({n: a[k : k + 250] for n, a in inputs.items()} for k in range(0, 1000, 250))
        return list(c2cu.stream(TEXT, batches, group=100, backend="cpu", schedule="gang"))

    assert np.array_equal(np.concatenate([r["a"] for r in streamed()]), expected["a"]) and sum(runs) > 10
    planted()
    c2cu.api._programs = Recent(4)
    with pytest.warns(c2cu.MismatchWarning):
        assert np.array_equal(np.concatenate([r["a"] for r in streamed()]), expected["a"])


@pytest.mark.parametrize("how", sampled(["batches", "column", "target"], 2))
def test_all_compares_every_group_of_a_stream(runs, monkeypatch, how):
    """One input in the third group is wrong."""
    inputs, layout = data(1000), "column" if how == "column" else "row"
    expected = right(TEXT, inputs)
    original = cpu.CpuProgram.run

    def run(self, ins, outputs, p):
        original(self, ins, outputs, p)
        if self.artifact.schedule == "gang":
            outputs[1][:] += ins[1] == 233

    monkeypatch.setattr(cpu.CpuProgram, "run", run)
    turn = (lambda a: np.ascontiguousarray(np.moveaxis(a, 0, -1))) if how == "column" else (lambda a: a)
    options = {"latency_target": 10.0} if how == "target" else {"group": 100}
    stream = c2cu.stream(
        TEXT,
        ({n: turn(a[k : k + 250]) for n, a in inputs.items()} for k in range(0, 1000, 250)),
        verify="all",
        backend="cpu",
        schedule="gang",
        layout=layout,
        **options,
    )
    with pytest.warns(c2cu.MismatchWarning, match=r"schedule gang: 'n' of input \d+ is") as told:
        results = list(stream)
    assert len(told) == 1 and told[0].filename == __file__ and (how == "target" or sum(runs) == 1100)
    for n in "an":
        assert np.array_equal(
            np.concatenate([r[n] for r in results], -1 if layout == "column" else 0), turn(expected[n])
        )


def test_nan_is_nan():
    text = "double a;\nvoid k(double *b) { *b = a / a; }\n"
    a = np.float64([0.0, -0.0, np.inf, np.nan, 1.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        c2cu.bulk(text, {"a": a}, shapes={"b": 1}, backend="cpu", schedule="gang")


@pytest.mark.parametrize(
    "ours, right, where",
    [
        (np.float32([[1, 2], [3, 4]]), np.float32([[1, 2], [3, 5]]), (1, 1)),
        (np.float32([0.0]), np.float32([-0.0]), (0,)),
        (np.float32([np.nan]), -np.float32([np.nan]), None),
        (np.float64([np.nan, 1]), np.float64([1, np.nan]), (0,)),
        (np.longdouble([1.5]), np.longdouble([1.5]), None),
        (np.complex64([1 + 2j, 1j]), np.complex64([1 + 2j, 2j]), (1,)),
        (np.uint8([1, 2]), np.uint8([1, 3]), (1,)),
        (np.zeros(3, "V4"), np.zeros(3, "V4"), None),
        (np.array([(1, 2.0), (3, 4.0)], "i2,f8"), np.array([(1, 2.0), (3, 4.5)], "i2,f8"), (1,)),
        (np.zeros((2, 0)), np.zeros((2, 0)), None),
    ],
)
def test_where_results_differ(ours, right, where):
    assert verify.difference(ours, right, True) == where


def test_an_address_is_no_result(recwarn):
    text = (
        "struct T { int v; struct { struct T *n; int w[2]; } in; };\nstruct T g;\nint k(const int a[4]) {\n"
        "    struct T l[2];\n    g.v = a[0];\n    g.in.w[1] = a[1];\n    g.in.n = &l[a[1] & 1];\n"
        "    l[0].v = a[2];\n    l[1].v = a[3];\n    return g.in.n->v;\n}\n"
    )
    a = np.arange(40, dtype=np.int32).reshape(10, 4)
    out = c2cu.bulk(text, a, backend="cpu", schedule="gang", verify="strict")
    assert np.array_equal(out["return"], a[np.arange(10), 2 + (a[:, 1] & 1)])
    assert np.array_equal(out["g"]["in"]["w"][:, 1], a[:, 1])


def test_freedom_of_rounding_is_no_fault(recwarn):
    text = "float s;\nvoid k(const float *a) { s = 0; for (int i = 0; i < 64; i++) s += a[i] * a[i]; }\n"
    a = rng.random((P, 64), dtype=np.float32)
    for fp in ("fast", "reassociate"):
        c2cu.bulk(text, {"a": a}, backend="cpu", schedule="gang", fp=fp)
    assert not [w for w in recwarn if issubclass(w.category, c2cu.MismatchWarning)]


def test_what_takes_long_is_not_verified(runs, monkeypatch):
    monkeypatch.setattr(verify, "STEPS", 100.0)
    program = c2cu.compile(TEXT, backend="cpu", schedule="gang")
    program(data())
    assert program._current().proof.why_not.startswith("an input alone takes native") and not runs


def test_what_took_long_is_not_verified(runs, monkeypatch):
    """The accesses were not counted."""
    text = "unsigned x;\nvoid k(void) { unsigned y = x; for (int i = 0; i < 400000000; i++) y = y * 5 + x; x = y; }\n"
    program = c2cu.compile(text, backend="cpu", schedule="gang")
    program(np.arange(3, dtype=np.uint32))
    assert "takes native about" in program._current().proof.why_not and not runs


def test_what_native_does_not_run_is_not_verified(monkeypatch, recwarn):
    def refused(*_, **__):
        raise c2cu.UnsupportedError("C2CU010", "no")

    original = registry.emit_schedule
    monkeypatch.setattr(
        registry, "emit_schedule", lambda n, *a, **k: refused() if n == NATIVE else original(n, *a, **k)
    )
    program = c2cu.compile(TEXT, backend="cpu", schedule="gang")
    program(data())
    assert program._last.proof.why_not == "schedule native does not run it: no" and not len(recwarn)


@pytest.fixture
def slow(monkeypatch):
    """Native is compiled once `set` is called."""
    begin, original = threading.Event(), verify.Verification._compile
    monkeypatch.setattr(verify.Verification, "_compile", lambda self: (begin.wait(), original(self)))
    monkeypatch.setattr(verify, "WAITING", 0.1)
    yield begin
    begin.set()
    for t in threading.enumerate():  # what is compared late would be noted in the next test's cache
        if t.name == "c2cu-verify":
            t.join()


@pytest.mark.parametrize("layout", ["row", pytest.param("column", marks=pytest.mark.slow)])
def test_a_call_does_not_wait_for_a_slow_compiler(slow, planted, runs, layout):
    """What it returned is compared later, and the next call tells."""
    planted()
    inputs = data() if layout == "row" else {n: np.ascontiguousarray(np.moveaxis(a, 0, -1)) for n, a in data().items()}
    expected = right(TEXT, inputs, layout=layout)
    program = c2cu.compile(TEXT, backend="cpu", schedule="gang", layout=layout)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            assert not np.array_equal(program(inputs)["a"], expected["a"]) and not runs
    proof, first = program._last.proof, next(iter(inputs))
    inputs[first] += 1  # it is the user's own
    expected = right(TEXT, inputs, layout=layout)
    slow.set()
    proof._compiler.join()
    with pytest.warns(c2cu.MismatchWarning) as told:
        results = program(inputs)
    assert all(np.array_equal(results[n], expected[n]) for n in expected)
    assert len(told) == 1 and told[0].filename == __file__
    assert re.search(
        r"earlier call .* 'a\[1\]' of input 0 is \S+, but the C gives \S+ \[C2CU257\]", str(told[0].message)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        program(inputs)


def test_what_is_compared_late_is_noted(slow, runs, recwarn):
    program = c2cu.compile(TEXT, backend="cpu", schedule="gang")
    program(data())
    proof = program._last.proof
    assert proof.put_off and not proof.settled
    slow.set()
    proof._compiler.join()
    assert proof.equal and proof.settled and sum(runs) > 1 and not len(recwarn)
    assert len(list(cache_folder().glob("*.verified"))) == 1


@pytest.mark.slow
def test_which_input_was_wrong_is_told_late(slow, monkeypatch):
    last_input_wrong(monkeypatch)
    program = c2cu.compile(TEXT, backend="cpu", schedule="gang")
    program(data())
    slow.set()
    program._last.proof._compiler.join()
    with pytest.warns(c2cu.MismatchWarning, match=f"of input {P - 1} is"):
        program(data())


@pytest.mark.parametrize("how", ["strict", pytest.param("all", marks=pytest.mark.slow)])
def test_who_asks_for_certainty_waits(how, slow, planted):
    planted()
    program = c2cu.compile(TEXT, backend="cpu", schedule="gang", verify=how)
    threading.Timer(0.3, slow.set).start()
    with pytest.raises(c2cu.MismatchError) if how == "strict" else pytest.warns(c2cu.MismatchWarning):
        program(data())


@pytest.mark.slow
def test_what_is_large_waits(slow, planted, monkeypatch):
    planted()
    monkeypatch.setattr(verify, "ASIDE", 50)
    threading.Timer(0.3, slow.set).start()
    with pytest.warns(c2cu.MismatchWarning):
        c2cu.bulk(TEXT, data(), backend="cpu", schedule="gang")


def test_streams_wait(slow, planted):
    planted()
    inputs = data()
    threading.Timer(0.3, slow.set).start()
    with pytest.warns(c2cu.MismatchWarning):
        results = list(c2cu.stream(TEXT, inputs, backend="cpu", schedule="gang"))
    assert np.array_equal(np.concatenate([r["a"] for r in results]), right(TEXT, inputs)["a"])


AT_EXIT = r"""
import os, threading, time, numpy as np, c2cu
from c2cu.program import verify
from c2cu.runtime import cpu
def compile(self, original=verify.Verification._compile): time.sleep(0.3), original(self)
def run(self, inputs, outputs, p, original=cpu.CpuProgram.run): original(self, inputs, outputs, p); outputs[0][0] += 1
verify.Verification._compile, verify.WAITING, cpu.CpuProgram.run = compile, 0.1, run
program = c2cu.compile("int a[4];\nvoid k(void) { a[0] *= 3; }\n", backend="cpu", schedule="gang")
print(program(np.ones((5, 4), np.int32))[0])
"""


@pytest.mark.slow
def test_a_process_that_ends_tells_first(tmp_path):
    done = subprocess.run([sys.executable, "-c", AT_EXIT], capture_output=True, text=True)
    assert done.stdout == "[4 2 2 2]\n" and "[C2CU257]" in done.stderr and "Traceback" not in done.stderr, done.stderr


def test_a_child_process_verifies_itself(slow, runs):
    """The thread that compiles native stays with the parent."""
    program = c2cu.compile(TEXT, backend="cpu", schedule="gang")
    inputs = data()
    program(inputs)
    assert program._last.proof.put_off
    child = os.fork()
    if not child:
        slow.set()
        verify.WAITING = 1000
        program(inputs)
        os._exit(0 if program._last.proof.equal and sum(runs) > 1 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_threads_verify_once(runs):
    program, inputs = c2cu.compile(TEXT, backend="cpu", schedule="gang"), data()
    threads = [threading.Thread(target=program, args=(inputs,)) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert 0 < sum(runs) <= verify.MOST, program._last.proof.why_not


def test_a_machine_that_others_keep_busy_verifies(runs, monkeypatch):
    """The run takes long by the clock, and has little to do."""
    original = cpu.CpuProgram.run
    monkeypatch.setattr(cpu.CpuProgram, "run", lambda *a: time.sleep(2 * verify.SECONDS) or original(*a))
    program = c2cu.compile(TEXT, backend="cpu", schedule="gang")
    program(data(10))
    assert sum(runs) and program._last.proof.equal, program._last.proof.why_not


def test_every_example_proves_itself(recwarn):
    start = time.perf_counter()
    for name, shape in (("floyd_warshall.c", (16, 16)), ("prefix_sums.c", (1024,))):
        a = rng.random((64, *shape), dtype=np.float32)
        assert c2cu.compile(EXAMPLES / name, backend="cpu", verify="strict")(a).shape[0] == 64
    assert not [w for w in recwarn if issubclass(w.category, c2cu.MismatchWarning)] and time.perf_counter() > start
