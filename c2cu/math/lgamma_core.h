/* log(gamma(x)), for x positive, finite and normal: see lgamma.c. */
#ifndef C2CU_LGAMMA_CORE_H
#define C2CU_LGAMMA_CORE_H
#include "log_core.h"

/* Of 1 - y or 2 - y, for y between 0.1 or 0 and 0.27, what is not the logarithm of the former. */
static double c2cu_lgamma_below(double y) {
    double z = y * y;
    double even = 0x1.3c467e37db0c8p-4 + z * (0x1.13e001a5562a7p-4 + z * (0x1.e404fb68fefe8p-8 + z *
        (0x1.38a94116f3f5dp-10 + z * (0x1.cf2eced10e54dp-13 + z * 0x1.a7074428cfa52p-16))));
    double odd = z * (0x1.4a34cc4a60fadp-2 + z * (0x1.51322ac92547bp-6 + z * (0x1.7add8ccb7926bp-9 + z *
        (0x1.0b6c689b99cp-11 + z * (0x1.c5088987dfb07p-14 + z * 0x1.7858e90a45837p-15)))));
    return y * even + odd - 0.5 * y;
}

/* The place of the minimum of gamma, and from there: of 1.46 + y, |y| below 0.28, or less the logarithm of 0.46 + y. */
#define C2CU_LGAMMA_LEAST 0x1.762d86356be3fp0

static double c2cu_lgamma_middle(double y) {
    double z = y * y;
    double w = z * y;
    double first = 0x1.ef72bc8ee38a2p-2 + w * (-0x1.0c9a8df35b713p-5 + w * (0x1.8fce0e370e344p-8 + w *
        (-0x1.6fe8ebf2d1af1p-10 + w * 0x1.4af6d6c0ebbf7p-12)));
    double second = -0x1.2e4278dc6c509p-3 + w * (0x1.266e7970af9ecp-6 + w * (-0x1.e2effb3e914d7p-9 + w *
        (0x1.cdf0cef61a8e9p-11 + w * -0x1.47f24ecc38c38p-12)));
    double third = 0x1.08b4294d5419bp-4 + w * (-0x1.51f9fba91ec6ap-7 + w * (0x1.282d32e15c915p-9 + w *
        (-0x1.1a6109c73e0ecp-11 + w * 0x1.5fd3ee8c2d3f4p-12)));
    double p = z * first - (-0x1.0c7caa48a971fp-58 - w * (second + y * third));
    return -0x1.f19b9bcc38a42p-4 + p;
}

/* Of 1 + y, y from 0 to 0.24 and not much below, or less the logarithm of y; if from_two of 2 + y, y from 0 to 1. */
static double c2cu_lgamma_ratio(double y, _Bool from_two) {
    double p1 = from_two ? 0x1.b848b36e20878p-3 : 0x1.4401e8b005dffp-1;
    double p2 = from_two ? 0x1.4d98f4f139f59p-2 : 0x1.7475cd119bd6fp0;
    double p3 = from_two ? 0x1.2bb9cbee5f2f7p-3 : 0x1.f497644ea845p-1;
    double p4 = from_two ? 0x1.b481c7e939961p-6 : 0x1.d4eaef6010924p-3;
    double p5 = from_two ? 0x1.e26b67368f239p-10 : 0x1.b678bbf2bab09p-7;
    double p6 = from_two ? 0x1.0bfecdd17e945p-15 : 0.0;
    double q1 = from_two ? 0x1.645a762c4ab74p0 : 0x1.3a5d7c2bd619cp1;
    double q2 = from_two ? 0x1.71a1893d3dcdcp-1 : 0x1.10725a42b18f5p1;
    double q3 = from_two ? 0x1.601edccfbdf27p-3 : 0x1.89dfbe45050afp-1;
    double q4 = from_two ? 0x1.317ea742ed475p-6 : 0x1.aae55d6537c88p-4;
    double q5 = from_two ? 0x1.97ddaca41a95bp-11 : 0x1.a5abb57d0cf61p-9;
    double q6 = from_two ? 0x1.ebaf7a5b3814p-18 : 0.0;
    double p = y * (-0x1.3c467e37db0c8p-4 + y * (p1 + y * (p2 + y * (p3 + y * (p4 + y * (p5 + y * p6))))));
    double q = 1.0 + y * (q1 + y * (q2 + y * (q3 + y * (q4 + y * (q5 + y * q6)))));
    return (from_two ? 0.5 : -0.5) * y + p / q;
}

/* From 8, by Stirling's series. */
static double c2cu_lgamma_far(double x, double log_x) {
    double z = 1.0 / x;
    double y = z * z;
    double series = 0x1.acfe390c97d69p-2 + z * (0x1.555555555553bp-4 + y * (-0x1.6c16c16b02e5cp-9 + y *
        (0x1.a019f98cf38b6p-11 + y * (-0x1.380cb8c0fe741p-11 + y * (0x1.b67ba4cdad5d1p-11 + y *
        -0x1.ab89d0b9e43e4p-10)))));
    return (x - 0.5) * (log_x - 1.0) + series;
}

/* What the argument of the logarithm is from 2 to 8: the product of what is between 2 + y and whole + y. */
static double c2cu_lgamma_product(double y, double whole) {
    double product = whole >= 7.0 ? y + 6.0 : 1.0;
    product = product * (whole >= 6.0 ? y + 5.0 : 1.0);
    product = product * (whole >= 5.0 ? y + 4.0 : 1.0);
    product = product * (whole >= 4.0 ? y + 3.0 : 1.0);
    return product * (y + 2.0);
}

/* From 0.5 to 1.5. */
static double c2cu_lgamma_beside_one(double x) {
    _Bool under = x < 0x1.ccccdp-1;
    double log_x = c2cu_log_core(under ? x : 0.5);
    double result = c2cu_lgamma_ratio(x - 1.0, 0);
    if (under && x >= 0x1.76944p-1) result = c2cu_lgamma_below(1.0 - x);
    if (x < 0x1.76944p-1 || x >= 0x1.3b4c4p0)
        result = c2cu_lgamma_middle(x - (under ? C2CU_LGAMMA_LEAST - 1.0 : C2CU_LGAMMA_LEAST));
    return (under ? -log_x : 0.0) + result;
}

/* Each way is gone where a lane needs it. From 0.9 to 3 there is no logarithm: that of 2 takes the usual way. */
static double c2cu_lgamma_core(double x) {
    _Bool under = x < 0x1.ccccdp-1, far = x >= 8.0, from_two = x >= 2.0;
    _Bool above = !under && !from_two;
    double whole = from_two ? trunc(x) : under ? 0.0 : 1.0;
    double y = x - whole;
    double inner = under || far ? x : 2.0;
    if (x >= 3.0 && !far) inner = c2cu_lgamma_product(y, whole);
    double log_x = c2cu_log_core(inner);
    double result = 0.0;
    if (!far) result = c2cu_lgamma_ratio(y, from_two);
    if (under && x >= 0x1.76944p-1 || above && x >= 0x1.bb4c3p0)
        result = c2cu_lgamma_below(under ? 1.0 - x : 2.0 - x);
    if (under && x >= 0x1.da661p-3 && x < 0x1.76944p-1 || above && x >= 0x1.3b4c4p0 && x < 0x1.bb4c3p0)
        result = c2cu_lgamma_middle(x - (under ? C2CU_LGAMMA_LEAST - 1.0 : C2CU_LGAMMA_LEAST));
    result = (under ? -log_x : x < 3.0 ? 0.0 : log_x) + result;
    if (far) result = c2cu_lgamma_far(x, log_x);
    return result;
}
#endif
