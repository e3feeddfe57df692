/* atanhf: fdlibm's, and glibc's, which has no FMA variant: half of log1p(2|x| + 2|x| |x| / (1 - |x|)), from 0.5 of
   log1p(2|x| / (1 - |x|)): within two units in the last place. Rare: from 1, and what is no number. */
#include "log1pf_core.h"

float c2cu_atanhf(float x) {
    float size = fabsf(x);
    float twice = size + size;
    float argument = size < 0.5f ? twice + twice * size / (1.0f - size) : twice / (1.0f - size);
    float result = 0.5f * c2cu_log1pf_core(argument);
    result = size < 0x1p-28f ? size : result;
    result = c2cu_from_bits_f(c2cu_as_bits_f(result) | (c2cu_as_bits_f(x) & 0x80000000U));
    if (!(size < 1.0f)) result = atanhf(x);
    return result;
}
