/* erfcf: see erff_core.h; within four units in the last place. Rare: from 10, and what is no number. */
#include "erff_core.h"

float c2cu_erfcf(float x) {
    float size = fabsf(x);
    float ratio = c2cu_erff_ratio(size, 0x1.6db6dap1f);
    float z = c2cu_from_bits_f(c2cu_as_bits_f(size) & 0xffffe000U);
    float tail = c2cu_erff_tail(size, z, ratio);
    float result = x < 0.0f ? 2.0f - tail : tail;
    float middle = x < 0.0f ? 1.0f + (0x1.b0ac16p-1f + ratio) : (1.0f - 0x1.b0ac16p-1f) - ratio;
    result = size < 1.25f ? middle : result;
    float product = x * ratio;
    float near = x < 0.25f ? 1.0f - (x + product) : 0.5f - (product + (x - 0.5f));
    result = size < 0.84375f ? near : result;
    result = x <= -6.0f ? 2.0f : result;
    if (!(x < 10.0f)) result = erfcf(x);
    return result;
}
