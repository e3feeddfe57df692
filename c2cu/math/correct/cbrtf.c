/* cbrtf, rounded correctly: cbrt in double. Where that leaves its argument to the library it is a NaN here, which is
   not sure. */
#define cbrt(x) __builtin_nan("")
#include "../cbrt.c"
#include "rounding.h"

float c2cu_cbrtf(float x) {
    double near = c2cu_cbrt(x);
    float result = (float)near;
    if (!c2cu_is_sure_f(near)) result = cbrtf(x);
    return result;
}
