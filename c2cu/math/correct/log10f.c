/* log10f, rounded correctly: log10 in double. Where that leaves its argument to the library it is a NaN here, which is
   not sure. */
#define log10(x) __builtin_nan("")
#include "../log10.c"
#include "rounding.h"

float c2cu_log10f(float x) {
    double near = c2cu_log10(x);
    float result = (float)near;
    if (!c2cu_is_sure_f(near)) result = log10f(x);
    return result;
}
