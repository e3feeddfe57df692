/* hypotf, rounded correctly: hypot in double. Where that leaves its arguments to the library it is a NaN here, which
   is not sure. */
#define hypot(x, y) __builtin_nan("")
#include "../hypot.c"
#include "rounding.h"

float c2cu_hypotf(float x, float y) {
    double near = c2cu_hypot(x, y);
    float result = (float)near;
    if (!c2cu_is_sure_f(near)) result = hypotf(x, y);
    return result;
}
