/* cosh: fdlibm's, and glibc's, which has no FMA variant but of expm1 and exp: exp(|x|) / 2 + 1 / (2 exp(|x|)), below
   ln2/2 1 + expm1(|x|)^2 / (2 exp(|x|)): within two units in the last place. Rare: from 709, and what is no number. */
#include "exp_core.h"
#include "expm1_core.h"

double c2cu_cosh(double x) {
    double size = fabs(x);
    _Bool small = size < 0x1.62e43p-2;
    double e = c2cu_exp_core(size), t = c2cu_expm1_near(size);
    double w = 1.0 + t;
    double quotient = (small ? t * t : 0.5) / (small ? w + w : e);
    double result = small ? 1.0 + quotient : 0.5 * e + quotient;
    if (!(size < 709.0)) result = cosh(x);
    return result;
}
