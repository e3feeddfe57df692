/* erfcf: results that are subnormal or zero. */
#include "../erff_core.h"
#include "expf_any.h"

float c2cu_rare_erfcf(float x) {
    float z = c2cu_from_bits_f(c2cu_as_bits_f(x) & 0xffffe000U);
    float ratio = c2cu_erff_ratio(x, 0x1.6db6dap1f);
    float tail = c2cu_expf_any(-z * z - 0.5625f) * c2cu_expf_any((z - x) * (z + x) + ratio) / x;
    return x < 28.0f ? tail : x == x ? 0.0f : x;
}
