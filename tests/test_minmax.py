"""If-conversion and the search for minimum and maximum: kernels mean the same before and after."""

import itertools
import math

import pytest

from c2cu.frontend.preprocess import Source
from c2cu.ir.nodes import Extremum, If, Select
from c2cu.ir.verify import verify
from c2cu.ir.walk import expressions, statements, subexpressions
from c2cu.pipeline import Options, understand
from c2cu.transform.if_convert import if_convert
from c2cu.transform.minmax import minmax
from c2cu.transform.unroll import unroll
from tests import ir_interpreter
from tests.programs import SEED, share, write
from tests.test_uniform import elements


def flat(text: str):
    front = understand(Source("<input>", text), Options(fn="kern"))
    assert front.analysis is not None
    return front.analysis.kernel


def outcome(kernel, inputs) -> str:
    """What one run leaves in memory, as text: NaN equals NaN, 0.0 does not equal -0.0."""
    return repr(ir_interpreter.run(kernel, [inputs]).memory[0])


@pytest.mark.parametrize("number", range(share(10, 8)))
def test_random_programs(number):
    program, unrolled = write(SEED * 10**9 + number), number % 2
    front = understand(Source("<input>", program.text), Options(fn="kern"))
    if front.analysis is None:
        return
    kernel = front.analysis.kernel
    new = minmax(if_convert(unroll(kernel) if unrolled else kernel))
    verify(new)
    arrays = program.inputs(3, number)
    for k in range(3):
        inputs = dict(pair for n in arrays for pair in elements(n, arrays[n][k]))
        before, after = (ir_interpreter.run(x, [inputs]).memory[0] for x in (kernel, new))
        for r in kernel.regions:
            if r.storage == "bulk":
                assert repr(before[r.name]) == repr(after[r.name])


def counts(kernel) -> tuple[int, int, int]:
    """How many If, Select and Extremum."""
    nodes = [x for s in statements(kernel.body) for e in expressions(s) for x in subexpressions(e)]
    ifs = sum(1 for s in statements(kernel.body) if isinstance(s, If))
    return ifs, sum(1 for x in nodes if isinstance(x, Select)), sum(1 for x in nodes if isinstance(x, Extremum))


def extrema(kernel) -> list[Extremum]:
    nodes = (x for s in statements(kernel.body) for e in expressions(s) for x in subexpressions(e))
    return [x for x in nodes if isinstance(x, Extremum)]


VALUES = {
    "int": (-3, 0, 5, 2**31 - 1, -(2**31)),
    "unsigned char": (0, 7, 255),
    "float": (math.nan, -0.0, 0.0, 1.5, -math.inf),
}
FORMS = [  # what is done with a and b; Ifs, Selects and minima that are left for integers; a Select of floats may be left
    ("if (a > b) a = b;", (0, 0, 1)),
    ("if (b >= a) b = a;", (0, 0, 1)),
    ("a = a < b ? a : b;", (0, 0, 1)),
    ("a = b <= a ? a : b;", (0, 0, 1)),
    ("a = !(a > b) ? b : a;", (0, 0, 1)),
    ("if ((a < b) == 0) ; else { T t = a; a = b; b = t; }", (0, 0, 2)),
    ("if (a > b) { T t = a; a = b; b = t; }", (0, 0, 2)),
    ("int c = a > b; T t = a; if (c) a = b; if (c) b = t;", (0, 0, 2)),
    ("if ((a > b) == d) { T t = a; a = b; b = t; }", (0, 2, 4)),
    ("if ((a > b) != d) { T t = a; a = b; b = t; }", (0, 2, 4)),
    ("if ((a < b) ^ d) { T t = b; b = a; a = t; }", (0, 2, 4)),
    ("if (d) { if (a > b) a = b; } else { if (a < b) a = b; }", (0, 1, 2)),
    ("if (d && a > b) a = b;", (0, 1, 0)),
    ("if (a > b) { b = a; a = b; }", (0, 1, 1)),
]


@pytest.mark.parametrize("text, left", FORMS, ids=[f[0] for f in FORMS])
@pytest.mark.parametrize("t", VALUES)
def test_forms(text, left, t):
    program = f"typedef {t} T;\nT x, y, r[2]; int z;\nvoid kern(void) {{\n    T a = x, b = y; int d = z > 0;\n    {text}\n    r[0] = a; r[1] = b;\n}}\n"
    kernel = flat(program)
    new = minmax(if_convert(kernel))
    fast = minmax(if_convert(kernel), fast=True)
    verify(new)
    verify(fast)
    if t != "float":
        assert counts(new) == left
    else:
        assert counts(new)[0] == 0
        assert all(x.rule != "number" for x in extrema(new))
        assert counts(fast) == left
    for x, y, z in itertools.product(VALUES[t], VALUES[t], (0, 1)):
        inputs = {"x": [x], "y": [y], "z": [z], "r": [0, 0]}
        expected = outcome(kernel, inputs)
        assert outcome(new, inputs) == expected
        ordinary = not (math.isnan(x) or math.isnan(y) or x == y)
        if ordinary:
            assert outcome(fast, inputs) == expected


def test_a_copy_is_forgotten_when_its_source_changes():
    text = """
    int a[4], r;
    void kern(void) {
        int x = a[0], y = a[1], c = 0;
        for (int i = 0; i < 3; i++) {
            if (c) r = x < y ? y : x;
            c = x > y;
            x = a[2]; y = a[3];
            r += c ? y : x;
            a[2]++; a[3] -= 2;
        }
    }"""
    kernel = flat(text)
    new = minmax(if_convert(kernel))
    for a in itertools.product((0, 1, 2), repeat=4):
        inputs = {"a": list(a), "r": [7]}
        assert outcome(new, inputs) == outcome(kernel, inputs)


def test_large_and_unsafe_arms_stay():
    kernel = flat(
        "int a[8], i, n, r;\nvoid kern(void) {\n    if (n) r = a[0] / n;\n    if (i < 8) r += a[i];\n"
        "    if (n > 3) { for (int k = 0; k < n; k++) r += k; }\n}\n"
    )
    assert counts(if_convert(kernel))[0] == 3


def test_store_where_the_condition_loads():
    kernel = flat(
        "int D[16], E[16];\nvoid kern(void) {\n    for (int i = 1; i < 16; i++) if (D[i] > E[i] + D[0]) D[i] = E[i] + D[0];\n}\n"
    )
    new = minmax(if_convert(kernel))
    assert counts(new) == (0, 0, 1)
    inputs = {"D": list(range(16, 0, -1)), "E": [(5 * k) % 7 - 3 for k in range(16)]}
    assert outcome(new, inputs) == outcome(kernel, inputs)
