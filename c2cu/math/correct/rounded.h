/* Functions of doubles with about 200 digits of their results, rounded once, to so many digits of which the last is at
   least 2^least: 53 and -1074 for a double, 24 and -149 for a float. For arguments that faster evaluations leave. */
#ifndef C2CU_ROUNDED_H
#define C2CU_ROUNDED_H
#include "wide_functions.h"

static double c2cu_with_sign(double size, int negative) { return negative ? -size : size; }

static double c2cu_rounded_exp(double x, int digits, int least) {
    unsigned v[C2CU_WORDS], result[C2CU_WORDS];
    if (x != x) return x + x;
    if (x > 710.0) return __builtin_inf();
    if (x < -746.0) return 0.0;
    if (x < 0x1p-60 && x > -0x1p-60) return 1.0;
    c2cu_wide_from(v, x, 0);
    int k = c2cu_wide_exp(result, v, x < 0.0);
    return c2cu_wide_rounded(result, k, digits, least);
}

/* log(x) times a constant, if it is not null. */
static double c2cu_rounded_log(double x, const unsigned *times, int digits, int least) {
    unsigned v[C2CU_WORDS];
    if (x != x) return x + x;
    if (x < 0.0) return __builtin_nan("");
    if (x == 0.0) return -__builtin_inf();
    if (x == __builtin_inf()) return x;
    int exponent = c2cu_exponent(x);
    c2cu_wide_from(v, x, -exponent);
    int negative = c2cu_wide_log(v, v, exponent);
    if (times) c2cu_wide_multiply(v, v, times);
    return c2cu_with_sign(c2cu_wide_rounded(v, 0, digits, least), negative);
}

/* Which of sin, cos and tan: 0, 1, 2. */
static double c2cu_rounded_circular(double x, int which, int digits, int least) {
    unsigned v[C2CU_WORDS], sine[C2CU_WORDS], cosine[C2CU_WORDS];
    double size = x < 0.0 ? -x : x;
    int exponent = 0;
    if (!(size < __builtin_inf())) return x - x;
    if (size < 0x1p-27) return which == 1 ? 1.0 : x;
    int n = c2cu_wide_reduced(v, x);
    int negative = n >> 2;
    c2cu_wide_sin_cos(sine, cosine, v);
    const unsigned *result = which == 1 ? cosine : sine;
    if (which == 2) {
        if (n & 1) c2cu_wide_quotient(v, cosine, sine, &exponent);
        else c2cu_wide_quotient(v, sine, cosine, &exponent);
        return c2cu_with_sign(c2cu_wide_rounded(v, exponent, digits, least), (n & 1) ^ negative ^ (x < 0.0));
    }
    if (n & 1) result = which == 1 ? sine : cosine;
    int quarter = which == 1 ? (n + 1) & 3 : n & 3; /* of a turn, as for the sine */
    int from_sine = result == sine;
    int sign = (quarter >> 1 & 1) ^ (from_sine ? negative : 0) ^ (which == 0 && x < 0.0);
    return c2cu_with_sign(c2cu_wide_rounded(result, 0, digits, least), sign);
}

static double c2cu_rounded_atan(double x, int digits, int least) {
    unsigned y[C2CU_WORDS], one[C2CU_WORDS];
    double size = x < 0.0 ? -x : x;
    if (x != x) return x + x;
    if (size < 0x1p-27) return x;
    int exponent = size < 0x1p300 ? c2cu_exponent(size) : 300;
    int above = exponent > 0 ? exponent : 0;
    c2cu_wide_from(y, size < 0x1p300 ? size : 0x1p300, -above);
    c2cu_wide_whole(one, 1);
    c2cu_wide_shift(one, one, -above);
    c2cu_wide_angle(y, y, one);
    return c2cu_with_sign(c2cu_wide_rounded(y, 0, digits, least), x < 0.0);
}

/* x^y with the sign of x dropped, both finite and x not zero. */
static double c2cu_rounded_power(double x, double y, int digits, int least) {
    unsigned v[C2CU_WORDS], factor[C2CU_WORDS];
    int exponent = c2cu_exponent(x), y_exponent;
    c2cu_wide_from(v, x, -exponent);
    int negative = c2cu_wide_log(v, v, exponent);
    int top = c2cu_wide_top(v);
    if (top < 0 || y == 0.0) return 1.0;
    negative ^= y < 0.0;
    y_exponent = c2cu_exponent(y);
    int size = top - 256 + y_exponent; /* 2^size <= |y log x| < 2^(size + 2) */
    if (size < -70) return 1.0;
    if (size > 10) return negative ? 0.0 : __builtin_inf();
    /* Where log x is small, all its digits are needed: what y multiplies has them in front. */
    c2cu_wide_shift(v, v, 256 - top);
    c2cu_wide_from(factor, y, -y_exponent);
    c2cu_wide_multiply(v, v, factor);
    c2cu_wide_shift(v, v, size);
    int k = c2cu_wide_exp(factor, v, negative);
    return c2cu_wide_rounded(factor, k, digits, least);
}

/* What C says of zeros, infinities, NaNs and negative numbers; else by the above. */
static double c2cu_rounded_pow(double x, double y, int digits, int least) {
    double size = x < 0.0 ? -x : x, y_size = y < 0.0 ? -y : y, infinite = __builtin_inf();
    int sign = (int)(c2cu_as_bits(x) >> 63);
    if (y == 0.0 || x == 1.0) return 1.0;
    if (x != x || y != y) return x + y;
    if (y_size == infinite) return size == 1.0 ? 1.0 : (size < 1.0) == (y < 0.0) ? infinite : 0.0;
    int integral = y_size >= 0x1p53, odd = 0;
    if (!integral) {
        integral = (double)(long)y_size == y_size;
        odd = integral && (long)y_size & 1;
    }
    int negative = sign & odd;
    if (size == 0.0 || size == infinite)
        return c2cu_with_sign((size == 0.0) == (y < 0.0) ? infinite : 0.0, negative);
    if (sign && !integral) return __builtin_nan("");
    if (size == 1.0) return negative ? -1.0 : 1.0;
    return c2cu_with_sign(c2cu_rounded_power(size, y, digits, least), negative);
}
#endif
