/* powf: in double: log2|x| as in log2f.c, by a polynomial of degree 5; times y, and 2 to that as in exp2f.c. The
   algorithm of Arm's optimized routines, and of glibc since 2.27, with the fused operations of its FMA variant: within
   0.82 units in the last place. Negative x with an integral y takes the common path. Rare: x that is zero, subnormal or
   not finite, negative x with another y or one from 2^22, results that overflow or are zero. */
#include "bits.h"
#include "exp2f_table.h"
#include "log2f_table.h"

float c2cu_powf(float x, float y) {
    float size = fabsf(x), y_size = fabsf(y);
    float y_shifted = y_size + 0x1p23f;
    _Bool integral = y_size < 0x1p22f && y_shifted - 0x1p23f == y_size;
    unsigned sign = c2cu_as_bits_f(x) & c2cu_as_bits_f(y_shifted) << 31;

    unsigned bits = c2cu_as_bits_f(size);
    unsigned above = bits - 0x3f330000U;
    unsigned long row = 2 * (unsigned long) (above >> 19 & 15);
    double z = (double) c2cu_from_bits_f(bits - (above & 0xff800000U));
    double r = __builtin_fma(z, c2cu_log2f_table[row], -1.0);
    double start = c2cu_log2f_table[row + 1] + (double) ((int) above >> 23);
    double r2 = r * r;
    double first = __builtin_fma(r, 0x1.27616c9496e0bp-2, -0x1.71969a075c67ap-2);
    double second = __builtin_fma(r, 0x1.ec70a6ca7baddp-2, -0x1.7154748bef6c8p-1);
    double third = __builtin_fma(second, r2, __builtin_fma(r, 0x1.71547652ab82bp0, start));
    double power = (double) y * __builtin_fma(first, r2 * r2, third);

    double shifted = power + 0x1.8p47;
    unsigned long k = c2cu_as_bits(shifted);
    double t = power - (shifted - 0x1.8p47);
    double scale = c2cu_from_bits(c2cu_exp2f_table[k & 31] + (k << 47));
    double high = __builtin_fma(t, 0x1.c6af84b912394p-5, 0x1.ebfce50fac4f3p-3);
    double low = __builtin_fma(t, 0x1.62e42ff0c52d6p-1, 1.0);
    float result = (float) (__builtin_fma(high, t * t, low) * scale);
    result = c2cu_from_bits_f(c2cu_as_bits_f(result) | sign);
    _Bool rare = !(size >= 0x1p-126f && size <= 0x1.fffffep127f && power >= -149.0 && power <= 0x1.fffffffd1d571p6);
    if (rare || (x < 0.0f && !integral)) result = powf(x, y);
    return result;
}
