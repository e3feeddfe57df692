/* The arc tangent of a positive float: fdlibm's, and glibc's, which has no FMA variant: at 0.5, 1, 1.5 or infinity, and
   a polynomial of degree 23 of the difference. */
#ifndef C2CU_ATANF_CORE_H
#define C2CU_ATANF_CORE_H
#include "bits.h"

static float c2cu_atanf_core(float x) {
    _Bool first = x < 0.4375f, second = x < 0.6875f, third = x < 1.1875f, fourth = x < 2.4375f;
    float over = fourth ? x - 1.5f : -1.0f;
    over = third ? x - 1.0f : over;
    over = second ? 2.0f * x - 1.0f : over;
    over = first ? x : over;
    float under = fourth ? 1.0f + 1.5f * x : x;
    under = third ? x + 1.0f : under;
    under = second ? 2.0f + x : under;
    under = first ? 1.0f : under;
    float high = fourth ? 0x1.f730bcp-1f : 0x1.921fb4p0f, low = fourth ? 0x1.281f68p-25f : 0x1.4442dp-24f;
    high = third ? 0x1.921fb4p-1f : high, low = third ? 0x1.4442dp-25f : low;
    high = second ? 0x1.dac67p-2f : high, low = second ? 0x1.586ed2p-28f : low;
    high = first ? 0.0f : high, low = first ? 0.0f : low;
    float t = over / under;
    float z = t * t;
    float w = z * z;
    float even = z * (0x1.555556p-2f + w * (0x1.24924ap-3f + w * (0x1.745cdcp-4f + w * (0x1.10d66ap-4f + w *
        (0x1.97b4b2p-5f + w * 0x1.0ad3aep-6f)))));
    float odd = w * (-0x1.99999ap-3f + w * (-0x1.c71c7p-4f + w * (-0x1.3b0f2ap-4f + w * (-0x1.dde2d6p-5f + w *
        -0x1.2b4442p-5f))));
    float result = high - ((t * (even + odd) - low) - t);
    return x >= 0x1p25f ? 0x1.921fb4p0f + 0x1.4442dp-24f : result;
}
#endif
