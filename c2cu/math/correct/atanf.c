/* atanf, rounded correctly: atan in double. Where that leaves its argument to the library it is a NaN here, which is
   not sure. */
#define atan(x) __builtin_nan("")
#include "../atan.c"
#include "rounding.h"

float c2cu_atanf(float x) {
    double near = c2cu_atan(x);
    float result = (float)near;
    if (!c2cu_is_sure_f(near)) result = atanf(x);
    return result;
}
