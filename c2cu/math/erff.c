/* erff: see erff_core.h; within one unit in the last place. Rare: what is not zero and below 2^-119, and no number. */
#include "erff_core.h"

float c2cu_erff(float x) {
    float size = fabsf(x);
    float ratio = c2cu_erff_ratio(size, 0x1.6db6dcp1f);
    float z = c2cu_from_bits_f(c2cu_as_bits_f(size) & 0xfffff000U);
    float result = 1.0f - c2cu_erff_tail(size, z, ratio);
    result = size < 1.25f ? 0x1.b0ac16p-1f + ratio : result;
    result = size < 0.84375f ? size + size * ratio : result;
    result = size >= 6.0f ? 1.0f : result;
    result = c2cu_from_bits_f(c2cu_as_bits_f(result) | (c2cu_as_bits_f(x) & 0x80000000U));
    if (!(size >= 0x1p-119f || size == 0.0f)) result = erff(x);
    return result;
}
