/* logf: of zero, infinity and no number; what is subnormal is scaled. */
#include "../logf_core.h"

float c2cu_rare_logf(float x) {
    float special = x == 0.0f ? -__builtin_inff() : x < 0.0f ? (x - x) / (x - x) : x;
    return x > 0.0f && x < 0x1p-126f ? c2cu_logf_scaled(x * 0x1p23f, 23) : special;
}
