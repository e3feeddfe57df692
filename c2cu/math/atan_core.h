/* atan: glibc's, of IBM's accurate library: within 0.56 units in the last place. w = |x| or 1/|x| is at most 1; with t
   near w from a table a Taylor polynomial of degree 5 in w - t; below 1/16 one of degree 13 in w. The fused operations
   are those of glibc's FMA variant; ``c2cu_minus_product`` is what compilers make of two more. */
#ifndef C2CU_ATAN_CORE_H
#define C2CU_ATAN_CORE_H
#include "bits.h"
#include "atan_table.h"

static double c2cu_atan_core(double x) {
    double size = fabs(x);
    _Bool inverted = size >= 1.0;
    double w = inverted ? 1.0 / size : size;
    double product = size * w;
    double missing = inverted ? 1.0 - product - __builtin_fma(size, w, -product) : 0.0;

    double scaled = __builtin_fma(w >= 0.0625 ? w : 0.0625, 256.0, 0x1p52);
    unsigned long row = 7 * ((c2cu_as_bits(scaled) & 511) - 16);
    double z = __builtin_fma(missing, w, w - c2cu_atan_table[row]);
    double taylor = __builtin_fma(z, c2cu_atan_table[row + 6], c2cu_atan_table[row + 5]);
    taylor = __builtin_fma(z, taylor, c2cu_atan_table[row + 4]);
    taylor = __builtin_fma(z, taylor, c2cu_atan_table[row + 3]);
    taylor = __builtin_fma(z, taylor, c2cu_atan_table[row + 2]);
    double angle = c2cu_atan_table[row + 1];
    double far = __builtin_fma(inverted ? -z : z, taylor, inverted ? 0x1.1a62633145c07p-54 : angle);
    far = inverted ? 0x1.921fb54442d18p0 - angle + far : far;

    double w2 = w * w;
    double poly = __builtin_fma(w2, 0x1.375f08b31cbcep-4, -0x1.7458022b13c25p-4);
    poly = __builtin_fma(w2, poly, 0x1.c71c6e5129a3bp-4);
    poly = __builtin_fma(w2, poly, -0x1.24924923f7603p-3);
    poly = __builtin_fma(w2, poly, 0x1.99999999997fdp-3);
    poly = __builtin_fma(w2, poly, -0x1.5555555555555p-2);
    double turned = 0x1.921fb54442d18p0 - w;
    double rest = 0x1.921fb54442d18p0 - turned - w + 0x1.1a62633145c07p-54;
    rest = c2cu_minus_product(rest, missing, w);
    rest = c2cu_minus_product(rest, w * w2, poly);
    double near = inverted ? turned + rest : __builtin_fma(w * w2, poly, w);
    double result = w < 0.0625 ? near : far;
    result = size < 0x1.49ff2p52 ? result : 0x1.921fb54442d18p0;
    result = c2cu_from_bits(c2cu_as_bits(result) | (c2cu_as_bits(x) & 0x8000000000000000UL));
    return result;
}
#endif
