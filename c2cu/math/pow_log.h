/* The logarithm of pow, as a sum of two doubles: see pow.c. */
#ifndef C2CU_POW_LOG_H
#define C2CU_POW_LOG_H
#include "bits.h"
#include "pow_table.h"

/* log(size) and its rest, within 2^-66 of it, for finite and normal size; for bias see log_core.h. */
static double c2cu_pow_log(double size, double bias, double *log_low) {
    unsigned long bits = c2cu_as_bits(size);
    unsigned long above = bits - 0x3fe6955500000000UL;
    unsigned long row = 3 * (above >> 45 & 127);
    double z = c2cu_from_bits(bits - (above & 0xfff0000000000000UL));
    double k = c2cu_from_bits((above + 0x4000000000000000UL) >> 52 | 0x4330000000000000UL) - bias;
    double r = __builtin_fma(z, c2cu_pow_table[row], -1.0);
    double start = __builtin_fma(k, 0x1.62e42fefa3800p-1, c2cu_pow_table[row + 1]);
    double sum = start + r;
    double rest = __builtin_fma(k, 0x1.ef35793c76730p-45, c2cu_pow_table[row + 2]) + (start - sum + r);
    double half = r * -0.5;
    double half2 = r * half;
    double most = sum + half2;
    rest = rest + __builtin_fma(r, half, -half2) + (sum - most + half2);
    double first = __builtin_fma(r, 0x1.0000000000006p-1, -0x1.555555555556p-1);
    double second = __builtin_fma(r, -0x1.555555529a47ap-1, 0x1.999999959554ep-1);
    double third = __builtin_fma(r, 0x1.0002b8b263fc3p0, -0x1.2495b9b4845e9p0);
    double poly = __builtin_fma(half2, __builtin_fma(half2, third, second), first);
    rest = __builtin_fma(r * half2, poly, rest);
    double log_high = most + rest;
    *log_low = most - log_high + rest;
    return log_high;
}
#endif
