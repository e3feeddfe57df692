/* exp(x) in float, for x within -103 and 88.7: see expf.c. */
#ifndef C2CU_EXPF_CORE_H
#define C2CU_EXPF_CORE_H
#include "bits.h"
#include "exp2f_table.h"

static float c2cu_expf_core(float x) {
    double shifted = __builtin_fma((double) x, 0x1.71547652b82fep5, 0x1.8p52);
    unsigned long k = c2cu_as_bits(shifted);
    double r = __builtin_fma((double) x, 0x1.71547652b82fep5, -(shifted - 0x1.8p52));
    double scale = c2cu_from_bits(c2cu_exp2f_table[k & 31] + (k << 47));
    double high = __builtin_fma(r, 0x1.c6af84b912394p-20, 0x1.ebfce50fac4f3p-13);
    double low = __builtin_fma(r, 0x1.62e42ff0c52d6p-6, 1.0);
    return (float) (__builtin_fma(high, r * r, low) * scale);
}
#endif
