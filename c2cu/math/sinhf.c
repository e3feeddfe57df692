/* sinhf: fdlibm's, and glibc's: t = expm1(|x|); (t + t / (t + 1)) / 2, below 1 (2t - t^2 / (t + 1)) / 2: within two
   units in the last place. Rare: from 22, and what is no number. */
#include "expm1f_core.h"

float c2cu_sinhf(float x) {
    float size = fabsf(x);
    float t = c2cu_expm1f_core(size);
    float quotient = (size < 1.0f ? t * t : t) / (t + 1.0f);
    float result = 0.5f * (size < 1.0f ? 2.0f * t - quotient : t + quotient);
    result = size < 0x1p-28f ? size : result;
    result = c2cu_from_bits_f(c2cu_as_bits_f(result) | (c2cu_as_bits_f(x) & 0x80000000U));
    if (!(size < 22.0f)) result = sinhf(x);
    return result;
}
