/* erff, rounded correctly: erf in double. Where that leaves its argument to the library it is a NaN here, which is not
   sure. */
#define erf(x) __builtin_nan("")
#include "../erf.c"
#include "rounding.h"

float c2cu_erff(float x) {
    double near = c2cu_erf(x);
    float result = (float)near;
    if (!c2cu_is_sure_f(near)) result = erff(x);
    return result;
}
