/* exp2: x = k/128 + r; 2^x = 2^(k/128) 2^r, the first from a table, the second by a polynomial of degree 5. The
   algorithm of Arm's optimized routines, and of glibc since 2.28, which has no FMA variant of it: within 0.511 units in
   the last place. Rare: arguments from 1023 or below -928. */
#include "exp2_core.h"

double c2cu_exp2(double x) {
    double result = c2cu_exp2_core(x);
    if (!(x > -928.0 && x < 1023.0)) result = exp2(x);
    return result;
}
