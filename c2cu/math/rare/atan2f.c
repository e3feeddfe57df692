/* atan2f: multiples of pi/4 where both numbers are zero or one is infinite. */
#include "../bits.h"

float c2cu_rare_atan2f(float y, float x) {
    float a = fabsf(x), b = fabsf(y), most = 0x1.fffffep127f, pi = 0x1.921fb6p1f;
    _Bool left = c2cu_as_bits_f(x) >> 31;
    float diagonal = left ? 3.0f * (pi / 4.0f) : pi / 4.0f;
    float size = a > most && b > most ? diagonal : b > most ? pi / 2.0f : left ? pi : 0.0f;
    float result = c2cu_from_bits_f(c2cu_as_bits_f(size) | (c2cu_as_bits_f(y) & 0x80000000U));
    return x != x || y != y ? x + y : result;
}
