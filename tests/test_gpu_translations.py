"""Whole programs that `translate` writes, on a CUDA device: each prints what p runs of the original print."""

import shutil

import pytest

import c2cu
from c2cu.runtime import cuda
from tests.programs import SEED
from tests.test_gpu import built
from tests.test_standalone_schedules import CASES, SCHEDULES, RandomProgram, check_case

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning"),
    pytest.mark.skipif(not cuda.available(), reason="no CUDA device, or CuPy is missing"),
    pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is missing"),
]


@pytest.mark.parametrize("schedule", [s for target, s in SCHEDULES if target == "cuda"])
@pytest.mark.parametrize("name", CASES)
def test_a_translation_prints_what_the_runs_print(name, schedule, tmp_path):
    check_case(name, "cuda", schedule, (37,), lambda text, _: built(text, tmp_path))


@pytest.mark.parametrize("schedule", ["thread", "registers", "block", "private"])
@pytest.mark.parametrize("seed", range(SEED, SEED + 100))
def test_a_random_translation(seed, schedule, tmp_path):
    program = RandomProgram(seed, 100)
    try:
        text = c2cu.translate(program.text, p=program.p, schedule=schedule, fn="kern")
    except c2cu.UnsupportedError as e:
        pytest.skip(f"{schedule} does not take it: {e.diagnostic.message}")
    program.check(built(text, tmp_path, "-w"))  # its code has variables that nothing reads
