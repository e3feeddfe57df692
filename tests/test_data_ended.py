"""Loops that data ends in SIMD lanes: lanes that refill, lanes that wait, with masks of bits and of vectors, equal gcc."""

import ctypes

import numpy as np
import pytest

import c2cu
from c2cu.analysis.live import live
from c2cu.base import toolchain
from c2cu.frontend.preprocess import Source
from c2cu.ir.nodes import Loop
from c2cu.pipeline import Options, understand
from c2cu.runtime import cpu
from c2cu.schedule.artifact import CpuArtifact
from c2cu.schedule.choose import emitted
from c2cu.schedule.gang import emit
from c2cu.schedule.schedule import Candidate
from tests.cuda_host import slot_table
from tests.data_ended import write
from tests.oracle import Original, originals, same
from tests.programs import SEED, share
from tests.sample import sampled
from tests.test_random_programs import kernels

UNIT = 4  # programs in a translation unit
MODES = ("refill", "wait", "avx2")


def understood(text: str):
    return understand(Source("<input>", text), Options(fn="kern"))


def artifact(text: str) -> CpuArtifact:
    made = emitted(understood(text), Candidate("gang"), "cpu")
    assert isinstance(made, CpuArtifact)
    return made


def fits(mode: str, monkeypatch) -> None:
    """Print and compile for a mode, or skip."""
    if mode == "wait":
        monkeypatch.setattr(emit, "refill", lambda *_: None)
    if mode == "avx2":
        if "avx2" not in toolchain.cpu_features():
            pytest.skip("this CPU has no AVX2")
        monkeypatch.setattr(toolchain, "vector_bytes", lambda: 32)
        monkeypatch.setattr(cpu, "FLAGS", tuple(f.replace("native", "haswell") for f in cpu.FLAGS))


@pytest.mark.costly
@pytest.mark.parametrize("mode, first", sampled([(m, k) for k in range(0, share(2, UNIT), UNIT) for m in MODES], 4))
def test_random_programs(mode, first, tmp_path, monkeypatch):
    fits(mode, monkeypatch)
    monkeypatch.setattr(cpu, "FLAGS", tuple(f.replace("-O3", "-O1") for f in cpu.FLAGS))
    seeds = range(SEED * 10**9 + first, SEED * 10**9 + first + UNIT)
    programs = [write(seed) for seed in seeds]
    judges = originals([(x.text, x.variables) for x in programs], "kern")
    artifacts = [artifact(x.text) for x in programs]
    for run, a, program, judge, seed in zip(kernels(artifacts, tmp_path), artifacts, programs, judges, seeds):
        for p in (1, 37, 203):
            inputs = program.inputs(p, seed)
            expected = judge.bulk(inputs, p)
            table, result, _keep = slot_table(a.slots, inputs, p)
            run(table, ctypes.c_long(0), ctypes.c_long(p))
            for name, array in result.items():
                assert same(array, expected[name]), f"seed {seed}, p {p}: {name} differs\n{program.text}"


COUNTED = """
int turns, x; double r;
void kern(void) {
    double y = x;
    for (int k = 0; k < turns; k++) { y = y * 0.5 + k; if (y > 1e9) break; }
    r = y;
}
"""
FORMS = {
    "a counter that varies": COUNTED,
    "a flag": "int x, n; void kern(void) { do { x = x * 3 / 2 + 1; n++; if (x > 1000 || x < 1) return; } while (1); }",
    "an array that comes in": "int a[4], n; void kern(void) { int s = n; while (s > 0) { s -= a[0] + a[3] + 1; n++; } }",
    "an array that goes out": "int a[4], n; void kern(void) { while (n-- > 0) for (int k = 0; k < 4; k++) a[k] += k * n; }",
    "a _Bool that waits": "int n; _Bool b; void kern(void) { _Bool c = n & 1; while (n-- > 0) c ^= 1; b = c; }",
    "what is the same for all": """
        int n; double t[3], r;
        void kern(void) {
            double w[3]; int last = 0;
            for (int k = 0; k < 3; k++) { w[k] = k + 1; last = k; }
            r = 0;
            while (n-- > 0) for (int k = 0; k < 3; k++) r += w[k] * t[k] + last;
            for (int k = 0; k < 3; k++) r -= w[k];
        }""",
    "loops on data around it": """
        int n, m, r;
        void kern(void) {
            int s = 0;
            while (m > 7) { m /= 2; s++; }
            while (n-- > 0) { int k = n & 3; while (k-- > 0) { s = s * 5 + k; m++; } }
            while (m > 3) { m /= 2; s++; }
            r = s;
        }""",
    "narrow and wide": "unsigned u; unsigned char c; long n; void kern(void) { n &= 63; while (n-- > 0) { u = u * 3 + c; c += u >> 7; } }",
}


@pytest.mark.costly
@pytest.mark.parametrize("mode", sampled(MODES, 1))
def test_forms(mode, tmp_path, monkeypatch):
    fits(mode, monkeypatch)
    monkeypatch.setattr(cpu, "FLAGS", tuple(f.replace("-O3", "-O1") for f in cpu.FLAGS))
    artifacts = [artifact(text) for text in FORMS.values()]
    rng = np.random.default_rng(1)
    for (title, text), a, run in zip(FORMS.items(), artifacts, kernels(artifacts, tmp_path)):
        assert (a.refill is not None) == (mode != "wait"), title
        variables = [(s.name, s.dtype, s.shape) for s in a.slots]
        for p in (1, 100):
            inputs = {n: rng.integers(0, 50, (p, *shape)).astype(d) for n, d, shape in variables}
            expected = Original(text, "kern", variables).bulk(inputs, p)
            table, result, _keep = slot_table(a.slots, inputs, p)
            run(table, ctypes.c_long(0), ctypes.c_long(p))
            for name, array in result.items():
                assert same(array, expected[name]), f"{title}: {name}"


@pytest.mark.parametrize(
    "text",
    [
        "int a[8], n; void kern(void) { int k = 0; while (k < 8 && a[k] > 0) k++; n = k; }",  # a subscript would vary
        "int a[999], n; void kern(void) { while (n-- > 0) a[3]++; }",  # much to move, little to do
        "int a[8]; void kern(void) { for (int k = 0; k < 8; k++) while (a[k] > 3) a[k] /= 2; }",  # no outermost loop
    ],
)
def test_other_loops_wait(text):
    assert artifact(text).refill is None


def test_nothing_changes_where_no_data_ends_a_loop():
    text = artifact("int a[8]; void kern(void) { for (int k = 0; k < 8; k++) if (a[k] > 3) a[k] /= 2; }").text
    assert "mask" not in text and "i32 m1 = " in text


def test_one_input_takes_long():
    """The lanes beside it go on: so many inputs take no more turns of a gang than it has."""
    turns = np.full(4001, 3, np.int32)
    turns[0] = 3000
    inputs = {"turns": turns, "x": np.arange(4001, dtype=np.int32)}
    result = c2cu.compile(COUNTED, backend="cpu", schedule="gang")(inputs)
    r = result if isinstance(result, np.ndarray) else result["r"]
    expected = Original(COUNTED, "kern", [("turns", "i4", ()), ("x", "i4", ()), ("r", "f8", ())]).bulk(inputs, 4001)
    assert same(r, expected["r"])


def test_what_is_live_behind_a_loop():
    front = understood(COUNTED)
    assert front.analysis is not None
    body = front.analysis.kernel.body
    lives = live(body)
    loop = next(s for s in body if isinstance(s, Loop))
    assert {v.name for v in lives.after[id(loop)]} == {"y"}
    assert {v.name for v in lives.head[id(loop)]} >= {"y", "k", "turns"}
