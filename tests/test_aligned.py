"""Loops too long to write out: what the low bits of the counter decide is decided, and nothing else changes."""

import random
import re

import numpy as np
import pytest

import c2cu
from c2cu.analysis.effects import fold_known
from c2cu.base.ctype import INT
from c2cu.ir.nodes import Binary, Const, Expr, Var, Variable
from c2cu.transform.aligned import fold_aligned
from tests.oracle import Original, same

BASE, UNIT, END = Variable("i", INT, 1), 8, 64


def expression(rng: random.Random, depth: int) -> Expr:
    if depth == 0:
        constant = Const(rng.choice((0, 1, 2, 5, 7, 8, 16, 24, 32, 63, -1, -8)), INT)
        return rng.choice((Var(BASE), Binary("+", Var(BASE), Const(rng.randrange(1, UNIT), INT), INT), constant))
    op = rng.choice(("^", "^", "&", "&", "+", "|", "-", "<", "<=", ">", ">=", "==", "!="))
    return Binary(op, expression(rng, depth - 1), expression(rng, rng.randrange(depth)), INT)


@pytest.mark.slow
def test_the_value_is_the_same():
    rng = random.Random(1)
    folded = 0
    for _ in range(4000):
        e = expression(rng, rng.randrange(1, 4))
        new = fold_aligned(e, BASE, UNIT)
        folded += new != fold_known(e, {})
        for b in range(0, END, UNIT):
            known = {BASE: Const(b, INT)}
            assert fold_known(new, known) == fold_known(e, known), (e, new, b)
    assert folded > 1000


@pytest.mark.slow
def test_loops_with_branches_on_their_counter():
    text = """
    float a[1024], s[3]; int hits;
    void kern(void) {
        int last = 0;
        for (int j = 512; j > 0; j /= 2)
            for (int i = 0; i < 1024; i++) {
                int l = i ^ j;
                if (l > i && (i & 5) != 4 && (a[i] > a[l]) == ((i & 32) == 0)) { float t = a[i]; a[i] = a[l]; a[l] = t; }
            }
        for (int i = 0; i < 1024; i++) {
            int low = (i + 3) & 7;
            if (low == 6) a[i] += 0.5f; else if ((i & 3) == 1) s[(i & 64) > 0] += a[(i + 9) & 1023];
        }
        for (int i = 0; i < 1024; i++) if ((i & 9) == 8) { last = i ^ 6; if (a[last] < 0.3f) hits += last; }
        for (int i = 8; i < 4000; i++) if ((i & 7) == 3 && a[i & 1023] < 0.5f) s[i > 3000] = a[(i ^ 40) & 1023] + last;
    }
    """
    a = np.random.default_rng(0).random((19, 1024), dtype="f4")
    borders = [("a", "f4", (1024,)), ("s", "f4", (3,)), ("hits", "i4", ())]
    inputs = {"a": a, "s": a[:, :3].copy(), "hits": np.zeros(19, "i4")}
    expected = Original(text, "kern", borders).bulk(inputs, 19)
    program = c2cu.compile(text, backend="cpu", schedule="gang")
    assert re.search(r"\b(i_\d+) \+= 8\b", program.source)
    for name, array in program(inputs).items():
        assert same(array, expected[name])
