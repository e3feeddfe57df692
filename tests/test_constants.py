"""Globals and static locals that nothing writes: what no call brings is one constant for all inputs."""

import numpy as np
import pytest

import c2cu
from c2cu import pipeline
from c2cu.frontend.preprocess import read_source
from c2cu.program.extents import Understandings
from c2cu.schedule.registry import emit_schedule
from tests import test_annex_c as annex_c
from tests.cuda_host import run_on_cpu
from tests.oracle import Original, same
from tests.sample import sampled

P = 33
VARIABLES = [("a", "int32", (8,)), ("b", "int32", (8,))]
TABLE = "static int t[256] = {5, 6, [40] = 7, 8, [255] = 9}; "

#: name -> (declarations, statements of the kernel, the globals that are constants)
PROGRAMS = {
    "counted subscripts": (TABLE, "for (int i = 0; i < 8; i++) b[i] = a[i] + t[i];", ["t"]),
    "subscripts that are data": (TABLE, "for (int i = 0; i < 8; i++) b[i] = t[a[i] & 255];", ["t"]),
    "through a local pointer": (TABLE, "int *p = t; for (int i = 0; i < 8; i++) b[i] = p[a[i] & 255];", ["t"]),
    "as an argument": (
        TABLE + "static int get(int *x, int i) { return x[i & 255]; }",
        "for (int i = 0; i < 8; i++) b[i] = get(t, a[i]);",
        ["t"],
    ),
    "in a struct of pointers": (
        TABLE + "static int u[4] = {1, 2}; static struct S { int *p, *q; } s = {t, u};",
        "for (int i = 0; i < 8; i++) b[i] = s.p[a[i] & 255] + s.q[i & 3];",
        ["t", "u"],
    ),
    "through a global pointer": (
        TABLE + "int *p = t + 1;",
        "for (int i = 0; i < 8; i++) b[i] = p[a[i] & 127];",
        ["t"],
    ),
    "a static local": (
        "",
        "static int t[256] = {5, 6, [40] = 7}; int *p = t; for (int i = 0; i < 8; i++) b[i] = t[a[i] & 255] + p[i];",
        [],
    ),
    "a static local that is written": (
        "",
        "static int t[16] = {5, 6, 7}; for (int i = 0; i < 8; i++) { b[i] = t[a[i] & 15]; t[i] += a[i]; }",
        [],
    ),
    "a number that bounds a loop": ("int n = 6; ", "for (int i = 0; i < n; i++) b[i] = a[i] + n;", ["n"]),
    "a struct": (
        "struct K { char c; double d; int x[3]; } k = {1, 2.5, {3, 4}};",
        "for (int i = 0; i < 8; i++) b[i] = a[i] * k.x[i % 3] + (int)(k.d * k.c);",
        ["k"],
    ),
    "written where control never comes": (
        TABLE,
        "if (0) t[0] = 1; for (int i = 0; i < 8; i++) b[i] = a[i] + t[i];",
        ["t"],
    ),
    "some written, some not": (
        TABLE + "static int u[8] = {1, 2};",
        "for (int i = 0; i < 8; i++) { b[i] = t[a[i] & 255] + u[i]; u[i] = a[i]; }",
        ["t"],
    ),
}


def text_of(declarations: str, statements: str) -> str:
    return f"int a[8], b[8];\n{declarations}\nvoid kern(void)\n{{\n    {statements}\n}}\n"


def inputs_of(seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {n: rng.integers(-300, 300, (P, *shape)).astype(t) for n, t, shape in VARIABLES}


@pytest.mark.parametrize("name", sampled(PROGRAMS, 6))
@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
def test_equal_to_gcc(name):
    declarations, statements, constants = PROGRAMS[name]
    text, inputs = text_of(declarations, statements), inputs_of(len(name))
    expected = Original(text, "kern", VARIABLES).bulk(inputs, P, fresh=True)
    program = c2cu.compile(text, fn="kern", backend="cpu", schedule="gang")
    slots = [s.name for s in program.slots]
    assert set(constants) <= set(slots)  # a call may bring them
    result = program(inputs)
    result = result if isinstance(result, dict) else {"b": result}
    assert all(same(result[n], expected[n]) for n in result if n in expected)
    assert not set(constants) & {s.name for s in program._current().artifact.slots}
    assert [s.name for s in program.slots] == slots
    for schedule in ("private", "thread"):
        try:
            front = pipeline.understand(read_source(text), pipeline.Options(fn="kern", constants=tuple(constants)))
            artifact = emit_schedule(schedule, front)
        except c2cu.UnsupportedError as e:
            assert schedule == "thread" and e.line, e  # columns hold no pointers
            continue
        arguments = {s.name: inputs[s.name] for s in artifact.slots if s.name in inputs}
        device = run_on_cpu(artifact, arguments, P)
        assert all(same(device[n], expected[n]) for n in device if n in expected), schedule


@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
def test_a_call_may_bring_them():
    """First without, then with, then without; the verdict is for those who bring anything."""
    text = text_of("int n = 6, " + TABLE.removeprefix("static int"), "for (int i = 0; i < n; i++) b[i] = t[i] + a[i];")
    variables = [*VARIABLES, ("t", "int32", (256,)), ("n", "int32", ())]
    inputs = inputs_of(1)
    tables = np.arange(P * 256, dtype=np.int32).reshape(P, 256)
    numbers = np.arange(P, dtype=np.int32) % 9
    program = c2cu.compile(text, fn="kern", backend="cpu", schedule="gang")
    without = Original(text, "kern", VARIABLES).bulk(inputs, P, fresh=True)["b"]
    everything = {**inputs, "t": tables, "n": numbers}
    brought = Original(text, "kern", variables).bulk(everything, P)["b"]
    assert same(program(inputs), without)
    assert same(program(everything), brought)
    assert same(program(inputs), without)
    assert not program.report.oblivious and not c2cu.check(text, fn="kern").oblivious


def test_static_locals_that_nothing_writes_are_tables():
    text = text_of("", "static int t[64] = {5, 6, 7}; for (int i = 0; i < 8; i++) b[i] = a[i] + t[i];")
    front = pipeline.understand(read_source(text), pipeline.Options(fn="kern"))
    assert front.analysis is not None
    (table,) = (r for r in front.analysis.kernel.regions if r.variable == "t")
    assert table.storage == "shared" and table.init is not None and table.init[:4] == (5, 6, 7, 0)


@pytest.mark.slow
@pytest.mark.parametrize("entry", annex_c.PROGRAMS)
def test_cuda_text_of_constants(entry):
    """All that C++ might take otherwise, with the globals that are only read as constants."""
    text, inputs = annex_c.text_of(*annex_c.PROGRAMS[entry]), annex_c.inputs_of(len(entry))
    read = Understandings(read_source(text), pipeline.Options(fn="kern"), "row", None).constants(inputs)
    if not read:
        pytest.skip("none is only read")
    front = pipeline.understand(read_source(text), pipeline.Options(fn="kern", constants=read))
    artifact = emit_schedule("private", front)
    expected = Original(text, "kern", annex_c.GLOBALS).bulk(inputs, annex_c.P, fresh=True)
    result = run_on_cpu(artifact, {s.name: inputs[s.name] for s in artifact.slots if s.name in inputs}, annex_c.P)
    assert all(same(result[n], expected[n]) for n in result if n in expected)
