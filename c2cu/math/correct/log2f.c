/* log2f, rounded correctly: log2 in double. Where that leaves its argument to the library it is a NaN here, which is
   not sure. */
#define log2(x) __builtin_nan("")
#include "../log2.c"
#include "rounding.h"

float c2cu_log2f(float x) {
    double near = c2cu_log2(x);
    float result = (float)near;
    if (!c2cu_is_sure_f(near)) result = log2f(x);
    return result;
}
