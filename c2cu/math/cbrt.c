/* cbrt: x = 2^e m; a polynomial of degree 6 for the root of m, a step of Halley's iteration, the root of 2^(e mod 3),
   and 2^(e div 3): Ulrich Drepper's, and glibc's, which has no FMA variant: within four units in the last place. Rare:
   what is subnormal or not finite. */
#include "cbrt_core.h"

double c2cu_cbrt(double x) {
    unsigned long bits = c2cu_as_bits(x);
    double m = c2cu_from_bits((bits & 0xfffffffffffffUL) | 0x3fe0000000000000UL);
    double e = c2cu_from_bits((bits >> 52 & 0x7ff) | 0x4330000000000000UL) - 0x1.00000000003fep52;
    double result = c2cu_from_bits(c2cu_as_bits(c2cu_cbrt_core(m, e)) | (bits & 0x8000000000000000UL));
    result = x == 0.0 ? x : result;
    double size = fabs(x);
    if (!(size <= 0x1.fffffffffffffp1023 && (size >= 0x1p-1022 || size == 0.0))) result = cbrt(x);
    return result;
}
