/* lgamma: of what is tiny -log|x|; of negative x from -2 and up to -28 log(pi / |x sin(pi x)|) - lgamma(-x), between
   these see lgamma_negative.h; infinite of whole numbers up to zero. */
#include "../lgamma_core.h"
#include "lgamma_negative.h"

static double c2cu_lgamma_reflected(double x) {
    double size = fabs(x);
    double half = size * 0.5;
    double y = 2.0 * (half - floor(half));
    double eighths = trunc(y * 4.0);
    _Bool cosine = eighths == 1.0 || eighths == 2.0 || eighths == 5.0 || eighths == 6.0;
    double from = eighths == 0.0 ? 0.0 : eighths < 3.0 ? 0.5 : eighths < 5.0 ? 1.0 : eighths < 7.0 ? 1.5 : 2.0;
    double sine = c2cu_turned(0x1.921fb54442d18p1 * (y - from), cosine);
    return c2cu_log_core(0x1.921fb54442d18p1 / fabs(sine * x)) - c2cu_lgamma_core(size);
}

double c2cu_rare_lgamma(double x) {
    double size = fabs(x);
    double result = __builtin_inf();
    if (trunc(x) != x && size < 0x1p-70)
        result = -(size < 0x1p-1022 ? c2cu_log_scaled(size * 0x1p52, 0x1.00000000004p52 + 52.0) : c2cu_log_core(size));
    if (trunc(x) != x && size >= 0x1p-70) {
        if (x > -28.0 && x < -2.0) result = c2cu_lgamma_negative(x);
        if (x > -2.0 || x < -28.0) result = c2cu_lgamma_reflected(x);
    }
    return x != x ? x : result;
}
