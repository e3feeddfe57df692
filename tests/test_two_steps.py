"""Two steps at once of loops of Gaussian-elimination type in lanes: bits as in C's order, whatever the elements."""

import ctypes
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

import c2cu
from c2cu.base import toolchain
from c2cu.frontend.preprocess import Source
from c2cu.pipeline import Options, understand
from c2cu.schedule.choose import emitted
from c2cu.schedule.schedule import Candidate
from c2cu.schedule.slots import Slot
from tests.cuda_host import slot_table
from tests.gep_cases import LOOPS, RECOGNISED, matrix
from tests.oracle import Original, same
from tests.sample import sampled

NUMPY = {
    "float": "f4", "double": "f8", "int": "i4", "unsigned": "u4", "unsigned char": "u1", "short": "i2", "long": "i8",
}  # fmt: skip
P = 45


def choice(t: str, op: str, f: str = "D[i][k] + D[k][j]") -> tuple[str, str]:
    return t, matrix(f"{LOOPS} if ({f} {op} D[i][j]) D[i][j] = {f};", t)


#: name -> (type, text)
PROGRAMS = {
    **{f"shortest, {t}": choice(t, "<") for t in NUMPY},
    **{f"longest, {t}": choice(t, ">") for t in ("float", "int", "unsigned")},
    "not strict": choice("float", "<="),
    "integers, not strict": choice("int", "<="),
    "widest": choice("float", ">", "(D[i][k] < D[k][j] ? D[i][k] : D[k][j])"),
    "products": choice("float", ">", "D[i][k] * D[k][j]"),
    "reached": ("int", matrix(f"{LOOPS} D[i][j] = D[i][j] || (D[i][k] && D[k][j]);", "int")),
    "bits": ("unsigned", matrix(f"{LOOPS} D[i][j] |= D[i][k] & D[k][j];", "unsigned")),
    "a path": ("float", matrix(
        f"{LOOPS} if (D[i][k] + D[k][j] < D[i][j]) {{ D[i][j] = D[i][k] + D[k][j]; next[i][j] = next[i][k]; }}",
        head="unsigned char next[N][N];\n")),
    "capacities": ("int", matrix(f"{LOOPS} if (D[i][j] > D[i][k] + D[k][j] && C[i][k] > 0) D[i][j] = D[i][k] + D[k][j];",
                                 "int", "int C[N][N];\n")),
    **{name: ("double" if name == "fmin" else "float", RECOGNISED[name][0]) for name in
       ("braces", "helper", "fminf", "fmin", "hoisted")},
}  # fmt: skip
ONE = {"not strict", "helper", "products"}  # what shows that a row moves is not known, or is any element


def elements(t: str, n: int, kind: str) -> np.ndarray:
    """``plain``: as distances are; ``few``: of few values, a diagonal that may be below zero in some lanes; ``all``: of
    all bits, NaN among them; ``ends``: the largest and the smallest numbers, zeros of both signs, infinities."""
    rng, dtype = np.random.default_rng(n), np.dtype(NUMPY[t])
    shape = (P, n, n)
    if kind == "plain":
        d = rng.integers(1, 50, shape).astype(dtype)
        d[:, range(n), range(n)] = 0
        return d
    if kind == "few":
        d = rng.integers(0, 9, shape).astype(dtype)
        lanes = rng.random(P) < 0.2
        d[lanes, n // 2, n // 2] = -1 if dtype.kind != "u" else 3
        return d
    if kind == "all":
        return np.frombuffer(rng.bytes(P * n * n * dtype.itemsize), dtype).reshape(shape).copy()
    if dtype.kind == "f":
        values = np.array(
            [0.0, -0.0, np.inf, -np.inf, np.nan, 1.5, -2.0, np.finfo(dtype).max, np.finfo(dtype).tiny], dtype
        )
    else:
        values = np.array([0, 0, 1, np.iinfo(dtype).max, np.iinfo(dtype).min, np.iinfo(dtype).max // 2], dtype)
    return values[rng.integers(0, len(values), shape)]


@pytest.mark.parametrize("name", sampled(PROGRAMS, 2))
@pytest.mark.parametrize("n", [8, 13])
def test_equal_to_gcc(name, n):
    t, text = PROGRAMS[name]
    text = text.replace("#define N 12", f"#define N {n}")
    program = c2cu.compile(text, backend="cpu", schedule="gang")
    narrow = t in ("short", "unsigned char")  # twice as many inputs go side by side
    assert ("r_D_next[" in program.source) == (name not in ONE and not narrow)
    original = Original(text, "f", [(x.name, x.dtype, x.shape) for x in program.slots])
    for kind in ("plain", "few", "all", "ends"):
        given = {x.name: elements(t, n, kind) if x.name == "D" else others(x) for x in program.slots}
        made, right = program(given), original.bulk(given, P)
        for name, array in made.items() if isinstance(made, dict) else [("D", made)]:
            assert same(array, right[name]), (kind, name)


def others(slot: Slot) -> np.ndarray:
    return np.random.default_rng(1).integers(0, 3, (P, *slot.shape)).astype(slot.dtype)


def test_two_gangs_side_by_side():
    t, text = PROGRAMS["shortest, float"]
    program = c2cu.compile(text, backend="cpu", schedule="gang:two")
    original = Original(text, "f", [("D", NUMPY[t], (12, 12))])
    assert re.search(r"alone_\d+ \|= any\(", program.source)
    for kind in ("plain", "few", "ends"):
        d = elements(t, 12, kind)
        assert same(program({"D": d}), original.bulk({"D": d}, P)["D"]), kind


@pytest.mark.parametrize("name", ["shortest, float", "shortest, double", "reached", "bits"])
def test_longer_registers(name, monkeypatch, tmp_path):
    """Of processors that this one may not be: their instructions are written in C."""
    t, text = PROGRAMS[name]
    original = Original(text, "f", [("D", NUMPY[t], (12, 12))])
    monkeypatch.setattr(toolchain, "vector_bytes", lambda: 64)
    front = understand(Source("<input>", text), Options(fn="f"))
    artifact = emitted(front, Candidate("gang"), "cpu")
    assert f"#define W {64 // np.dtype(NUMPY[t]).itemsize}\n" in artifact.text and "r_D_next[" in artifact.text
    (tmp_path / "immintrin.h").write_text(Path(__file__).with_name("avx512.h").read_text())
    (tmp_path / "k.c").write_text(artifact.text)
    machine = "-D__AVX512F__ -D__AVX512DQ__ -D__AVX512VL__ -D__AVX512BW__".split()
    command = ["gcc", "-O1", "-fwrapv", "-ffp-contract=off", "-w", "-shared", "-fPIC", f"-I{tmp_path}", *machine]
    subprocess.run([*command, "-o", tmp_path / "k.so", tmp_path / "k.c", "-lm"], check=True)
    for kind in ("plain", "few", "ends"):
        d = elements(t, 12, kind)
        table, result, _ = slot_table(artifact.slots, {"D": d.copy()}, P)
        assert ctypes.CDLL(str(tmp_path / "k.so")).c2cu_run(table, ctypes.c_long(0), ctypes.c_long(P))
        assert same(result["D"], original.bulk({"D": d}, P)["D"]), kind


def test_names_of_the_program_s_own():
    text = matrix(LOOPS + " if (D[i][k] + D[k][j] < D[i][j]) D[i][j] = D[i][k] + D[k][j];")
    text = text.replace("void f", "int alone, D_row[9], D_next[9];\nvoid f")
    d = elements("float", 12, "few")
    gang, native = (c2cu.bulk(text, d, backend="cpu", schedule=s) for s in ("gang", "native"))
    assert same(gang, native)
