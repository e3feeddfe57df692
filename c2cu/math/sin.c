/* sin: glibc's, of IBM's accurate library: within 0.55 units in the last place. Of |x|, as the sign comes last: its
   quadrant, with pi/2 in four parts; below 0.86 |x| itself, below 2.43 by |x| - pi/2. Then see sin_core.h. Rare: from
   1e8, and what is not finite. */
#include "sin_core.h"

double c2cu_sin(double x) {
    double size = fabs(x);
    double shifted = c2cu_sin_shifted(size);
    shifted = size < 0x1.368fdp1 ? 0x1.8p52 + 1 : shifted;
    shifted = size < 0x1.b6p-1 ? 0x1.8p52 : shifted;
    unsigned long n = c2cu_as_bits(shifted);
    double nd = shifted - 0x1.8p52;
    _Bool near = size < 0x1.368fdp1 && !(size < 0x1.b6p-1);
    double reduced = c2cu_sin_reduced(size, nd), rest = c2cu_sin_rest(size, nd);
    double a = near ? size - 0x1.921fb54442d18p0 : reduced;
    double da = near ? -0x1.1a62633145c07p-54 : rest;
    double result = c2cu_sin_core(a, da, n & 1, (c2cu_as_bits(x) & 0x8000000000000000UL) ^ (n & 2) << 62);
    if (!(size < 0x1.921fbp26)) result = sin(x);
    return result;
}
