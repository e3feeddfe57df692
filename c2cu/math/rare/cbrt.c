/* cbrt: what is subnormal is scaled. */
#include "../cbrt_core.h"

double c2cu_rare_cbrt(double x) {
    unsigned long bits = c2cu_as_bits(x * 0x1p54);
    double m = c2cu_from_bits((bits & 0xfffffffffffffUL) | 0x3fe0000000000000UL);
    double e = (double) ((int) (bits >> 52 & 2047) - 1076);
    double result = c2cu_from_bits(c2cu_as_bits(c2cu_cbrt_core(m, e)) | (c2cu_as_bits(x) & 0x8000000000000000UL));
    return fabs(x) <= 0x1.fffffffffffffp1023 ? result : x + x;
}
