/* asinhf: fdlibm's, and glibc's, which has no FMA variant but of logf: log1p(|x| + x^2 / (1 + sqrt(1 + x^2))), beyond 2
   log(2|x| + 1 / (|x| + sqrt(x^2 + 1))): within two units in the last place. Rare: from 2^15, and what is no number. */
#include "log1pf_core.h"
#include "logf_core.h"

float c2cu_asinhf(float x) {
    float size = fabsf(x);
    float square = size * size;
    _Bool large = size > 2.0f;
    float root = sqrtf(large ? square + 1.0f : 1.0f + square);
    float quotient = (large ? 1.0f : square) / (large ? root + size : 1.0f + root);
    float result = c2cu_log1pf_core(size + quotient);
    result = large ? c2cu_logf_core(2.0f * size + quotient) : result;
    result = size < 0x1p-15f ? size : result;
    result = c2cu_from_bits_f(c2cu_as_bits_f(result) | (c2cu_as_bits_f(x) & 0x80000000U));
    if (!(size <= 0x1p15f)) result = asinhf(x);
    return result;
}
