"""Rows of inputs to the columns of lanes, and back: every size of elements, and every number of them and of lanes."""

import subprocess

import pytest

from c2cu.schedule import pack

COUNTS = (1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 47, 48, 63, 64, 65, 100)
SCALARS = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long"}
PROGRAM = """
#include <stdlib.h>
#include <string.h>
#define W {lanes}
#define LANES for (int l = 0; l < W; l++)
#if defined(__clang__) || __GNUC__ >= 12
#define SHUFFLE(T, M, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(T, M, a, b, ...) __builtin_shuffle(a, b, (M){{__VA_ARGS__}})
#endif
typedef {scalar} {v} __attribute__((vector_size({size} * W)));
typedef {signed} {mask} __attribute__((vector_size({size} * W)));
{texts}
static {scalar} rows[W][{most}], back[W][{most}];
static {v} columns[{most}];
int main(void) {{
    {calls}
    return 0;
}}
"""
CALL = """
    for (int lanes = 1; lanes <= W; lanes++) {{
        char *in[W], *out[W];
        LANES in[l] = (char *)rows[l], out[l] = (char *)back[l];
        LANES for (int e = 0; e < {n}; e++) rows[l][e] = ({scalar})(rand() * 2147483647l + rand());
        memset(back, 7, sizeof back);
        memset(columns, 9, sizeof columns);
        pack_{suffix}(columns, in, {n});
        LANES for (int e = 0; e < {n}; e++) if (columns[e][l] != rows[l][e]) return 1;
        for (int e = {n}; e < {most}; e++) LANES if (columns[e][l] != ({scalar})0x0909090909090909) return 2;
        unpack_{suffix}(columns, out, {n}, lanes);
        LANES for (int e = 0; e < {most}; e++)
            if (back[l][e] != (l < lanes && e < {n} ? rows[l][e] : ({scalar})0x0707070707070707)) return 3;
    }}"""


@pytest.mark.parametrize("lanes", [2, 4, 8, 16, 32, 64])
@pytest.mark.parametrize("size", SCALARS)
def test_there_and_back(size, lanes, tmp_path):
    if size * lanes > 64:
        pytest.skip("no register is so long")
    scalar, most = SCALARS[size], max(COUNTS) + 1
    calls = "".join(CALL.format(n=n, suffix=pack.suffix(n, size, lanes), scalar=scalar, most=most) for n in COUNTS)
    texts = "\n".join(pack.transposes({size: set(COUNTS)}, lanes))
    given = {"signed": scalar.replace("unsigned", "signed"), "v": f"u{8 * size}", "mask": f"i{8 * size}"}
    text = PROGRAM.format(lanes=lanes, scalar=scalar, size=size, most=most, texts=texts, calls=calls, **given)
    (tmp_path / "k.c").write_text(text)
    subprocess.run(["gcc", "-O1", "-w", "-o", tmp_path / "k", tmp_path / "k.c"], check=True)
    assert subprocess.run([tmp_path / "k"]).returncode == 0
