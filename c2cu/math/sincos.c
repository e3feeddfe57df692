/* sin and cos of one argument: the bits of sin.c and cos.c, from one reduction and one row of the table. In each
   quadrant the one is a sine of what is left of |x| and the other a cosine. Rare: from 1e8, and what is not finite. */
#include "sin_core.h"

void c2cu_sincos(double x, double *sine, double *cosine) {
    double size = fabs(x);
    double shifted = c2cu_sin_shifted(size);
    shifted = size < 0x1.368fdp1 ? 0x1.8p52 + 1 : shifted;
    shifted = size < 0x1.b6p-1 ? 0x1.8p52 : shifted;
    unsigned long n = c2cu_as_bits(shifted);
    double nd = shifted - 0x1.8p52;
    _Bool near = size < 0x1.368fdp1 && !(size < 0x1.b6p-1);
    double left = size - 0x1.921fb54442d18p0;
    double sum = left - 0x1.1a62633145c07p-54;
    double reduced = c2cu_sin_reduced(size, nd), rest = c2cu_sin_rest(size, nd);
    double a = near ? sum : reduced, da = near ? left - sum - 0x1.1a62633145c07p-54 : rest;
    double b = near ? left : reduced, db = near ? -0x1.1a62633145c07p-54 : rest;

    double place = fabs(b) + 0x1.8p45;
    unsigned long row = 8 * (c2cu_as_bits(place) & 127);
    double s_table = c2cu_sin_table[row], s_rest = c2cu_sin_table[row + 1];
    double c_table = c2cu_sin_table[row + 2], c_rest = c2cu_sin_table[row + 3];
    double at = place - 0x1.8p45;

    unsigned long below = c2cu_as_bits(a) & 0x8000000000000000UL;
    double da_turned = c2cu_from_bits(c2cu_as_bits(da) ^ below);
    double small = c2cu_sin_small(fabs(a), da_turned);
    double u = fabs(a) - at;
    double u2 = u * u;
    double s = u + __builtin_fma(u * u2, __builtin_fma(u2, 0x1.11110e829872fp-7, -0x1.5555555555515p-3), da_turned);
    double c = u2 * __builtin_fma(u2, __builtin_fma(u2, 0x1.6c16bedd9e239p-10, -0x1.5555555555535p-5), 0.5);
    c = __builtin_fma(u, da_turned, c);
    double of_sine = s_table + __builtin_fma(s, c_table, __builtin_fma(-c, s_table, __builtin_fma(s, c_rest, s_rest)));
    of_sine = fabs(a) < 0.126 ? small : of_sine;
    of_sine = c2cu_from_bits(c2cu_as_bits(of_sine) ^ below);

    double v = fabs(b) - at + c2cu_from_bits(c2cu_as_bits(db) ^ (c2cu_as_bits(b) & 0x8000000000000000UL));
    double v2 = v * v;
    double t = __builtin_fma(v * v2, __builtin_fma(v2, 0x1.11110e829872fp-7, -0x1.5555555555515p-3), v);
    double d = v2 * __builtin_fma(v2, __builtin_fma(v2, 0x1.6c16bedd9e239p-10, -0x1.5555555555535p-5), 0.5);
    double of_cosine = __builtin_fma(-d, c_table, __builtin_fma(-t, s_rest, c_rest));
    of_cosine = c_table + __builtin_fma(-t, s_table, of_cosine);

    _Bool even = !(n & 1);
    unsigned long sine_sign = (c2cu_as_bits(x) & 0x8000000000000000UL) ^ (n & 2) << 62;
    double sine_of_x = c2cu_from_bits(c2cu_as_bits(even ? of_sine : of_cosine) ^ sine_sign);
    double cosine_of_x = c2cu_from_bits(c2cu_as_bits(even ? of_cosine : of_sine) ^ (n + 1 & 2) << 62);
    if (!(size < 0x1.921fbp26) || fabs(a) + 0x1.8p45 != place) {
        sine_of_x = sin(x);
        cosine_of_x = cos(x);
    }
    *sine = sine_of_x;
    *cosine = cosine_of_x;
}
