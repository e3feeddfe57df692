/* atanf: see atanf_core.h; within one unit in the last place. Rare: what is no number. */
#include "atanf_core.h"

float c2cu_atanf(float x) {
    float result = c2cu_atanf_core(fabsf(x));
    result = c2cu_from_bits_f(c2cu_as_bits_f(result) | (c2cu_as_bits_f(x) & 0x80000000U));
    if (!(fabsf(x) >= 0.0f)) result = atanf(x);
    return result;
}
