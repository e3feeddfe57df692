/* scale (1 + rest), where the power of two scale, given by its bits, may be out of range, upwards or downwards: glibc's
   way, which fuses the upper ones. What becomes subnormal is rounded once, as a number beside 1. */
#ifndef C2CU_RARE_EXP_SPECIAL_H
#define C2CU_RARE_EXP_SPECIAL_H
#include "../bits.h"

static double c2cu_exp_special(double rest, unsigned long bits, _Bool up) {
    double large = c2cu_from_bits(bits - (1009UL << 52));
    large = 0x1p1009 * __builtin_fma(large, rest, large);
    double scale = c2cu_from_bits(bits + (1022UL << 52));
    double product = scale * rest;
    double y = scale + product;
    double one = y < 0.0 ? -1.0 : 1.0;
    double high = one + y;
    double low = one - high + y + (scale - y + product);
    double rounded = high + low - one;
    rounded = rounded == 0.0 ? c2cu_from_bits(c2cu_as_bits(scale) & 0x8000000000000000UL) : rounded;
    return up ? large : 0x1p-1022 * (fabs(y) < 1.0 ? rounded : y);
}
#endif
