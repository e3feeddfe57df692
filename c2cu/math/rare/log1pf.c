/* log1pf: of -1 infinite, below no number; of what is large 1 + x is x. */
#include "../log1pf_core.h"

float c2cu_rare_log1pf(float x) {
    float special = x == -1.0f ? -__builtin_inff() : x < -1.0f ? (x - x) / (x - x) : x + x;
    return x > -1.0f && x <= 0x1.fffffep127f ? c2cu_log1pf_of(x, x, 0.0f) : special;
}
