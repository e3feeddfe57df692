/* sinhf, rounded correctly: sinh in double, from 22 half of exp. Rare: NaNs, results that overflow or are near the
   middle between two floats. */
#define sinh(x) __builtin_nan("")
#include "../sinh.c"
#include "../exp_core.h"
#include "rounding.h"

float c2cu_sinhf(float x) {
    double size = __builtin_fabs((double)x);
    double half = 0.5 * c2cu_exp_core(size < 90.0 ? size : 0.0);
    double near = size < 22.0 ? c2cu_sinh(x) : x < 0.0f ? -half : half;
    float result = (float)near;
    if (!(size < 90.0 && c2cu_is_sure_f(near))) result = sinhf(x);
    return result;
}
