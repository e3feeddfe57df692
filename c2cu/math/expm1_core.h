/* exp(x) - 1, for x < 709. fdlibm's algorithm, with the order of operations and the fused ones of glibc's FMA variant:
   x = k ln2 + r, |r| <= ln2/2, a rational function of r, then one of five ways to put 2^k and -1 to it by k. Below -56
   ln2: -1. */
#ifndef C2CU_EXPM1_CORE_H
#define C2CU_EXPM1_CORE_H
#include "bits.h"

/* exp(r) - 1 = r - (r e - r^2 / 2), |r| <= ln2/2: this is e. */
static double c2cu_expm1_part(double r) {
    double half = r * 0.5;
    double h = r * half;
    double h2 = h * h;
    double first = __builtin_fma(h, -0x1.11111111110f4p-5, 1.0);
    double second = __builtin_fma(h, -0x1.4ce199eaadbb7p-14, 0x1.a01a019fe5585p-10);
    double third = __builtin_fma(h, -0x1.afdb76e09c32dp-23, 0x1.0cfca86e65239p-18);
    double p = __builtin_fma(h2 * h2, third, __builtin_fma(h2, second, first));
    double t = __builtin_fma(-half, p, 3.0);
    return (p - t) / __builtin_fma(-r, t, 6.0) * h;
}

/* exp(x) - 1, for |x| below ln2/2. */
static double c2cu_expm1_near(double x) {
    return x - __builtin_fma(x, c2cu_expm1_part(x), -(x * (x * 0.5)));
}

static double c2cu_expm1_core(double x) {
    double size = fabs(x);
    double sum = size < 0x1.62e43p-2 ? 0.5 : size * 0x1.71547652b82fep0 + 0.5;
    double k = sum + 0x1p52 - 0x1p52;
    k = k > sum ? k - 1.0 : k;
    k = x < 0.0 ? -k : k;
    double high = __builtin_fma(-k, 0x1.62e42feep-1, x);
    double low = k * 0x1.a39ef35793c76p-33;
    double r = high - low;
    double rest = high - r - low;

    double h = r * (r * 0.5);
    double e = c2cu_expm1_part(r);
    double none = r - __builtin_fma(r, e, -h);
    e = __builtin_fma(e - rest, r, -rest) - h;

    double minus_one = __builtin_fma(r - e, 0.5, -0.5);
    double one = r < -0.25 ? (e - (r + 0.5)) * -2.0 : __builtin_fma(r - e, 2.0, 1.0);
    unsigned long exponent = c2cu_as_bits(k + 0x1.8p52) << 52;
    double small = c2cu_from_bits(0x3ff0000000000000UL - exponent);
    double alone = k < 0.0 || k > 56.0 ? 1.0 : 0.0;
    double many = k >= 20.0 && k <= 56.0 ? r - (e + small) + 1.0 : (alone == 1.0 ? 1.0 : 1.0 - small) - (e - r);
    many = c2cu_from_bits(c2cu_as_bits(many) + exponent) - alone;
    double result = k == -1.0 ? minus_one : many;
    result = k == 1.0 ? one : result;
    result = k == 0.0 ? none : result;
    return x <= -0x1.3687ap5 ? -1.0 : result;
}
#endif
