/* powf, rounded correctly: pow in double. Where that leaves its arguments to the library it is a NaN here, which is not
   sure. */
#define pow(x, y) __builtin_nan("")
#include "../pow.c"
#include "rounding.h"

float c2cu_powf(float x, float y) {
    double near = c2cu_pow(x, y);
    float result = (float)near;
    if (!c2cu_is_sure_f(near)) result = powf(x, y);
    return result;
}
