/* atan(x) as a sum of two doubles, within 2^-66 of it. */
#ifndef C2CU_ATAN_SUM_H
#define C2CU_ATAN_SUM_H
#include "../bits.h"
#include "atan_sum_table.h"

/* With c = k/128 nearest to x: atan(c) + atan(t), t = (x - c) / (1 + c x) as a sum of two doubles; beyond 1, with c
   nearest to 1/x: pi/2 - atan(c) - atan(t), t = (1 - c x) / (x + c). */
static void c2cu_atan_sum(double x, double *high, double *low) {
    double size = __builtin_fabs(x);
    _Bool above = size > 1.0;
    double place = above ? 1.0 / size : size;
    double shifted = place + 0x1.8p45;
    double c = shifted - 0x1.8p45;
    unsigned long row = 2 * (c2cu_as_bits(shifted) & 255);
    double product = c * size;
    double product_rest = __builtin_fma(c, size, -product);
    double over = above ? 1.0 - product : size - c; /* exact */
    double over_rest = above ? -product_rest : 0.0;
    double large = above ? size : 1.0;
    double little = above ? c : product;
    double under = large + little;
    double under_rest = large - under + little + (above ? 0.0 : product_rest);
    double t = over / under;
    double t_rest = (__builtin_fma(-t, under, over) + __builtin_fma(-t, under_rest, over_rest)) / under;
    double t2 = t * t;
    double poly = __builtin_fma(t2, 0x1.c71c71c71c71cp-4, -0x1.2492492492492p-3);
    poly = __builtin_fma(t2, poly, 0x1.999999999999ap-3);
    poly = __builtin_fma(t2, poly, -0x1.5555555555555p-2);
    double start = c2cu_atan_sum_table[row];
    double most = start + t;
    double rest = start - most + t + __builtin_fma(t * t2, poly, t_rest + c2cu_atan_sum_table[row + 1]);
    double other = 0x1.921fb54442d18p0 - most;
    double other_rest = 0x1.921fb54442d18p0 - other - most + (0x1.1a62633145c07p-54 - rest);
    most = above ? other : most;
    rest = above ? other_rest : rest;
    _Bool negative = c2cu_as_bits(x) >> 63; /* of -0.0 too */
    *high = negative ? -most : most;
    *low = negative ? -rest : rest;
}
#endif
