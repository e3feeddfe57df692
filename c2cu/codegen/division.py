"""Division of doubles by products, exactly: where fused multiply-adds are fast and divisions are not.

By a constant: with y the double nearest to 1/c, q = x y is off by the roundings of y and of q. The remainder
r = x - c q is exact in one fused multiply-add, and q + r y is the quotient rounded correctly if q was one of the two
doubles next to it (Markstein 1990; Muller et al., Handbook of Floating-Point Arithmetic, division by a known
reciprocal).
Where y is not near enough to 1/c for that, the same step before gives such a q.

By a variable: what CUDA's own division does, one step from a reciprocal that Newton's method has made of the hardware's
approximation; but without its branch, and with one reciprocal for all that is divided by the same.
"""

from __future__ import annotations

import math
from fractions import Fraction

from ..base.ctype import DOUBLE
from ..ir.nodes import Binary, Const, Expr

NEAR = Fraction(1, 1 << 54)  # of 1/c: then x y is next to the quotient
EXPONENTS = 64  # of constants, up to which no intermediate result leaves the normal numbers
#: CUDA: x / by, unless a number is too large or too small for the intermediate results to be exact.
OVER = """struct c2cu_divisor {
    double value, inverse;
};
/* Whether |x| is not between 2^-most and 2^most. */
__device__ __forceinline__ bool c2cu_beyond(double x, unsigned int most) {
    const unsigned int high = (unsigned int)(__double_as_longlong(x) >> 32) & 0x7fffffffu;
    return high - ((1023u - most) << 20) >= 2 * most << 20;
}
/* Whether products may be wrong: not for 0, nor for what has a size in the middle. They make 0 of -0. */
__device__ __forceinline__ bool c2cu_is_odd(double x, unsigned int most) {
    return c2cu_beyond(x, most) & (__double_as_longlong(x) != 0);
}
template <int STEPS> __device__ __forceinline__ double c2cu_over(double x, const c2cu_divisor &by) {
    double q = x * by.inverse;
    if (STEPS > 1) q = fma(fma(-by.value, q, x), by.inverse, q);
    return fma(fma(-by.value, q, x), by.inverse, q);
}
template <int STEPS> __device__ __forceinline__ double c2cu_over(double x, const c2cu_divisor &by, bool &odd) {
    odd |= c2cu_is_odd(x, 900);
    return c2cu_over<STEPS>(x, by);
}
/* The same where x is a positive multiple of a factor, and other dividends are. */
template <int STEPS>
__device__ __forceinline__ double c2cu_over(double x, const c2cu_divisor &by, double factor, bool &odd) {
    odd |= c2cu_is_odd(factor, 800);
    return c2cu_over<STEPS>(x, by);
}
__device__ __forceinline__ double c2cu_over(double x, double by, bool &odd) {
    odd |= (c2cu_beyond(x, 900) & (__double_as_longlong(x) != 0)) | c2cu_beyond(by, 100);
#ifdef __CUDA_ARCH__
    double y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(by));
    const double error = fma(y, -by, 1.0);
    y = fma(y, fma(error, error, error), y);
    y = fma(y, fma(y, -by, 1.0), y);
    const double q = x * y;
    return fma(y, fma(q, -by, x), q);
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
    """Whether such a division is by a constant."""
    return isinstance(e, Binary) and isinstance(e.right, Const) and is_slow(e)


def reciprocal(c: float) -> tuple[int, float]:
    """(steps, y) for a constant divisor."""
    y = 1.0 / c
    error = abs(Fraction(y) * Fraction(c) - 1)
    return (1 if error < NEAR else 2), y
