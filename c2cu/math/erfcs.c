/* erfc of an argument and of its negation: the bits of erfc.c, from one ratio and one tail. Rare: from 22.5, and what
   is no number. */
#include "erf_core.h"

void c2cu_erfcs(double x, double *plain, double *opposite) {
    double size = fabs(x);
    double ratio = c2cu_erf_ratio(size, 0x1.6db6dp1);
    double tail = c2cu_erf_tail(size, ratio);
    double product = size * ratio;
    double above = size < 0.25 ? 1.0 - (size + product) : 0.5 - (product + (size - 0.5));
    double below = 1.0 + (size + product);
    double of_size = size < 1.25 ? (1.0 - 0x1.b0ac16p-1) - ratio : tail;
    of_size = size < 0.84375 ? above : of_size;
    double of_opposite = size < 1.25 ? 1.0 + (0x1.b0ac16p-1 + ratio) : 2.0 - tail;
    of_opposite = size < 0.84375 ? below : of_opposite;
    of_opposite = size >= 6.0 ? 2.0 : of_opposite;
    if (!(size < 22.5)) of_size = erfc(size);
    double of_x = x < 0.0 ? of_opposite : of_size;
    double of_its_opposite = x < 0.0 ? of_size : of_opposite;
    *plain = x == x ? of_x : x + x;
    *opposite = x == x ? of_its_opposite : -(x + x);
}
