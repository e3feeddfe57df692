/* fmaxf: one instruction. Rare: what is no number, and two zeros, of which compilers take either. */
#include "bits.h"

float c2cu_fmaxf(float x, float y) {
    float result = x > y ? x : y;
    if (!(x < y || x > y) && c2cu_as_bits_f(x) != c2cu_as_bits_f(y)) result = fmaxf(x, y);
    return result;
}
