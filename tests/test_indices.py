"""Index expressions: shorter ones have the same values, and ranges hold every value."""

import random

import pytest

from c2cu.base.ctype import INT, LONG, UINT
from c2cu.codegen.cuda import CudaText
from c2cu.ir.evaluate import COMPARISONS, evaluate
from c2cu.ir.fold import binary, cast
from c2cu.ir.indices import operations, simplified
from c2cu.ir.nodes import Binary, Const, Expr, Unary, Var, Variable
from c2cu.ir.ranges import Ranges, range_of_variable

TID, TURN, ANY, WIDE = Variable("tid", INT), Variable("turn", INT), Variable("any", INT), Variable("wide", LONG)
KNOWN = {TID: (0, 31), TURN: (0, 5)}
CONSTANTS = (0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 31, 33, 66, -1, -2, -4, 2**31 - 1, -(2**31))


def of_variable(v: Variable):
    return KNOWN.get(v, range_of_variable(v))


def number(n: int, t=INT) -> Const:
    return Const(t.wrap(n), t)


def expression(rng: random.Random, depth: int, t) -> Expr:
    """Of type ``t``, of variables, constants and what subscripts are made of."""
    if not depth or rng.random() < 0.1:
        v = rng.choice((TID, TID, TID, TURN, ANY, WIDE))
        return number(rng.choice(CONSTANTS), t) if rng.random() < 0.3 else cast(Var(v), t)
    if rng.random() < 0.1:
        return cast(expression(rng, depth - 1, rng.choice((INT, UINT, LONG))), t)
    left, op = expression(rng, depth - 1, t), rng.choice("+ + - * & | ^ << >> / % == < ~ -".split())
    if op in COMPARISONS:
        return cast(Binary(op, left, expression(rng, depth - 1, t), INT), t)
    if op == "~" or op == "-" and rng.random() < 0.3:
        return Unary(op, left, t)
    if op in ("<<", ">>"):
        return Binary(op, left, number(rng.randrange(5)), t)
    if op in ("/", "%"):
        return Binary(op, left, number(rng.choice((1, 2, 3, 4, 8, 16)), t), t)
    right = expression(rng, depth - 1, t) if rng.random() < 0.6 else number(rng.choice(CONSTANTS), t)
    return Binary(op, left, right, t)


def value(e: Expr, held: dict) -> int:
    return evaluate(e, lambda x: x.value if isinstance(x, Const) else held[x.var])


def environments(rng: random.Random):
    for tid in range(32):
        yield {
            TID: tid,
            TURN: rng.randrange(6),
            ANY: rng.choice(CONSTANTS),
            WIDE: rng.choice((*CONSTANTS, 2**40, -(2**63))),
        }


@pytest.mark.parametrize("seed", range(5))
def test_what_is_shorter_has_the_same_values(seed):
    rng = random.Random(seed)
    shorter = 0
    for _ in range(150):
        t = rng.choice((INT, INT, INT, UINT, LONG))
        e = expression(rng, rng.randrange(1, 6), t)
        new = simplified(e, of_variable)
        assert new.type == e.type and operations(new) <= operations(e)
        shorter += operations(new) < operations(e)
        ranges = Ranges(of_variable)
        for held in environments(rng):
            right = value(e, held)
            assert value(new, held) == right, f"{e}\n{new}\n{held}"
            for x in (e, new):
                low, high = ranges(x)
                assert low <= right <= high, f"{x}: {right} is not in {low} .. {high}"
    assert shorter > 30


def digit(stride: int, radix: int) -> Expr:
    e: Expr = Var(TID)
    if stride > 1:
        e = Binary(">>", e, number(stride.bit_length() - 1), INT)
    return e if stride * radix == 32 else Binary("&", e, number(radix - 1), INT)


def summed(*terms: Expr) -> Expr:
    out = terms[0]
    for x in terms[1:]:
        out = binary("+", out, x, INT)
    return out


def times(e: Expr, n: int) -> Expr:
    return binary("*", e, number(n), INT)


@pytest.mark.parametrize(
    "e, text",
    [
        (summed(times(digit(1, 2), -1), times(digit(2, 16), 2), number(1)), "tid ^ 1"),
        (summed(digit(1, 2), times(digit(2, 2), -2), times(digit(4, 8), 4), number(2)), "tid ^ 2"),
        (summed(digit(1, 8), times(digit(8, 2), 16), times(digit(16, 2), 33)), "(tid & 7) + (tid & 8) * 2 + (tid >> 4) * 33"),
        (summed(times(Var(TID), 33), number(5)), "tid * 33 + 5"),
        (summed(times(digit(4, 8), 4), number(-3)), "(tid & 28) - 3"),
        (summed(times(digit(1, 4), -1), number(3)), "3 - (tid & 3)"),
        (Binary("==", digit(2, 2), number(0), INT), "(tid & 2) == 0"),
        (Binary("==", summed(Var(TID), number(7)), summed(digit(8, 4), number(7), digit(8, 4)), INT), "tid == 0"),
        (Binary("<", summed(Var(TID), number(7)), number(12), INT), "tid < 5"),
        (summed(Var(ANY), number(3), number(-3)), "any"),
        (times(Var(ANY), 3), "(int)((unsigned int)any * 3u)"),
    ],
)  # fmt: skip
def test_it_reads_as_one_would_write_it(e, text):
    printer = CudaText(of_variable=of_variable)
    printer.variable = lambda v: v.name
    assert printer.text(simplified(e, of_variable)) == text
