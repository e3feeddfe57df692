/* coshf: fdlibm's, and glibc's: exp(|x|) / 2 + 1 / (2 exp(|x|)), below ln2/2 1 + expm1(|x|)^2 / (2 exp(|x|)): within
   two units in the last place. Rare: from 88.7, and what is no number. */
#include "expf_core.h"
#include "expm1f_core.h"

float c2cu_coshf(float x) {
    float size = fabsf(x);
    _Bool small = size < 0x1.62e43p-2f;
    float e = c2cu_expf_core(size), t = c2cu_expm1f_near(size);
    float w = 1.0f + t;
    float quotient = (small ? t * t : 0.5f) / (small ? w + w : e);
    float result = small ? 1.0f + quotient : 0.5f * e + quotient;
    if (!(size < 0x1.62e3p6f)) result = coshf(x);
    return result;
}
