/* gamma(x) in float, for x positive and normal and below 42: see tgammaf.c. */
#ifndef C2CU_TGAMMAF_CORE_H
#define C2CU_TGAMMAF_CORE_H
#include "expf_core.h"
#include "expm1f_core.h"
#include "lgammaf_core.h"
#include "powf_core.h"

/* Below 2.5: exp(lgamma) between 0.5 and 1.5, and from there. */
static float c2cu_tgammaf_near(float x) {
    float at = x < 0.5f ? x + 1.0f : x > 1.5f ? x - 1.0f : x;
    float result = c2cu_expf_core(c2cu_lgammaf_beside_one(at));
    result = x > 1.5f ? result * at : result;
    return x < 0.5f ? result / x : result;
}

/* From 2.5, without a power of 2: Stirling's formula, from 4 or less the product of what is between. */
static float c2cu_tgammaf_far(float x, float *power) {
    float count = x < 4.0f ? ceilf(4.0f - x) : 0.0f;
    float at = x + count;
    float rest = x - (at - count);
    double exact = x < 4.0f ? (double) x : 1.0;
    exact = x < 3.0f ? exact * ((double) x + 1.0) : exact;
    float product = (float) exact;
    float lost = (float) ((exact - (double) product) / (double) product);
    float whole = truncf(at);
    whole = at - whole >= 0.5f ? whole + 1.0f : whole;

    /* at^at, of which 2^power goes apart. */
    unsigned above = c2cu_as_bits_f(at) - 0x3f3504f3U;  /* the root of 1/2 */
    float two = (float) ((int) above >> 23);
    float mantissa = c2cu_from_bits_f(c2cu_as_bits_f(at) - (above & 0xff800000U));
    *power = two * whole;
    float result = c2cu_powf_exp(c2cu_powf_log(mantissa, 0, at)) * c2cu_powf_exp((double) (two * (at - whole))) *
        c2cu_expf_core(-at) * sqrtf(0x1.921fb6p2f / at) / product;

    float turned = rest * c2cu_logf_core(at) - lost;
    float square = at * at;
    float series = (0x1.a01a02p-11f / square - 0x1.6c16c2p-9f) / square + 0x1.555556p-4f;
    return result + result * c2cu_expm1f_core(turned + series / at);
}

/* Without 2^power. */
static float c2cu_tgammaf_core(float x, float *power) {
    float result = 1.0f;
    *power = 0.0f;
    if (x < 2.5f) result = c2cu_tgammaf_near(x);
    if (x >= 2.5f) result = c2cu_tgammaf_far(x, power);
    return result;
}
#endif
