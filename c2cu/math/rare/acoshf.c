/* acoshf: log(x) + ln2 of what is large; no number below 1. */
#include "../logf_core.h"

float c2cu_rare_acoshf(float x) {
    float result = x <= 0x1.fffffep127f ? c2cu_logf_core(x) + 0x1.62e43p-1f : x + x;
    return x < 1.0f ? (x - x) / (x - x) : result;
}
