/* sinh: half of exp(|x|), with the sign of x. */
#include "half_exp.h"

double c2cu_rare_sinh(double x) {
    double size = c2cu_half_exp(fabs(x));
    return x < 0.0 ? -size : size;
}
