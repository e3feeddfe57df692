/* sin: glibc's, of IBM's accurate library: within 0.55 units in the last place. The quadrant of x, with pi/2 in four
   parts; below 0.86 x itself, below 2.43 by pi/2 - |x|. Then see sin_core.h. Rare: from 1e8, and what is not finite. */
#include "sin_core.h"

double c2cu_sin(double x) {
    double size = fabs(x);
    double shifted = c2cu_sin_shifted(x);
    unsigned long bits = c2cu_as_bits(shifted);
    unsigned long n = size < 0x1.b6p-1 ? 0 : bits;
    double nd = size < 0x1.b6p-1 ? 0.0 : shifted - 0x1.8p52;
    _Bool near = size >= 0x1.b6p-1 && size < 0x1.368fdp1;
    double reduced = c2cu_sin_reduced(x, nd), rest = c2cu_sin_rest(x, nd);
    double a = near ? 0x1.921fb54442d18p0 - size : reduced;
    double da = near ? 0x1.1a62633145c07p-54 : rest;
    unsigned long own = c2cu_as_bits(x) & 0x8000000000000000UL;
    unsigned long sign = near ? own : (n & 2) << 62;
    double result = c2cu_sin_core(a, da, near ? 1 : n & 1);
    result = c2cu_from_bits(c2cu_as_bits(result) ^ sign);
    result = size < 0x1p-26 ? x : result;
    if (!(size < 0x1.921fbp26)) result = sin(x);
    return result;
}
