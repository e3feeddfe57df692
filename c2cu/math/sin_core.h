/* What sin and cos share, beyond the choice of a quadrant. */
#ifndef C2CU_SIN_CORE_H
#define C2CU_SIN_CORE_H
#include "bits.h"
#include "sin_table.h"

/* sin(a + da) below 0.126: a polynomial of degree 11. */
static double c2cu_sin_small(double a, double da) {
    double a2 = a * a;
    double poly = __builtin_fma(a2, -0x1.addffc2fcdf59p-26, 0x1.71de27b9a7ed9p-19);
    poly = __builtin_fma(a2, poly, -0x1.a01a019db08b8p-13);
    poly = __builtin_fma(a2, poly, 0x1.1111111110ecep-7);
    poly = __builtin_fma(a2, poly, -0x1.5555555555555p-3);
    return a + __builtin_fma(a2, __builtin_fma(a, poly, -(0.5 * da)), da);
}

/* sin(a + da), or cos(a + da) if odd; |a| < 0.86, da its rest. With k/128 nearest to |a|: from sin and cos of k/128 and
   polynomials of the difference. The order of the operations, and which are fused, is glibc's (IBM's accurate library,
   since 2.28 without its slow paths; the FMA variant), which does not mind signs: those of a sine come last, as bits to
   be turned, with those of sign. */
static double c2cu_sin_core(double a, double da, unsigned long odd, unsigned long sign) {
    _Bool even = !odd;
    double size = fabs(a);
    unsigned long below = c2cu_as_bits(a) & 0x8000000000000000UL;
    double turned = c2cu_from_bits(c2cu_as_bits(da) ^ below);
    double shifted = size + 0x1.8p45;
    unsigned long row = 8 * (c2cu_as_bits(shifted) & 127) + 2 * odd;
    double p = c2cu_sin_table[row], p_rest = c2cu_sin_table[row + 1];
    double q = c2cu_sin_table[row + 2], q_rest = c2cu_sin_table[row + 3];
    double small = c2cu_sin_small(size, turned);
    double u = size - (shifted - 0x1.8p45);
    u = even ? u : u + turned;
    double u2 = u * u;
    double s_poly = __builtin_fma(u2, 0x1.11110e829872fp-7, -0x1.5555555555515p-3);
    double s = __builtin_fma(u * u2, s_poly, even ? turned : u);
    s = even ? u + s : s;
    double c = u2 * __builtin_fma(u2, __builtin_fma(u2, 0x1.6c16bedd9e239p-10, -0x1.5555555555535p-5), 0.5);
    c = even ? __builtin_fma(u, turned, c) : c;
    double result = p + __builtin_fma(s, q, __builtin_fma(-c, p, __builtin_fma(s, q_rest, p_rest)));
    _Bool little = (long) (c2cu_as_bits(a) ^ below) < (even ? 0x3fc020c49ba5e354L : 0L); /* 0.126 */
    result = little ? small : result;
    return c2cu_from_bits(c2cu_as_bits(result) ^ (sign ^ (even ? below : 0)));
}

/* The multiple of pi/2 nearest to x, in the low bits of what is added to 2^52, and x less that as a sum of two doubles:
   the one and the rest. |x| < 1e8. */
static double c2cu_sin_shifted(double x) { return __builtin_fma(x, 0x1.45f306dc9c883p-1, 0x1.8p52); }

static double c2cu_sin_second(double x, double n) {
    double first = __builtin_fma(n, 0x1.dde973cp-27, __builtin_fma(n, -0x1.921fb58p0, x));
    return __builtin_fma(n, 0x1.cb3b398p-55, first);
}

static double c2cu_sin_reduced(double x, double n) {
    return __builtin_fma(n, 0x1.d747f23e32ed7p-83, c2cu_sin_second(x, n));
}

static double c2cu_sin_rest(double x, double n) {
    double first = __builtin_fma(n, 0x1.dde973cp-27, __builtin_fma(n, -0x1.921fb58p0, x));
    double second = c2cu_sin_second(x, n);
    double third = c2cu_sin_reduced(x, n);
    double second_rest = __builtin_fma(n, 0x1.cb3b398p-55, first - second);
    return second_rest + __builtin_fma(n, 0x1.d747f23e32ed7p-83, second - third);
}
#endif
