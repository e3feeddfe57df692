"""Standalone programs in groups: the same output as p runs of the original, and written while inputs come in."""

import os
import re
import shutil
import subprocess

import pytest
from click.testing import CliRunner

import c2cu
from c2cu.cli import main
from tests.cuda_host import program_on_cpu
from tests.sample import sampled, slow
from tests.test_standalone import KEPT, LIBRARY, RUNS, build
from tests.whole_programs import COLUMNS, PRIVATE, PROGRAMS, expected, inputs, is_a_pipe, original, together

SIZES = [(1, 1), (33, 7), (33, 33), (1000, 1), (1000, 7), (1000, 64), (1000, 5000)]
SEEDS = range(4)


def run(program, stdin: str, seed: int = 0) -> tuple[bytes, int]:
    env = {**os.environ, "C2CU_SEED": str(seed)}
    done = subprocess.run([program], input=stdin.encode(), capture_output=True, timeout=60, env=env)
    return done.stdout, done.returncode


def cuda(text: str, p: int, group: int | None, **options) -> str:
    return c2cu.translate(text, p=p, group=group, **options)


@pytest.mark.costly
@pytest.mark.parametrize("p, group", sampled(SIZES, 6))
@pytest.mark.parametrize("name", sampled(PROGRAMS, 1))
def test_cuda(name, p, group):
    program = program_on_cpu(cuda(PROGRAMS[name], p, group, threads=32))
    for seed in SEEDS:
        assert run(program, "\n".join(inputs(name)[:p]), seed) == expected(name, p)


@pytest.mark.costly
@pytest.mark.parametrize("name", sampled(PROGRAMS, 1))
def test_cuda_all_at_once(name):
    text = cuda(PROGRAMS[name], 33, None)
    assert "Stream" not in text
    assert run(program_on_cpu(text), "\n".join(inputs(name)[:33])) == expected(name, 33)


@pytest.mark.costly
@pytest.mark.parametrize("group", [None, 7])
def test_arrays_too_large_to_be_static(group, monkeypatch):
    monkeypatch.setattr("c2cu.standalone.program.STATIC_BYTES", 0)
    text = cuda(COLUMNS, 33, group)
    assert "cudaMalloc((void **)&c2cu_on_device__D" in text or "cudaMalloc(&c2cu_on_device__D" in text
    assert run(program_on_cpu(text), "\n".join(inputs("columns")[:33])) == expected("columns", 33)


@pytest.mark.parametrize("p, group", sampled([(33, 7), (1, 1), (1000, 64), (1000, 5000)], 2))
@pytest.mark.parametrize("name", PROGRAMS)
def test_cpu(name, p, group, tmp_path):
    program = build(PROGRAMS[name], "cpu", tmp_path, p, group=group)
    assert run(program, "\n".join(inputs(name)[:p])) == expected(name, p)


def test_the_forms_are_those_that_are_meant():
    assert "c2cu_on_device__D" in cuda(COLUMNS, 9, 4) and "has no columns" not in cuda(COLUMNS, 9, 4)
    assert "namespace c2cu_device" in cuda(PRIVATE, 9, 4)


@pytest.mark.costly
@pytest.mark.parametrize("name", ["columns", "private"])
def test_groups_whose_runs_all_end_early(name):
    """Input for the first ten of thirty runs."""
    runs = inputs(name)[:10]
    short = [original(PROGRAMS[name], r) for r in [*runs, *[""] * 20]]
    program = program_on_cpu(cuda(PROGRAMS[name], 30, 4))
    for seed in SEEDS:
        assert run(program, "\n".join(runs), seed) == together(short)


WAITS = {
    "the results": (r"__CHECK__\(cudaStreamSynchronize\(__g->__stream\)\);", ";"),
    "a free slot": (r"__done \+ __S__ == __now", "0"),
    "the copy in": (
        r"cudaMemcpyHostToDevice, __g->__stream",
        "cudaMemcpyHostToDevice, __groups[(__s__ + 1) % 3].__stream",
    ),
    "the kernel": (r"0, __g->__stream>>>", "0, __groups[(__s__ + 1) % 3].__stream>>>"),
    "the right slot": (r" \* __G__ \* __s__", " * __G__ * 0"),
}


@pytest.mark.costly
@pytest.mark.parametrize("what", sampled(WAITS, 2))
def test_what_is_not_waited_for_is_noticed(what):
    pattern, instead = WAITS[what]
    text, count = re.subn(pattern, instead, cuda(COLUMNS, 100, 7))
    assert count
    program = program_on_cpu(text)
    right = expected("columns", 100)
    assert any(run(program, "\n".join(inputs("columns")[:100]), seed) != right for seed in SEEDS)


@pytest.mark.costly
@pytest.mark.parametrize("text", sampled([*KEPT.values(), *LIBRARY.values()], 16), ids=[*KEPT, *LIBRARY])
def test_each_run_is_a_process_to_itself(text):
    runs = [original(text, r) for r in RUNS]
    out, status = together(runs)
    status = status if status >= 0 else 128 - status
    assert run(program_on_cpu(cuda(text, len(RUNS), 2)), "\n".join(RUNS), 1) == (out, status)


@pytest.mark.parametrize("kind", ["cpu", "cuda", slow("private")])
def test_it_is_a_pipe(kind, tmp_path):
    """Each group's results are out before the next group's inputs are in; memory does not grow with p."""
    name, p, group = "private" if kind == "private" else "columns", 10**12, 7
    text = PROGRAMS[name]
    on_cpu = kind == "cpu"
    program = build(text, "cpu", tmp_path, p, group=group) if on_cpu else program_on_cpu(cuda(text, p, group))
    assert is_a_pipe(program, name, group)


@pytest.mark.slow
@pytest.mark.parametrize("group", [slow(None), 4])
def test_the_users_names_are_left_to_the_user(group):
    """Globals that are called as the translation's own functions and variables."""
    names = sorted(set(re.findall(r"\b__([a-z]\w*?)\b(?<!__)", cuda(COLUMNS, 9, 4) + cuda(COLUMNS, 9, None))))
    taken = "exit abort typeof return begin count size"  # in C, or in namespace std, which the CPU's header opens
    names = [n for n in names if n not in taken.split()]
    assert "results" in names and "k" in names
    text = (
        f"#include <stdio.h>\nint x, {', '.join(f'{n}' for n in names)};\n"
        f"void kern(void) {{ {' '.join(f'{n} = x + {k};' for k, n in enumerate(names))} }}\n"
        'int main(void) {\n    if (scanf("%d", &x) != 1) return 1;\n#pragma kernel\n    kern();\n'
        f'    printf("{"%d " * len(names)}\\n", {", ".join(names)});\n    return 0;\n}}\n'
    )
    right = [original(text, str(k)) for k in range(9)]
    assert run(program_on_cpu(cuda(text, 9, group)), "\n".join(map(str, range(9)))) == together(right)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"p": 4, "group": 0}, "group is 0: a group has at least one input"),
        ({"p": 4, "group": -1, "target": "cpu"}, "group is -1"),
        ({"p": 4, "group": 1.5}, "group"),
        ({"p": 2**31}, "more than the 2,147,482,624 threads that a kernel can have"),
        ({"p": 2**40, "group": 2**31}, "more than the 2,147,482,624 threads that a kernel can have"),
    ],
)
def test_what_is_no_group(options, message):
    with pytest.raises(c2cu.InputError, match=message) as caught:
        c2cu.translate(COLUMNS, **options)
    assert caught.value.diagnostic.hint


def test_a_group_does_not_tell_where_input_ends():
    done = CliRunner().invoke(main, ["translate", "-", "--group", "7"], input=COLUMNS)
    assert done.exit_code == 2
    assert "translate needs --p, the number of inputs; only FILE.c itself knows where its input ends" in done.output


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is missing")
@pytest.mark.parametrize("name, group", [("columns", 7), ("private", 7), ("host", 7), ("private", None)])
def test_cuda_compiles_without_a_warning(name, group, tmp_path):
    build(PROGRAMS[name], "cuda", tmp_path, 100, group=group)
