/* sinf: in double: x = n pi/2 + r, see sinf_core.h: within 0.57 units in the last place. From 120 a second part of pi/2
   instead of the host's integers. Rare: from 2^31, and what is not finite. */
#include "sinf_core.h"

float c2cu_sinf(float x) {
    double shifted = __builtin_fma((double) x, 0x1.45f306dc9c883p-1, 0x1.8p52);
    double n = shifted - 0x1.8p52;
    double r = __builtin_fma(-n, 0x1.921fb54442d18p0, (double) x);
    r = fabsf(x) < 120.0f ? r : __builtin_fma(-n, 0x1.1a62633145c07p-54, r);
    float result = c2cu_sinf_core(r, (unsigned) c2cu_as_bits(shifted));
    result = fabsf(x) < 0x1p-12f ? x : result;
    if (!(fabsf(x) < 0x1p31f)) result = sinf(x);
    return result;
}
