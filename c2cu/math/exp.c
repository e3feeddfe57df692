/* exp: x = k ln2/128 + r; exp(x) = 2^(k/128) exp(r), the first from a table, the second by a polynomial of degree 5.
   The algorithm of Arm's optimized routines, and of glibc since 2.28, with the fused operations of its FMA variant:
   within 0.511 units in the last place. Rare: results that overflow, or arguments below -512. */
#include "exp_core.h"

double c2cu_exp(double x) {
    double result = c2cu_exp_core(x);
    if (!(x > -512.0 && x < 709.0)) result = exp(x);
    return result;
}
