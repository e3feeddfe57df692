"""Pointers to functions, some of which are the C library's: each call is of the one that is pointed to."""

import numpy as np
import pytest

import c2cu

HEAD = (
    "#include <stdlib.h>\n#include <math.h>\n#include <ctype.h>\nint in, r;\n"
    "static int next(int x) { return x + 1; } static double half(double x) { return x / 2; }\n"
    "static double first(double a, double b) { return a; }\n"
)
KERNELS = {
    "a choice": "int (*f)(int) = in > 0 ? abs : next; r = f(in);",
    "a table": "static double (*const T[])(double) = {half, fabs, floor, tanh}; r = 1000 * T[in & 3](in * 0.3);",
    "members": "static const struct { double (*f)(double); int add; } T[2] = {{half, 3}, {ceil, 4}}; r = 100 * T[in & 1].f(in * 0.7) + T[in & 1].add;",
    "an if": "double (*f)(double) = half; if (in & 1) f = sin; else if (in & 2) f = cos; r = 1e6 * f(in);",
    "two numbers": "double (*f)(double, double) = in & 1 ? fmax : in & 2 ? pow : first; r = f(in, 3);",
    "the library's only": "int (*f)(int) = in & 1 ? toupper : tolower; r = f('m' + in);",
    "floats": "float (*f)(float) = in & 1 ? floorf : sqrtf; r = 100 * f(in * 1.7f + 20);",
    "C of ours": "int (*f)(int) = in & 1 ? isdigit : in & 2 ? next : toupper; r = f('5' + in) != 0;",
    "a loop": "int (*const T[3])(int) = {next, abs, toupper}; int s = in; for (int i = 0; i < 3; i++) s = T[i](s + 40) - 3; r = s;",
    "an argument": "long (*f)(long) = in & 1 ? labs : llabs; r = f(in + f(-3L) + (in & 4 ? 1 : -1));",
    "one that is null": "int (*f)(int) = in & 1 ? abs : 0; r = f ? f(in) : -7;",
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_one_that_is_pointed_to_is_called(kernel):
    text = HEAD + f"void kern(void) {{ {KERNELS[kernel]} }}"
    x = {"in": np.arange(-20, 21, dtype="i4")}
    gang, native = (c2cu.bulk(text, x, fn="kern", schedule=s, verify=False) for s in ("gang", "native"))
    assert gang.tobytes() == native.tobytes() and len({*gang.tolist()}) > 1


def test_one_that_takes_no_numbers_is_left_to_native():
    text = (
        "#include <string.h>\nint in, r;\n"
        "static void *back(void *to, const void *from, size_t n) { for (size_t i = 0; i < n; i++) ((char *)to)[i] = ((char *)from)[n - 1 - i]; return to; }\n"
        "void kern(void) { void *(*f)(void *, const void *, size_t) = in & 1 ? memcpy : back; f(&r, &in, 4); }"
    )
    x = np.arange(-20, 21, dtype="i4")
    assert np.array_equal(c2cu.bulk(text, {"in": x}, fn="kern"), np.where(x & 1, x, x.byteswap()))
    with pytest.raises(c2cu.UnsupportedError, match="memcpy"):
        c2cu.compile(text, fn="kern", schedule="gang")
