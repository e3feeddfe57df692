/* tan(reduced) in float, or its reciprocal's opposite if odd; |reduced| below 0.79: see tanf.c. */
#ifndef C2CU_TANF_CORE_H
#define C2CU_TANF_CORE_H
#include "bits.h"

static float c2cu_tanf_core(double reduced, int odd) {
    float r = (float) reduced;
    float rest = (float) (reduced - (double) r);
    unsigned sign = c2cu_as_bits_f(r) & 0x80000000U;
    float size = fabsf(r);
    _Bool large = size >= 0x1.59428p-1f;
    float turned = (0x1.921fb4p-1f - size) + (0x1.4442dp-25f - c2cu_from_bits_f(c2cu_as_bits_f(rest) ^ sign));
    float t = large ? turned : r;
    float dt = large ? 0.0f : rest;

    float z = t * t;
    float w = z * z;
    float first = 0x1.111112p-3f + w * (0x1.664f48p-6f + w * (0x1.d6d22cp-9f + w * (0x1.344d9p-11f + w *
        (0x1.47e88ap-14f + w * -0x1.375cbep-16f))));
    float second = z * (0x1.ba1ba2p-5f + w * (0x1.226e3ep-7f + w * (0x1.7dbc9p-10f + w * (0x1.026f72p-12f + w *
        (0x1.2b80f4p-14f + w * 0x1.b2a708p-16f)))));
    float cube = z * t;
    float bend = dt + z * (cube * (first + second) + dt);
    bend = bend + 0x1.555556p-2f * cube;
    float sum = t + bend;

    _Bool small = size < 0x1p-13f;
    float direction = odd ? -1.0f : 1.0f;
    float quotient = (large ? sum * sum : -1.0f) / (large ? sum + direction : small ? r : sum);
    float beside = direction - 2.0f * (t - (quotient - bend));
    beside = fabsf(turned) < 0x1p-13f ? direction * (1.0f - 2.0f * direction * turned) : beside;
    beside = c2cu_from_bits_f(c2cu_as_bits_f(beside) ^ sign);
    float sum_high = c2cu_from_bits_f(c2cu_as_bits_f(sum) & 0xfffff000U);
    float sum_low = bend - (sum_high - t);
    float high = c2cu_from_bits_f(c2cu_as_bits_f(quotient) & 0xfffff000U);
    float reciprocal = high + quotient * (1.0f + high * sum_high + high * sum_low);
    reciprocal = small ? quotient : reciprocal;
    float result = odd ? reciprocal : small ? r : sum;
    result = large ? beside : result;
    return result;
}
#endif
