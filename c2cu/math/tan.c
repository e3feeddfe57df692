/* tan: glibc's, of IBM's accurate library: within 0.62 units in the last place. x = n pi/2 + a; with t near |a| from a
   table tan(t + z) is f + tan(z) (f + g) / (g - tan(z)), f and g the tangent and the cotangent of t; below 0.061 a
   polynomial of degree 11, or for odd n its reciprocal in double length. The fused operations are those of glibc's FMA
   variant. Rare: from 1e8, and what is not finite. */
#include "bits.h"
#include "tan_table.h"

double c2cu_tan(double x) {
    double size = fabs(x);
    double shifted = __builtin_fma(x, 0x1.45f306dc9c883p-1, 0x1.8p52);
    _Bool first = size <= 0x1.92f1ap-1;
    unsigned long odd = first ? 0 : c2cu_as_bits(shifted) & 1;
    double n = first ? 0.0 : shifted - 0x1.8p52;
    double reduced = __builtin_fma(n, 0x1.dde973cp-27, __builtin_fma(-n, 0x1.921fb58p0, x));
    /* To 25 pi/2 in three parts, from there in four. */
    int short_sum = size <= 25.0;
    double part = short_sum ? -0x1.cb3b399d747f2p-55 : -0x1.cb3b398p-55;
    double third = __builtin_fma(-n, part, reduced);
    double third_rest = __builtin_fma(-n, part, reduced - third);
    double fourth = __builtin_fma(-n, -0x1.d747f23e32ed7p-83, third);
    double fourth_rest = third_rest + __builtin_fma(-n, -0x1.d747f23e32ed7p-83, third - fourth);
    double sum = fourth + fourth_rest;
    double larger = fabs(fourth) > fabs(fourth_rest) ? fourth : fourth_rest;
    double smaller = fabs(fourth) > fabs(fourth_rest) ? fourth_rest : fourth;
    double a = first ? x : short_sum ? third : sum;
    double da = short_sum ? third_rest : larger - sum + smaller;

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
    if (!(size <= 1e8)) result = tan(x);
    return result;
}
