/* pow where the logarithm of |x| is known: see pow_logs.c. */
#include "pow_core.h"

double c2cu_pow_by(double x, double y, double log_high, double log_low) {
    return c2cu_pow_of_logs(x, y, log_high, log_low);
}
