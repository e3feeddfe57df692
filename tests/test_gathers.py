"""Subscripts that depend on data: lanes load by instructions that load an element each, and subscripts take 32 bits."""

import subprocess

import numpy as np
import pytest

import c2cu
from c2cu.base import toolchain
from tests.sample import sampled

P = 37
TYPES = {
    "char": "i1", "unsigned char": "u1", "short": "i2", "unsigned short": "u2", "int": "i4", "unsigned": "u4",
    "float": "f4", "long": "i8", "unsigned long": "u8", "double": "f8", "_Bool": "?",
}  # fmt: skip
#: A table of constants, an array of each input, and one of all inputs; the last element of each is read too.
PROGRAM = """
static const {type} table[19] = {{{values}}};
{type} own[19], all[19], out[{n}], last;
int at[{n}];
{more}
#pragma c2cu nothing
void k(void) {{
    for (int i = 0; i < {n}; i++) {{
        int j = at[i];
        if (j & 1) {{ out[i] = table[j % 19]; own[(j + 5) % 19] = all[18 - j % 19]; }}
        else out[i] = own[j % 19];
        {wide}
    }}
    last = table[18 - at[0] % 2] != own[18 - at[1] % 2];
}}
"""
#: Subscripts whose parts are longer than they are.
LONG = {
    "sum": "a[(long)x[i] + 3 - (x[i] & 2)]",
    "product": "a[(unsigned long)(x[i] & 3) * 4ul + (unsigned long)(x[i] >> 3)]",
    "minus": "a[(unsigned long)x[i] - (1ul << 40) + (1ul << 40)]",
    "pointer": "(a + 8)[x[i] - 8]",
    "quotient": "a[(unsigned long)(x[i] + 5u) / 3ul % 16ul]",
    "shift": "a[((unsigned long)x[i] << 2 >> 2) & 15ul]",
    "choice": "a[x[i] > 7 ? (long)x[i] : 15l - x[i]]",
    "unsigned": "a[(unsigned)x[i] - 4294967295u - 1u]",
    "complement": "a[~(~(long)x[i])]",
    "long itself": "a[l[i] & 15]",
    "two": "b[x[i] & 3][(x[i] >> 2) & 3]",
    "negative": "a[-(long)-x[i]]",
}


def texts(type_: str, n: int, wide: str) -> str:
    values = ", ".join(
        f"{k * 7 - 60}" if "unsigned" not in type_ and type_ != "_Bool" else f"{k * 7 % 60}" for k in range(19)
    )
    more = "long total;" if wide else ""
    return PROGRAM.format(type=type_, values=values, n=n, more=more, wide=wide).replace("#pragma c2cu nothing\n", "")


def compared(text: str, inputs: dict, **options) -> None:
    made = [c2cu.compile(text, backend="cpu", schedule=s, verify=False, **options) for s in ("native", "gang")]
    right, ours = (r if isinstance(r, dict) else {"": r} for r in (program(inputs) for program in made))
    assert right.keys() == ours.keys()
    for name in right:
        assert right[name].tobytes() == ours[name].tobytes(), name


@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize("wide", ["", "total += table[j % 19] * 3l;"], ids=["32", "64"])
@pytest.mark.parametrize("type_", sampled(TYPES, 3))
def test_every_type(type_, wide):
    rng = np.random.default_rng(11)
    dtype = np.dtype(TYPES[type_])
    bits = rng.integers(0, 2 if type_ == "_Bool" else 120, (P, 19))
    inputs = {"own": bits.astype(dtype), "all": bits[0].astype(dtype), "at": rng.integers(0, 1000, (P, 9), "i4")}
    inputs |= {"out": np.zeros((P, 9), dtype), "last": np.zeros(P, dtype)}
    if wide:
        inputs["total"] = np.zeros(P, "i8")
    compared(texts(type_, 9, wide), inputs, shared=["all"])


@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize("name", sampled(LONG, 3))
def test_subscripts_in_few_bits(name):
    text = f"int a[16], b[4][4], x[9], y[9];\nlong l[9];\nvoid k(void) {{ for (int i = 0; i < 9; i++) y[i] = {LONG[name]}; }}\n"
    rng = np.random.default_rng(5)
    x = rng.integers(0, 13, (P, 9), "i4")
    made = c2cu.compile(text, backend="cpu", schedule="gang", verify=False)
    given = {"x": x, "l": rng.integers(-(1 << 62), 1 << 62, (P, 9)), "a": rng.integers(0, 99, (P, 16), "i4")}
    given["b"] = rng.integers(0, 99, (P, 4, 4), "i4")
    compared(
        text, {s.name: given[s.name] for s in made.slots if s.reads and s.name in given} | {"y": np.zeros((P, 9), "i4")}
    )
    assert f"#define W {toolchain.vector_bytes() // (8 if name in ('long itself', 'shift') else 4)}\n" in made.source


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize("width, flags", [(16, ["-msse4.1"]), (32, ["-mavx2"]), (64, ["-march=skylake-avx512"])])
@pytest.mark.parametrize("type_", TYPES)
def test_the_text_is_c_for_every_processor(type_, width, flags, monkeypatch, tmp_path):
    """Of those with longer registers than this one the instructions are there, not run."""
    monkeypatch.setattr(toolchain, "vector_bytes", lambda: width)
    for k, wide in enumerate(("", "total += table[j % 19] * 3l;")):
        path = tmp_path / f"{k}.c"
        path.write_text(
            c2cu.library(texts(type_, 9, wide), "k_bulk", target="cpu", schedule="gang", shared=["all"]).source
        )
        (tmp_path / "k_bulk.h").write_text(
            c2cu.library(texts(type_, 9, wide), "k_bulk", target="cpu", schedule="gang", shared=["all"]).header
        )
        command = [
            "gcc",
            *flags,
            "-O2",
            "-Wall",
            "-Werror",
            "-Wno-psabi",
            "-Wno-maybe-uninitialized",
            "-S",
            "-o",
            str(tmp_path / f"{k}.s"),
            str(path),
        ]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        gathers = (tmp_path / f"{k}.s").read_text().count("gather")
        assert (gathers > 0) == (width > 16)
