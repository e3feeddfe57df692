/* tan, rounded correctly: the sine over the cosine, or less their reciprocal for an odd multiple of pi/2 beside x.
   Rare: from 1e8, what is not finite, and results near the middle between two doubles. */
#include "rounding.h"
#include "sin_sum.h"

double c2cu_tan(double x) {
    double shifted = c2cu_sin_shifted(x);
    unsigned long odd = c2cu_as_bits(shifted) & 1;
    double turns = shifted - 0x1.8p52;
    double a = c2cu_sin_reduced(x, turns), da = c2cu_sin_rest(x, turns);
    double over, over_rest, under, under_rest;
    c2cu_sin_sum(a, da, odd, &over, &over_rest);
    c2cu_sin_sum(a, da, odd ^ 1, &under, &under_rest);
    double high = over / under;
    double low = (__builtin_fma(-high, under, over) + __builtin_fma(-high, under_rest, over_rest)) / under;
    double relative = turns == 0.0 ? 0x1p-64 : 0x1p-64 + 0x1p-105 / __builtin_fabs(odd ? under : over);
    double result = odd ? -(high + low) : high + low;
    result = x == 0.0 ? x : result; /* -0.0 stays */
    if (!(__builtin_fabs(x) < 1e8 && c2cu_is_sure(high, low, high * relative))) result = tan(x);
    return result;
}
