/* acoshf, rounded correctly: with t = x - 1 the double log(1 + t + sqrt(2 t + t^2)). Rare: below 1, from 2^52, NaNs. */
#define log1p(x) __builtin_nan("")
#include "../log1p.c"
#include "rounding.h"

float c2cu_acoshf(float x) {
    double t = (double)x - 1.0;
    double near = c2cu_log1p(t + __builtin_sqrt(t * (t + 2.0)));
    float result = (float)near;
    if (!(x >= 1.0f && x < 0x1p52f && c2cu_is_sure_f(near))) result = acoshf(x);
    return result;
}
