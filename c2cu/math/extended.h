/* Numbers of 64 bits, as x87 registers have them, each as the double nearest to it and the rest. */
#ifndef C2CU_EXTENDED_H
#define C2CU_EXTENDED_H
#include "bits.h"

/* high + low + last, rounded to 64 bits: high > 0 is the double nearest to high + low, last less than a unit of low. */
static double c2cu_rounded_64(double high, double low, double last, double *rest) {
    double power = c2cu_from_bits(c2cu_as_bits(high) & 0x7ff0000000000000UL);
    power = high == power && low < 0.0 ? 0.5 * power : power;
    double unit = power * 0x1p-63, half = power * 0x1p-64;
    double large = power * 0x1.8p-11;
    double sum = large + low;
    double rounded = sum - large;
    double beyond = low - rounded;
    /* In the middle between two it was rounded to even. */
    rounded = beyond == half && last > 0.0 ? rounded + unit : rounded;
    rounded = beyond == -half && last < 0.0 ? rounded - unit : rounded;
    double result = high + rounded;
    *rest = rounded - (result - high);
    return result;
}

/* The product of two, neither negative. */
static double c2cu_product_64(double a, double a_rest, double b, double b_rest, double *rest) {
    double product = a * b;
    double first = __builtin_fma(a, b, -product);
    double second = a * b_rest;
    double third = a_rest * b;
    double least = __builtin_fma(a, b_rest, -second) + __builtin_fma(a_rest, b, -third) + a_rest * b_rest;
    double two = first + second;
    double back = two - first;
    double two_last = first - (two - back) + (second - back);
    double three = two + third;
    back = three - two;
    double last = two - (three - back) + (third - back) + two_last + least;
    double low = three + last;
    last = last - (low - three);
    double high = product + low;
    return c2cu_rounded_64(high, low - (high - product), last, rest);
}
#endif
