/* asinf: glibc's, of Moshier's Cephes: x + x^3 p(x^2), from 0.5 by pi/2 - 2 asin(sqrt((1 - |x|) / 2)): within one unit
   in the last place. Rare: what is not within -1 and 1. */
#include "bits.h"

float c2cu_asinf(float x) {
    float size = fabsf(x);
    _Bool small = size < 0.5f;
    float t = small ? x * x : (1.0f - size) * 0.5f;
    float p = t * (0x1.5555c8p-3f + t * (0x1.3301e4p-4f + t * (0x1.747e4ap-5f + t * (0x1.8c283cp-6f + t *
        0x1.596d28p-5f))));
    float s = sqrtf(t);
    float near = 0x1.921fb6p0f - (2.0f * (s + s * p) - -0x1.777a5cp-25f);
    float high = c2cu_from_bits_f(c2cu_as_bits_f(s) & 0xfffff000U);
    float c = (t - high * high) / (s + high);
    float rest = 2.0f * s * p - (-0x1.777a5cp-25f - 2.0f * c);
    float far = 0x1.921fb6p-1f - (rest - (0x1.921fb6p-1f - 2.0f * high));
    float result = size >= 0x1.f33334p-1f ? near : far;
    result = size == 1.0f ? 0x1.921fb6p0f + -0x1.777a5cp-25f : result;
    result = small ? size + size * p : result;
    result = size < 0x1p-27f ? size : result;
    result = c2cu_from_bits_f(c2cu_as_bits_f(result) | (c2cu_as_bits_f(x) & 0x80000000U));
    if (!(size <= 1.0f)) result = asinf(x);
    return result;
}
