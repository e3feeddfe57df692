"""Counted loops, copies and unrolling by profit: kernels mean the same before and after."""

import re

import numpy as np
import pytest

import c2cu
from c2cu.analysis.uniform import uniform
from c2cu.base.ctype import FLOAT, INT
from c2cu.frontend.options import Options
from c2cu.frontend.preprocess import Source
from c2cu.ir.canonical import canonical, chosen_extremum, counted, subscripts
from c2cu.ir.dump import dump
from c2cu.ir.nodes import Assign, Const, Loop, Region, Select, Var
from c2cu.ir.verify import verify
from c2cu.ir.walk import expressions, statements, subexpressions
from c2cu.pipeline import understand
from c2cu.report.stages import after
from c2cu.transform.common import common
from c2cu.transform.propagate import propagate
from c2cu.transform.unroll import unroll_by_profit
from tests import ir_interpreter
from tests.programs import SEED, share, write
from tests.sample import sampled
from tests.test_uniform import elements

PASSES = {
    "canonical": canonical,
    "common": common,
    "propagate": propagate,
    "unroll": lambda k: unroll_by_profit(propagate(k)),
    "gang": lambda k: uniform(unroll_by_profit(propagate(k))).kernel,
}


def front(text: str):
    return understand(Source("<input>", text), Options(fn="kern"))


@pytest.mark.parametrize("number", range(share(10, 2 * len(PASSES))))
def test_random_programs(number):
    program, name = write(SEED * 10**9 + number), sorted(PASSES)[number % len(PASSES)]
    f = front(program.text)
    if f.analysis is None:
        return
    before = after(f, "lower") if name == "canonical" else f.analysis.kernel
    new = PASSES[name](before)
    verify(new)
    arrays = program.inputs(3, number)
    inputs = [dict(pair for n in arrays for pair in elements(n, arrays[n][k])) for k in range(3)]
    alone = [ir_interpreter.run(before, [x]).memory[0] for x in inputs]
    analysis = uniform(new)
    together = ir_interpreter.run(analysis.kernel, inputs, analysis).memory  # lanes that part share what is uniform
    for r in before.regions:
        if r.storage == "bulk":
            assert repr([x[r.name] for x in alone]) == repr([x[r.name] for x in together])


LOOPS = {
    "for (int i = 0; i < 9; i++) a[i] = 0;": ("<", 1, 9),
    "for (int i = 1; 9 >= i; i = 2 + i) a[i] = 0;": ("<=", 2, 5),
    "for (int i = 8; i > 0; --i) a[i] = 0;": (">", -1, 8),
    "for (int i = 6; i >= 0; i -= 3) a[i] = 0;": (">=", -3, 3),
    "for (long i = 0; i != 9; i += 3) a[i] = 0;": ("!=", 3, 3),
    "for (unsigned i = 0; i < sizeof a / sizeof a[0]; i++) a[i] = 0;": ("<", 1, 16),
    "int i = 0; while (i < 9) { a[i] = 0; i++; }": ("<", 1, 9),
    "for (int i = 0; i * i < 80; i++) a[i] = 0;": ("", 1, None),
    "for (int i = 1; i < 9; i *= 2) a[i] = 0;": None,
    "for (int i = 0; i < 9; i++) { a[i] = 0; i++; }": None,
    "for (signed char i = 0; i < 9; i++) a[i] = 0;": None,  # its step may wrap
    "for (int i = 0, n = 9; i < n; i++) n = 8;": ("", 1, None),
    "for (int i = 0; i < a[0] + 9; i++) a[i] = 0;": ("", 1, None),
}


@pytest.mark.parametrize("text", sampled(LOOPS, 1))
def test_counted_loops(text):
    kernel = after(front(f"int a[16];\nvoid kern(void) {{ {text} }}\n"), "canonical")
    (loop,) = (s for s in statements(kernel.body) if isinstance(s, Loop))
    c = counted(loop)
    if LOOPS[text] is None:
        assert c is None
        return
    op, by, turns = LOOPS[text]
    assert c is not None and (c.op, c.by) == (op, by)
    if turns is not None:
        first = next(s.value for s in statements(kernel.body) if isinstance(s, Assign) and s.var == c.counter)
        assert c.turns(first.value, c.limit.value) == turns
        assert isinstance(loop.step[0], Assign) and loop.step[0].value.left == Var(c.counter)


def test_a_counter_that_misses_its_limit_has_no_number_of_turns():
    text = "int a[16];\nvoid kern(void) { for (int i = 0; i != 9; i += 2) a[i & 15] = 0; }\n"
    (loop,) = (s for s in statements(after(front(text), "canonical").body) if isinstance(s, Loop))
    with pytest.raises(ValueError, match="steps over"):
        counted(loop).turns(0, 9)


CHOICES = {
    "x < y ? x : y": ("min", "strict"),
    "x > y ? y : x": ("min", "strict"),
    "x <= y ? x : y": ("min", "weak"),
    "x > y ? x : y": ("max", "strict"),
    "x <= y ? y : x": ("max", "weak"),
    "(double)x < y ? x : y": ("min", "strict"),
    "x < y ? x : 0": None,
    "x == y ? x : y": None,
    "-x < -y ? x : y": None,
}


@pytest.mark.parametrize("text", CHOICES)
def test_minima(text):
    kernel = front(f"float a[3];\nvoid kern(void) {{ float x = a[0], y = a[1]; a[2] = {text}; }}\n").analysis.kernel
    nodes = (x for s in statements(kernel.body) for e in expressions(s) for x in subexpressions(e))
    (e,) = (x for x in nodes if isinstance(x, Select))
    least = chosen_extremum(e.cond, e.yes, e.no)
    assert (least and (least.op, least.rule)) == CHOICES[text]
    if least is not None:
        assert (least.left, least.right) == (e.yes, e.no)


FLOYD = """
float D[{n}][{n}];
static void relax(int i, int j, int k) {{ if (D[i][j] > D[i][k] + D[k][j]) D[i][j] = D[i][k] + D[k][j]; }}
void kern(void) {{
    for (int k = 0; k < {n}; k++) for (int i = 0; i < {n}; i++) for (int j = 0; j < {n}; j++) relax(i, j, k);
}}
"""


def test_copies_go():
    text = dump(after(front(FLOYD.format(n=64)), "gang:propagate"))
    assert text.count(" = ") == 4  # three counters and one store
    assert "for k.1 = 0 .. 63\n        for i.2 = 0 .. 63\n            for j.3 = 0 .. 63\n" in text


@pytest.mark.parametrize("n", (16, 24, 64))
def test_what_gains_nothing_stays_a_loop(n):
    """An address that is a constant is no gain; text as long as the loop has turns takes the compiler seconds."""
    assert dump(after(front(FLOYD.format(n=n)), "gang:select")).count("\n") < 80


def test_branches_and_divisions_are_decided():
    text = "int a[{0}];\nvoid kern(void) {{ for (int i = 0; i < {0}; i++) if (i % 3 == 0) a[i] = {0} / (i + 1); }}\n"
    for n in (8, 200):
        assert " / " not in dump(after(front(text.format(n)), "gang:unroll"))
        assert "for" not in dump(after(front(text.format(n)), "gang:unroll"))


def test_a_turn_that_loads_what_the_last_one_stored():
    text = "float a[100];\nvoid kern(void) { for (int i = 1; i < 100; i++) a[i] = a[i - 1] + a[i]; }\n"
    assert "for" not in dump(after(front(text), "gang:unroll"))


def test_a_local_array_becomes_variables():
    text = """
    float a[40], b[40];
    void kern(void) { float t[40]; for (int i = 0; i < 40; i++) t[i] = a[i] * a[39 - i];
        for (int i = 0; i < 40; i++) b[i] = t[39 - i]; }
    """
    assert "t[" not in dump(after(front(text), "gang:scalarize"))


def test_a_copy_ends_where_a_branch_changes_what_it_copies():
    text = "int s, u;\nvoid f(void) { int old = s; s = u; if (u == old) u++; }\n"
    inputs = {"s": np.array([1, 2, 5], np.int32), "u": np.array([1, 3, 5], np.int32)}
    for schedule in ("gang", "native"):
        result = c2cu.bulk(text, inputs, backend="cpu", schedule=schedule)
        assert result["s"].tolist() == [1, 3, 5] and result["u"].tolist() == [2, 3, 6]


def test_subscripts_stand_by_dimension():
    text = """
    float D[5][6], flat[30]; struct { int a[3], y; } s[4]; int n, which[6];
    void kern(void) { float *p = &D[0][0]; int t[3][4];
        for (int i = 0; i < 5; i++) for (int j = 0; j < 6; j++) {
            D[i][5 - j] = flat[i * 6 + j] + D[which[i] % 5][2] + D[4][j];
            p[i * 6 + j] = n;
        }
        for (int i = 0; i < 3; i++) for (int j = 0; j < 4; j++) { s[3 - j].a[i] = s[j].y; t[i][j] = 7; n += t[i][j]; }
    }
    """
    f = front(text)
    printed = re.sub(r"(?<=\w)\.\d", "", dump(f.analysis.kernel))  # without the numbers of variables
    for line in (
        "bulk float D[5][6]",
        "bulk float flat[30]",
        "bulk int s.a[4][3]",
        "bulk int n",
        "local int t[3][4]",
        "D[i][(5 - j)] = ((flat[((i * 6) + j)] + D[(which[i] % 5)][2]) + D[4][j])",
        "s.a[(3 - j)][i] = s.y[j]",
        "n = (n + t[i][j])",
    ):
        assert line in printed.replace("    ", "").split("\n"), printed
    assert all(r.count == np.prod(r.extents, dtype=int) for r in f.analysis.kernel.regions)
    assert "D[((i * 6) + j)]" in printed  # C does not bound the column of a pointer


@pytest.mark.parametrize("k", range(30))
def test_an_element_by_its_place(k):
    region = Region("D", FLOAT, (5, 3, 2), "bulk")
    apart = subscripts(region, Const(k, INT))
    assert apart is not None and [x.value for x in apart] == list(np.unravel_index(k, region.extents))


def test_a_call_is_made_once():
    text = """
    #include <math.h>
    float q[2], y[6];
    void kern(void) {
        float a = q[0];
        y[0] = sinf(a) + sqrtf(sinf(a)); y[1] = sqrtf(sinf(a));
        y[2] = cosf(q[1]); q[1] = y[1]; y[3] = cosf(q[1]);
        if (sinf(a) > 0.5f) a = 2;
        y[4] = sinf(a);
        for (int i = 0; i < 100; i++) y[5] += expf(a * i) - a * expf(a * i);
    }
    """
    f = front(text)
    before, joined = (dump(after(f, f"gang:{name}")) for name in ("select", "common"))
    names = ("sinf(", "sqrtf(", "cosf(", "expf(")
    assert [before.count(n) for n in names] == [5, 2, 2, 2]
    assert [joined.count(n) for n in names] == [2, 1, 2, 1]
    inputs = {"q": np.linspace(0.1, 1.2, 40, dtype=np.float32).reshape(20, 2), "y": np.ones((20, 6), np.float32)}
    gang, native = (c2cu.bulk(text, inputs, backend="cpu", schedule=s)["y"] for s in ("gang", "native"))
    assert gang.tobytes() == native.tobytes()
