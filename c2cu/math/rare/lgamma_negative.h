/* lgamma of what is from -28 to -2 and not whole: glibc's way, since 2.23, around the zero that is in the same half of
   the interval between whole numbers. No operation is fused but in the functions of which this is made. */
#ifndef C2CU_RARE_LGAMMA_NEGATIVE_H
#define C2CU_RARE_LGAMMA_NEGATIVE_H
#include "../extended.h"
#include "../log1p_core.h"
#include "../log_core.h"
#include "gamma_turns.h"
#include "lgamma_table.h"

/* size / x in 64 bits, both positive. */
static double c2cu_quotient_64(double size, double x, double x_rest, double *rest) {
    double quotient = size / x;
    double more = (__builtin_fma(-quotient, x, size) - quotient * x_rest) / x;
    double high = quotient + more;
    return c2cu_rounded_64(high, more - (high - quotient), 0.0, rest);
}

/* The sum of two in 64 bits, where that is positive and the first the larger. */
static double c2cu_sum_64(double a, double a_rest, double b, double b_rest, double *rest) {
    double sum = a + b;
    double low = b - (sum - a) + (a_rest + b_rest);
    double high = sum + low;
    return c2cu_rounded_64(high, low - (high - sum), 0.0, rest);
}

/* (1 + t / x) (1 + t / (x + 1)) - 1, or the first factor if count is 1. The library does that in x87 registers. */
static double c2cu_lgamma_factors(double t, double x, double x_rest, _Bool two) {
    double size = fabs(t), q_rest, s_rest, p_rest, rest;
    double q = c2cu_quotient_64(size, x, x_rest, &q_rest);
    double s = c2cu_sum_64(1.0, 0.0, t < 0.0 ? -q : q, t < 0.0 ? -q_rest : q_rest, &s_rest);
    double next = x + 1.0;
    double p = c2cu_quotient_64(size, next, x - (next - 1.0) + x_rest, &p_rest);
    p = c2cu_product_64(p, p_rest, s, s_rest, &p_rest);
    double sum = p < q ? c2cu_sum_64(q, q_rest, p, p_rest, &rest) : c2cu_sum_64(p, p_rest, q, q_rest, &rest);
    double result = two ? sum : q;
    return t < 0.0 ? -result : result;
}

/* From -3 to -2. */
static double c2cu_lgamma_eighth(double x, double end, double difference) {
    double eighth = floor(-8.0 * x) - 16.0;
    double from = x - (-33.0 - 2.0 * eighth) * 0.0625;
    unsigned long first = 14 * (c2cu_as_bits(eighth + 0x1p52) & 7);
    double sum = 0.0;
    for (int k = 13; k >= 0; k--) sum = sum * from + c2cu_lgamma_eighths[first + k];
    return c2cu_log1p_core(sum * difference / (x - end));
}

/* log(sin(pi zero) / sin(pi x)). */
static double c2cu_lgamma_sines(double size, double zero_size, double half) {
    double sine = c2cu_sin_pi(half), cosine = c2cu_cos_pi(half);
    double slope = c2cu_cos_pi(size) / c2cu_sin_pi(size);
    double near = c2cu_log1p_core(2.0 * sine * (-sine + cosine * slope));
    double far = c2cu_log_core(c2cu_sin_pi(zero_size) / c2cu_sin_pi(size));
    return zero_size < size * 0.5 ? far : near;
}

static double c2cu_lgamma_negative(double x) {
    double halves = floor(-2.0 * x);
    unsigned long row = (c2cu_as_bits(halves + 0x1p52) & 63) - 4;
    double end = -0.5 * ((row & 1) != 0 ? halves + 1.0 : halves);
    double zero = c2cu_lgamma_zeros[2 * row], zero_rest = c2cu_lgamma_zeros[2 * row + 1];
    double difference = x - zero - zero_rest;
    double half = ((row & 1) == 0 ? difference : -difference) * 0.5;
    double sines = c2cu_lgamma_sines(fabs(end - x), fabs(end - zero - zero_rest), half);

    double y0 = 1.0 - zero;
    double y0_rest = -zero + (1.0 - y0) - zero_rest;
    double y = 1.0 - x;
    double y_rest = -x + (1.0 - y);
    double more = 0.0;
    if (row < 6) {
        double up = row < 4 ? 2.0 : 1.0;
        double y0_up = y0 + up, y_up = y + up;
        y0_rest = y0 - (y0_up - up) + y0_rest;
        y_rest = y - (y_up - up) + y_rest;
        y0 = y0_up;
        y = y_up;
        more = -c2cu_log1p_core(c2cu_lgamma_factors(difference, y - up, y_rest, up == 2.0));
    }
    double high = difference * c2cu_log1p_core((y0 - 0x1.5bf0a8b145769p1 - 0x1.4d57ee2b1013ap-53 + y0_rest) /
        0x1.5bf0a8b145769p1) + (y - 0.5 + y_rest) * c2cu_log1p_core(difference / y) + more;

    double y0_inverse = 1.0 / y0, y_inverse = 1.0 / y;
    double y0_square = y0_inverse * y0_inverse, y_square = y_inverse * y_inverse;
    /* Differences of the odd powers of 1 / y0 and 1 / y. */
    double first = -difference / (y * y0);
    double factor = first * y_inverse * (y_inverse + y0_inverse);
    double second = first * y0_square + factor;
    factor = factor * y_square;
    double third = second * y0_square + factor;
    factor = factor * y_square;
    double fourth = third * y0_square + factor;
    factor = factor * y_square;
    double fifth = fourth * y0_square + factor;
    factor = factor * y_square;
    double sixth = fifth * y0_square + factor;
    factor = factor * y_square;
    double seventh = sixth * y0_square + factor;
    factor = factor * y_square;
    double eighth = seventh * y0_square + factor;
    factor = factor * y_square;
    double ninth = eighth * y0_square + factor;
    factor = factor * y_square;
    double tenth = ninth * y0_square + factor;
    factor = factor * y_square;
    double eleventh = tenth * y0_square + factor;
    factor = factor * y_square;
    double twelfth = eleventh * y0_square + factor;
    double low = twelfth * -0x1.39b2525cccc1bp7 + eleventh * 0x1.ace44322ce006p3 + tenth * -0x1.6476701181f3ap0 +
        ninth * 0x1.6fe96381e068p-3 + eighth * -0x1.e4286cb0f5398p-6 + seventh * 0x1.a41a41a41a41ap-8 +
        sixth * -0x1.f6ab0d9993c7dp-10 + fifth * 0x1.b951e2b18ff23p-11 + fourth * -0x1.3813813813814p-11 +
        third * 0x1.a01a01a01a01ap-11 + second * -0x1.6c16c16c16c17p-9 + first * 0x1.5555555555555p-4;
    double result = sines + (high + low);
    if (row < 2) result = c2cu_lgamma_eighth(x, end, difference);
    return result;
}
#endif
