/* asinhf, rounded correctly: asinh in double. Where that leaves its argument to the library it is a NaN here, which is
   not sure. */
#define asinh(x) __builtin_nan("")
#include "../asinh.c"
#include "rounding.h"

float c2cu_asinhf(float x) {
    double near = c2cu_asinh(x);
    float result = (float)near;
    if (!c2cu_is_sure_f(near)) result = asinhf(x);
    return result;
}
