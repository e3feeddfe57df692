/* atanhf, rounded correctly: atanh in double. Where that leaves its argument to the library it is a NaN here, which is
   not sure. */
#define atanh(x) __builtin_nan("")
#include "../atanh.c"
#include "rounding.h"

float c2cu_atanhf(float x) {
    double near = c2cu_atanh(x);
    float result = (float)near;
    if (!c2cu_is_sure_f(near)) result = atanhf(x);
    return result;
}
