/* The first part of the logarithm of |x| as pow has it: see pow_logs.c. */
#include "pow_core.h"

double c2cu_pow_high(double x) {
    double low;
    return c2cu_pow_log_of(x, &low);
}
