/* erfcf of an argument and of its negation: the bits of erfcf.c, from one ratio and one tail. Rare: from 10, and what is
   no number. */
#include "erff_core.h"

void c2cu_erfcsf(float x, float *plain, float *opposite) {
    float size = fabsf(x);
    float ratio = c2cu_erff_ratio(size, 0x1.6db6dap1f);
    float z = c2cu_from_bits_f(c2cu_as_bits_f(size) & 0xffffe000U);
    float tail = c2cu_erff_tail(size, z, ratio);
    float product = size * ratio;
    float above = size < 0.25f ? 1.0f - (size + product) : 0.5f - (product + (size - 0.5f));
    float below = 1.0f + (size + product);
    float of_size = size < 1.25f ? (1.0f - 0x1.b0ac16p-1f) - ratio : tail;
    of_size = size < 0.84375f ? above : of_size;
    float of_opposite = size < 1.25f ? 1.0f + (0x1.b0ac16p-1f + ratio) : 2.0f - tail;
    of_opposite = size < 0.84375f ? below : of_opposite;
    of_opposite = size >= 6.0f ? 2.0f : of_opposite;
    if (!(size < 10.0f)) of_size = erfcf(size);
    float of_x = x < 0.0f ? of_opposite : of_size;
    float of_its_opposite = x < 0.0f ? of_size : of_opposite;
    *plain = x == x ? of_x : x + x;
    *opposite = x == x ? of_its_opposite : -(x + x);
}
