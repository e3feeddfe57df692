/* log1pf: see log1pf_core.h: within one unit in the last place. Rare: up to -1, from 2^53, and what is no number. */
#include "log1pf_core.h"

float c2cu_log1pf(float x) {
    float result = c2cu_log1pf_core(x);
    if (!(x > -1.0f && x < 0x1p53f)) result = log1pf(x);
    return result;
}
