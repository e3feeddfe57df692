/* exp2: results that overflow, are subnormal or zero; as in exp2.c, but for the scale. No operation is fused. */
#include "../exp2_core.h"

double c2cu_rare_exp2(double x) {
    unsigned long bits;
    double rest = c2cu_exp2_rest(x, &bits);
    double large = c2cu_from_bits(bits - (1UL << 52));
    large = 2.0 * (large + large * rest);
    double scale = c2cu_from_bits(bits + (1022UL << 52));
    double y = scale + scale * rest;
    double sum = 1.0 + y;
    double rounded = sum + (1.0 - sum + y + (scale - y + scale * rest)) - 1.0;
    double result = x > 0.0 ? large : 0x1p-1022 * (y < 1.0 ? rounded : y);
    result = x >= 1024.0 ? __builtin_inf() : result;
    result = x <= -1075.0 ? 0.0 : result;
    return x != x ? x : result;
}
