/* tgammaf: results that overflow; of what is negative pi / (-x sin(pi x) gamma(x)), that of a whole number below zero
   is no number; beside zero the reciprocal. */
#include "../tgammaf_core.h"
#include "gamma_turnsf.h"

static float c2cu_times_powerf(float x, float power) {
    return (float) ((double) x * c2cu_from_bits(c2cu_as_bits((double) power + 0x1.00000000003ffp52) << 52));
}

float c2cu_rare_tgammaf(float x) {
    float size = fabsf(x), whole = truncf(x), power;
    _Bool usual = size > 0x1p-25f && size < 42.0f;
    float up = c2cu_tgammaf_core(usual ? size : 1.0f, &power);
    float part = whole - x;
    part = part > 0.5f ? 1.0f - part : part;
    float down = 0x1.921fb6p1f / (-x * c2cu_sin_pif(part) * up);
    float half = whole * 0.5f;
    float result = usual ? c2cu_times_powerf(down, -power) : 0.0f;
    result = truncf(half) == half ? -result : result;
    result = whole == x ? __builtin_nanf("") : result;
    result = x > 0.0f ? (x < 36.0f ? c2cu_times_powerf(up, power) : __builtin_inff()) : result;
    result = size <= 0x1p-25f ? 1.0f / x : result;
    return x != x ? x : result;
}
