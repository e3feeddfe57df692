/* tan(a + da), or its reciprocal's opposite if odd; |a| below 0.79, da its rest; in the first case da is 0 and counts
   for nothing: see tan.c. */
#ifndef C2CU_TAN_CORE_H
#define C2CU_TAN_CORE_H
#include "bits.h"
#include "tan_table.h"

static double c2cu_tan_core(double a, double da, unsigned long odd, _Bool first) {
    double a_size = fabs(a);
    double a_rest = a < 0.0 ? -da : da;
    _Bool small = a_size <= 0x1.f212dp-5;
    double scaled = __builtin_fma(small ? 0.5 : a_size, 256.0, -15.5);
    double rounded = scaled + 0x1.8p52;
    unsigned long row = 3 * ((c2cu_as_bits(rounded) & 255) - (rounded - 0x1.8p52 > scaled));
    double z = a_size - c2cu_tan_table[row] + a_rest;
    double f = c2cu_tan_table[row + 1], g = c2cu_tan_table[row + 2];
    double z2 = z * z;
    double p = __builtin_fma(z * z2, __builtin_fma(z2, 0x1.11112e0a6b45fp-3, 0x1.5555555554dbdp-2), z);

    double a2 = a * a;
    double poly = __builtin_fma(a2, 0x1.2385a3cf2e4eap-7, 0x1.664ed49cfc666p-6);
    poly = __builtin_fma(a2, poly, 0x1.ba1ba1cdb8745p-5);
    poly = __builtin_fma(a2, poly, 0x1.11111111107c6p-3);
    poly = __builtin_fma(a2, poly, 0x1.5555555555555p-2);
    double bend = __builtin_fma(a * a2, poly, first ? a : da);
    double low = a + bend;
    double low_rest = fabs(a) > fabs(bend) ? a - low + bend : bend - low + a;

    double inverse = odd ? f + p : g - p;
    double over = small ? low : inverse;
    double ratio = (small ? 1.0 : p * (f + g)) / over;
    double product = ratio * low;
    double missing = __builtin_fma(-low_rest, ratio, 1.0 - product - __builtin_fma(ratio, low, -product));
    double correction = missing / low;
    double reciprocal = ratio + correction;
    reciprocal = reciprocal + (ratio - reciprocal + correction);
    double tangent = odd ? -reciprocal : first ? bend : low;
    double between = odd ? ratio - g : f + ratio;
    between = c2cu_from_bits(c2cu_as_bits(between) ^ (c2cu_as_bits(a) & 0x8000000000000000UL));
    double result = small ? tangent : between;
    return result;
}
#endif
