/* exp(x), for x within -512 and 709, and its parts, which pow has too: see exp.c. */
#ifndef C2CU_EXP_CORE_H
#define C2CU_EXP_CORE_H
#include "bits.h"
#include "exp_table.h"

/* x - k ln2/128; k is in the low bits. */
static double c2cu_exp_reduced(double x, unsigned long *k) {
    double shifted = __builtin_fma(x, 0x1.71547652b82fep7, 0x1.8p52);
    double kd = shifted - 0x1.8p52;
    *k = c2cu_as_bits(shifted);
    return __builtin_fma(kd, -0x1.cf79abc9e3b3ap-47, __builtin_fma(kd, -0x1.62e42fefa0000p-8, x));
}

/* exp(r) and what the table lacks, less 1, and the bits of 2^(k/128). */
static double c2cu_exp_rest(double r, unsigned long k, unsigned long *scale) {
    unsigned long row = 2 * (k & 127);
    double tail = c2cu_from_bits(c2cu_exp_table[row]);
    *scale = c2cu_exp_table[row + 1] + (k << 45);
    double r2 = r * r;
    double low = __builtin_fma(__builtin_fma(r, 0x1.555555555543cp-3, 0x1.ffffffffffdbdp-2), r2, r + tail);
    double high = __builtin_fma(r, 0x1.1111167a4d017p-7, 0x1.55555cf172b91p-5);
    return __builtin_fma(r2 * r2, high, low);
}

static double c2cu_exp_core(double x) {
    unsigned long k, bits;
    double r = c2cu_exp_reduced(x, &k);
    double rest = c2cu_exp_rest(r, k, &bits);
    double scale = c2cu_from_bits(bits);
    return __builtin_fma(rest, scale, scale);
}
#endif
