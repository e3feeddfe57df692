/* tanhf: fdlibm's, and glibc's: 1 - 2 / (expm1(2|x|) + 2), below 1 by expm1(-2|x|): within two units in the last place.
   Rare: what is no number. */
#include "expm1f_core.h"

float c2cu_tanhf(float x) {
    float size = fabsf(x);
    float t = c2cu_expm1f_core(size >= 1.0f ? 2.0f * size : -2.0f * size);
    float quotient = (size >= 1.0f ? 2.0f : -t) / (t + 2.0f);
    float result = size >= 1.0f ? 1.0f - quotient : quotient;
    result = size >= 22.0f ? 1.0f : result;
    result = c2cu_from_bits_f(c2cu_as_bits_f(result) | (c2cu_as_bits_f(x) & 0x80000000U));
    if (!(size >= 0.0f)) result = tanhf(x);
    return result;
}
