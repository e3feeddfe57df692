/* acosh: fdlibm's, and glibc's, which has no FMA variant but of log and log1p: to 2 log1p(t + sqrt(2t + t^2)), t = x -
   1, beyond log(2x - 1 / (x + sqrt(x^2 - 1))): within two units in the last place. Rare: below 1, from 2^28, and what
   is no number. */
#include "log1p_core.h"
#include "log_core.h"

double c2cu_acosh(double x) {
    double t = x - 1.0;
    int large = x > 2.0;
    double root = sqrt(large ? x * x - 1.0 : 2.0 * t + t * t);
    double result = c2cu_log1p_core(t + root);
    result = large ? c2cu_log_core(2.0 * x - 1.0 / (x + root)) : result;
    if (!(x >= 1.0 && x < 0x1p28)) result = acosh(x);
    return result;
}
