/* log(1 + x), for x above -1 and below 2^53: see log1p.c. */
#ifndef C2CU_LOG1P_CORE_H
#define C2CU_LOG1P_CORE_H
#include "bits.h"

/* By sum = 1 + x, and what the sum lost. */
static double c2cu_log1p_of(double x, double sum, double lost) {
    unsigned long bits = c2cu_as_bits(sum);
    unsigned long mantissa = bits & 0xfffffffffffffUL;
    unsigned long upper = mantissa >= 0x6a09e00000000UL ? 1 : 0;
    double k = c2cu_from_bits(((bits >> 52) + upper) | 0x4330000000000000UL) - 0x1.00000000003ffp52;
    double c = lost / sum;
    double f = c2cu_from_bits(mantissa | (0x3ffUL - upper) << 52) - 1.0;
    _Bool small = x < 0x1.a827ap-2 && x > -0x1.2bec4p-2;
    k = small ? 0.0 : k;
    c = small ? 0.0 : c;
    f = small ? x : f;
    _Bool flat = !small && (mantissa < 0x100000000UL || mantissa >= 0xffffd00000000UL);

    double square = 0.5 * f * f;
    double s = f / (2.0 + f);
    double z = s * s;
    double z2 = z * z, z4 = z2 * z2, z6 = z4 * z2;
    double second = __builtin_fma(z, 0x1.2492494229359p-2, 0x1.999999997fa04p-2);
    double third = __builtin_fma(z, 0x1.7466496cb03dep-3, 0x1.c71c51d8e78afp-3);
    double fourth = __builtin_fma(z, 0x1.2f112df3e5244p-3, 0x1.39a09d078c69fp-3);
    double r = __builtin_fma(z, 0x1.5555555555593p-1, z2 * second);
    r = __builtin_fma(z6, fourth, __builtin_fma(z4, third, r));
    double slope = s * (square + r);
    double near = square * __builtin_fma(-f, 0x1.5555555555555p-1, 1.0);
    double shift = __builtin_fma(k, 0x1.a39ef35793c76p-33, c);
    double curved = square - (slope + shift);
    double rest = flat ? near - shift : curved;
    double many = __builtin_fma(k, 0x1.62e42feep-1, -(rest - f));
    double none = f - (flat ? near : square - slope);
    double result = k == 0.0 ? none : many;
    double tiny = __builtin_fma(-(x * x), 0.5, x);
    return fabs(x) < 0x1p-29 ? tiny : result;
}

static double c2cu_log1p_core(double x) {
    double sum = 1.0 + x;
    double lost = sum >= 2.0 ? 1.0 - (sum - x) : x - (sum - 1.0);
    return c2cu_log1p_of(x, sum, lost);
}
#endif
