/* tanhf, rounded correctly: tanh in double. Where that leaves its argument to the library it is a NaN here, which is
   not sure. */
#define tanh(x) __builtin_nan("")
#include "../tanh.c"
#include "rounding.h"

float c2cu_tanhf(float x) {
    double near = c2cu_tanh(x);
    float result = (float)near;
    if (!c2cu_is_sure_f(near)) result = tanhf(x);
    return result;
}
