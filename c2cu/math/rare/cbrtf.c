/* cbrtf: what is subnormal is scaled. */
#include "../cbrtf_core.h"

float c2cu_rare_cbrtf(float x) {
    unsigned bits = c2cu_as_bits_f(x * 0x1p25f);
    float m = c2cu_from_bits_f((bits & 0x7fffffU) | 0x3f000000U);
    float e = (float) ((int) (bits >> 23 & 255) - 151);
    float result = c2cu_from_bits_f(c2cu_as_bits_f(c2cu_cbrtf_core(m, e)) | (c2cu_as_bits_f(x) & 0x80000000U));
    return fabsf(x) <= 0x1.fffffep127f ? result : x + x;
}
