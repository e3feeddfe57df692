/* log1pf, rounded correctly: log1p in double. Where that leaves its argument to the library it is a NaN here, which is
   not sure. */
#define log1p(x) __builtin_nan("")
#include "../log1p.c"
#include "rounding.h"

float c2cu_log1pf(float x) {
    double near = c2cu_log1p(x);
    float result = (float)near;
    if (!c2cu_is_sure_f(near)) result = log1pf(x);
    return result;
}
