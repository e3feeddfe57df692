/* tanf: fdlibm's, and glibc's: in double x = n pi/2 + r as in sinf.c; in float, without fused operations, the tangent
   of r by a polynomial of degree 27, near pi/4 by that of pi/4 - |r|; for odd n its reciprocal: within one unit in the
   last place. Rare: from 2^23, and what is not finite. */
#include "bits.h"

float c2cu_tanf(float x) {
    double shifted = __builtin_fma((double) x, 0x1.45f306dc9c883p-1, 0x1.8p52);
    double n = shifted - 0x1.8p52;
    double reduced = (double) x - n * 0x1.921fb54442d18p0;
    reduced = fabsf(x) < 120.0f ? reduced : __builtin_fma(-n, 0x1.1a62633145c07p-54, __builtin_fma(-n,
        0x1.921fb54442d18p0, (double) x));
    int odd = (int) c2cu_as_bits(shifted) & 1;
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
    if (!(fabsf(x) < 0x1p23f)) result = tanf(x);
    return result;
}
