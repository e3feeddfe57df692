/* Sine and cosine of pi x, x from -1/4 to 1/2: those of a rounded product, as glibc has them for the gamma function. */
#ifndef C2CU_RARE_GAMMA_TURNS_H
#define C2CU_RARE_GAMMA_TURNS_H
#include "../sin_core.h"

static double c2cu_turned(double a, _Bool cosine) {
    double result = c2cu_sin_core(a, 0.0, cosine, 0);
    return !cosine && fabs(a) < 0x1p-26 ? a : result;
}

static double c2cu_sin_pi(double x) {
    _Bool far = x > 0.25;
    return c2cu_turned(0x1.921fb54442d18p1 * (far ? 0.5 - x : x), far);
}

static double c2cu_cos_pi(double x) {
    _Bool far = x > 0.25;
    return c2cu_turned(0x1.921fb54442d18p1 * (far ? 0.5 - x : x), !far);
}
#endif
