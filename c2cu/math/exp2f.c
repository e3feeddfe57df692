/* exp2f: in double: x = k/32 + r; 2^(k/32) from a table times a polynomial of degree 3. The algorithm of Arm's
   optimized routines, and of glibc since 2.27, with the fused operations of its FMA variant: within 0.502 units in the
   last place. Rare: results that overflow or are zero. */
#include "bits.h"
#include "exp2f_table.h"

float c2cu_exp2f(float x) {
    double shifted = (double) x + 0x1.8p47;
    unsigned long k = c2cu_as_bits(shifted);
    double r = (double) x - (shifted - 0x1.8p47);
    double scale = c2cu_from_bits(c2cu_exp2f_table[k & 31] + (k << 47));
    double high = __builtin_fma(r, 0x1.c6af84b912394p-5, 0x1.ebfce50fac4f3p-3);
    double low = __builtin_fma(r, 0x1.62e42ff0c52d6p-1, 1.0);
    float result = (float) (__builtin_fma(high, r * r, low) * scale);
    if (!(x < 128.0f && x >= -149.0f)) result = exp2f(x);
    return result;
}
