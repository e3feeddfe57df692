/* exp(x + rest) as a sum of two doubles, within 2^-67 of it: x from -640 to 709, the rest far smaller. */
#ifndef C2CU_EXP_SUM_H
#define C2CU_EXP_SUM_H
#include "../bits.h"
#include "../exp_table.h"

/* x = k ln2/128 + r, r below 2^-8.5: e^r - 1 is r and a polynomial, which is below 2^-17, so that its last bits do not
   matter; 2^(k/128) comes from a table, as h (1 + tail). */
static void c2cu_exp_sum(double x, double rest, double *high, double *low) {
    double shifted = __builtin_fma(x, 0x1.71547652b82fep7, 0x1.8p52);
    unsigned long k = c2cu_as_bits(shifted);
    double n = shifted - 0x1.8p52;
    double first = __builtin_fma(n, -0x1.62e42fefa0000p-8, x); /* exact */
    double second = n * 0x1.cf79abc9e3b3ap-47;
    double r = first - second;
    double r_rest = first - r - second + rest;
    unsigned long row = 2 * (k & 127);
    double tail = c2cu_from_bits(c2cu_exp_table[row]);
    double h = c2cu_from_bits(c2cu_exp_table[row + 1] + (k << 45));
    double poly = __builtin_fma(r, 0x1.6c16c16c16c17p-10, 0x1.1111111111111p-7);
    poly = __builtin_fma(r, poly, 0x1.5555555555555p-5);
    poly = __builtin_fma(r, poly, 0x1.5555555555555p-3);
    poly = __builtin_fma(r, poly, 0.5);
    double small = __builtin_fma(r * r, poly, __builtin_fma(r, tail + r_rest, tail + r_rest));
    double sum = r + small;
    double sum_rest = r - sum + small;
    double product = h * sum;
    double product_rest = __builtin_fma(h, sum, -product);
    *high = h + product;
    *low = h - *high + product + __builtin_fma(h, sum_rest, product_rest);
}
#endif
