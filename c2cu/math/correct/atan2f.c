/* atan2f, rounded correctly: atan2 in double. Where that leaves its arguments to the library it is a NaN here, which
   is not sure. */
#define atan2(y, x) __builtin_nan("")
#include "../atan2.c"
#include "rounding.h"

float c2cu_atan2f(float y, float x) {
    double near = c2cu_atan2(y, x);
    float result = (float)near;
    if (!c2cu_is_sure_f(near)) result = atan2f(y, x);
    return result;
}
