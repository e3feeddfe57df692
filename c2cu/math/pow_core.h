/* The parts of pow: see pow.c. */
#ifndef C2CU_POW_CORE_H
#define C2CU_POW_CORE_H
#include "exp_core.h"
#include "pow_log.h"

/* exp(high + low) / 2^k - 1, and the bits of 2^k. */
static double c2cu_pow_exp(double high, double low, unsigned long *scale) {
    unsigned long k;
    double r = c2cu_exp_reduced(high, &k) + low;
    return c2cu_exp_rest(r, k, scale);
}
#endif
