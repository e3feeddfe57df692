/* exp2f, rounded correctly: exp2 in double. Where that leaves its argument to the library it is a NaN here, which is
   not sure. */
#define exp2(x) __builtin_nan("")
#include "../exp2.c"
#include "rounding.h"

float c2cu_exp2f(float x) {
    double near = c2cu_exp2(x);
    float result = (float)near;
    if (!c2cu_is_sure_f(near)) result = exp2f(x);
    return result;
}
