/* powf: zero, infinity and no number; what is subnormal; results that overflow or are zero. What is near half of
   the least number is that number. */
#include "../powf_core.h"
#include "signals.h"

float c2cu_rare_powf(float x, float y) {
    float size = fabsf(x), y_size = fabsf(y), most = 0x1.fffffep127f, infinity = __builtin_inff();
    _Bool integral = truncf(y) == y;
    float half = y * 0.5f;
    _Bool odd = integral && y_size < 0x1p24f && truncf(half) != half;
    unsigned sign = odd ? c2cu_as_bits_f(x) & 0x80000000U : 0;

    _Bool small = size < 0x1p-126f;
    double power = c2cu_powf_log(small ? size * 0x1p23f : size, small ? 23 : 0, y);
    float result = c2cu_powf_exp(power);
    result = power < -149.0 ? 0x1p-149f : result;
    result = power <= -150.0 ? 0.0f : result;
    result = power > 0x1.fffffffd1d571p6 ? infinity : result;
    result = size > most || size == 0.0f ? (y > 0.0f == size > 1.0f ? infinity : 0.0f) : result;
    result = c2cu_from_bits_f(c2cu_as_bits_f(result) | sign);
    result = x < 0.0f && !integral && size <= most ? (x - x) / (x - x) : result;
    result = y_size > most ? (size == 1.0f ? 1.0f : y > 0.0f == size > 1.0f ? infinity : 0.0f) : result;
    result = x != x || y != y ? x + y : result;
    return (y == 0.0f || x == 1.0f) && !c2cu_signalsf(x) && !c2cu_signalsf(y) ? 1.0f : result;
}
