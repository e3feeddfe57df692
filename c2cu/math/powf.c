/* powf: in double: log2|x| as in log2f.c, by a polynomial of degree 5; times y, and 2 to that as in exp2f.c. The
   algorithm of Arm's optimized routines, and of glibc since 2.27, with the fused operations of its FMA variant: within
   0.82 units in the last place. Negative x with an integral y takes the common path. Rare: x that is zero, subnormal or
   not finite, negative x with another y or one from 2^22, results that overflow or are zero. */
#include "powf_core.h"

float c2cu_powf(float x, float y) {
    float size = fabsf(x), y_size = fabsf(y);
    float y_shifted = y_size + 0x1p23f;
    _Bool integral = y_size < 0x1p22f && y_shifted - 0x1p23f == y_size;
    unsigned sign = c2cu_as_bits_f(x) & c2cu_as_bits_f(y_shifted) << 31;

    double power = c2cu_powf_log(size, 0, y);
    float result = c2cu_powf_exp(power);
    result = c2cu_from_bits_f(c2cu_as_bits_f(result) | sign);
    _Bool rare = !(size >= 0x1p-126f && size <= 0x1.fffffep127f && power >= -149.0 && power <= 0x1.fffffffd1d571p6);
    if (rare || (x < 0.0f && !integral)) result = powf(x, y);
    return result;
}
