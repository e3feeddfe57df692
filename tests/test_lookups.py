"""Tables of constants that registers hold: lookups by permutes give what loads give, for every type and size."""

import ctypes
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

import c2cu
from c2cu.base import toolchain
from tests.sample import sampled

P = 37
TYPES = {
    "char": "i1", "signed char": "i1", "unsigned char": "u1", "short": "i2", "unsigned short": "u2", "int": "i4", "unsigned": "u4",
    "float": "f4", "long": "i8", "unsigned long": "u8", "double": "f8", "_Bool": "?",
}  # fmt: skip
SIZES = [1, 2, 3, 4, 5, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 255, 256, 257, 300]
#: Lookups by themselves, side by side, in a subscript of another, under branches, of several types of subscripts.
KINDS = {
    "alone": "y[0] = T[x[0]];",
    "loop": "for (int i = 0; i < 8; i++) y[i] = T[x[i]];",
    "row": "y[0] = T[x[0]]; y[1] = T[x[1]]; y[2] = T[x[2]]; y[3] = T[x[3]]; y[4] = T[x[4]]; y[5] = T[x[0]];",
    "row of a branch": "if (x[7] & 1) { y[0] = T[x[0]]; y[1] = T[x[1]]; y[2] = T[x[2]]; y[3] = y[2]; } y[4] = T[x[4]]; y[5] = T[x[5]];",
    "row until": "for (int i = 0; i < x[7] % 8; i++) { y[i] = T[x[i]]; y[i ^ 1] = T[x[(i + 1) % 8]]; if (y[i] == T[0]) break; y[0] = T[x[7]]; }",
    "bytes of others": "unsigned char u[4]; signed char s[4]; for (int i = 0; i < 4; i++) { u[i] = T[x[i]]; s[i] = T[x[i + 1]]; y[i] = (unsigned char)T[x[i + 2]];"
    " z[i] = u[i] * 3 - s[i]; }",
    "row to places of data": "y[x[0] & 7] = T[x[1]]; y[x[2] & 7] = T[x[3]]; y[3] = T[x[4]]; y[4] = T[x[5]];",
    "row of quotients": "int a = x[0] / 7, b = x[1] / 5, c = x[2] / 3; y[0] = T[a]; y[1] = T[b]; z[0] = x[3] / 9 + x[4] / 11; y[2] = T[c]; y[3] = T[x[5]]; z[1] = x[6] / 13;",
    "sum": "z[0] = (long)T[x[0]] + (long)T[x[1]] * 3 - (long)T[x[2]] + (long)T[x[3]] * (long)T[x[4]];",
    "nested": "y[0] = T[U[x[0]]]; y[1] = T[U[U[x[1]]]]; y[2] = T[U[x[2]]]; z[0] = U[x[3]]; z[1] = U[U[x[4]]];",
    "chain": "int a = x[0], b = x[1]; for (int i = 0; i < 6; i++) { a = U[a]; b = U[b]; y[i] = T[a]; } z[0] = b;",
    "swapped": "int a = x[0], b = x[1]; y[0] = T[a]; a = x[2]; y[1] = T[a]; b = U[b]; y[2] = T[b]; a = U[b]; b = U[a]; z[0] = a * 1000 + b;",
    "stored": "y[0] = T[x[0]]; x[1] = U[x[0]]; y[1] = T[x[1]]; x[2] = U[x[1]]; y[2] = T[x[2]];",
    "branch": "for (int i = 0; i < 8; i++) { if (x[i] % 3 == 1) y[i] = T[x[i]]; else if (x[i] & 4) { y[i] = T[U[x[i]]]; z[i] = U[x[i]] + U[x[7 - i]]; } }",
    "guard": "for (int i = 0; i < 8; i++) { int k = x[i] * 3 - 7; if (k >= 0 && k < N) { y[i] = T[k]; z[i] = U[k] * 2; } }",
    "choice": "for (int i = 0; i < 8; i++) { int k = x[i] * 3 - 7; z[i] = k >= 0 && k < N ? (long)T[k] : -1; }",
    "while": "int a = x[0], n = 0; while (n < 30 && a != x[1]) { a = U[a]; z[2] += U[(a + n) % N]; n++; } y[0] = T[a]; z[0] = n;",
    "bytes": "for (int i = 0; i < 8; i++) { unsigned char c = (unsigned char)x[i]; y[i] = T[c]; }",
    "long": "for (int i = 0; i < 8; i++) { long k = x[i]; z[i] = k * 1000000007l; y[i] = T[k]; }",
    "negative": "for (int i = 0; i < 8; i++) { int k = x[i] + 3; y[i] = T[k - 3]; z[i] = (T + N / 2)[x[i] - N / 2] != 0; }",
}  # fmt: skip
TEXT = """
#define N {n}
static const {type} T[N] = {{{values}}};
static const {small} U[N] = {{{places}}};
int x[8]; {type} y[8]; long z[8];
void k(void) {{ {body} }}
"""


def text(type_: str, n: int, body: str) -> str:
    rng = np.random.default_rng(n)
    dtype = np.dtype(TYPES[type_])
    if type_ == "_Bool":
        values = [str(v) for v in rng.integers(0, 2, n)]
    elif dtype.kind == "f":
        values = [repr(float(v)) for v in rng.normal(size=n).astype(dtype)]
    else:
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        values = [str(v) for v in rng.integers(low // 2, high, n, dtype)]
    places = map(str, rng.integers(0, n, n))
    small = "unsigned char" if n <= 256 else "unsigned short"
    return TEXT.format(n=n, type=type_, small=small, values=", ".join(values), places=", ".join(places), body=body)


def compared(source: str, n: int) -> str:
    rng = np.random.default_rng(n)
    inputs = {"x": rng.integers(0, n, (P, 8), "i4")}
    made = {s: c2cu.compile(source, backend="cpu", schedule=s, verify=False) for s in ("native", "gang")}
    given = {v.name for v in made["native"].slots if v.reads}
    zeros = {"y": re.search(r"; (.*) y\[8\]", source)[1], "z": "long"}
    inputs |= {name: np.zeros((P, 8), TYPES[t]) for name, t in zeros.items() if name in given}
    right, ours = (r if isinstance(r, dict) else {"": r} for r in (p(inputs) for p in made.values()))
    assert right.keys() == ours.keys()
    for name in right:
        assert right[name].tobytes() == ours[name].tobytes(), name
    return made["gang"].source


@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize("n", sampled(SIZES, 8))
@pytest.mark.parametrize("type_", sampled(TYPES, 4))
def test_every_type_and_size(type_, n):
    kinds = [KINDS[k] for k in ("row", "branch", "long" if n % 2 else "loop")]
    compared(text(type_, n, " ".join(f"{{ {k} }}" for k in kinds)), n)


@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize("n", sampled([5, 16, 40, 64, 100, 200, 256], 3))
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind(kind, n):
    for type_ in ("signed char", "float"):
        compared(text(type_, n, KINDS[kind]), n)


PROCESSORS = {
    "VBMI": ["__AVX512F__", "__AVX512BW__", "__AVX512VBMI__"],
    "BW": ["__AVX512F__", "__AVX512BW__"],
    "none": [],
}


@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
def test_what_is_only_stored_stays_bytes():
    assert "bytes4_r_T(t" in compared(text("char", 64, KINDS["row"]), 64)
    assert "bytes4_r_T(t" not in compared(text("char", 64, KINDS["sum"]), 64)


@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize("wide", ["", " z[0] = (long)T[x[0]] * 3l;"], ids=["32", "64"])
@pytest.mark.parametrize("n", sampled([17, 33, 64, 65, 128, 200, 256], 3))
@pytest.mark.parametrize("type_", ["signed char", "unsigned short", "int", "double"])
def test_longer_registers(type_, n, wide, monkeypatch, tmp_path):
    """Of processors that this one is not: their instructions are written in C."""
    source = text(type_, n, KINDS["row"] + wide)
    native = c2cu.compile(source, backend="cpu", schedule="native", verify=False)
    given = {s.name: np.zeros((P, 8), TYPES[type_] if s.name == "y" else "i8") for s in native.slots if s.reads}
    given["x"] = np.random.default_rng(n).integers(0, n, (P, 8), "i4")
    right = native(given)
    right = right if isinstance(right, dict) else {"y": right}
    monkeypatch.setattr(toolchain, "vector_bytes", lambda: 64)
    made = c2cu.compile(source, backend="cpu", schedule="gang", verify=False)
    assert f"#define W {8 if wide or type_ == 'double' else 16}\n" in made.source
    (tmp_path / "immintrin.h").write_text(Path(__file__).with_name("avx512.h").read_text())
    (tmp_path / "k.c").write_text(re.sub(r"#if defined\(__AVX512F__\)\n(?=.*gather)", "#if 0\n", made.source))
    for name, macros in PROCESSORS.items():
        path = tmp_path / f"{name}.so"
        command = ["gcc", "-O1", "-fwrapv", "-w", "-shared", "-fPIC", *(f"-D{m}" for m in macros)]
        subprocess.run([*command, f"-I{tmp_path}", "-o", path, tmp_path / "k.c"], check=True)
        results = {n: np.zeros_like(a) for n, a in right.items()}
        table = (ctypes.c_void_p * (4 * len(made.slots)))()
        for k, s in enumerate(made.slots):
            for at, arrays in ((4 * k, given), (4 * k + 2, results)):
                if s.name in arrays:
                    table[at : at + 2] = [arrays[s.name].ctypes.data, arrays[s.name].strides[0]]
        assert ctypes.CDLL(str(path)).c2cu_run(table, ctypes.c_long(0), ctypes.c_long(P))
        for n, a in right.items():
            assert a.tobytes() == results[n].tobytes(), (name, n)


#: What a processor does for tables of 64 bytes: (type, elements, flags, instruction).
INSTRUCTIONS = [
    ("char", 64, "-mavx2", "vpshufb"),
    ("char", 64, "-march=skylake-avx512", "vpshufb"),
    ("char", 64, "-march=icelake-server", "vpermb"),
    ("unsigned char", 256, "-march=icelake-server", r"vperm[it]2b"),
    ("short", 32, "-mavx2", "vpermd"),
    ("float", 16, "-mavx2", "vperm(d|ps)"),
    ("float", 32, "-march=skylake-avx512", r"vperm[it]2(d|ps)"),
    ("double", 8, "-mavx2", "vperm(d|ps)"),
    ("double", 8, "-march=skylake-avx512", "vperm(q|pd)"),
    ("double", 16, "-march=skylake-avx512", r"vperm[it]2(q|pd)"),
    ("double", 32, "-march=skylake-avx512", r"vperm[it]2(q|pd)"),
]
FLAGS = "-O2 -Wall -Werror -Wno-psabi -Wno-maybe-uninitialized -Wno-aggressive-loop-optimizations -S -o -".split()


def assembly(path, source: str, vector_bytes: int, flags: str, monkeypatch) -> str:
    monkeypatch.setattr(toolchain, "vector_bytes", lambda: vector_bytes)
    path.write_text(c2cu.compile(source, backend="cpu", schedule="gang", verify=False).source)
    return subprocess.run(["gcc", flags, *FLAGS, path], capture_output=True, text=True, check=True).stdout


@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize("type_, n, flags, instruction", INSTRUCTIONS)
@pytest.mark.parametrize("kind", ["alone", "row"])
def test_instructions(type_, n, flags, instruction, kind, monkeypatch, tmp_path):
    vector_bytes = 32 if flags == "-mavx2" else 64
    made = assembly(tmp_path / "k.c", text(type_, n, KINDS[kind]), vector_bytes, flags, monkeypatch)
    assert re.search(instruction, made) and "gather" not in made


@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize("flags, vector_bytes, n, gathers", [("-mavx2", 32, 300, True), ("-msse4.1", 16, 64, False)])
def test_other_tables_and_processors(flags, vector_bytes, n, gathers, monkeypatch, tmp_path):
    made = assembly(tmp_path / "k.c", text("char", n, KINDS["loop"]), vector_bytes, flags, monkeypatch)
    assert ("gather" in made) == gathers
