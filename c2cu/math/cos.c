/* cos: glibc's, of IBM's accurate library: within 0.55 units in the last place. The quadrant of x, with pi/2 in four
   parts; below 0.86 x itself, below 2.43 by pi/2 - |x|. Then see sin_core.h. Rare: from 1e8, and what is not finite. */
#include "sin_core.h"

double c2cu_cos(double x) {
    double size = fabs(x);
    double shifted = c2cu_sin_shifted(x);
    unsigned long quadrant = c2cu_as_bits(shifted) + 1;
    unsigned long n = size < 0x1.b6p-1 ? 1 : quadrant;
    double nd = size < 0x1.b6p-1 ? 0.0 : shifted - 0x1.8p52;
    _Bool near = size >= 0x1.b6p-1 && size < 0x1.368fdp1;
    double turned = 0x1.921fb54442d18p0 - size;
    double sum = turned + 0x1.1a62633145c07p-54;
    double reduced = c2cu_sin_reduced(x, nd), rest = c2cu_sin_rest(x, nd);
    double a = near ? sum : reduced;
    double da = near ? turned - sum + 0x1.1a62633145c07p-54 : rest;
    n = near ? 0 : n;
    double result = c2cu_sin_core(a, da, n & 1);
    result = c2cu_from_bits(c2cu_as_bits(result) ^ (n & 2) << 62);
    if (!(size < 0x1.921fbp26)) result = cos(x);
    return result;
}
