/* tanf, rounded correctly: tan in double. Where that leaves its argument to the library it is a NaN here, which is not
   sure. */
#define tan(x) __builtin_nan("")
#include "../tan.c"
#include "rounding.h"

float c2cu_tanf(float x) {
    double near = c2cu_tan(x);
    float result = (float)near;
    if (!c2cu_is_sure_f(near)) result = tanf(x);
    return result;
}
