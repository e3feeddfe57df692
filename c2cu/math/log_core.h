/* log(x), for positive, finite and normal x: see log.c. */
#ifndef C2CU_LOG_CORE_H
#define C2CU_LOG_CORE_H
#include "bits.h"
#include "log_table.h"

/* Beside 1. */
static double c2cu_log_near(double x) {
    double q = x - 1.0;
    double q2 = q * q, q3 = q * q2;
    double first = __builtin_fma(-0x1.ffffffffffdcbp-3, q, 0x1.5555555555577p-2);
    first = __builtin_fma(0x1.999999995dd0cp-3, q2, first);
    double second = __builtin_fma(0x1.24924a344de3p-3, q, -0x1.55555556745a7p-3);
    second = __builtin_fma(-0x1.fffffa4423d65p-4, q2, second);
    double third = __builtin_fma(-0x1.999eb43b068ffp-4, q, 0x1.c7184282ad6cap-4);
    third = __builtin_fma(0x1.78182f7afd085p-4, q2, third);
    third = __builtin_fma(-0x1.5521375d145cdp-4, q3, third);
    double series = __builtin_fma(__builtin_fma(third, q3, second), q3, first);
    double upper = __builtin_fma(-q, 0x1p27, __builtin_fma(q, 0x1p27, q));
    double square = upper * upper;
    double most = __builtin_fma(square, -0.5, q);
    double rest_q = __builtin_fma(-0.5 * (q - upper), q + upper, __builtin_fma(square, -0.5, q - most));
    return most + __builtin_fma(series, q3, rest_q);
}

/* Beside 1 the common path would cancel: where a lane is there, all take the other way too. Of x 2^-n it is the
   logarithm if n more than in c2cu_log_core is subtracted from the exponent with its bias. */
static double c2cu_log_scaled(double x, double bias) {
    unsigned long bits = c2cu_as_bits(x);
    unsigned long above = bits - 0x3fe6000000000000UL;
    unsigned long row = 2 * (above >> 45 & 127);
    double z = c2cu_from_bits(bits - (above & 0xfff0000000000000UL));
    double k = c2cu_from_bits((above + 0x4000000000000000UL) >> 52 | 0x4330000000000000UL) - bias;
    double r = __builtin_fma(z, c2cu_log_table[row], -1.0);
    double start = __builtin_fma(k, 0x1.62e42fefa3800p-1, c2cu_log_table[row + 1]);
    double sum = start + r;
    double rest = __builtin_fma(k, 0x1.ef35793c76730p-45, start - sum + r);
    double r2 = r * r;
    double low = __builtin_fma(r, -0x1.fffffffeb459p-3, 0x1.555555551305bp-2);
    double high = __builtin_fma(r, -0x1.55575e506c89fp-3, 0x1.999b324f10111p-3);
    double poly = __builtin_fma(high, r2, low);
    double result = __builtin_fma(r * r2, poly, __builtin_fma(r2, -0x1.0000000000001p-1, rest)) + sum;
    if (x >= 1.0 - 0x1p-4 && x < 1.0 + 0x1.09p-4) result = c2cu_log_near(x);
    return result;
}

static double c2cu_log_core(double x) {
    return c2cu_log_scaled(x, 0x1.00000000004p52);
}
#endif
