/* acosh: fdlibm's, and glibc's, which has no FMA variant but of log and log1p: log1p(t + sqrt(2t + t^2)) of t = x - 1,
   beyond 2 log(2x - 1 / (x + sqrt(x^2 - 1))): within two units in the last place. Rare: below 1, from 2^28, and what is
   no number. */
#include "log1p_core.h"
#include "log_core.h"

double c2cu_acosh(double x) {
    double t = x - 1.0;
    double near = c2cu_log1p_core(t + sqrt(2.0 * t + t * t));
    double far = c2cu_log_core(2.0 * x - 1.0 / (x + sqrt(x * x - 1.0)));
    double result = x > 2.0 ? far : near;
    if (!(x >= 1.0 && x < 0x1p28)) result = acosh(x);
    return result;
}
