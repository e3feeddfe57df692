"""Generated C is indented as its blocks are."""

import re

import pytest

import c2cu
from c2cu.codegen.indent import indented
from tests.whole_programs import PROGRAMS
from tests.workloads import EXAMPLES

TEXTS = {**PROGRAMS, **{f.stem: f.read_text() for f in sorted(EXAMPLES.glob("*.c"))}}


def test_lines_stand_below_the_brace_that_they_are_in():
    lines = [
        "a;",
        "if (x) {",
        "i32 v[2] = {1, 2};",
        "#pragma unroll",
        "} else {",
        "while (y) {",
        "b = '{';",
        "}",
        "}",
        "c;",
    ]
    assert indented(lines) == [
        "a;",
        "if (x) {",
        "    i32 v[2] = {1, 2};",
        "#pragma unroll",
        "} else {",
        "    while (y) {",
        "        b = '{';",
        "    }",
        "}",
        "c;",
    ]


@pytest.mark.parametrize("comment", ["/* { */", '"{"'])
def test_braces_that_are_no_code_do_not_count(comment):
    assert indented([comment, "a;"]) == [comment, "a;"]


@pytest.mark.costly
@pytest.mark.parametrize("name", TEXTS)
def test_kernels_of_gang_are_indented(name):
    try:
        text = c2cu.translate(TEXTS[name], p=9, target="cpu", schedule="gang")
    except c2cu.UnsupportedError:
        return
    for function in re.findall(r"^static [^\n;]*c2cu_(?:kernel|part_\d+)\(.*?^}$", text, re.M | re.S):
        lines = function.split("\n")
        plain = [x.lstrip() for x in lines if x.strip()]
        opened = [x for x in zip(indented(plain), lines) if x[0].lstrip() and not x[0].startswith("#")]
        for want, line in opened:
            depth = len(want) - len(want.lstrip())
            assert len(line) - len(line.lstrip()) in (depth, depth + 4), line  # a statement may go on in the next line
