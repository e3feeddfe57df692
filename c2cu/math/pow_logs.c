/* The logarithm of |x| as pow has it, a sum of two doubles, for several powers of one x. */
#include "pow_core.h"

void c2cu_pow_logs(double x, double *high, double *low) {
    *high = c2cu_pow_log_of(x, low);
}
