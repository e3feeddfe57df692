/* lgammaf: as lgamma.c; what is from -15 to -2 see lgammaf_negative.h. */
#include "../lgammaf_core.h"
#include "lgammaf_negative.h"

static float c2cu_lgammaf_reflected(float x) {
    float size = fabsf(x);
    float half = size * 0.5f;
    float y = 2.0f * (half - floorf(half));
    float eighths = truncf(y * 4.0f);
    _Bool cosine = eighths == 1.0f || eighths == 2.0f || eighths == 5.0f || eighths == 6.0f;
    float from = eighths == 0.0f ? 0.0f : eighths < 3.0f ? 0.5f : eighths < 5.0f ? 1.0f : eighths < 7.0f ? 1.5f : 2.0f;
    float sine = c2cu_turnedf(0x1.921fb6p1f * (y - from), cosine);
    return c2cu_logf_core(0x1.921fb6p1f / fabsf(sine * x)) - c2cu_lgammaf_core(size);
}

float c2cu_rare_lgammaf(float x) {
    float size = fabsf(x);
    float result = __builtin_inff();
    if (truncf(x) != x && size < 0x1p-30f)
        result = -(size < 0x1p-126f ? c2cu_logf_scaled(size * 0x1p23f, 23) : c2cu_logf_core(size));
    if (truncf(x) != x && size >= 0x1p-30f) {
        if (x > -15.0f && x < -2.0f) result = c2cu_lgammaf_negative(x);
        if (x > -2.0f || x < -15.0f) result = c2cu_lgammaf_reflected(x);
    }
    return x != x ? x : result;
}
