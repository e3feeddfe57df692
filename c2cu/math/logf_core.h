/* log(x) in float, for positive, finite and normal x: see logf.c. */
#ifndef C2CU_LOGF_CORE_H
#define C2CU_LOGF_CORE_H
#include "bits.h"
#include "logf_table.h"

/* Of x 2^-n. */
static float c2cu_logf_scaled(float x, int n) {
    unsigned bits = c2cu_as_bits_f(x);
    unsigned above = bits - 0x3f330000U;
    unsigned long row = 2 * (unsigned long) (above >> 19 & 15);
    double z = (double) c2cu_from_bits_f(bits - (above & 0xff800000U));
    double k = (double) (((int) above >> 23) - n);
    double r = __builtin_fma(z, c2cu_logf_table[row], -1.0);
    double start = __builtin_fma(k, 0x1.62e42fefa39efp-1, c2cu_logf_table[row + 1]);
    double r2 = r * r;
    double poly = __builtin_fma(r, 0x1.5575b0be00b6ap-2, -0x1.ffffef20a4123p-2);
    poly = __builtin_fma(r2, -0x1.00ea348b88334p-2, poly);
    return (float) __builtin_fma(poly, r2, start + r);
}

static float c2cu_logf_core(float x) {
    return c2cu_logf_scaled(x, 0);
}
#endif
