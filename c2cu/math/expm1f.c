/* expm1f: see expm1f_core.h; within one unit in the last place. Rare: from 88, and what is no number. */
#include "expm1f_core.h"

float c2cu_expm1f(float x) {
    float result = c2cu_expm1f_core(x);
    if (!(x < 88.0f)) result = expm1f(x);
    return result;
}
