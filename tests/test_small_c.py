"""Small pieces of C that real programs have: infinities that variables start with, types that headers bring."""

import numpy as np
import pytest

import c2cu
from tests import nvcc

X = np.arange(-4, 5, dtype="i4")
PIECES = {
    "infinity in a table": "static const double limit[2] = {INFINITY, 1};\nvoid kern(void) { r = limit[in & 1] * in; }",
    "infinity first": "static float best = HUGE_VALF;\nvoid kern(void) { if (in < best) best = in; r = best; }",
    "none": "static double best = -HUGE_VAL, n = NAN;\nvoid kern(void) { if (in > best) best = in; r = best; if (n == n) r = 9; }",
    "sums": "static double a = INFINITY - INFINITY, b = 1 / INFINITY;\nvoid kern(void) { r = (a != a) + b + in; }",
    "truths": "static _Bool l = NAN, m = INFINITY; static int n = INFINITY > 5;\nvoid kern(void) { r = l + 2 * m + 4 * n + in; }",
    "bounds": "static struct { float lo, hi; } b = {INFINITY, -INFINITY};\nvoid kern(void) { if (in < b.lo) b.lo = in; if (in > b.hi) b.hi = in; r = b.lo - b.hi; }",
    "nearest": "static int most = INFINITY; static unsigned char least = -INFINITY;\nvoid kern(void) { r = most + least + in; }",
    "types of the system": "void kern(void) { uint a = in; ssize_t b = a; u_int8_t c = in; int64_t d = in; r = b - c + d + sizeof(ulong); }",
}  # fmt: skip
HEAD = "#include <math.h>\n#include <stdlib.h>\nint in; double r;\n"


@pytest.mark.parametrize("piece", PIECES)
def test_lanes_have_what_native_has(piece):
    text = HEAD + PIECES[piece]
    gang, native = (
        c2cu.bulk(text, {"in": X}, fn="kern", schedule=s, outputs=("r",), verify=False) for s in ("gang", "native")
    )
    assert gang.tobytes() == native.tobytes()


@nvcc.needed
@pytest.mark.parametrize("schedule", ["private", "registers", "thread"])
def test_infinities_in_tables_are_constants_to_nvcc(schedule, tmp_path):
    text = (
        "#include <math.h>\n#include <stdio.h>\nint in; double r;\nstatic const double T[4] = {INFINITY, -INFINITY, 1, 3};\n"
        "static const float U[2] = {-HUGE_VALF, 2};\nvoid kern(void) { r = T[in & 3] + U[in & 1]; }\n"
        'int main(void) { scanf("%d", &in);\n#pragma kernel\n    kern();\n    printf("%g\\n", r);\n}\n'
    )
    assert nvcc.kernels(c2cu.translate(text, p=64, schedule=schedule), tmp_path)


CASTS = ["(int)INFINITY", "(unsigned)NAN", "(int)1e20", "(unsigned char)300.5", "(int)-3e9f", "(signed char)-200.7", "(long)1e300",
    "(unsigned long)-1.5", "(short)12345.9", "(unsigned)4e9"]  # fmt: skip


def test_a_number_that_a_type_does_not_hold_is_its_nearest():
    text = HEAD + f"static long n[] = {{{', '.join(CASTS)}}}, o[{len(CASTS)}];\n"
    text += f"void kern(void) {{ for (int i = 0; i < {len(CASTS)}; i++) o[i] = n[i] + in; }}"
    gang, native = (
        c2cu.bulk(text, {"in": X}, fn="kern", schedule=s, outputs=("o",), verify=False) for s in ("gang", "native")
    )
    assert np.array_equal(gang, native)


@pytest.mark.parametrize("first", ["-0.0", "-1 / INFINITY", "{1.0, -0.0}"])
def test_minus_zero_is_a_value_to_begin_with(first):
    array = "[2]" if "{" in first else ""
    text = (
        HEAD
        + f"static double v{array} = {first};\nvoid kern(void) {{ double *p = (double *)&v; r = p[{int(bool(array))}]; if (in == 99) p[0] = in; }}"
    )
    gang, native = (
        c2cu.bulk(text, {"in": X}, fn="kern", schedule=s, outputs=("r",), verify=False) for s in ("gang", "native")
    )
    assert gang.tobytes() == native.tobytes() and np.signbit(native).all()


def test_an_attribute_is_of_its_own_declaration_alone():
    """On one line as on several."""
    text = (
        "int in; int r; static void end(int *p) { r += *p; } void kern(void) { r = 0; {\n"
        "int v __attribute__((cleanup(end))) = in; v *= 2; } r++; }"
    )
    for t in (text, text.replace("\n", "")):
        assert np.array_equal(c2cu.bulk(t, {"in": X}, fn="kern", outputs=("r",)), 2 * X + 1)
    text = "typedef int small __attribute__((mode(QI))); int in, r; void kern(void) { small a = in * 50; r = a; }"
    assert np.array_equal(c2cu.bulk(text, {"in": X}, fn="kern", outputs=("r",)), (X * 50).astype("i1"))


OVERFLOWS = [("int", "int", "long"), ("unsigned", "unsigned", "long"), ("int", "unsigned", "unsigned long"),
    ("long", "int", "long"), ("long", "long", "long"), ("unsigned long", "unsigned", "unsigned long")]  # fmt: skip


@pytest.mark.parametrize("op", ["add", "sub", "mul"])
def test_overflow_into_longer_types(op):
    rng = np.random.default_rng(0)
    edges = [0, 1, -1, -(2**63), 2**63 - 1, 2**31, -(2**31), 2**32, 3037000500]
    values = np.array([*rng.integers(-(2**63), 2**63 - 1, 80), *rng.integers(-99, 99, 80), *edges * 8]).astype("i8")
    body = "".join(
        f"{{ {a} a = x; {b} b = y; {t} t; wrong[{k}] = __builtin_{op}_overflow(a, b, &t); to[{k}] = (long)t; }}\n"
        for k, (a, b, t) in enumerate(OVERFLOWS)
    )
    text = f"long x, y, to[{len(OVERFLOWS)}]; int wrong[{len(OVERFLOWS)}];\nvoid kern(void) {{\n{body}}}"
    given = {"x": rng.permutation(values), "y": rng.permutation(values)}
    gang, native = (c2cu.bulk(text, given, fn="kern", schedule=s, verify=False) for s in ("gang", "native"))
    for name in ("to", "wrong"):
        assert np.array_equal(gang[name], native[name])
    assert native["wrong"].any() and not native["wrong"].all()


def test_what_a_function_does_not_look_at_is_evaluated():
    """Of '...': as functions that trace are compiled away."""
    text = """#include <stdarg.h>
    int in, n, r;
    extern void trace(int level, const char *format, ...) {}
    static void count(int level, const char *format, ...) { if (level > 2) n += level; }
    static int sum(int k, ...) { va_list l; int s = 0; va_start(l, k); while (k--) s += va_arg(l, int); va_end(l); return s; }
    void kern(void) {
        int x = in;
        trace(3, "x = %d %s", x, "none"); trace(1, "");
        count(3, "%f", (double)x); count(5, "%d %d", x++, x > 20 ? in = 7 : 0); count(1, 0);
        r = x * 2 + in;
    }
    void looks(void) { r = sum(2, in, 3); n = 0; }
    """
    n = np.zeros(len(X), "i4")
    given = {"in": X, "n": n}
    gang, native = (
        c2cu.bulk(text, given, fn="kern", schedule=s, outputs=("n", "r"), verify=False) for s in ("gang", "native")
    )
    assert (
        np.array_equal(gang["r"], native["r"]) and np.array_equal(gang["n"], native["n"]) and (native["n"] == 8).all()
    )
    with pytest.raises(c2cu.UnsupportedError, match="C2CU084"):
        c2cu.compile(text, fn="looks", backend="cpu", schedule="gang")
    looked = c2cu.compile(text, fn="looks", backend="cpu")
    assert looked.plan.schedule == "native" and np.array_equal(looked({"in": X})["r"], X + 3)


def test_a_table_of_pointers_of_which_turns_choose():
    """More objects than one access is written for, but of each turn of a loop one."""
    names = [f"n{k}_" for k in range(24)]
    tables = "".join(
        f"static const int {n}0[] = {{{k}, 2, 3}}, {n}1[] = {{{3 * k}}};\n"
        f"static const series {n}[] = {{{{3, {n}0}}, {{1, {n}1}}}};\n"
        for k, n in enumerate(names)
    )
    models = ", ".join(f"{{{{2, {a}}}, {{2, {b}}}, {{2, {c}}}}}" for a, b, c in zip(*[iter(names)] * 3))
    text = f"""typedef struct {{ int n; const int *t; }} series;
    typedef struct {{ int n; const series *s; }} formula;
    {tables}static const formula models[8][3] = {{{models}}};
    int in, r[3];
    static void sums(const formula *model) {{
        for (int k = 0; k < 3; k++) {{
            const formula *f = &model[k];
            r[k] = 0;
            for (int s = 0; s < f->n; s++) {{
                const series *one = &f->s[s];
                for (int i = 0; i < one->n; i++) r[k] = r[k] * in + one->t[i];
            }}
        }}
    }}
    void kern(void) {{ sums(models[2]); }}
    """
    gang, native = (
        c2cu.bulk(text, {"in": X}, fn="kern", schedule=s, outputs=("r",), verify=False) for s in ("gang", "native")
    )
    assert np.array_equal(gang, native) and native.any()


@pytest.mark.parametrize("body", [
    "r = __builtin_constant_p(n++);", "if (__builtin_constant_p(n = 5)) n += 2; r = 1;", "r = __builtin_constant_p(next(&n));",
    "r = __builtin_constant_p(in) + 2 * __builtin_constant_p(3 + 4);", "__builtin_prefetch(&a[n++ & 1]); r = 2;",
    "int (*f)(int, ...) = in > 0 ? one : two; r = f(in, n++, 3.5);", "r = one(in, -n, !n, &n, (long double)n);",
])  # fmt: skip
def test_arguments_that_are_evaluated_and_that_are_not(body):
    text = f"""int in, r, left;
    static int a[2];
    static int next(int *p) {{ return ++*p; }}
    static int one(int k, ...) {{ return k + 1; }}
    static int two(int k, ...) {{ return k * 2; }}
    void kern(void) {{ int n = in; {body} left = n; }}
    """
    given = {"in": X}
    gang, native = (
        c2cu.bulk(text, given, fn="kern", schedule=s, outputs=("r", "left"), verify=False) for s in ("gang", "native")
    )
    assert np.array_equal(gang["r"], native["r"]) and np.array_equal(gang["left"], native["left"])
