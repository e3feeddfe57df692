/* The cube root of 2^e m; m from 0.5 to 1: see cbrtf.c. */
#ifndef C2CU_CBRTF_CORE_H
#define C2CU_CBRTF_CORE_H
#include "bits.h"

static float c2cu_cbrtf_core(float m, float e) {
    float third = (fabsf(e) - 1.0f) * 0x1.555556p-2f + 0x1.8p23f;
    third = third - 0x1.8p23f;
    float over = fabsf(e) - 3.0f * third;
    third = e < 0.0f ? -third : third;
    float u = (float) (0x1.f87bc378ed415p-2 + (0x1.6527f4927f555p-1 - 0x1.8832490c2feddp-3 * (double) m) * (double) m);
    float u3 = u * u * u;
    double one = e < 0.0f ? 0x1.965fea53d6e3cp-1 : 0x1.428a2f98d728bp0, two = e < 0.0f ? 0x1.428a2f98d728ap-1 :
        0x1.965fea53d6e3dp0;
    double factor = over == 0.0f ? 1.0 : over == 1.0f ? one : two;
    double root = (double) u * ((double) u3 + 2.0 * (double) m) / (2.0 * (double) u3 + (double) m) * factor;
    float scale = c2cu_from_bits_f((c2cu_as_bits_f(third + 0x1.8p23f) << 23) + 0x3f800000U);
    return (float) root * scale;
}
#endif
