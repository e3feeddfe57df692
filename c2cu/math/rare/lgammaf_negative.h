/* lgammaf of what is from -15 to -2 and not whole: as lgamma_negative.h, with less of Stirling's series. */
#ifndef C2CU_RARE_LGAMMAF_NEGATIVE_H
#define C2CU_RARE_LGAMMAF_NEGATIVE_H
#include "../log1pf_core.h"
#include "../logf_core.h"
#include "gamma_turnsf.h"
#include "lgammaf_table.h"

/* From -3 to -2. */
static float c2cu_lgammaf_eighth(float x, float end, float difference) {
    float eighth = floorf(-8.0f * x) - 16.0f;
    float from = x - (-33.0f - 2.0f * eighth) * 0.0625f;
    unsigned long first = 7 * (c2cu_as_bits((double) eighth + 0x1p52) & 7);
    float sum = 0.0f;
    for (int k = 6; k >= 0; k--) sum = sum * from + c2cu_lgammaf_eighths[first + k];
    return c2cu_log1pf_core(sum * difference / (x - end));
}

/* logf(sin(pi zero) / sin(pi x)). */
static float c2cu_lgammaf_sines(float size, float zero_size, float half) {
    float sine = c2cu_sin_pif(half), cosine = c2cu_cos_pif(half);
    float slope = c2cu_cos_pif(size) / c2cu_sin_pif(size);
    float near = c2cu_log1pf_core(2.0f * sine * (-sine + cosine * slope));
    float far = c2cu_logf_core(c2cu_sin_pif(zero_size) / c2cu_sin_pif(size));
    return zero_size < size * 0.5f ? far : near;
}

static float c2cu_lgammaf_negative(float x) {
    float halves = floorf(-2.0f * x);
    unsigned long row = (c2cu_as_bits((double) halves + 0x1p52) & 63) - 4;
    float end = -0.5f * ((row & 1) != 0 ? halves + 1.0f : halves);
    float zero = c2cu_lgammaf_zeros[2 * row], zero_rest = c2cu_lgammaf_zeros[2 * row + 1];
    float difference = x - zero - zero_rest;
    float half = ((row & 1) == 0 ? difference : -difference) * 0.5f;
    float sines = c2cu_lgammaf_sines(fabsf(end - x), fabsf(end - zero - zero_rest), half);

    float y0 = 1.0f - zero;
    float y0_rest = -zero + (1.0f - y0) - zero_rest;
    float y = 1.0f - x;
    float y_rest = -x + (1.0f - y);
    float high = difference * c2cu_log1pf_core((y0 - 0x1.5bf0a8p1f - 0x1.628aeep-24f + y0_rest) / 0x1.5bf0a8p1f) +
        (y - 0.5f + y_rest) * c2cu_log1pf_core(difference / y);

    float y0_inverse = 1.0f / y0, y_inverse = 1.0f / y;
    float y0_square = y0_inverse * y0_inverse, y_square = y_inverse * y_inverse;
    float first = -difference / (y * y0);
    float factor = first * y_inverse * (y_inverse + y0_inverse);
    float second = first * y0_square + factor;
    float third = second * y0_square + factor * y_square;
    float low = third * 0x1.a01a02p-11f + second * -0x1.6c16c2p-9f + first * 0x1.555556p-4f;
    float result = sines + (high + low);
    if (row < 2) result = c2cu_lgammaf_eighth(x, end, difference);
    return result;
}
#endif
