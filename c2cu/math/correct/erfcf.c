/* erfcf, rounded correctly: erfc in double. Where that leaves its argument to the library it is a NaN here, which is
   not sure. */
#define erfc(x) __builtin_nan("")
#include "../erfc.c"
#include "rounding.h"

float c2cu_erfcf(float x) {
    double near = c2cu_erfc(x);
    float result = (float)near;
    if (!c2cu_is_sure_f(near)) result = erfcf(x);
    return result;
}
