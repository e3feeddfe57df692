/* cbrtf: x = 2^e m; a polynomial of degree 2 for the root of m, a step of Halley's iteration, the root of 2^(e mod 3),
   and 2^(e div 3): Ulrich Drepper's, and glibc's: within one unit in the last place. Rare: what is subnormal or not
   finite. */
#include "bits.h"

float c2cu_cbrtf(float x) {
    unsigned bits = c2cu_as_bits_f(x);
    float m = c2cu_from_bits_f((bits & 0x7fffffU) | 0x3f000000U);
    float e = (float) ((int) (bits >> 23 & 255) - 126);
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
    float result = c2cu_from_bits_f(c2cu_as_bits_f((float) root * scale) | (bits & 0x80000000U));
    result = x == 0.0f ? x : result;
    float size = fabsf(x);
    if (!(size <= 0x1.fffffep127f && (size >= 0x1p-126f || size == 0.0f))) result = cbrtf(x);
    return result;
}
