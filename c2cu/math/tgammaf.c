/* tgammaf: as tgamma.c, in float but for the product and the functions that are called: Stirling's formula from 2.5.
   Rare: what is negative, zero, subnormal or not finite, and from 35. */
#include "tgammaf_core.h"

float c2cu_tgammaf(float x) {
    float power;
    float result = c2cu_tgammaf_core(x, &power);
    result = c2cu_from_bits_f(c2cu_as_bits_f(result) + (c2cu_as_bits_f(power + 0x1.8p23f) << 23));
    if (!(x >= 0x1p-126f && x < 35.0f)) result = tgammaf(x);
    return result;
}
