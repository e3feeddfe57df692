"""The order of calls and side effects in one expression, where C leaves it open: gcc's at -O1 (docs/language.md)."""

import numpy as np
import pytest

import c2cu
from tests.oracle import Original, same

P = 9
HEAD = """int a[8], b[8], m[4], s;
struct S { int x, y; };
static struct S st;
static int t(int k) { b[0] = b[0] * 7 + k; return a[k & 7]; }
static int w(int k) { s += k; b[0] = b[0] * 7 + k; return k; }
static int *at(int k) { b[0] = b[0] * 7 + k; return &m[k & 3]; }
static struct S mk(int k) { struct S q = {k, t(k)}; return q; }
static double d(int k) { b[0] = b[0] * 7 + k; s = s * 3 + k; return a[k & 7] * 0.5; }
static int f3(int x, int y, int z) { return x + 2 * y + 4 * z; }
static int f2(int x, int y) { return x - 3 * y; }
static int fp(int *x, int y) { return *x + y; }
static int (*fn(int k))(int, int) { b[0] = b[0] * 7 + k; return f2; }
"""
OPERATORS = "+ - * & | ^ < <= > >= == !=".split()
EXPRESSIONS = [
    *(f"t(1) {op} t(2)" for op in OPERATORS),
    *(f"s {op} w(2)" for op in OPERATORS),
    *(f"w(2) {op} s" for op in OPERATORS),
    *(f"b[0] {op} t(2)" for op in OPERATORS),
    *(f"t(2) {op} b[0]" for op in OPERATORS),
    "w(3) / (w(2) | 1)", "(w(5) + 9) % (w(2) | 1)", "w(3) << (w(2) & 3)", "s >> (w(2) & 3)", "w(9) << (s & 3)",
    "t(1) + 0 * t(2)", "0 * t(1) + t(2)", "t(1) * (0 & t(2))", "0 * t(1) + 0 * t(2)", "t(1) + t(2) * 0 + t(3)",
    "t(1) < 0 * t(2)", "t(1) + t(2) + t(3)", "t(1) + (t(2) + t(3))", "t(1) * t(2) + t(3) * t(4)", "s + w(1) + s",
    "s + (w(1) + s)", "s * 2 + w(1)", "w(1) + s * 2", "-t(1) + t(2)", "~t(1) + t(2)", "3 - t(1) + t(2)", "!t(1) + !t(2)",
    "-t(1) + -t(2)", "-t(1) - t(2)", "-d(1) + d(2)", "-t(1) + d(2)", "(char)t(1) + (long)t(2)", "d(1) + d(2)",
    "s + d(2)", "d(2) + s", "d(1) < d(2)", "t(1) * d(2)", "0.0 * d(1) + d(2)", "(t(1), t(2)) + (t(3), t(4))",
    "t(1) - (t(3), t(4))", "(a[1] > 0 ? t(1) : t(2)) + t(3)", "t(3) + (a[1] > 0 ? t(1) : t(2))", "s + (a[1] > 0 && w(3))",
    "(t(1) && t(2)) + (t(3) || t(4))", "f3(t(1), t(2), t(3))", "f3(s, w(2), s)", "f2(s, w(2))", "f2(w(2), s)",
    "fp(at(1), t(2))", "f2(f2(t(1), t(2)), f2(t(3), t(4)))", "f3(t(1) + t(2), t(3), t(4) * t(5))", "fn(1)(t(2), t(3))",
    "m[t(1) & 3] + m[t(2) & 3]", "at(1)[t(2) & 1]", "(t(1) & 1)[at(2)]", "*(at(0) + (t(2) & 1))",
    "*((t(2) & 1) + at(0))", "at(2) - at(1)", "at(2) == at(1)", "mk(1).x + mk(2).y", "({ t(1); t(2); }) - t(3)",
    "((t(1), m) == at(0)) + t(2)", "t(2) + ((t(1), &m[2]) - (t(3), &m[1]))", "((t(1), (__int128)t(3)) == 3) + t(2)",
    "((__int128)0 * t(1) == 3) + t(2)", "(t(1), mk(3)).x + t(2)", "(t(1), m)[t(2) & 1] + t(3)", "((t(1), m) ? t(2) : 4) + t(3)",
    "!(t(1), m) + t(2)", "((t(1), m) && t(2)) + t(3)",
    "s - (w(2) || 8)", "s - (w(2) && 0)", "s - (w(2) || 0)", "s - (w(2) && 1)", "s - (8 || w(2))", "s - !(w(2) || 8)",
    "s - ((w(2) || 8) + a[1])", "s - (double)(w(2) || 8)", "s - (unsigned)(w(2) && 0)", "s - ((w(2) && 0) || 1)",
    "t(1) - (t(2) || 8)", "t(1) + ((t(2) && 0) == t(3))", "(int)(s - ((__int128)(w(2) || 8) + s))",
]  # fmt: skip
STATEMENTS = [
    *(f"b[1] = {e};" for e in EXPRESSIONS),
    "__builtin_memmove(b + (s & 3) + 1, b + 4, w(2) * 2);", "__builtin_memcpy(m + (w(1) & 1), a + (s & 3), 4 + (w(2) & 4));",
    "__builtin_memset(m + (s & 1), w(2), 4 + (s & 4));", "__builtin_memset(at(1), t(2), 4);",
    "__builtin_memcpy(at(1), (t(2), a), (t(3), 4));",
    "b[t(1) & 7 | 1] = t(2);", "m[s & 3] = w(1);", "m[s & 3] = w(1) + 1;", "m[s & 3] = -w(1);", "b[t(1) & 3 | 1] = t(2) + 1;",
    "double q[4] = {0}; q[s & 3] = w(1); b[1] = q[2] + 3 * q[1];", "long q[4] = {0}; q[s & 3] = w(1); b[1] = q[2] + 3 * q[1];", "*at(1) = t(2);", "(&st)[t(1) & 0].x = t(2); b[1] = st.x;",
    "int q[4][4] = {{0}}; q[t(1) & 3][t(2) & 3] = t(3); b[1] = q[1][2];", "m[t(1) & 3] += t(2);", "s += w(2);",
    "s *= w(3);", "*at(1) += t(2);", "s -= w(2);", "b[0] += t(2);", "s <<= w(1) & 1;", "s /= w(3);",
    "double z = 1; z += d(1); b[1] = z;", "b[t(1) & 1 | 2] = b[t(2) & 1 | 4] = t(3);",
    "b[t(1) & 7 | 1] = a[1] > 0 ? t(2) : t(3);", "b[t(1) & 7 | 1] = (t(2), t(3));",
    "b[t(1) & 3 | 1] = b[t(2) & 1 | 4]++;", "b[t(1) & 3 | 1] = (m[t(2) & 3] = t(3)) + 1;",
    "b[t(1) & 3 | 1] += m[t(2) & 3] = t(3);", "int q[3] = {t(1), t(2), t(3)}; b[1] = q[0] + q[2];",
    "int q[3] = {[2] = t(1), [0] = t(2)}; b[1] = q[0] + q[2];", "struct S q = {t(1), t(2)}; b[1] = q.x - q.y;",
    "struct S q = {.y = t(1), .x = t(2)}; b[1] = q.x - q.y;", "struct S q = (struct S){t(1), t(2)}; b[1] = q.x;",
    "int q[3] = {s, w(1), s}; b[1] = q[0] + 2 * q[2];", "*(&st + (t(3) & 0)) = mk(2); b[1] = st.y;",
    "struct S q[2] = {mk(1), mk(2)}; b[1] = q[1].y;", "int i = 0; while (i < 3 && (t(1), t(2)) + t(3) < 9) i++; b[1] = i;",
]  # fmt: skip
VARIABLES = [("a", "i4", (8,)), ("b", "i4", (8,)), ("m", "i4", (4,)), ("s", "i4", ())]


def inputs_of() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {
        "a": rng.integers(-9, 9, (P, 8)).astype("i4"),
        "b": rng.integers(1, 5, (P, 8)).astype("i4"),
        "m": rng.integers(-9, 9, (P, 4)).astype("i4"),
        "s": rng.integers(1, 9, P).astype("i4"),
    }


def judge(statements: list[str]) -> None:
    inputs = inputs_of()
    # b[0] has the order; what a statement leaves in the other variables goes into what the next begins with
    parts = [f"    {{ {x} }}\n    s = s % 9 + 10;\n    b[2] = b[2] * 5 + b[1];" for x in statements]
    text = f"{HEAD}void kern(void)\n{{\n" + "\n".join(parts) + "\n}\n"
    expected = Original(text, "kern", VARIABLES).bulk(inputs, P, fresh=True)
    program = c2cu.compile(text, fn="kern", backend="cpu", schedule="gang")
    result = program({s.name: inputs[s.name] for s in program.slots if s.name in inputs})
    for n, *_ in VARIABLES:
        assert same(result.get(n, inputs[n]), expected[n]), (n, statements)


def test_some_one_after_the_other():
    judge(STATEMENTS[::6])


@pytest.mark.slow
def test_all_one_after_the_other():
    judge(STATEMENTS)


@pytest.mark.slow
@pytest.mark.parametrize("statement", STATEMENTS)
def test_each(statement):
    judge([statement])
