/* expm1f, rounded correctly: expm1 in double. Where that leaves its argument to the library it is a NaN here, which is
   not sure. */
#define expm1(x) __builtin_nan("")
#include "../expm1.c"
#include "rounding.h"

float c2cu_expm1f(float x) {
    double near = c2cu_expm1(x);
    float result = (float)near;
    if (!c2cu_is_sure_f(near)) result = expm1f(x);
    return result;
}
