/* log2f: in double: x = 2^k z; r = z/c - 1 with a c near z from a table; log2(x) = k + log2(c) + log2(1 + r), the last
   by a polynomial of degree 4. The algorithm of Arm's optimized routines, and of glibc since 2.27, with the fused
   operations of its FMA variant: within 0.76 units in the last place. Rare: what is not positive, finite and normal. */
#include "bits.h"
#include "log2f_table.h"

float c2cu_log2f(float x) {
    unsigned bits = c2cu_as_bits_f(x);
    unsigned above = bits - 0x3f330000U;
    unsigned long row = 2 * (unsigned long) (above >> 19 & 15);
    double z = (double) c2cu_from_bits_f(bits - (above & 0xff800000U));
    double k = (double) ((int) above >> 23);
    double r = __builtin_fma(z, c2cu_log2f_table[row], -1.0);
    double start = c2cu_log2f_table[row + 1] + k;
    double r2 = r * r;
    double poly = __builtin_fma(r, 0x1.ecabf496832ep-2, -0x1.715479ffae3dep-1);
    poly = __builtin_fma(r2, -0x1.712b6f70a7e4dp-2, poly);
    float result = (float) __builtin_fma(poly, r2, __builtin_fma(r, 0x1.715475f35c8b8p0, start));
    if (!(x >= 0x1p-126f && x <= 0x1.fffffep127f)) result = log2f(x);
    return result;
}
