/* acosf: fdlibm's, and glibc's: pi/2 - asin(x), from 0.5 by 2 asin(sqrt((1 - |x|) / 2)): within one unit in the last
   place. Rare: what is not within -1 and 1. */
#include "bits.h"

float c2cu_acosf(float x) {
    float size = fabsf(x);
    _Bool small = size < 0.5f;
    float z = small ? x * x : (1.0f - size) * 0.5f;
    float p = z * (0x1.555556p-3f + z * (-0x1.4d612p-2f + z * (0x1.9c155p-3f + z * (-0x1.48228cp-5f + z *
        (0x1.9efe08p-11f + z * 0x1.23de1p-15f)))));
    float q = 1.0f + z * (-0x1.33a272p1f + z * (0x1.02ae5ap1f + z * (-0x1.6066c2p-1f + z * 0x1.3b8c5cp-4f)));
    float r = p / q;
    float s = sqrtf(z);
    float middle = 0x1.921fb4p0f - (x - (0x1.4442dp-24f - x * r));
    float left = 0x1.921fb4p1f - 2.0f * (s + (r * s - 0x1.4442dp-24f));
    float high = c2cu_from_bits_f(c2cu_as_bits_f(s) & 0xfffff000U);
    float c = (z - high * high) / (s + high);
    float right = 2.0f * (high + (r * s + c));
    float result = x < 0.0f ? left : right;
    result = x == 1.0f ? 0.0f : x == -1.0f ? 0x1.921fb4p1f + 2.0f * 0x1.4442dp-24f : result;
    result = small ? middle : result;
    result = size <= 0x1p-26f ? 0x1.921fb4p0f + 0x1.4442dp-24f : result;
    if (!(size <= 1.0f)) result = acosf(x);
    return result;
}
