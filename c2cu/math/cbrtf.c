/* cbrtf: x = 2^e m; a polynomial of degree 2 for the root of m, a step of Halley's iteration, the root of 2^(e mod 3),
   and 2^(e div 3): Ulrich Drepper's, and glibc's: within one unit in the last place. Rare: what is subnormal or not
   finite. */
#include "cbrtf_core.h"

float c2cu_cbrtf(float x) {
    unsigned bits = c2cu_as_bits_f(x);
    float m = c2cu_from_bits_f((bits & 0x7fffffU) | 0x3f000000U);
    float e = (float) ((int) (bits >> 23 & 255) - 126);
    float result = c2cu_from_bits_f(c2cu_as_bits_f(c2cu_cbrtf_core(m, e)) | (bits & 0x80000000U));
    result = x == 0.0f ? x : result;
    float size = fabsf(x);
    if (!(size <= 0x1.fffffep127f && (size >= 0x1p-126f || size == 0.0f))) result = cbrtf(x);
    return result;
}
