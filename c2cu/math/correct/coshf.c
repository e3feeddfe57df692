/* coshf, rounded correctly: cosh in double. Where that leaves its argument to the library it is a NaN here, which is
   not sure. */
#define cosh(x) __builtin_nan("")
#include "../cosh.c"
#include "rounding.h"

float c2cu_coshf(float x) {
    double near = c2cu_cosh(x);
    float result = (float)near;
    if (!c2cu_is_sure_f(near)) result = coshf(x);
    return result;
}
