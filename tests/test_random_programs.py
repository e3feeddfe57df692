"""Random programs: every CPU schedule equals gcc. C2CU_PROGRAMS says how many, C2CU_SEED which.

Twenty go into one translation unit, which takes gcc a third of the time.
"""

import ctypes
import subprocess

import numpy as np
import pytest

import c2cu
from c2cu.base import toolchain
from c2cu.frontend.preprocess import Source
from c2cu.pipeline import Options, understand
from c2cu.runtime import cpu
from c2cu.schedule.choose import emitted
from c2cu.schedule.schedule import Candidate
from c2cu.trace import run as tracing
from tests.compiled import loaded
from tests.cuda_host import slot_table
from tests.joined import joined
from tests.oracle import Original, originals, same
from tests.programs import COUNT, SEED, RandomProgram, write
from tests.sample import sampled

P = 21
UNIT = 20  # programs in a translation unit
SCHEDULES = ("gang", "gang:two")  # `native` has no text of its own


def judge(program: RandomProgram, seed: int, schedules=("gang", "native")) -> None:
    """One program by way of the library."""
    inputs = program.inputs(P, seed)
    expected = Original(program.text, "kern", program.variables).bulk(inputs, P)
    for schedule in schedules:
        compiled = c2cu.compile(program.text, fn="kern", backend="cpu", schedule=schedule)
        names = [slot.name for slot in compiled.slots]
        result = compiled({n: a for n, a in inputs.items() if n in names}, p=P)
        if not isinstance(result, dict):
            result = {next(s.name for s in compiled.slots if s.writes): result}
        compare(program, seed, inputs, result, expected, schedule)


def compare(program, seed, inputs, result, expected, schedule) -> None:
    for name, array in result.items():
        assert same(array, expected[name]), f"seed {seed}, {schedule}: {name} differs\n{program.text}"
    for name, _, _ in program.variables:
        if name not in result:
            assert same(inputs[name], expected[name]), f"seed {seed}, {schedule}: {name} is no output\n{program.text}"


def kernels(artifacts, folder) -> list:
    """The functions c2cu_run of CPU artifacts."""
    compiler = toolchain.find_compiler()
    command = [*compiler, *cpu.FLAGS, *toolchain.generated_flags(compiler)]
    functions = {}
    for text, numbers in joined([a.text for a in artifacts], [{"c2cu_run"}] * len(artifacts)):
        path = folder / f"{artifacts[0].schedule}{numbers[0]}.so"
        done = subprocess.run(
            [*command, "-x", "c", "-", "-o", str(path), "-lm"], input=text.encode(), capture_output=True
        )
        assert done.returncode == 0, done.stderr.decode()[:4000]
        library = loaded(path)
        functions |= {k: getattr(library, f"c2cu_run_of_{k}") for k in numbers}
    return [functions[k] for k in range(len(artifacts))]


def goes_in_two(front) -> bool:
    try:
        return emitted(front, Candidate("gang:two"), "cpu") is not None
    except c2cu.UnsupportedError as e:
        assert e.code == "C2CU332"
        return False


@pytest.mark.parametrize("first", range(0, COUNT, UNIT))
def test_equal_gcc(first, tmp_path, monkeypatch):
    monkeypatch.setattr(tracing, "FLAGS", ("-O0", "-w"))  # compiled in less time, for so few accesses
    if first // UNIT % 4:  # the others are compiled as users' programs are
        monkeypatch.setattr(cpu, "FLAGS", tuple(f.replace("-O3", "-O1") for f in cpu.FLAGS))
    seeds = [SEED * 10**9 + k for k in range(first, min(first + UNIT, COUNT))]
    programs = [write(seed, further=seed % 2 == 0) for seed in seeds]
    fronts = [understand(Source("<input>", x.text), Options(fn="kern")) for x in programs]
    judges = originals([(x.text, x.variables) for x in programs], "kern")
    cases = [(x, seed, x.inputs(P, seed)) for x, seed in zip(programs, seeds)]
    expected = [original.bulk(inputs, P) for original, (_, _, inputs) in zip(judges, cases)]
    for schedule in SCHEDULES:
        taken = [k for k, front in enumerate(fronts) if schedule == "gang" or goes_in_two(front)]
        artifacts = [emitted(fronts[k], Candidate(schedule), "cpu") for k in taken]
        for run, artifact, k in zip(kernels(artifacts, tmp_path), artifacts, taken):
            program, seed, inputs = cases[k]
            table, result, _keep = slot_table(artifact.slots, inputs, P)
            run(table, ctypes.c_long(0), ctypes.c_long(P))
            compare(program, seed, inputs, result, expected[k], schedule)


@pytest.mark.parametrize("seed", sampled(range(4), 2))
def test_by_way_of_the_library(seed):
    judge(write(seed), seed)


@pytest.mark.slow
def test_what_gcc_alone_makes_wrong():
    """GCC turns 0.0f - (float)i into -(float)i, so -0.0 for i = 0, where it sees both at once."""
    judge(write(14_000_301), 14_000_301)


def test_zeros_of_two_signs_are_two_constants():
    text = "float a[2], o;\nvoid k(void) { float z; if (a[0] > 0) z = 0.0f; else z = -0.0f; o = a[1] / z; }\n"
    a = np.array([[1, 1], [-1, 1]], np.float32)
    assert c2cu.bulk(text, {"a": a}, backend="cpu", schedule="gang").tolist() == [np.inf, -np.inf]
