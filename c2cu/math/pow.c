/* pow: log|x| = k ln2 + log(c) + log(1 + r) as a sum of two doubles, with r = z/c - 1 exact; times y, and exp of
   that as in exp.c. The algorithm of Arm's optimized routines, and of glibc since 2.28, with the fused operations of
   its FMA variant: within 0.54 units in the last place. Negative x with an integral y takes the common path. Rare: x
   that is zero, subnormal or not finite, negative x with another y or one from 2^51, results that overflow or are
   below e^-512. */
#include "bits.h"
#include "exp_table.h"
#include "pow_table.h"

double c2cu_pow(double x, double y) {
    double size = fabs(x), y_size = fabs(y);
    double y_shifted = y_size + 0x1p52;
    _Bool integral = y_size < 0x1p51 && y_shifted - 0x1p52 == y_size;
    unsigned long sign = c2cu_as_bits(x) & c2cu_as_bits(y_shifted) << 63;

    unsigned long bits = c2cu_as_bits(size);
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
    double log_high = most + rest;
    double log_low = most - log_high + rest;

    double high = y * log_high;
    double low = __builtin_fma(y, log_low, __builtin_fma(y, log_high, -high));
    double shifted = __builtin_fma(high, 0x1.71547652b82fep7, 0x1.8p52);
    unsigned long n = c2cu_as_bits(shifted);
    double nd = shifted - 0x1.8p52;
    double t = __builtin_fma(nd, -0x1.cf79abc9e3b3ap-47, __builtin_fma(nd, -0x1.62e42fefa0000p-8, high)) + low;
    unsigned long place = 2 * (n & 127);
    double tail = c2cu_from_bits(c2cu_exp_table[place]);
    double scale = c2cu_from_bits((c2cu_exp_table[place + 1] + (n << 45)) | sign);
    double t2 = t * t;
    double lower = __builtin_fma(__builtin_fma(t, 0x1.555555555543cp-3, 0x1.ffffffffffdbdp-2), t2, t + tail);
    double upper = __builtin_fma(t, 0x1.1111167a4d017p-7, 0x1.55555cf172b91p-5);
    double result = __builtin_fma(__builtin_fma(t2 * t2, upper, lower), scale, scale);
    _Bool rare = !(size >= 0x1p-1022 && size <= 0x1.fffffffffffffp1023 && high > -512.0 && high < 709.0);
    if (rare || (x < 0.0 && !integral)) result = pow(x, y);
    return result;
}
