/* exp(x), for every x; as in exp_core.h, but for the scale. */
#ifndef C2CU_RARE_EXP_ANY_H
#define C2CU_RARE_EXP_ANY_H
#include "../exp_core.h"
#include "exp_special.h"

static double c2cu_exp_any(double x) {
    unsigned long k, bits;
    double r = c2cu_exp_reduced(x, &k);
    double rest = c2cu_exp_rest(r, k, &bits);
    double scale = c2cu_from_bits(bits);
    double result = fabs(x) < 512.0 ? __builtin_fma(rest, scale, scale) : c2cu_exp_special(rest, bits, x > 0.0);
    result = x >= 1024.0 ? __builtin_inf() : result;
    result = x <= -1024.0 ? 0.0 : result;
    return x != x ? x : result;
}
#endif
