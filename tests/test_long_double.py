"""Long doubles that are doubles: lanes take them, and give gcc's bits."""

import ctypes

import numpy as np
import pytest

import c2cu
from tests.oracle import Original, same

PROGRAM = """
#include <math.h>
double x, y, o[13];
float f;
int k, q[15];
unsigned char c;
static double least(double a, double b) { return a < b ? a : b; }
void kernel(void) {
    o[0] = fabsl(x), o[1] = floorl(x), o[2] = ceill(x), o[3] = truncl(x), o[4] = roundl(x), o[5] = rintl(x);
    o[6] = nearbyintl(x), o[7] = copysignl(x, y), o[8] = fabsl(x), o[9] = x > y ? fabsl(x) : floorl(y);
    o[10] = least(fabsl(x), floorl(y)), o[11] = fabsl(fabsl(x)), o[12] = x > 0 ? 1.5L : __builtin_fabsl(y);
    q[0] = lroundl(f), q[1] = llrintl(f), q[2] = fabsl(x - y) < 1e-3, q[3] = fabsl(x - y) <= 0x1.8p0L;
    q[4] = (long double)x == k, q[5] = (int)(long double)f, q[6] = (unsigned char)fabsl(f), q[7] = !fabsl(x);
    q[8] = fabsl(x) > fabsl(y), q[9] = fabsl(f) >= c, q[10] = isnan(fabsl(x)), q[11] = isfinite(fabsl(x)) != 0;
    q[12] = signbit(floorl(x)) != 0, q[13] = sizeof fabsl(x);
    if (fabsl(x)) q[14] = x < -2.5L;
    f = fabsl(f);
}
"""
REFUSED = (
    "o = fabsl(x) * 2;",
    "long double l = fabsl(x); o = l;",
    "q = x < 0.1L;",  # no double is that
    "o = 1e-3L;",
    "o = -fabsl(x);",  # which x87 converts to narrow integers otherwise
    "q = fpclassify(fabsl(x));",
    "q = x < LDBL_MAX;",
    "q = x < 1e400L;",
    "q = x < 0x1p2000L;",
    "q = isnormal(fabsl(x));",  # a double's subnormal number is a long double's normal one
    "q = (long double)9007199254740993L == x;",
    "o += fabsl(x);",
    "o = sqrtl(x);",
)


def test_lanes_give_the_bits():
    r = np.random.default_rng(1)
    p = 4000
    x = r.integers(0, 2**64, p, dtype=np.uint64).view(np.float64)
    x[::2] = r.normal(size=p // 2) * 10.0 ** r.integers(-5, 20, p // 2)
    x[::17] = np.rint(x[::17])
    x[:5] = 0.0, -0.0, np.inf, -np.inf, np.nan
    y = r.normal(size=p) * 10.0 ** r.integers(-5, 20, p)
    y[::34] = x[::34]
    k = r.integers(-9, 9, p).astype(np.int32)
    x[::50] = k[::50]
    f = (r.normal(size=p) * 100).astype(np.float32)
    inputs = {"x": x, "y": y, "f": f, "k": k, "c": r.integers(0, 255, p).astype(np.uint8)}
    lanes, gcc = (c2cu.bulk(PROGRAM, inputs, schedule=s, verify="off") for s in ("gang", "native"))
    for name, expected in gcc.items():
        bits = f"u{expected.itemsize}"
        np.testing.assert_array_equal(lanes[name].view(bits), expected.view(bits), name)


@pytest.mark.parametrize("statement", REFUSED)
def test_computations_are_refused(statement):
    text = f"#include <float.h>\n#include <math.h>\ndouble x, y, o; int q;\nvoid k(void) {{ {statement} }}"
    with pytest.raises(c2cu.UnsupportedError) as e:
        c2cu.compile(text, schedule="gang")
    assert e.value.code in ("C2CU023", "C2CU080") and e.value.line == 4


LONG_CONSTANTS = """
static const double t[] = {0.1L + 0.2L, 3.0L * 0.1L, 1.0L / 3, 1 - 1e-17L, -(0.1L + 0.7L), (float)(0.1L * 3), 1e4000L / 1e3999L,
                           0x1.fffffffffffff8p0L + 0x1p-60L, 0.1L == 0.1, 2.5e-320L * 3, 1.0L + 0.0L, (int)(0.7L * 10)};
const double u = 4.0L / 3.14159265358979323846L;
enum { N = (int)(0.1L * 30 + 0.5L) };
double k(int x) { return t[x] + u * N; }
"""


@pytest.mark.parametrize("schedule", ["gang", "native"])
def test_constants_are_computed_with_all_their_bits(schedule):
    x = np.arange(12, dtype="i4")
    expected = Original(LONG_CONSTANTS, "k", [], returns="f8")
    expected.fn.argtypes = [ctypes.c_int]
    wanted = np.array([expected.fn(k) for k in range(12)])
    assert same(c2cu.bulk(LONG_CONSTANTS, x, fn="k", backend="cpu", schedule=schedule), wanted)
