/* exp, rounded correctly. Rare: results that overflow, are below e^-640, or near the middle between two doubles. */
#include "exp_sum.h"
#include "rounding.h"

double c2cu_exp(double x) {
    double high, low;
    c2cu_exp_sum(x, 0.0, &high, &low);
    double result = high + low;
    if (!(x > -640.0 && x < 709.0 && c2cu_is_sure(high, low, high * 0x1p-66))) result = exp(x);
    return result;
}
