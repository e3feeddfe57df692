/* atan as Ubuntu 24.04 compiles it: beyond 16, two more operations are fused. Rare: what is no number. */
static double c2cu_minus_product(double sum, double a, double b) { return __builtin_fma(-a, b, sum); }
#include "../atan_core.h"

double c2cu_atan(double x) {
    double result = c2cu_atan_core(x);
    if (!(fabs(x) >= 0.0)) result = atan(x);
    return result;
}
