/* Prices of a call and a put: functions of the library. */
#include <math.h>
double s, k, t, r, vol, call, put;
static double cnd(double d) {
    double l = fabs(d), w = 1 / (1 + 0.2316419 * l);
    double c = 0.3989422804014327 * exp(-0.5 * d * d) *
        (w * (0.31938153 + w * (-0.356563782 + w * (1.781477937 + w * (-1.821255978 + w * 1.330274429)))));
    return d > 0 ? 1 - c : c;
}
void black_scholes(void) {
    double root = sqrt(t), d1 = (log(s / k) + (r + 0.5 * vol * vol) * t) / (vol * root), d2 = d1 - vol * root;
    double x = k * exp(-r * t);
    call = s * cnd(d1) - x * cnd(d2);
    put = x * cnd(-d2) - s * cnd(-d1);
}
