/* sinf, rounded correctly: sin in double. Where that leaves its argument to the library it is a NaN here, which is not
   sure. */
#define sin(x) __builtin_nan("")
#include "../sin.c"
#include "rounding.h"

float c2cu_sinf(float x) {
    double near = c2cu_sin(x);
    float result = (float)near;
    if (!c2cu_is_sure_f(near)) result = sinf(x);
    return result;
}
