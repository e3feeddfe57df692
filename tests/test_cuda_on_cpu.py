"""Generated CUDA without a GPU: executed on host threads, and a sample compiled by nvcc."""

import shutil
import subprocess

import pytest

import c2cu
from c2cu import pipeline
from c2cu.frontend.preprocess import read_source
from c2cu.schedule.choose import choose
from tests.cuda_host import run_on_cpu
from tests.oracle import Original, same
from tests.programs import SEED, share, write
from tests.sample import sampled
from tests.workloads import WORKLOADS

P = 70  # more than a block, and no multiple of it


def artifact(src, schedule: str, **options):
    front = pipeline.understand(read_source(src), pipeline.Options(**options))
    return choose(front, "cuda", schedule)[1]


@pytest.mark.costly
@pytest.mark.parametrize("schedule", ["thread", "private"])
@pytest.mark.parametrize(
    "w",
    sampled([w for w in WORKLOADS if w.name not in ("montgomery-2048", "bitonic-1024", "fw-64")], 4),
    ids=lambda w: w.name,
)
def test_examples(w, schedule):
    a = artifact(w.path, schedule, defines={n: str(v) for n, v in w.defines.items()}, shared=w.shared)
    assert a.schedule == schedule
    inputs = w.inputs(P)
    result = run_on_cpu(a, inputs, P)
    for name, expected in w.expected(inputs, P).items():
        assert same(result[name], expected)


@pytest.mark.costly
@pytest.mark.parametrize("schedule", ["auto", "private"])
@pytest.mark.parametrize("number", sampled(range(share(400, 4)), 1))
def test_random_programs(number, schedule):
    program = write(SEED * 10**9 + number)
    inputs = program.inputs(P, number)
    expected = Original(program.text, "kern", program.variables).bulk(inputs, P)
    for name, array in run_on_cpu(artifact(program.text, schedule, fn="kern"), inputs, P).items():
        assert same(array, expected[name]), f"{name} differs\n{program.text}"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is missing")
@pytest.mark.parametrize("schedule", ["thread", "private"])
@pytest.mark.parametrize("w", [w for w in WORKLOADS if w.name in ("fw-16", "montgomery-512")], ids=lambda w: w.name)
def test_nvcc_takes_it(w, schedule, tmp_path):
    source = tmp_path / "x.cu"
    source.write_text(artifact(w.path, schedule).text)
    done = subprocess.run(
        ["nvcc", "-std=c++17", "-arch=sm_90", "-cubin", "-o", str(tmp_path / "x"), str(source)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and "warning" not in done.stderr, done.stderr


def test_structs_and_statics_fall_where_they_should():
    text = (
        "struct S { int x; float y[2]; };\nstruct S s[2];\nint a[4];\nvoid k(void) {\n    static int n = 3;\n"
        "    s[1].x = n++ + a[0];\n    s[0].y[1] += s[1].x;\n}\n"
    )
    assert artifact(text, "thread").schedule == "thread"
    assert artifact(text, "auto").schedule == "registers"
    union = "union U { int *i; int h[2]; };\nint a;\nvoid k(void) {\n    union U u;\n    u.h[1] = a;\n    a = u.h[1] + 1;\n}\n"
    front = pipeline.understand(read_source(union), pipeline.Options())
    plan, _ = choose(front, "cuda")
    assert plan.schedule == "private" and "pointer" in plan.rejected[0][1]
    assert isinstance(front.why_not, c2cu.UnsupportedError)
