/* asinf, rounded correctly: asin in double. Where that leaves its argument to the library it is a NaN here, which is
   not sure. */
#define asin(x) __builtin_nan("")
#include "../asin.c"
#include "rounding.h"

float c2cu_asinf(float x) {
    double near = c2cu_asin(x);
    float result = (float)near;
    if (!c2cu_is_sure_f(near)) result = asinf(x);
    return result;
}
