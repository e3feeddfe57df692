/* cosf, rounded correctly: cos in double. Where that leaves its argument to the library it is a NaN here, which is not
   sure. */
#define cos(x) __builtin_nan("")
#include "../cos.c"
#include "rounding.h"

float c2cu_cosf(float x) {
    double near = c2cu_cos(x);
    float result = (float)near;
    if (!c2cu_is_sure_f(near)) result = cosf(x);
    return result;
}
