/* exp(x) - 1 in float, for x below 88: fdlibm's, and glibc's, which has no FMA variant: as expm1_core.h. Below -27 ln2:
   -1. */
#ifndef C2CU_EXPM1F_CORE_H
#define C2CU_EXPM1F_CORE_H
#include "bits.h"

/* exp(r) - 1 = r - (r e - r^2 / 2), |r| <= ln2/2: this is e. */
static float c2cu_expm1f_part(float r) {
    float half = 0.5f * r;
    float h = r * half;
    float p = 1.0f + h * (-0x1.111112p-5f + h * (0x1.a01a02p-10f + h * (-0x1.4ce19ap-14f + h * (0x1.0cfca8p-18f + h *
        -0x1.afdb76p-23f))));
    float t = 3.0f - p * half;
    return h * ((p - t) / (6.0f - r * t));
}

/* exp(x) - 1, for |x| below ln2/2. */
static float c2cu_expm1f_near(float x) { return x - (x * c2cu_expm1f_part(x) - x * (0.5f * x)); }

static float c2cu_expm1f_core(float x) {
    float size = fabsf(x);
    float sum = size <= 0x1.62e43p-2f ? 0.5f : size * 0x1.715476p0f + 0.5f;
    float k = sum + 0x1p23f - 0x1p23f;
    k = k > sum ? k - 1.0f : k;
    k = x < 0.0f ? -k : k;
    float high = x - k * 0x1.62e3p-1f;
    float low = k * 0x1.2fefa2p-17f;
    float r = high - low;
    float rest = high - r - low;

    float h = r * (0.5f * r);
    float e = c2cu_expm1f_part(r);
    float none = r - (r * e - h);
    e = r * (e - rest) - rest - h;

    float minus_one = 0.5f * (r - e) - 0.5f;
    float one = r < -0.25f ? -2.0f * (e - (r + 0.5f)) : 1.0f + 2.0f * (r - e);
    unsigned exponent = c2cu_as_bits_f(k + 0x1.8p23f) << 23;
    float small = c2cu_from_bits_f(0x3f800000U - exponent);
    float alone = k < 0.0f || k > 56.0f ? 1.0f : 0.0f;
    float many = k >= 23.0f && k <= 56.0f ? r - (e + small) + 1.0f : (alone == 1.0f ? 1.0f : 1.0f - small) - (e - r);
    many = c2cu_from_bits_f(c2cu_as_bits_f(many) + exponent) - alone;
    float result = k == -1.0f ? minus_one : many;
    result = k == 1.0f ? one : result;
    result = k == 0.0f ? none : result;
    return x <= -0x1.2b7088p4f ? -1.0f : result;
}
#endif
