/* expf, rounded correctly: exp in double. Where that leaves its argument to the library it is a NaN here, which is not
   sure. */
#define exp(x) __builtin_nan("")
#include "../exp.c"
#include "rounding.h"

float c2cu_expf(float x) {
    double near = c2cu_exp(x);
    float result = (float)near;
    if (!c2cu_is_sure_f(near)) result = expf(x);
    return result;
}
