/* atan2f: fdlibm's, and glibc's: the arc tangent of |y/x|, or pi less that. Rare: both zero, and what is not finite. */
#include "atanf_core.h"

float c2cu_atan2f(float y, float x) {
    float x_size = fabsf(x), y_size = fabsf(y);
    int difference = ((int) c2cu_as_bits_f(y_size) - (int) c2cu_as_bits_f(x_size)) >> 23;
    float z = c2cu_atanf_core(fabsf(y / x));
    z = difference < -60 && x < 0.0f ? 0.0f : z;
    z = difference > 60 ? 0x1.921fb6p0f + 0.5f * -0x1.777a5cp-24f : z;
    float result = x < 0.0f ? 0x1.921fb6p1f - (z - -0x1.777a5cp-24f) : z;
    result = x == 0.0f ? 0x1.921fb6p0f : result;
    result = c2cu_from_bits_f(c2cu_as_bits_f(result) ^ (c2cu_as_bits_f(y) & 0x80000000U));
    _Bool rare = !(x_size <= 0x1.fffffep127f && y_size <= 0x1.fffffep127f && (x != 0.0f || y != 0.0f));
    if (rare) result = atan2f(y, x);
    return result;
}
