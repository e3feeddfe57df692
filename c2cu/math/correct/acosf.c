/* acosf, rounded correctly: acos in double. Where that leaves its argument to the library it is a NaN here, which is
   not sure. */
#define acos(x) __builtin_nan("")
#include "../acos.c"
#include "rounding.h"

float c2cu_acosf(float x) {
    double near = c2cu_acos(x);
    float result = (float)near;
    if (!c2cu_is_sure_f(near)) result = acosf(x);
    return result;
}
