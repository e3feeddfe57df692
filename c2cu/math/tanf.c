/* tanf: fdlibm's, and glibc's: in double x = n pi/2 + r as in sinf.c; in float, without fused operations, the tangent
   of r by a polynomial of degree 27, near pi/4 by that of pi/4 - |r|; for odd n its reciprocal: within one unit in the
   last place. Rare: from 2^23, and what is not finite. */
#include "tanf_core.h"

float c2cu_tanf(float x) {
    double shifted = __builtin_fma((double) x, 0x1.45f306dc9c883p-1, 0x1.8p52);
    double n = shifted - 0x1.8p52;
    double reduced = (double) x - n * 0x1.921fb54442d18p0;
    reduced = fabsf(x) < 120.0f ? reduced : __builtin_fma(-n, 0x1.1a62633145c07p-54, __builtin_fma(-n,
        0x1.921fb54442d18p0, (double) x));
    int odd = (int) c2cu_as_bits(shifted) & 1;
    float result = c2cu_tanf_core(reduced, odd);
    if (!(fabsf(x) < 0x1p23f)) result = tanf(x);
    return result;
}
