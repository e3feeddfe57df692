/* log2f: of zero, infinity and no number; what is subnormal is scaled. */
#include "../log2f_core.h"

float c2cu_rare_log2f(float x) {
    float special = x == 0.0f ? -__builtin_inff() : x < 0.0f ? (x - x) / (x - x) : x;
    return x > 0.0f && x < 0x1p-126f ? c2cu_log2f_scaled(x * 0x1p23f, 23) : special;
}
