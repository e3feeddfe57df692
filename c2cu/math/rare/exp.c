/* exp: results that overflow, are subnormal or zero. */
#include "exp_any.h"

double c2cu_rare_exp(double x) {
    return c2cu_exp_any(x);
}
