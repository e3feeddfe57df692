/* expm1f: results that overflow, or nearly so. */
#include "../expm1f_core.h"

float c2cu_rare_expm1f(float x) {
    return x < 0x1.62e43p6f ? c2cu_expm1f_core(x) : x == x ? __builtin_inff() : x;
}
