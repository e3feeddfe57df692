/* pow: log|x| = k ln2 + log(c) + log(1 + r) as a sum of two doubles, with r = z/c - 1 exact; times y, and exp of
   that as in exp.c. The algorithm of Arm's optimized routines, and of glibc since 2.28, with the fused operations of
   its FMA variant: within 0.54 units in the last place. Negative x with an integral y takes the common path. Rare: x
   that is zero, subnormal or not finite, negative x with another y or one from 2^51, results that overflow or are
   below e^-512. */
#include "pow_core.h"

double c2cu_pow(double x, double y) {
    double log_low;
    double log_high = c2cu_pow_log_of(x, &log_low);
    return c2cu_pow_of_logs(x, y, log_high, log_low);
}
