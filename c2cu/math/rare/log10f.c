/* log10f: of zero, infinity and no number; what is subnormal is scaled. */
#include "../logf_core.h"

float c2cu_rare_log10f(float x) {
    unsigned bits = c2cu_as_bits_f(x * 0x1p25f);
    float k = (float) ((int) (bits >> 23) - 127 - 25 + 1);
    float rest = c2cu_from_bits_f((bits & 0x7fffffU) | 0x3f000000U);
    float small = k * 0x1.a84fb6p-21f + 0x1.bcb7b2p-2f * c2cu_logf_core(rest);
    float special = x == 0.0f ? -__builtin_inff() : x < 0.0f ? (x - x) / (x - x) : x;
    return x > 0.0f && x < 0x1p-126f ? small + k * 0x1.3441p-2f : special;
}
