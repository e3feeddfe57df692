"""Division of doubles by products, exactly: where fused multiply-adds are fast and divisions are not.

By a constant c: with 1/c as the sum of two doubles, high and low, fma(x, high, x * low) is off by less than 2^-103 of
the quotient before it is rounded. That is the rounded quotient unless a middle between two doubles lies in between, and
there are few x for which one is that near: `inverse` tries them all (after Brisebarre and Muller 2008, Correctly
rounded multiplication by arbitrary precision constants). Only an x that is tiny and not 0 may come out wrong.

By a variable: what CUDA's own division does, one step from a reciprocal that Newton's method has made of the hardware's
approximation (Markstein 1990); but without its branch, and with one reciprocal for all that is divided by the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

from ..base.ctype import DOUBLE
from ..ir.nodes import Binary, Const, Expr

EXPONENTS = 64  # of constants, up to which no intermediate result leaves the normal numbers
#: CUDA: x / by, unless a number is too large or too small for the intermediate results to be exact.
OVER = """/* 1 / c for a constant c to twice the bits, as a sum. */
struct c2cu_reciprocal {
    double high, low;
};
/* The upper 32 bits of a double's size, compared as a float; from 2^1017 up they are infinity or NaN. */
__device__ __forceinline__ float c2cu_upper(long long bits) {
    return fabsf(__int_as_float((int)(bits >> 32)));
}
/* The same of the double 2^exponent. */
__device__ __forceinline__ float c2cu_upper_power(int exponent) {
    return __int_as_float((1023 + exponent) << 20);
}
/* Whether 0 < |x| < 2^-800: products may give inexact quotients of that, and of constants times it. The bits of 0 less
 * one are a NaN. */
__device__ __forceinline__ bool c2cu_is_tiny(double x) {
    return c2cu_upper(__double_as_longlong(x) - 1) < c2cu_upper_power(-800);
}
__device__ __forceinline__ double c2cu_over(double x, const c2cu_reciprocal &by) {
    return fma(x, by.high, x * by.low);
}
__device__ __forceinline__ double c2cu_over(double x, const c2cu_reciprocal &by, bool &odd) {
    odd |= c2cu_is_tiny(x);
    return c2cu_over(x, by);
}
/* The same where x is a constant times a factor: a look at that is enough for all quotients of its multiples. */
__device__ __forceinline__ double c2cu_over(double x, const c2cu_reciprocal &by, double factor, bool &odd) {
    odd |= c2cu_is_tiny(factor);
    return c2cu_over(x, by);
}
/* x / by as CUDA divides, but with odd operands noted, in place of a branch for them. */
__device__ __forceinline__ double c2cu_over(double x, double by, bool &odd) {
    const float dividend = c2cu_upper(__double_as_longlong(x)), divisor = c2cu_upper(__double_as_longlong(by));
    odd |= c2cu_is_tiny(x) | !(dividend <= c2cu_upper_power(900));
    odd |= !(divisor >= c2cu_upper_power(-100)) | !(divisor <= c2cu_upper_power(100));
#ifdef __CUDA_ARCH__
    double y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(by));
    const double error = fma(y, -by, 1.0);
    y = fma(y, fma(error, error, error), y);
    y = fma(y, fma(y, -by, 1.0), y);
    const double q = x * y;
    return copysign(fma(y, fma(q, -by, x), q), q); /* products alone make 0 of -0 / by */
#else
    return x / by;
#endif
}"""


def is_slow(e: Expr) -> bool:
    """Whether an expression is a division of doubles that may be done by products: not by a power of two, where
    compilers multiply, nor by a constant that is too large or too small."""
    if not isinstance(e, Binary) or e.op != "/" or e.type != DOUBLE:
        return False
    if not isinstance(e.right, Const):
        return True
    c = float(e.right.value)
    return math.isfinite(c) and c != 0 and abs(math.frexp(c)[1]) < EXPONENTS and abs(math.frexp(c)[0]) != 0.5


def is_by_constant(e: Expr) -> bool:
    """Whether such a division is by a constant that has an `inverse`."""
    return isinstance(e, Binary) and isinstance(e.right, Const) and is_slow(e) and inverse(e.right.value) is not None


@lru_cache(maxsize=4096)
def inverse(c: float) -> tuple[float, float] | None:
    """(high, low), both with c's sign, such that fma(x, high, x * low) is x / c rounded, if there are any; c is no
    power of two. With low of the other sign, the quotient of -0 would be 0 and that of an infinity none."""
    exact = 1 / Fraction(abs(c))
    nearest = float(exact)
    for high in (nearest, math.nextafter(nearest, 0)):
        low = float(exact - Fraction(high))
        if low > 0 and all(_is_right(x, abs(c), high, low) for x in _near_a_middle(abs(c))):
            return math.copysign(high, c), math.copysign(low, c)
    return None


def _is_right(x: int, c: float, high: float, low: float) -> bool:
    rest = float(x * Fraction(low))
    return float(x * Fraction(high) + Fraction(rest)) == float(x / Fraction(c))


def _near_a_middle(c: float) -> Iterator[int]:
    """Whole numbers x of 53 bits of which x / c is within 2^-103 of it of a middle, up to powers of two.

    With c = k 2^b for an odd k, a middle is m 2^-s / 2^b for an odd m of 54 bits, and nearer than that means that
    x 2^s - m k is less than k / 2^49, and not 0, which m and k being odd rule out.
    """
    k = Fraction(c).numerator
    k //= k & -k
    for s in range(k.bit_length() - 1, k.bit_length() + 2):
        turns_back = pow(2, -s, k)
        for distance in range(1, -(-k >> 49)):
            for r in (distance, -distance):
                x = r * turns_back % k
                x += -((x - (1 << 52)) // k) * k
                yield from (y for y in range(x, 1 << 53, k) if ((y << s) - r) // k >> 53 == 1)
