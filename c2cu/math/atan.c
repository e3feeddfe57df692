/* atan: see atan_core.h; as Debian 12 compiles it. Rare: what is no number. */
static double c2cu_minus_product(double sum, double a, double b) { return sum - a * b; }
#include "atan_core.h"

double c2cu_atan(double x) {
    double result = c2cu_atan_core(x);
    if (!(fabs(x) >= 0.0)) result = atan(x);
    return result;
}
