/* fmax: one instruction. Rare: what is no number, and two zeros, of which compilers take either. */
#include "bits.h"

double c2cu_fmax(double x, double y) {
    double result = x > y ? x : y;
    if (!(x < y || x > y) && c2cu_as_bits(x) != c2cu_as_bits(y)) result = fmax(x, y);
    return result;
}
