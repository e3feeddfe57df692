/* 2^x, for x within -928 and 1023: see exp2.c. */
#ifndef C2CU_EXP2_CORE_H
#define C2CU_EXP2_CORE_H
#include "bits.h"
#include "exp_table.h"

/* 2^x / 2^(k/128) - 1, and the bits of 2^(k/128). */
static double c2cu_exp2_rest(double x, unsigned long *scale) {
    double shifted = x + 0x1.8p45;
    unsigned long k = c2cu_as_bits(shifted);
    double r = x - (shifted - 0x1.8p45);
    unsigned long row = 2 * (k & 127);
    double tail = c2cu_from_bits(c2cu_exp_table[row]);
    *scale = c2cu_exp_table[row + 1] + (k << 45);
    double r2 = r * r;
    double low = (tail + r * 0x1.62e42fefa39efp-1) + r2 * (0x1.ebfbdff82c424p-3 + r * 0x1.c6b08d70cf4b5p-5);
    double high = (r2 * r2) * (0x1.3b2abd24650ccp-7 + r * 0x1.5d7e09b4e3a84p-10);
    return low + high;
}

static double c2cu_exp2_core(double x) {
    unsigned long bits;
    double rest = c2cu_exp2_rest(x, &bits);
    double scale = c2cu_from_bits(bits);
    return scale + scale * rest;
}
#endif
