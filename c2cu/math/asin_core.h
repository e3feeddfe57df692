/* What asin and acos share: glibc's, of IBM's accurate library, with the fused operations of its FMA variant. */
#ifndef C2CU_ASIN_CORE_H
#define C2CU_ASIN_CORE_H
#include "bits.h"
#include "asin_table.h"

/* asin(u) = u + u^3 p(u^2), from this p. */
static double c2cu_asin_series(double u2) {
    double p = __builtin_fma(u2, 0x1.292d80f453c72p-6, 0x1.6e442c822d419p-6);
    p = __builtin_fma(p, u2, 0x1.f1c7e04f4ad99p-6);
    p = __builtin_fma(p, u2, 0x1.6db6dae42c0e4p-5);
    p = __builtin_fma(p, u2, 0x1.333333336127dp-4);
    return __builtin_fma(p, u2, 0x1.55555555554f9p-3);
}

/* The row for a size from 0.125 to 0.96875. */
static unsigned long c2cu_asin_row(double size) {
    unsigned long bits = c2cu_as_bits(size);
    unsigned long row = 96 + (bits >> 45 & 127);
    row = size < 0.5 ? 32 + (bits >> 46 & 63) : row;
    row = size < 0.25 ? bits >> 47 & 31 : row;
    return 13 * (size >= 0.125 && size < 0.96875 ? row : 0);
}

/* asin(size) less its high part, the fourth number of the row. */
static double c2cu_asin_low(double size, unsigned long row) {
    double u = size - c2cu_asin_table[row];
    double p = __builtin_fma(c2cu_asin_table[row + 12], u, c2cu_asin_table[row + 11]);
    p = __builtin_fma(p, u, c2cu_asin_table[row + 10]);
    p = __builtin_fma(p, u, c2cu_asin_table[row + 9]);
    p = __builtin_fma(p, u, c2cu_asin_table[row + 8]);
    p = __builtin_fma(p, u, c2cu_asin_table[row + 7]);
    p = __builtin_fma(p, u, c2cu_asin_table[row + 6]);
    p = __builtin_fma(p, u, c2cu_asin_table[row + 5]);
    p = __builtin_fma(p, u, c2cu_asin_table[row + 4]);
    p = __builtin_fma(u * u, p, c2cu_asin_table[row + 2]);
    return __builtin_fma(c2cu_asin_table[row + 1], u, p);
}

/* About 1 / sqrt(z), for z from 2^-54 to 2^-6. */
static double c2cu_asin_root(double z) {
    unsigned long bits = c2cu_as_bits(z);
    double t = c2cu_asin_root_table[bits >> 46 & 127] * c2cu_from_bits((1534 - (bits >> 53)) << 52);
    double r = __builtin_fma(-(t * t), z, 1.0);
    double p = __builtin_fma(__builtin_fma(r, 0x1.4006318d1dab9p-2, 0x1.800496769c91ap-2), r, 0x1.fffffff757304p-2);
    return __builtin_fma(p, r, 0x1.fffffffecc1ddp-1) * t;
}
#endif
