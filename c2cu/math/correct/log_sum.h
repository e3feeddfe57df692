/* log(x) as a sum of two doubles, within 2^-66 of it: x positive, finite, not subnormal. That of pow (../pow.c). */
#ifndef C2CU_LOG_SUM_H
#define C2CU_LOG_SUM_H
#include "../bits.h"
#include "../pow_table.h"

static void c2cu_log_sum(double x, double *high, double *low) {
    unsigned long bits = c2cu_as_bits(x);
    unsigned long above = bits - 0x3fe6955500000000UL;
    unsigned long row = 3 * (above >> 45 & 127);
    double z = c2cu_from_bits(bits - (above & 0xfff0000000000000UL));
    double k = c2cu_from_bits((above + 0x4000000000000000UL) >> 52 | 0x4330000000000000UL) - 0x1.00000000004p52;
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
    *high = most + rest;
    *low = most - *high + rest;
}
#endif
