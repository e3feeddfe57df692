/* cosh: half of exp(|x|). */
#include "half_exp.h"

double c2cu_rare_cosh(double x) {
    return c2cu_half_exp(fabs(x));
}
