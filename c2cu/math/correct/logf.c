/* logf, rounded correctly: log in double. Where that leaves its argument to the library it is a NaN here, which is not
   sure. */
#define log(x) __builtin_nan("")
#include "../log.c"
#include "rounding.h"

float c2cu_logf(float x) {
    double near = c2cu_log(x);
    float result = (float)near;
    if (!c2cu_is_sure_f(near)) result = logf(x);
    return result;
}
