"""The C library's random numbers in lanes and on a GPU: each input has them as a fresh process does."""

import ctypes

import numpy as np
import pytest

import c2cu
from c2cu import pipeline
from c2cu.base.mathematics import mathematics
from c2cu.base.random_numbers import first_numbers
from c2cu.frontend.preprocess import read_source
from c2cu.schedule.registry import emit_schedule
from tests.cuda_host import run_on_cpu

pytestmark = [
    pytest.mark.skipif(not mathematics().startswith("glibc"), reason="the numbers are glibc's"),
    pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning"),
]
P = 70
HEAD = "#include <stdlib.h>\nint n[2];\ndouble out[6];\n"
KERNELS = {
    "not seeded": "for (int i = 0; i < 6; i++) out[i] = rand();",
    "seeded": "srand(n[0]); for (int i = 0; i < 6; i++) out[i] = rand() % 100 + random();",
    "seeded again": "srand(n[0]); out[0] = rand(); srandom(n[1]); out[1] = rand(); srand(n[0]); out[2] = random();",
    "where data decides": "for (int i = 0; i < 6; i++) { if (n[0] >> i & 1) rand(); out[i] = rand() / (RAND_MAX + 1.0); }",
    "as often as data says": "srand(n[1]); for (int i = 0; i < n[0] % 50; i++) out[i % 6] += rand();",
    "until data ends it": "while (rand() % 50 != (unsigned)n[0] % 50) out[0]++; out[1] = rand();",
    "rand_r": "unsigned s = n[0]; for (int i = 0; i < 5; i++) out[i] = rand_r(&s); out[5] = s;",
    "drand48": "if (n[0] & 1) srand48(n[1]); for (int i = 0; i < 3; i++) out[i] = drand48() + lrand48() - mrand48();",
    "both": "srand48(n[0]); srand(n[1]); for (int i = 0; i < 6; i++) out[i] = drand48() * rand();",
    "a helper": "for (int i = 0; i < 6; i++) out[i] = normal();",
}
HELPER = "static double normal(void) { double s = 0; for (int k = 0; k < 12; k++) s += drand48(); return s - 6; }\n"


def inputs():
    rng = np.random.default_rng(3)
    n = rng.integers(0, 2**31, (P, 2)).astype(np.int32)
    n[:5] = [[0, 1], [1, 0], [2, -1], [-1, 2**31 - 1], [-(2**31), 127773]]
    return {"n": n, "out": np.zeros((P, 6))}


def results(kernel, schedule, backend="cpu"):
    source = HEAD + HELPER + "void k(void) { " + KERNELS[kernel] + " }\n"
    program = c2cu.compile(source, fn="k", backend=backend, schedule=schedule, verify=False, outputs=["out"])
    given = inputs()
    return program({s.name: given[s.name] for s in program.slots if s.reads}, p=P)


@pytest.mark.parametrize("kernel", KERNELS)
def test_lanes_have_the_numbers_of_the_library(kernel):
    right = results(kernel, "native")
    assert results(kernel, "gang").tobytes() == right.tobytes()
    assert len(np.unique(right)) > 3


@pytest.mark.parametrize("kernel", ["seeded again", "where data decides", "rand_r", "both"])
def test_cuda_has_them(kernel):
    source = HEAD + HELPER + "void k(void) { " + KERNELS[kernel] + " }\n"
    given = inputs()
    front = pipeline.understand(read_source(source), pipeline.Options(fn="k", outputs=("out",)))
    ours = run_on_cpu(emit_schedule("registers", front), given, P)["out"]
    assert ours.tobytes() == results(kernel, "native").tobytes()


def test_the_numbers_before_the_first_seed_are_those_of_one():
    library = ctypes.CDLL(None)
    library.srand(1)
    numbers, front = first_numbers(), 3
    for _ in range(100):
        numbers[front] = numbers[front] + numbers[front - 3] & 0xFFFFFFFF
        assert numbers[front] >> 1 == library.rand()
        front = (front + 1) % 31


def test_a_program_of_random_numbers_is_oblivious():
    source = HEAD + "void k(void) { " + KERNELS["seeded"] + " }\n"
    program = c2cu.compile(source, backend="cpu")
    assert program.report.oblivious and program.plan.schedule == "gang"


def test_its_own_generator_is_not_the_librarys():
    source = "static int s = 0;\nint rand(void) { return s += 3; }\nint k(int x) { return rand() + rand() + x; }"
    x = np.arange(9, dtype=np.int32)
    assert (c2cu.bulk(source, {"x": x}, fn="k", backend="cpu", schedule="gang", outputs=["return"]) == x + 9).all()


def test_another_library_has_other_numbers(monkeypatch):
    from c2cu.lower import substitutes

    monkeypatch.setattr(substitutes, "mathematics", lambda: "another library")
    program = c2cu.compile("#include <stdlib.h>\nint k(int x) { return rand() + x; }", backend="cpu", verify=False)
    assert program.plan.schedule == "native"
