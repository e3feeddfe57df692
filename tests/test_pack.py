"""Shortest paths of integers that are said to fit few bits."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest

import c2cu
from c2cu import cli
from c2cu.frontend.options import options_of
from c2cu.frontend.preprocess import read_source
from c2cu.pipeline import understand
from c2cu.schedule.choose import choose
from c2cu.schedule.gep.grid import grid
from tests.compiled import compiled_once
from tests.cuda_host import program_on_cpu
from tests.gep_host import run_launches
from tests.oracle import Original, same
from tests.sample import sampled
from tests.test_gep_grid import PATHS, SMALL, data
from tests.whole_programs import original, together

N = 35
STRICT = ("cc", "-O1", "-Wall", "-Wextra", "-Werror")
INTS = {"int": "i4", "unsigned": "u4", "long long": "i8", "signed char": "i1", "short": "i2", "unsigned char": "u1"}


def text(t: str, n: int = N) -> str:
    return PATHS.format(n=n, t=t)


@pytest.mark.costly
@pytest.mark.parametrize("variant", sampled(["staged", "single"], 1))
@pytest.mark.parametrize("t", sampled(INTS, 2))
def test_any_integers_go_by_pairs(t, variant):
    front = understand(read_source(text(t)), options_of(pack=16))
    assert front.analysis is not None and not isinstance(front.gep, c2cu.gep.NotGep) and front.gep is not None
    made = grid(front.analysis, front.gep, front.slots, front.layout, "exact", variant, SMALL, True)
    assert "__viaddmin_u16x2(" in made.text and ("c2cu_look(" in made.text) == (t == "short")
    variables = [("D", INTS[t], (N, N))]
    inputs = data(variables, N, 3)
    most = min(32767, np.iinfo(INTS[t]).max)
    inputs["D"][1].flat[np.random.default_rng(2).integers(0, N * N, 700)] = most
    inputs["D"][2] = np.random.default_rng(3).integers(most // 3, most, (N, N))
    result, _ = run_launches(made, inputs, 3)
    assert same(result["D"], Original(text(t), "f", variables).bulk(inputs, 3)["D"])


def test_a_schedule_is_chosen_as_without():
    large = understand(read_source(text("int", 5000)), options_of(pack=16))
    plain = understand(read_source(text("int", 5000)), options_of())
    assert "__viaddmin_u16x2(" in choose(large, "cuda", "gep")[1].text
    assert "__viaddmin_u16x2(" not in choose(plain, "cuda", "gep")[1].text


@pytest.mark.costly
@pytest.mark.parametrize("schedule", ["auto", "gep", "gang", "native"])
def test_what_fits_is_computed_as_ever(schedule):
    inputs = data([("D", "i4", (N, N))], N, 4)
    expected = c2cu.bulk(text("int"), inputs, backend="cpu")
    assert same(c2cu.bulk(text("int"), inputs, backend="cpu", schedule=schedule, pack=8), expected)


@pytest.mark.parametrize(("pack", "most"), [(4, 15), (8, 255), (16, 32767)])
@pytest.mark.parametrize("layout", ["row", "column"])
def test_what_does_not_fit_is_refused_with_its_place(pack, most, layout):
    D = np.full((3, N, N), most, np.int32)
    there = D if layout == "row" else np.ascontiguousarray(np.moveaxis(D, 0, -1))
    program = c2cu.compile(text("int"), backend="cpu", pack=pack, layout=layout)
    assert same(program(there), there)
    for value in (most + 1, -1):
        at = (2, 5, 7) if layout == "row" else (5, 7, 2)
        there[at] = value
        with pytest.raises(c2cu.InputError) as refused:
            program(there)
        place = ", ".join(map(str, at))
        assert f"[{place}] is {value}, but pack allows 0 to {most}" in str(refused.value)
        with pytest.raises(c2cu.InputError, match="but pack allows"):
            list(program.stream(there, group=1))


def test_other_programs_and_other_numbers_are_refused():
    for other in (
        text("float"),
        text("int").replace("D[i][k] + D[k][j]", "D[i][k] * D[k][j]"),
        "int x; void f(void) { x++; }",
    ):
        with pytest.raises(c2cu.InputError, match="is for shortest paths of integers"):
            c2cu.compile(other, backend="cpu", pack=16)
    for pack in (2, 32, True, "16"):
        with pytest.raises(c2cu.InputError, match="pack cannot be"):
            c2cu.compile(text("int"), backend="cpu", pack=pack)


def test_run_takes_it(tmp_path, capsys):
    D = data([("D", "i4", (N, N))], N, 2)["D"]
    np.save(tmp_path / "d.npy", D)
    (tmp_path / "f.c").write_text(text("int"))
    common = ["run", str(tmp_path / "f.c"), "--backend", "cpu", "--pack", "8"]
    arrays = ["--in", str(tmp_path / "d.npy"), "--out", str(tmp_path / "o.npy")]
    cli.main([*common, *arrays], standalone_mode=False)
    assert same(np.load(tmp_path / "o.npy"), c2cu.bulk(text("int"), D, backend="cpu"))
    D[1, 2, 3] = 256
    np.save(tmp_path / "d.npy", D)
    with pytest.raises(SystemExit):
        cli.main([*common, *arrays], standalone_mode=False)
    assert "is 256, but pack allows 0 to 255" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        cli.main([*common, "--in", "-", "--out", str(tmp_path / "o.npy")], standalone_mode=False)
    assert "give a .npy file" in capsys.readouterr().err


WHOLE = """
#include <stdio.h>
{kernel}
int main(void) {{
    for (int i = 0; i < {n}; i++) for (int j = 0; j < {n}; j++) if (scanf("%d", &D[i][j]) != 1) return 1;
#pragma kernel
    f();
    for (int i = 0; i < {n}; i++) for (int j = 0; j < {n}; j++) printf("%d ", D[i][j]);
    return 0;
}}
"""


@pytest.mark.costly
@pytest.mark.parametrize("group", [None, 2])
@pytest.mark.parametrize(
    ("target", "schedule"),
    [("cuda", "gep:staged"), ("cpu", None), ("cpu", "gep"), ("cuda", None), ("cuda", "private"), ("cpu", "gang")],
)
def test_a_program_says_what_does_not_fit(target, schedule, group):
    whole = WHOLE.format(kernel=text("int", 6), n=6)
    made = c2cu.translate(whole, p=3, target=target, schedule=schedule, pack=4, group=group)
    program = program_on_cpu(made) if target == "cuda" else compiled_once([*STRICT, "-x", "c", "-", "-pthread"], made)
    runs = [" ".join(str((k * i * i + 7) % 16) for i in range(36)) for k in (1, 2, 3)]
    done = subprocess.run([program], input="\n".join(runs).encode(), capture_output=True)
    assert (done.stdout, done.returncode) == together([original(whole, r) for r in runs])
    for value in ("16", "-1"):
        words = runs[2].split()
        words[2 * 6 + 5] = value
        done = subprocess.run([program], input="\n".join([*runs[:2], *words]).encode(), capture_output=True)
        assert done.returncode == 1
        assert done.stderr.decode() == f"run 2: D[2][5] is {value}, but --pack allows 0 to 15\n"


def test_a_translation_has_the_kernels_that_a_run_has():
    large = WHOLE.format(kernel=text("int", 5000), n=5000)
    assert "__viaddmin_u16x2(" in c2cu.translate(large, p=1, schedule="gep", pack=16)
    assert "__viaddmin_u16x2(" not in c2cu.translate(large, p=1, schedule="gep")
    library = c2cu.library(text("int", 5000), "paths", pack=16)
    assert "__viaddmin_u16x2(" in library.source and "elements from 0 to 32767" in library.header
    assert "--pack 16" in library.header
