/* log2(x), for positive, finite and normal x: see log2.c. */
#ifndef C2CU_LOG2_CORE_H
#define C2CU_LOG2_CORE_H
#include "bits.h"
#include "log2_table.h"

/* Beside 1. */
static double c2cu_log2_near(double x) {
    double q = x - 1.0;
    double lead = q * 0x1.7154765200000p0;
    double lead_rest = __builtin_fma(q, 0x1.705fc2eefa200p-33, __builtin_fma(q, 0x1.7154765200000p0, -lead));
    double q2 = q * q, q4 = q2 * q2;
    double bend = __builtin_fma(0x1.ec709dc3a03f7p-2, q, -0x1.71547652b82fep-1);
    double most = __builtin_fma(bend, q2, lead);
    double low = __builtin_fma(bend, q2, lead - most) + lead_rest;
    double p = __builtin_fma(0x1.2776c50f05be4p-2, q, -0x1.71547652b7c3fp-2);
    p = __builtin_fma(__builtin_fma(0x1.a61761ec4e736p-3, q, -0x1.ec709dd768fe5p-3), q2, p);
    double s = __builtin_fma(0x1.484d154f01b4ap-3, q, -0x1.7153fbc64a79bp-3);
    s = __builtin_fma(__builtin_fma(0x1.0b32f285aee66p-3, q, -0x1.289e4a72c383cp-3), q2, s);
    return most + __builtin_fma(__builtin_fma(s, q4, p), q4, low);
}

/* For bias see log_core.h. */
static double c2cu_log2_scaled(double x, double bias) {
    unsigned long bits = c2cu_as_bits(x);
    unsigned long above = bits - 0x3fe6000000000000UL;
    unsigned long row = 2 * (above >> 46 & 63);
    double z = c2cu_from_bits(bits - (above & 0xfff0000000000000UL));
    double k = c2cu_from_bits((above + 0x4000000000000000UL) >> 52 | 0x4330000000000000UL) - bias;
    double r = __builtin_fma(z, c2cu_log2_table[row], -1.0);
    double t = r * 0x1.7154765200000p0;
    double t_rest = __builtin_fma(r, 0x1.705fc2eefa200p-33, __builtin_fma(r, 0x1.7154765200000p0, -t));
    double start = c2cu_log2_table[row + 1] + k;
    double sum = t + start;
    double rest = (start - sum + t) + t_rest;
    double r2 = r * r;
    double first = __builtin_fma(0x1.ec709dc3a04bep-2, r, -0x1.71547652b8339p-1);
    double second = __builtin_fma(0x1.2776c50034c48p-2, r, -0x1.7154764702ffbp-2);
    double third = __builtin_fma(0x1.a6225e117f92ep-3, r, -0x1.ec7b328ea92bcp-3);
    double poly = __builtin_fma(third, r2 * r2, __builtin_fma(second, r2, first));
    double result = __builtin_fma(r2, poly, rest) + sum;
    if (x >= 1.0 - 0x1.5b51p-5 && x < 1.0 + 0x1.6ab2p-5) result = c2cu_log2_near(x);
    return result;
}
#endif
