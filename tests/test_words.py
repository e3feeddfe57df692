"""Words that programs put together from bytes are loaded as words: every order of bytes, width, and kind of loop."""

import re

import numpy as np
import pytest

import c2cu
from c2cu.base import toolchain

P = 37
HEAD = "#include <stdint.h>\n#include <string.h>\n"
LITTLE = "b[4*i] | b[4*i+1] << 8 | b[4*i+2] << 16 | (unsigned)b[4*i+3] << 24"
BIG = "(unsigned)b[4*i] << 24 | b[4*i+1] << 16 | b[4*i+2] << 8 | b[4*i+3]"
ADDED = "((unsigned)b[4*i] << 24) + (b[4*i+1] << 16) ^ (b[4*i+2] << 8) + b[4*i+3]"
TURNS = "for (int i = 0; i < 16; i++) "
WORDS = "unsigned char b[64]; unsigned w[16];"
#: Declarations, the body, and how many regions of words there are.
CASES = {
    "least first": (WORDS, f"{TURNS}w[i] = {LITTLE};", 1),
    "most first": (WORDS, f"{TURNS}w[i] = {BIG};", 1),
    "added": (WORDS, f"{TURNS}w[i] = {ADDED};", 1),
    "an int": ("unsigned char b[64]; int w[16];", f"{TURNS}w[i] = {LITTLE.replace('(unsigned)', '')};", 1),
    "its sign": ("unsigned char b[64]; long w[16];", f"{TURNS}w[i] = {LITTLE.replace('(unsigned)', '')};", 1),
    "64 bits": ("unsigned char b[77]; long w[10];", "for (int i = 0; i < 9; i++) memcpy(&w[i], b + 8 * i, 8); w[9] = b[76];", 1),
    "a cast": (WORDS, f"const uint32_t *p = (const uint32_t *)b; {TURNS}w[i] = p[i] * 3;", 1),
    "16 bits": ("unsigned char b[64]; short w[32];", "for (int i = 0; i < 32; i++) w[i] = b[2*i] | b[2*i+1] << 8;", 1),
    "both orders": ("unsigned char b[64]; unsigned w[32];", f"{TURNS}{{ w[i] = {LITTLE}; w[i + 16] = {BIG}; }}", 2),
    "beside others": (WORDS, f"{TURNS}w[i] = ({LITTLE}) + b[i];", 1),
    "of an unsigned": (WORDS, f"for (unsigned i = 0; i < 16; i++) w[i] = {BIG};", 1),
    "lanes of 64 bits": (f"{WORDS} unsigned long x;", f"{TURNS}{{ w[i] = {BIG}; x = x * 31 + w[i]; }}", 1),
    "in a branch": (f"{WORDS} int n;", f"{TURNS}if (i < n) w[i] = {LITTLE}; else w[i] = b[i];", 1),
    "in a struct": (
        "struct m { int n; unsigned char b[16]; short c; } s; unsigned w[4];",
        f"for (int i = 0; i < 4; i++) w[i] = ({LITTLE.replace('b[', 's.b[')}) + s.n + s.c;",
        1,
    ),
    "between two": (WORDS, "for (int i = 0; i < 15; i++) w[i] = " + LITTLE.replace("b[4*i", "b[1 + 4*i") + ";", 0),
    "in no order": (WORDS, f"{TURNS}w[i] = {LITTLE.replace('<< 8', '<< 9').replace('<< 16', '<< 8').replace('<< 9', '<< 16')};", 0),
    "written": (WORDS, f"b[3] ^= 1; {TURNS}w[i] = {LITTLE};", 0),
    "twice the same": (WORDS, f"{TURNS}w[i] = {LITTLE.replace('b[4*i+3]', 'b[4*i+2]')};", 1),  # of 16 bits
    "of signed bytes": (WORDS.replace("unsigned char", "signed char"), f"{TURNS}w[i] = {LITTLE};", 0),
    "data ends it": (f"{WORDS} int n;", f"for (int i = 0; i < (n & 15); i++) w[i] = {LITTLE};", 0),
}  # fmt: skip


@pytest.mark.parametrize("nbytes", [None, 32, 16])
@pytest.mark.parametrize("declared, body, regions", CASES.values(), ids=CASES.keys())
def test_as_the_program_has_it(declared, body, regions, nbytes, monkeypatch):
    if nbytes is not None:
        monkeypatch.setattr(toolchain, "vector_bytes", lambda: nbytes)
    text = f"{HEAD}{declared}\nvoid k(void) {{ {body} }}\n"
    gang, native = (c2cu.compile(text, fn="k", backend="cpu", schedule=s, verify=False) for s in ("gang", "native"))
    rng = np.random.default_rng(3)
    inputs = {}
    for s in gang.slots:
        if s.reads:
            raw = rng.integers(0, 256, (P, s.nbytes), np.uint8)
            inputs[s.name] = raw.view(s.dtype).reshape(P, *s.shape)
    ours, right = gang(inputs), native(inputs)
    ours, right = (r if isinstance(r, dict) else {"w": r} for r in (ours, right))
    assert all(ours[n].tobytes() == right[n].tobytes() for n in right)
    assert len(set(re.findall(r"c2cu_words\w+", gang.source))) == regions


def test_bytes_that_are_not_given():
    """They begin as zeros, or as the C says."""
    for first in ("", " = {1, 2, 3, 4, 250}"):
        text = f"unsigned char b[8]{first}; int w[2];\nvoid k(void) {{ for (int i = 0; i < 2; i++) w[i] = {BIG}; }}\n"
        b = np.arange(240, 256, dtype=np.uint8).reshape(2, 8)
        gang, native = (c2cu.compile(text, fn="k", backend="cpu", schedule=s, verify=False) for s in ("gang", "native"))
        assert np.array_equal(gang({"b": b}), native({"b": b}))
        if first:
            assert np.array_equal(gang(p=3), native(p=3)) and gang(p=3)[0].tolist() == [0x01020304, -100663296]
