/* log2(x) in float, for positive, finite and normal x: see log2f.c. */
#ifndef C2CU_LOG2F_CORE_H
#define C2CU_LOG2F_CORE_H
#include "bits.h"
#include "log2f_table.h"

/* Of x 2^-n. */
static float c2cu_log2f_scaled(float x, int n) {
    unsigned bits = c2cu_as_bits_f(x);
    unsigned above = bits - 0x3f330000U;
    unsigned long row = 2 * (unsigned long) (above >> 19 & 15);
    double z = (double) c2cu_from_bits_f(bits - (above & 0xff800000U));
    double k = (double) (((int) above >> 23) - n);
    double r = __builtin_fma(z, c2cu_log2f_table[row], -1.0);
    double start = c2cu_log2f_table[row + 1] + k;
    double r2 = r * r;
    double poly = __builtin_fma(r, 0x1.ecabf496832ep-2, -0x1.715479ffae3dep-1);
    poly = __builtin_fma(r2, -0x1.712b6f70a7e4dp-2, poly);
    return (float) __builtin_fma(poly, r2, __builtin_fma(r, 0x1.715475f35c8b8p0, start));
}
#endif
