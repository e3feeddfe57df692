"""C's arithmetic as `ir.evaluate` says it, against gcc: every operator, type and conversion on values at the edges."""

import itertools
import math
import struct
import subprocess

import numpy as np
import pytest

from c2cu.base.ctype import BOOL, DOUBLE, FLOAT, INT, LDOUBLE, SCALARS, Scalar
from c2cu.ir.evaluate import COMPARISONS, binary_value, converted, evaluate, reinterpreted, unary_value
from c2cu.ir.nodes import Assign, Binary, Bitcast, Cast, Const, Extremum, Kernel, Select, Unary, Variable
from c2cu.ir.verify import verify
from tests.oracle import FLAGS

TYPES = [t for t in SCALARS if t != LDOUBLE]
ARITHMETIC = ("+", "-", "*", "/")
OF_INTEGERS = ("%", "&", "|", "^", "<<", ">>")
FLOATS = (0.0, -0.0, 1.0, -1.0, 1.5, -2.25, 0.1, 3.0, 16777217.0, 1e30, 3.5e38, 1e-40, 5e-324, 1.7e308, -1e-310,
          math.pi, math.inf, -math.inf, math.nan)  # fmt: skip


def values(t: Scalar) -> list:
    """Of a type: its edges and some between."""
    if t.is_float:
        return [converted(x, t) for x in FLOATS]
    top = 1 << (8 * t.size - 1)
    edges = (0, 1, 2, 3, 7, 100, -1, -2, -7, top, top - 1, top - 2, top + 1, 0x5555555555555555, 0xF0F0F0F0F0F0F0F)
    return list(dict.fromkeys(converted(x, t) for x in edges))


def operators(t: Scalar) -> tuple[str, ...]:
    return (*ARITHMETIC, *COMPARISONS, "&&", "||", *(() if t.is_float else OF_INTEGERS))


def result_type(op: str, t: Scalar) -> Scalar:
    return INT if op in COMPARISONS or op in ("&&", "||") else t


def pairs(op: str, t: Scalar) -> list[tuple]:
    """What C defines ``op`` for."""
    if op in ("<<", ">>"):
        return [(a, n) for a in values(t) for n in range(8 * t.size)]
    every = [(a, b) for a in values(t) for b in values(t)]
    if op in ("/", "%") and t.is_integer:
        least = -(1 << (8 * t.size - 1))
        return [(a, b) for a, b in every if b and not (a == least and b == -1)]
    return every


def unary_operators(t: Scalar) -> str:
    return "+-!" if t.is_float else "+-~!"


def convertible(source: Scalar, t: Scalar) -> list:
    if not source.is_float or t.is_float or t.kind == "b":
        return values(source)
    low, high = (-(1 << t.bits - 1), 1 << t.bits - 1) if t.kind == "i" else (0, 1 << t.bits)
    return [x for x in values(source) if math.isfinite(x) and low - 1 < x < high]


def same_size(t: Scalar) -> list[Scalar]:
    return [s for s in TYPES if s.size == t.size and "b" not in s.kind + t.kind]


# the program


def literal(x, t: Scalar) -> str:
    if t.is_float:
        if not math.isfinite(x):
            return "NAN" if math.isnan(x) else "INFINITY" if x > 0 else "-INFINITY"
        return float.hex(x) + "f" * (t == FLOAT)
    return f"({t.name}){int(x) & (2**64 - 1)}ull"


def shown(expression: str, t: Scalar) -> str:
    return f"{{ volatile {t.name} r = {expression}; show_{t.kind}(&r, sizeof r); }}"


def table(name: str, xs: list, t: Scalar) -> str:
    return f"volatile {t.name} {name}[] = {{{', '.join(literal(x, t) for x in xs)}}};"


def over(xs: list, t: Scalar, ys: list, s: Scalar, expression: str, result: Scalar) -> str:
    """Shows an expression of a and b for each pair of values."""
    head = f"{{ {table('x', xs, t)} {table('y', ys, s)} for (int k = 0; k < {len(xs)}; k++)"
    body = f"{{ {t.name} a = x[k]; {s.name} b = y[k]; (void)b; {shown(expression, result)} }} }} putchar('\\n');"
    return head + body


def lines(t: Scalar) -> list[str]:
    out = []
    for op in operators(t):
        xs, ys = zip(*pairs(op, t))
        out.append(over(xs, t, ys, INT if op in ("<<", ">>") else t, f"a {op} b", result_type(op, t)))
    for op in unary_operators(t):
        out.append(over(values(t), t, values(t), t, f"{op}a", INT if op == "!" else t))
    for s in TYPES:
        xs = convertible(t, s)
        out.append(over(xs, t, xs, t, f"({s.name})a", s))
    for s in same_size(t):
        expression = f"({{ {s.name} c; memcpy(&c, &a, sizeof c); c; }})"
        out.append(over(values(t), t, values(t), t, expression, s))
    return out


HEAD = """#include <math.h>
#include <stdio.h>
#include <string.h>
static void show_i(const volatile void *p, int n) {
    const unsigned char *c = (const unsigned char *)p;
    while (n--) printf("%02x", c[n]);
    putchar(' ');
}
#define show_u show_i
#define show_b show_i
static void show_f(const volatile void *p, int n) {
    if (n == 4 ? isnan(*(const float *)p) : isnan(*(const double *)p)) printf("nan ");
    else show_i(p, n);
}
int main(void) {
"""


@pytest.fixture(scope="module")
def by_gcc(tmp_path_factory) -> dict[str, list[list[str]]]:
    """What gcc's program prints of each type, line by line."""
    path = tmp_path_factory.mktemp("evaluate") / "program"
    text = HEAD + "\n".join(line for t in TYPES for line in lines(t)) + "\nreturn 0; }\n"
    subprocess.run(["gcc", "-O0", *FLAGS, "-x", "c", "-", "-o", str(path)], input=text.encode(), check=True)
    printed = iter(subprocess.run([path], capture_output=True, text=True, check=True).stdout.splitlines())
    return {t.name: [next(printed).split() for _ in lines(t)] for t in TYPES}


# the same in Python


def show(x, t: Scalar) -> str:
    if t.is_float and math.isnan(x):
        return "nan"
    if t.is_float:
        return struct.pack(">f" if t == FLOAT else ">d", x).hex()
    assert converted(x, t) == x
    return (int(x) & ((1 << 8 * t.size) - 1)).to_bytes(t.size, "big").hex()


def numbers(f, xs, t, result):
    return [show(f(x), result) for x in xs]


def arrays(f, xs, t, result):
    with np.errstate(all="ignore"):
        out = f(np.array(xs, t.numpy))
        assert out.dtype == result.numpy
        return [show(x, result) for x in out.tolist()]


def numbers2(f, xs, ys, t, s, result):
    return [show(f(x, y), result) for x, y in zip(xs, ys)]


def arrays2(f, xs, ys, t, s, result):
    with np.errstate(all="ignore"):
        out = f(np.array(xs, t.numpy), np.array(ys, s.numpy))
        assert out.dtype == result.numpy
        return [show(x, result) for x in out.tolist()]


@pytest.mark.parametrize("one, two", [(numbers, numbers2), (arrays, arrays2)], ids=["numbers", "arrays"])
@pytest.mark.parametrize("t", TYPES, ids=str)
def test_as_gcc(t, one, two, by_gcc):
    printed = iter(by_gcc[t.name])
    for op in operators(t):
        xs, ys = zip(*pairs(op, t))
        result, second = result_type(op, t), INT if op in ("<<", ">>") else t
        ours = two(lambda a, b, op=op, r=result: binary_value(op, a, b, r), xs, ys, t, second, result)
        compare(f"a {op} b", zip(xs, ys), ours, next(printed))
    for op in unary_operators(t):
        result = INT if op == "!" else t
        ours = one(lambda a, op=op: unary_value(op, a, t), values(t), t, result)
        compare(f"{op}a", values(t), ours, next(printed))
    for s in TYPES:
        xs = convertible(t, s)
        compare(f"({s})a", xs, one(lambda a, s=s: converted(a, s), xs, t, s), next(printed))
    for s in same_size(t):
        ours = one(lambda a, s=s: reinterpreted(a, t, s), values(t), t, s)
        compare(f"the bits of a as {s}", values(t), ours, next(printed))
    assert next(printed, None) is None


def compare(what, operands, ours, gccs):
    wrong = [(x, mine, theirs) for x, mine, theirs in zip(operands, ours, gccs, strict=True) if mine != theirs]
    assert not wrong, f"{what}: (operands, ours, gcc's) {wrong[:5]}"


def test_integers_are_not_divided_by_zero():
    for op in "/%":
        with pytest.raises(ZeroDivisionError):
            binary_value(op, 1, 0, INT)
        masked = binary_value(op, np.array([7, 8], np.int32), np.array([0, 3], np.int32), INT)
        assert masked[1] == 2


def test_expressions():
    seven, half = Const(7, INT), Const(0.5, DOUBLE)
    less = Binary("<", Cast(seven, DOUBLE), half, INT)
    chosen = Select(less, Binary("/", seven, Const(0, INT), INT), Unary("-", seven, INT), INT)
    bits = Bitcast(Cast(chosen, FLOAT), INT)
    assert evaluate(bits, lambda e: e.value) == struct.unpack("<i", struct.pack("<f", -7.0))[0]
    assert evaluate(bits, lambda e: np.asarray(e.value, e.type.numpy)) == evaluate(bits, lambda e: e.value)


@pytest.mark.parametrize("op", ("min", "max"))
@pytest.mark.parametrize("rule", ("strict", "weak", "number"))
def test_minima(op, rule):
    """As the choice that they stand for; of numbers, by rule "number", either of two zeros."""
    for a, b in itertools.product((-1.5, -0.0, 0.0, 2.0, math.inf, math.nan), repeat=2):
        left, right = Const(a, FLOAT), Const(b, FLOAT)
        e = Extremum(op, left, right, rule, FLOAT)
        alone = evaluate(e, lambda x: x.value)
        (together,) = evaluate(e, lambda x: np.array([x.value], np.float32))
        assert repr(float(together)) == repr(alone)
        if rule != "number":
            assert repr(alone) == repr(evaluate(e.choice, lambda x: x.value))
        elif not (math.isnan(a) and math.isnan(b)):
            assert alone == (np.fmin if op == "min" else np.fmax)(a, b)


@pytest.mark.parametrize(
    "e",
    [
        Extremum("min", Const(1, INT), Const(2, INT), "weak", INT),
        Extremum("min", Const(1, INT), Const(2.0, FLOAT), "strict", FLOAT),
        Extremum("least", Const(1, INT), Const(2, INT), "strict", INT),
        Extremum("max", Const(0, BOOL), Const(1, BOOL), "strict", BOOL),
    ],
)
def test_minima_that_are_none(e):
    v = Variable("v", e.type)
    with pytest.raises(AssertionError):
        verify(Kernel("f", (), (Assign(v, e),)))
