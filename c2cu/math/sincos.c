/* sin and cos of one argument: the bits of sin.c and cos.c, from one reduction and one row of the table. In each
   quadrant the one is a sine of what is left of x and the other a cosine. Rare: from 1e8, and what is not finite. */
#include "sin_core.h"

void c2cu_sincos(double x, double *sine, double *cosine) {
    double size = fabs(x);
    double shifted = c2cu_sin_shifted(x);
    _Bool own = size < 0x1.b6p-1;
    unsigned long bits = c2cu_as_bits(shifted);
    unsigned long n = own ? 0 : bits;
    double nd = own ? 0.0 : shifted - 0x1.8p52;
    _Bool near = size >= 0x1.b6p-1 && size < 0x1.368fdp1;
    double turned = 0x1.921fb54442d18p0 - size;
    double sum = turned + 0x1.1a62633145c07p-54;
    double reduced = c2cu_sin_reduced(x, nd), rest = c2cu_sin_rest(x, nd);
    double a = near ? sum : reduced, da = near ? turned - sum + 0x1.1a62633145c07p-54 : rest;
    double b = near ? turned : reduced, db = near ? 0x1.1a62633145c07p-54 : rest;

    double place = fabs(b) + 0x1.8p45;
    unsigned long row = 4 * (c2cu_as_bits(place) & 127);
    double s_table = c2cu_sin_table[row], s_rest = c2cu_sin_table[row + 1];
    double c_table = c2cu_sin_table[row + 2], c_rest = c2cu_sin_table[row + 3];
    double at = place - 0x1.8p45;

    double da_turned = a > 0.0 ? da : -da;
    double u = fabs(a) - at;
    double u2 = u * u;
    double s = u + __builtin_fma(u * u2, __builtin_fma(u2, 0x1.11110e829872fp-7, -0x1.5555555555515p-3), da_turned);
    double c = u2 * __builtin_fma(u2, __builtin_fma(u2, 0x1.6c16bedd9e239p-10, -0x1.5555555555535p-5), 0.5);
    c = __builtin_fma(u, da_turned, c);
    double of_sine = s_table + __builtin_fma(s, c_table, __builtin_fma(-c, s_table, __builtin_fma(s, c_rest, s_rest)));
    of_sine = c2cu_from_bits(c2cu_as_bits(of_sine) | (c2cu_as_bits(a) & 0x8000000000000000UL));
    of_sine = fabs(a) < 0.126 ? c2cu_sin_small(a, da) : of_sine;

    double v = fabs(b) - at + (b > 0.0 ? db : -db);
    double v2 = v * v;
    double t = -__builtin_fma(v * v2, __builtin_fma(v2, 0x1.11110e829872fp-7, -0x1.5555555555515p-3), v);
    double d = v2 * __builtin_fma(v2, __builtin_fma(v2, 0x1.6c16bedd9e239p-10, -0x1.5555555555535p-5), 0.5);
    double of_cosine = c_table + __builtin_fma(t, s_table, __builtin_fma(-d, c_table, __builtin_fma(t, s_rest, c_rest)));

    _Bool odd = near || n & 1;
    unsigned long sine_sign = near ? c2cu_as_bits(x) & 0x8000000000000000UL : (n & 2) << 62;
    unsigned long cosine_sign = near ? 0 : (n + 1 & 2) << 62;
    double sine_of_x = c2cu_from_bits(c2cu_as_bits(odd ? of_cosine : of_sine) ^ sine_sign);
    double cosine_of_x = c2cu_from_bits(c2cu_as_bits(odd ? of_sine : of_cosine) ^ cosine_sign);
    sine_of_x = size < 0x1p-26 ? x : sine_of_x;
    if (!(size < 0x1.921fbp26) || fabs(a) + 0x1.8p45 != place) {
        sine_of_x = sin(x);
        cosine_of_x = cos(x);
    }
    *sine = sine_of_x;
    *cosine = cosine_of_x;
}
