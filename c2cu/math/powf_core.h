/* The parts of powf: see powf.c. */
#ifndef C2CU_POWF_CORE_H
#define C2CU_POWF_CORE_H
#include "bits.h"
#include "exp2f_table.h"
#include "log2f_table.h"

/* log2(size 2^-n) times y, for finite and normal size. */
static double c2cu_powf_log(float size, int n, float y) {
    unsigned bits = c2cu_as_bits_f(size);
    unsigned above = bits - 0x3f330000U;
    unsigned long row = 2 * (unsigned long) (above >> 19 & 15);
    double z = (double) c2cu_from_bits_f(bits - (above & 0xff800000U));
    double r = __builtin_fma(z, c2cu_log2f_table[row], -1.0);
    double start = c2cu_log2f_table[row + 1] + (double) (((int) above >> 23) - n);
    double r2 = r * r;
    double first = __builtin_fma(r, 0x1.27616c9496e0bp-2, -0x1.71969a075c67ap-2);
    double second = __builtin_fma(r, 0x1.ec70a6ca7baddp-2, -0x1.7154748bef6c8p-1);
    double third = __builtin_fma(second, r2, __builtin_fma(r, 0x1.71547652ab82bp0, start));
    return (double) y * __builtin_fma(first, r2 * r2, third);
}

/* 2^power, where that is a number of float. */
static float c2cu_powf_exp(double power) {
    double shifted = power + 0x1.8p47;
    unsigned long k = c2cu_as_bits(shifted);
    double t = power - (shifted - 0x1.8p47);
    double scale = c2cu_from_bits(c2cu_exp2f_table[k & 31] + (k << 47));
    double high = __builtin_fma(t, 0x1.c6af84b912394p-5, 0x1.ebfce50fac4f3p-3);
    double low = __builtin_fma(t, 0x1.62e42ff0c52d6p-1, 1.0);
    return (float) (__builtin_fma(high, t * t, low) * scale);
}
#endif
