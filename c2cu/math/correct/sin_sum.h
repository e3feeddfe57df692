/* sin(a + da) and cos(a + da) as sums of two doubles, within 2^-66 of them: |a| below 0.86, da its rest; see
   ../sin_core.h. */
#ifndef C2CU_SIN_SUM_H
#define C2CU_SIN_SUM_H
#include "../sin_core.h"

/* With k/128 nearest to |a|, and t the difference: sin(k/128) cos(t) + cos(k/128) sin(t), or for the cosine cos(k/128)
   cos(t) - sin(k/128) sin(t). From a table p of the first factors and q of the second, each with a rest; the product of
   q and the high part of t is exact. */
static void c2cu_sin_sum(double a, double da, unsigned long odd, double *high, double *low) {
    double size = __builtin_fabs(a);
    double rest = a < 0.0 ? -da : da;
    double shifted = size + 0x1.8p45;
    unsigned long row = 8 * (c2cu_as_bits(shifted) & 127) + 2 * odd;
    double p = c2cu_sin_table[row], p_rest = c2cu_sin_table[row + 1];
    double q = c2cu_sin_table[row + 2], q_rest = c2cu_sin_table[row + 3];
    double t = size - (shifted - 0x1.8p45);
    double t2 = t * t;
    double poly = __builtin_fma(t2, -0x1.a01a01a01a01ap-13, 0x1.1111111111111p-7);
    poly = __builtin_fma(t2, poly, -0x1.5555555555555p-3);
    double sine_rest = __builtin_fma(t * t2, poly, rest);
    double bend = __builtin_fma(t2, 0x1.6c16c16c16c17p-10, -0x1.5555555555555p-5);
    bend = __builtin_fma(t, rest, t2 * __builtin_fma(t2, bend, 0.5));
    double product = q * t;
    double product_rest = __builtin_fma(q, t, -product);
    double most = p + product;
    double small = __builtin_fma(q, sine_rest, __builtin_fma(q_rest, t, product_rest + p_rest));
    small = __builtin_fma(-bend, p, small) + (p - most + product);
    double sum = most + small;
    double sum_rest = most - sum + small;
    _Bool negative = !odd && a < 0.0;
    *high = negative ? -sum : sum;
    *low = negative ? -sum_rest : sum_rest;
}
#endif
