/* tan: glibc's, of IBM's accurate library: within 0.62 units in the last place. x = n pi/2 + a; with t near |a| from a
   table tan(t + z) is f + tan(z) (f + g) / (g - tan(z)), f and g the tangent and the cotangent of t; below 0.061 a
   polynomial of degree 11, or for odd n its reciprocal in double length. The fused operations are those of glibc's FMA
   variant. Rare: from 1e8, and what is not finite. */
#include "tan_core.h"

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
    double result = c2cu_tan_core(a, da, odd, first);
    if (!(size <= 1e8)) result = tan(x);
    return result;
}
