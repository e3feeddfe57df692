/* log(gamma(x)) in float, for x positive, finite and normal: as lgamma_core.h. */
#ifndef C2CU_LGAMMAF_CORE_H
#define C2CU_LGAMMAF_CORE_H
#include "logf_core.h"

/* Of 1 - y or 2 - y, for y between 0.1 or 0 and 0.27, what is not the logarithm of the former. */
static float c2cu_lgammaf_below(float y) {
    float z = y * y;
    float even = 0x1.3c467ep-4f + z * (0x1.13e002p-4f + z * (0x1.e404fcp-8f + z * (0x1.38a942p-10f + z *
        (0x1.cf2ecep-13f + z * 0x1.a70744p-16f))));
    float odd = z * (0x1.4a34ccp-2f + z * (0x1.51322ap-6f + z * (0x1.7add8cp-9f + z * (0x1.0b6c68p-11f + z *
        (0x1.c5088ap-14f + z * 0x1.7858eap-15f)))));
    return y * even + odd - 0.5f * y;
}

/* The place of the minimum of gamma, and from there: of 1.46 + y, |y| below 0.28, or less the logarithm of 0.46 + y. */
#define C2CU_LGAMMAF_LEAST 0x1.762d86p0f

static float c2cu_lgammaf_middle(float y) {
    float z = y * y;
    float w = z * y;
    float first = 0x1.ef72bcp-2f + w * (-0x1.0c9a8ep-5f + w * (0x1.8fce0ep-8f + w * (-0x1.6fe8ecp-10f + w *
        0x1.4af6d6p-12f)));
    float second = -0x1.2e4278p-3f + w * (0x1.266e7ap-6f + w * (-0x1.e2effcp-9f + w * (0x1.cdf0cep-11f + w *
        -0x1.47f24ep-12f)));
    float third = 0x1.08b42ap-4f + w * (-0x1.51f9fcp-7f + w * (0x1.282d32p-9f + w * (-0x1.1a610ap-11f + w *
        0x1.5fd3eep-12f)));
    float p = z * first - (0x1.cc38a4p-28f - w * (second + y * third));
    return -0x1.f19b9ap-4f + p;
}

/* Of 1 + y, y from 0 to 0.24 and not much below, or less the logarithm of y; if from_two of 2 + y, y from 0 to 1. */
static float c2cu_lgammaf_ratio(float y, _Bool from_two) {
    float p1 = from_two ? 0x1.b848b4p-3f : 0x1.4401e8p-1f;
    float p2 = from_two ? 0x1.4d98f4p-2f : 0x1.7475cep0f;
    float p3 = from_two ? 0x1.2bb9ccp-3f : 0x1.f49764p-1f;
    float p4 = from_two ? 0x1.b481c8p-6f : 0x1.d4eafp-3f;
    float p5 = from_two ? 0x1.e26b68p-10f : 0x1.b678bcp-7f;
    float p6 = from_two ? 0x1.0bfecep-15f : 0.0f;
    float q1 = from_two ? 0x1.645a76p0f : 0x1.3a5d7cp1f;
    float q2 = from_two ? 0x1.71a18ap-1f : 0x1.10725ap1f;
    float q3 = from_two ? 0x1.601edcp-3f : 0x1.89dfbep-1f;
    float q4 = from_two ? 0x1.317ea8p-6f : 0x1.aae55ep-4f;
    float q5 = from_two ? 0x1.97ddacp-11f : 0x1.a5abb6p-9f;
    float q6 = from_two ? 0x1.ebaf7ap-18f : 0.0f;
    float p = y * (-0x1.3c467ep-4f + y * (p1 + y * (p2 + y * (p3 + y * (p4 + y * (p5 + y * p6))))));
    float q = 1.0f + y * (q1 + y * (q2 + y * (q3 + y * (q4 + y * (q5 + y * q6)))));
    return (from_two ? 0.5f : -0.5f) * y + p / q;
}

/* From 8, by Stirling's series. */
static float c2cu_lgammaf_far(float x, float log_x) {
    float z = 1.0f / x;
    float y = z * z;
    float series = 0x1.acfe3ap-2f + z * (0x1.555556p-4f + y * (-0x1.6c16c2p-9f + y * (0x1.a019fap-11f + y *
        (-0x1.380cb8p-11f + y * (0x1.b67ba4p-11f + y * -0x1.ab89dp-10f)))));
    float near = (x - 0.5f) * (log_x - 1.0f) + series;
    return x < 0x1p26f ? near : x * (log_x - 1.0f);
}

/* What the argument of the logarithm is from 2 to 8: the product of what is between 2 + y and whole + y. */
static float c2cu_lgammaf_product(float y, float whole) {
    float product = whole >= 7.0f ? y + 6.0f : 1.0f;
    product = product * (whole >= 6.0f ? y + 5.0f : 1.0f);
    product = product * (whole >= 5.0f ? y + 4.0f : 1.0f);
    product = product * (whole >= 4.0f ? y + 3.0f : 1.0f);
    return product * (y + 2.0f);
}

/* From 0.5 to 1.5. */
static float c2cu_lgammaf_beside_one(float x) {
    _Bool under = x < 0x1.cccccep-1f;
    float log_x = c2cu_logf_core(x);
    float result = c2cu_lgammaf_ratio(x - 1.0f, 0);
    if (under && x >= 0x1.76944p-1f) result = c2cu_lgammaf_below(1.0f - x);
    if (x < 0x1.76944p-1f || x >= 0x1.3b4c4p0f)
        result = c2cu_lgammaf_middle(x - (under ? C2CU_LGAMMAF_LEAST - 1.0f : C2CU_LGAMMAF_LEAST));
    return (under ? -log_x : 0.0f) + result;
}

/* Each way is gone where a lane needs it. From 0.9 to 3 there is no logarithm. */
static float c2cu_lgammaf_core(float x) {
    _Bool under = x < 0x1.cccccep-1f, far = x >= 8.0f, from_two = x >= 2.0f;
    _Bool above = !under && !from_two;
    float whole = from_two ? truncf(x) : under ? 0.0f : 1.0f;
    float y = x - whole;
    float inner = x;
    if (x >= 3.0f && !far) inner = c2cu_lgammaf_product(y, whole);
    float log_x = c2cu_logf_core(inner);
    float result = 0.0f;
    if (!far) result = c2cu_lgammaf_ratio(y, from_two);
    if (under && x >= 0x1.76944p-1f || above && x >= 0x1.bb4c3p0f)
        result = c2cu_lgammaf_below(under ? 1.0f - x : 2.0f - x);
    if (under && x >= 0x1.da661p-3f && x < 0x1.76944p-1f || above && x >= 0x1.3b4c4p0f && x < 0x1.bb4c3p0f)
        result = c2cu_lgammaf_middle(x - (under ? C2CU_LGAMMAF_LEAST - 1.0f : C2CU_LGAMMAF_LEAST));
    result = (under ? -log_x : x < 3.0f ? 0.0f : log_x) + result;
    if (far) result = c2cu_lgammaf_far(x, log_x);
    return result;
}
#endif
