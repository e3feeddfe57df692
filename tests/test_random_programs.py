"""Random programs: every CPU schedule equals gcc. C2CU_PROGRAMS says how many."""

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import c2cu
from c2cu.runtime import cpu
from c2cu.trace import run as tracing
from tests.oracle import Original, same
from tests.programs import RandomProgram, programs, write

COUNT = int(os.environ.get("C2CU_PROGRAMS", "2000"))
P = 21
PARTS = 16  # every fourth is compiled with -O3 as users' programs are, the rest with -O1 to save time


def judge(program: RandomProgram, number: int, schedules=("gang", "scalar")) -> None:
    inputs = program.inputs(P, number)
    expected = Original(program.text, "kern", program.variables).bulk(inputs, P)
    for schedule in schedules:
        compiled = c2cu.compile(program.text, fn="kern", backend="cpu", schedule=schedule)
        names = [slot.name for slot in compiled.slots]
        result = compiled({n: a for n, a in inputs.items() if n in names}, p=P)
        if not isinstance(result, dict):
            result = {next(s.name for s in compiled.slots if s.writes): result}
        for name, array in result.items():
            assert same(array, expected[name]), f"{schedule}: {name} differs\n{program.text}"
        for name, _, _ in program.variables:
            if name not in result:
                assert same(inputs[name], expected[name]), f"{schedule}: {name} should be an output\n{program.text}"


@pytest.mark.parametrize("part", range(PARTS))
def test_equal_gcc(part, tmp_path, monkeypatch):
    monkeypatch.setenv("C2CU_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(tracing, "FLAGS", ("-O0", "-w"))  # compiled in less time, for so few accesses
    if part % 4:
        monkeypatch.setattr(cpu, "FLAGS", tuple(f.replace("-O3", "-O1") for f in cpu.FLAGS))

    @seed(part + int(os.environ.get("C2CU_SEED", "0")))
    @settings(
        max_examples=max(1, COUNT // PARTS),
        deadline=None,
        database=None,
        print_blob=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(programs(), st.integers(0, 2**31))
    def run(program, number):
        judge(program, number)

    run()


def test_what_gcc_alone_makes_wrong(tmp_path, monkeypatch):
    """GCC turns 0.0f - (float)i into -(float)i, so -0.0 for i = 0, unless -frounding-math keeps it from that."""
    monkeypatch.setenv("C2CU_CACHE_DIR", str(tmp_path))
    judge(write(14_000_301), 14_000_301)


def test_zeros_of_two_signs_are_two_constants(tmp_path, monkeypatch):
    monkeypatch.setenv("C2CU_CACHE_DIR", str(tmp_path))
    text = "float a[2], o;\nvoid k(void) { float z; if (a[0] > 0) z = 0.0f; else z = -0.0f; o = a[1] / z; }\n"
    a = np.array([[1, 1], [-1, 1]], np.float32)
    assert c2cu.bulk(text, {"a": a}, backend="cpu", schedule="gang").tolist() == [np.inf, -np.inf]
