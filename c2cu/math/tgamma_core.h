/* gamma(x), for x positive and normal and below 184: see tgamma.c. */
#ifndef C2CU_TGAMMA_CORE_H
#define C2CU_TGAMMA_CORE_H
#include "exp2_core.h"
#include "expm1_core.h"
#include "extended.h"
#include "lgamma_core.h"
#include "pow_core.h"

/* x (x + 1) ... of count factors, and what is lost of it in relation to it. The library does that in x87 registers. */
static double c2cu_tgamma_product(double x, double count, double *lost) {
    double product = x, rest = 0.0;
    for (double i = 1.0; i < count; i += 1.0) {
        double factor = x + i;
        product = c2cu_product_64(product, rest, factor, x - (factor - i), &rest);
    }
    *lost = rest / product;
    return product;
}

/* The quotient of two sums of two doubles, and its rest. */
static double c2cu_quotient(double high, double low, double divisor, double divisor_low, double *rest) {
    double quotient = high / divisor;
    double back = quotient * divisor;
    double more = (high - back - __builtin_fma(quotient, divisor, -back)) / divisor;
    double shift = (low * divisor - divisor_low * high) / (divisor * divisor);
    double sum = quotient + shift;
    more = more + (shift - (sum - quotient));
    double result = sum + more;
    *rest = more - (result - sum);
    return result;
}

/* Below 6.5: exp(lgamma) between 0.5 and 1.5, and from there. */
static double c2cu_tgamma_near(double x) {
    double count = x > 1.5 ? ceil(x - 1.5) : 0.0;
    double at = x < 0.5 ? x + 1.0 : x - count;
    double result = c2cu_exp_core(c2cu_lgamma_beside_one(at));
    if (x > 1.5) {
        double lost;
        double product = c2cu_tgamma_product(at, count, &lost);
        result = result * product * (1.0 + lost);
    }
    if (x < 0.5) result = result / x;
    return result;
}

/* From 6.5, without a power of 2: Stirling's formula, from 12 or less the product of what is between. */
static double c2cu_tgamma_far(double x, double *power) {
    double count = x < 12.0 ? ceil(12.0 - x) : 0.0;
    double at = x + count;
    double rest = x - (at - count);
    double whole = trunc(at);
    whole = at - whole >= 0.5 ? whole + 1.0 : whole;

    /* at^at, of which 2^power goes apart. */
    unsigned long above = c2cu_as_bits(at) - 0x3fe6a09e667f3bcdUL;  /* the root of 1/2 */
    double two = c2cu_from_bits(above >> 52 | 0x4330000000000000UL) - 0x1p52;
    double mantissa = c2cu_from_bits(c2cu_as_bits(at) - (above & 0xfff0000000000000UL));
    *power = two * whole;
    double log_low;
    double log_high = c2cu_pow_log(mantissa, 0x1.00000000004p52, &log_low);
    double exponent = at * log_high;
    unsigned long bits;
    double own = c2cu_pow_exp(exponent, __builtin_fma(at, log_low, __builtin_fma(at, log_high, -exponent)), &bits);
    double scale = c2cu_from_bits(bits);
    double own_power = __builtin_fma(own, scale, scale);
    double twos = c2cu_exp2_core(two * (at - whole));

    /* Times exp(-at) and the root of 2 pi / at, as sums of two doubles. */
    double first = own_power * twos;
    double first_rest = __builtin_fma(own_power, twos, -first);
    double falling = c2cu_exp_core(-at), root = sqrt(0x1.921fb54442d18p2 / at);
    double second = falling * root;
    double second_rest = __builtin_fma(falling, root, -second);
    double product = first * second;
    double product_rest = __builtin_fma(first, second, -product);
    double cross = first * second_rest + second * first_rest;
    double sum = product + cross;
    double sum_rest = product_rest - (cross - (sum - product));
    double high = sum + sum_rest;
    double low = sum_rest - (high - sum);

    double turned = 0.0;
    if (x < 12.0) {
        double lost;
        double between = c2cu_tgamma_product(x, count, &lost);
        high = c2cu_quotient(sum, sum_rest, between, between * lost, &low);
        if (rest != 0.0) turned = rest * c2cu_log_core(at);
    }
    double square = at * at;
    double series = -0x1.f6ab0d9993c7dp-10 / square + 0x1.b951e2b18ff23p-11;
    series = series / square - 0x1.3813813813814p-11;
    series = series / square + 0x1.a01a01a01a01ap-11;
    series = series / square - 0x1.6c16c16c16c17p-9;
    series = series / square + 0x1.5555555555555p-4;
    turned = turned + series / at;
    return high + (low + high * c2cu_expm1_near(turned));
}

/* Without 2^power. */
static double c2cu_tgamma_core(double x, double *power) {
    double result = 1.0;
    *power = 0.0;
    if (x < 6.5) result = c2cu_tgamma_near(x);
    if (x >= 6.5) result = c2cu_tgamma_far(x, power);
    return result;
}
#endif
