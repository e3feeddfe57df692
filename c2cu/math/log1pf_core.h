/* log(1 + x) in float, for -1 < x < 2^53: fdlibm's, and glibc's, which has no FMA variant: 1 + x = 2^k (1 + f) and the
   rounding error of the sum; a polynomial of f / (2 + f); f near 0 a shorter one. */
#ifndef C2CU_LOG1PF_CORE_H
#define C2CU_LOG1PF_CORE_H
#include "bits.h"

/* By sum = 1 + x, and what the sum lost. */
static float c2cu_log1pf_of(float x, float sum, float lost) {
    unsigned bits = c2cu_as_bits_f(sum);
    unsigned mantissa = bits & 0x7fffffU;
    int upper = mantissa >= 0x3504f7U ? 1 : 0;
    float k = (float) ((int) (bits >> 23) - 127 + upper);
    float c = lost / sum;
    float f = c2cu_from_bits_f(mantissa | (unsigned) (127 - upper) << 23) - 1.0f;
    _Bool small = x < 0x1.a827aep-2f && x > -0x1.2bec4p-2f;
    k = small ? 0.0f : k;
    c = small ? 0.0f : c;
    f = small ? x : f;
    _Bool flat = !small && (mantissa == 0U || mantissa > 0x7ffffcU);

    float square = 0.5f * f * f;
    float s = f / (2.0f + f);
    float z = s * s;
    float r = z * (0x1.555556p-1f + z * (0x1.99999ap-2f + z * (0x1.24924ap-2f + z * (0x1.c71c52p-3f + z *
        (0x1.74664ap-3f + z * (0x1.39a09ep-3f + z * 0x1.2f112ep-3f))))));
    float slope = s * (square + r);
    float near = square * (1.0f - 0x1.555556p-1f * f);
    float shift = k * 0x1.2fefa2p-17f + c;
    float rest = flat ? near - shift : square - (slope + shift);
    float none = f - (flat ? near : square - slope);
    float result = k == 0.0f ? none : k * 0x1.62e3p-1f - (rest - f);
    return fabsf(x) < 0x1p-29f ? x - x * x * 0.5f : result;
}

static float c2cu_log1pf_core(float x) {
    float sum = 1.0f + x;
    float lost = sum >= 2.0f ? 1.0f - (sum - x) : x - (sum - 1.0f);
    return c2cu_log1pf_of(x, sum, lost);
}
#endif
