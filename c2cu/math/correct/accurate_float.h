/* What functions of floats leave to longer numbers: like rounded.h, with 24 digits. Below 2^-40 a function that is
   about x there differs from it by far less than half a unit in the last place. */
#ifndef C2CU_ACCURATE_FLOAT_H
#define C2CU_ACCURATE_FLOAT_H
#include "rounded.h"

static float c2cu_to_float(const unsigned *a, int exponent, int negative) {
    return (float)c2cu_with_sign(c2cu_wide_rounded(a, exponent, 24, -149), negative);
}

static int c2cu_is_tiny(float x) { return x > -0x1p-40f && x < 0x1p-40f; }

static float c2cu_accurate_expf(float x) { return (float)c2cu_rounded_exp(x, 24, -149); }

static float c2cu_accurate_logf(float x) { return (float)c2cu_rounded_log(x, 0, 24, -149); }

static float c2cu_accurate_log2f(float x) { return (float)c2cu_rounded_log(x, c2cu_wide_per_ln2, 24, -149); }

static float c2cu_accurate_log10f(float x) { return (float)c2cu_rounded_log(x, c2cu_wide_per_ln10, 24, -149); }

static float c2cu_accurate_sinf(float x) { return (float)c2cu_rounded_circular(x, 0, 24, -149); }

static float c2cu_accurate_cosf(float x) { return (float)c2cu_rounded_circular(x, 1, 24, -149); }

static float c2cu_accurate_tanf(float x) { return (float)c2cu_rounded_circular(x, 2, 24, -149); }

static float c2cu_accurate_atanf(float x) { return (float)c2cu_rounded_atan(x, 24, -149); }

static float c2cu_accurate_powf(float x, float y) { return (float)c2cu_rounded_pow(x, y, 24, -149); }

static float c2cu_accurate_exp2f(float x) {
    unsigned v[C2CU_WORDS];
    if (x != x) return x + x;
    if (x >= 128.0f) return __builtin_inff();
    if (x < -150.0f) return 0.0f;
    if (c2cu_is_tiny(x)) return 1.0f;
    c2cu_wide_from(v, x, 0);
    c2cu_wide_multiply(v, v, c2cu_wide_ln2);
    int k = c2cu_wide_exp(v, v, x < 0.0f);
    return c2cu_to_float(v, k, 0);
}

static float c2cu_accurate_expm1f(float x) {
    unsigned v[C2CU_WORDS], one[C2CU_WORDS];
    if (x != x) return x + x;
    if (x > 89.0f) return __builtin_inff();
    if (x < -60.0f) return -1.0f;
    if (c2cu_is_tiny(x)) return x;
    c2cu_wide_from(v, x, 0);
    int k = c2cu_wide_exp(v, v, x < 0.0f), above = k > 0 ? k : 0;
    c2cu_wide_shift(v, v, k - above);
    c2cu_wide_whole(one, 1);
    c2cu_wide_shift(one, one, -above);
    int negative = c2cu_wide_apart(v, v, one);
    return c2cu_to_float(v, above, negative);
}

static float c2cu_accurate_log1pf(float x) {
    unsigned v[C2CU_WORDS], one[C2CU_WORDS];
    if (x != x) return x + x;
    if (x < -1.0f) return __builtin_nanf("");
    if (x == -1.0f) return -__builtin_inff();
    if (x == __builtin_inff() || c2cu_is_tiny(x)) return x;
    int exponent = x < 1.0f ? 0 : c2cu_exponent(x);
    c2cu_wide_from(v, x, -exponent);
    c2cu_wide_whole(one, 1);
    c2cu_wide_shift(one, one, -exponent);
    c2cu_wide_sum(v, one, 0, v, x < 0.0f);
    int negative = c2cu_wide_log(v, v, exponent);
    return c2cu_to_float(v, 0, negative);
}

/* e^x 2^-k and e^-x 2^-k for x at least zero; k. */
static int c2cu_wide_both(unsigned *grown, unsigned *shrunk, float x) {
    c2cu_wide_from(grown, x, 0);
    int less = c2cu_wide_exp(shrunk, grown, 1);
    int k = c2cu_wide_exp(grown, grown, 0);
    c2cu_wide_shift(shrunk, shrunk, less - k);
    return k;
}

static float c2cu_accurate_sinhf(float x) {
    unsigned grown[C2CU_WORDS], shrunk[C2CU_WORDS];
    float size = x < 0.0f ? -x : x;
    if (x != x || c2cu_is_tiny(x)) return x;
    if (size > 90.0f) return x < 0.0f ? -__builtin_inff() : __builtin_inff();
    int k = c2cu_wide_both(grown, shrunk, size);
    c2cu_wide_subtract(grown, grown, shrunk);
    return c2cu_to_float(grown, k - 1, x < 0.0f);
}

static float c2cu_accurate_coshf(float x) {
    unsigned grown[C2CU_WORDS], shrunk[C2CU_WORDS];
    float size = x < 0.0f ? -x : x;
    if (x != x) return x;
    if (size > 90.0f) return __builtin_inff();
    int k = c2cu_wide_both(grown, shrunk, size);
    c2cu_wide_add(grown, grown, shrunk);
    return c2cu_to_float(grown, k - 1, 0);
}

static float c2cu_accurate_tanhf(float x) {
    unsigned grown[C2CU_WORDS], shrunk[C2CU_WORDS], sum[C2CU_WORDS];
    float size = x < 0.0f ? -x : x;
    int exponent;
    if (x != x || c2cu_is_tiny(x)) return x;
    if (size > 60.0f) return x < 0.0f ? -1.0f : 1.0f;
    c2cu_wide_both(grown, shrunk, size);
    c2cu_wide_add(sum, grown, shrunk);
    c2cu_wide_subtract(grown, grown, shrunk);
    c2cu_wide_quotient(grown, grown, sum, &exponent);
    return c2cu_to_float(grown, exponent, x < 0.0f);
}

/* Half of log((1 + x) / (1 - x)). */
static float c2cu_accurate_atanhf(float x) {
    unsigned v[C2CU_WORDS], one[C2CU_WORDS], other[C2CU_WORDS];
    float size = x < 0.0f ? -x : x;
    if (x != x || c2cu_is_tiny(x)) return x;
    if (size > 1.0f) return __builtin_nanf("");
    if (size == 1.0f) return x < 0.0f ? -__builtin_inff() : __builtin_inff();
    c2cu_wide_from(v, size, 0);
    c2cu_wide_whole(one, 1);
    c2cu_wide_add(other, one, v);
    c2cu_wide_subtract(v, one, v);
    c2cu_wide_log(v, v, 0);
    c2cu_wide_log(other, other, 0);
    c2cu_wide_add(v, v, other);
    return c2cu_to_float(v, -1, x < 0.0f);
}

/* log(x + sqrt(x^2 + 1)) for x at least zero, or less 1: both squares are divided by 4^e, e the exponent of x. */
static void c2cu_wide_area(unsigned *out, float x, int less) {
    unsigned v[C2CU_WORDS], square[C2CU_WORDS], one[C2CU_WORDS];
    int exponent = x < 1.0f ? 0 : c2cu_exponent(x);
    c2cu_wide_from(v, x, -exponent);
    c2cu_wide_multiply(square, v, v);
    c2cu_wide_whole(one, 1);
    c2cu_wide_shift(one, one, -2 * exponent);
    c2cu_wide_sum(square, square, 0, one, less);
    c2cu_wide_root(square, square);
    c2cu_wide_add(v, v, square);
    c2cu_wide_log(out, v, exponent);
}

static float c2cu_accurate_asinhf(float x) {
    unsigned v[C2CU_WORDS];
    float size = x < 0.0f ? -x : x;
    if (!(size < __builtin_inff()) || c2cu_is_tiny(x)) return x;
    c2cu_wide_area(v, size, 0);
    return c2cu_to_float(v, 0, x < 0.0f);
}

static float c2cu_accurate_acoshf(float x) {
    unsigned v[C2CU_WORDS];
    if (x < 1.0f) return __builtin_nanf("");
    if (x == 1.0f) return 0.0f;
    if (!(x < __builtin_inff())) return x;
    c2cu_wide_area(v, x, 1);
    return c2cu_to_float(v, 0, 0);
}

/* |x| and sqrt(1 - x^2): the cosine of an angle and its sine, or the other way round. */
static void c2cu_wide_legs(unsigned *leg, unsigned *other, float x) {
    unsigned one[C2CU_WORDS];
    c2cu_wide_from(leg, x, 0);
    c2cu_wide_multiply(other, leg, leg);
    c2cu_wide_whole(one, 1);
    c2cu_wide_subtract(other, one, other);
    c2cu_wide_root(other, other);
}

static float c2cu_accurate_asinf(float x) {
    unsigned leg[C2CU_WORDS], other[C2CU_WORDS];
    if (x != x || c2cu_is_tiny(x)) return x;
    if (x < -1.0f || x > 1.0f) return __builtin_nanf("");
    c2cu_wide_legs(leg, other, x);
    c2cu_wide_angle(leg, leg, other);
    return c2cu_to_float(leg, 0, x < 0.0f);
}

static void c2cu_wide_turned(unsigned *angle) {
    unsigned pi[C2CU_WORDS];
    c2cu_wide_times(pi, c2cu_wide_half_pi, 2);
    c2cu_wide_subtract(angle, pi, angle);
}

static float c2cu_accurate_acosf(float x) {
    unsigned leg[C2CU_WORDS], other[C2CU_WORDS];
    if (x != x) return x;
    if (x < -1.0f || x > 1.0f) return __builtin_nanf("");
    c2cu_wide_legs(leg, other, x);
    c2cu_wide_angle(leg, other, leg);
    if (x < 0.0f) c2cu_wide_turned(leg);
    return c2cu_to_float(leg, 0, 0);
}

/* y/x below 2^-60 is the angle, or less than the quotient by a trifle where that is exact. */
static float c2cu_small_angle(double y, double x) {
    double quotient = y / x;
    if (quotient * x == y && quotient != 0.0) quotient = c2cu_from_bits(c2cu_as_bits(quotient) - 1);
    return (float)quotient;
}

static float c2cu_accurate_atan2f(float y, float x) {
    unsigned angle[C2CU_WORDS], other[C2CU_WORDS];
    if (x != x || y != y) return x + y;
    int y_negative = (int)(c2cu_as_bits_f(y) >> 31), x_negative = (int)(c2cu_as_bits_f(x) >> 31);
    float infinite = __builtin_inff(), y_size = y_negative ? -y : y, x_size = x_negative ? -x : x;
    if (x_size == infinite || y_size == infinite) {
        y_size = y_size == infinite ? 1.0f : 0.0f;
        x_size = x_size == infinite ? 1.0f : 0.0f;
    }
    if (x_size == 0.0f && y_size == 0.0f) x_size = 1.0f;
    if (!x_negative && y_size < 0x1p-60 * x_size) {
        float size = c2cu_small_angle(y_size, x_size);
        return y_negative ? -size : size;
    }
    int exponent = c2cu_exponent(y_size > x_size ? y_size : x_size);
    c2cu_wide_whole(angle, 0);
    c2cu_wide_whole(other, 0);
    if (y_size > 0.0f) c2cu_wide_from(angle, y_size, -exponent);
    if (x_size > 0.0f) c2cu_wide_from(other, x_size, -exponent);
    c2cu_wide_angle(angle, angle, other);
    if (x_negative) c2cu_wide_turned(angle);
    return c2cu_to_float(angle, 0, y_negative);
}

/* e^(log(x)/3). */
static float c2cu_accurate_cbrtf(float x) {
    unsigned v[C2CU_WORDS];
    double size = x < 0.0f ? -x : x;
    if (!(size < __builtin_inf()) || size == 0.0) return x;
    int exponent = c2cu_exponent(size);
    c2cu_wide_from(v, size, -exponent);
    int negative = c2cu_wide_log(v, v, exponent);
    c2cu_wide_over(v, v, 3);
    int k = c2cu_wide_exp(v, v, negative);
    return c2cu_to_float(v, k, x < 0.0f);
}

static float c2cu_accurate_hypotf(float x, float y) {
    unsigned v[C2CU_WORDS], other[C2CU_WORDS];
    float x_size = x < 0.0f ? -x : x, y_size = y < 0.0f ? -y : y;
    if (x_size == __builtin_inff() || y_size == __builtin_inff()) return __builtin_inff();
    if (x != x || y != y) return x + y;
    float larger = x_size > y_size ? x_size : y_size;
    if (larger == 0.0f) return 0.0f;
    int exponent = c2cu_exponent(larger);
    c2cu_wide_from(v, x, -exponent);
    c2cu_wide_from(other, y, -exponent);
    c2cu_wide_multiply(v, v, v);
    c2cu_wide_multiply(other, other, other);
    c2cu_wide_add(v, v, other);
    c2cu_wide_root(v, v);
    return c2cu_to_float(v, exponent, 0);
}

/* 2/sqrt(pi) e^(-x^2) times a factor as out 2^exponent; 0 < x < 12. */
static int c2cu_wide_bell(unsigned *out, const unsigned *x) {
    unsigned square[C2CU_WORDS];
    c2cu_wide_multiply(square, x, x);
    int k = c2cu_wide_exp(square, square, 1);
    c2cu_wide_multiply(out, square, c2cu_wide_per_root_pi);
    return k;
}

/* erf(x) for x from 0 to 5: x e^(-x^2) 2/sqrt(pi) times the sum of (2 x^2)^n / (1 3 5 ... (2n + 1)). */
static void c2cu_wide_erf(unsigned *out, const unsigned *x) {
    unsigned term[C2CU_WORDS], sum[C2CU_WORDS], square[C2CU_WORDS];
    c2cu_wide_multiply(square, x, x);
    c2cu_wide_shift(square, square, 1);
    c2cu_wide_copy(term, x);
    c2cu_wide_copy(sum, x);
    for (unsigned n = 3; n < 601; n += 2) {
        c2cu_wide_over(term, term, n);
        c2cu_wide_multiply(term, term, square);
        c2cu_wide_add(sum, sum, term);
    }
    int k = c2cu_wide_bell(term, x);
    c2cu_wide_multiply(term, term, sum);
    c2cu_wide_shift(out, term, k);
}

/* erfc(x) as out 2^exponent for x from 2 to 12: e^(-x^2) / sqrt(pi) over the continued fraction
   x + (1/2)/(x + (2/2)/(x + (3/2)/(x + ...))). */
static int c2cu_wide_erfc(unsigned *out, const unsigned *x) {
    unsigned fraction[C2CU_WORDS], part[C2CU_WORDS];
    int exponent;
    c2cu_wide_copy(fraction, x);
    for (unsigned n = 300; n > 0; n--) {
        c2cu_wide_whole(part, n);
        c2cu_wide_quotient(fraction, part, fraction, &exponent);
        c2cu_wide_shift(fraction, fraction, exponent - 1);
        c2cu_wide_add(fraction, fraction, x);
    }
    int k = c2cu_wide_bell(part, x);
    c2cu_wide_quotient(out, part, fraction, &exponent);
    return k + exponent - 1;
}

static float c2cu_accurate_erff(float x) {
    unsigned v[C2CU_WORDS];
    float size = x < 0.0f ? -x : x;
    if (x != x || x == 0.0f) return x;
    if (size > 4.0f) return x < 0.0f ? -1.0f : 1.0f;
    c2cu_wide_from(v, size, 0);
    c2cu_wide_erf(v, v);
    return c2cu_to_float(v, 0, x < 0.0f);
}

static float c2cu_accurate_erfcf(float x) {
    unsigned v[C2CU_WORDS], one[C2CU_WORDS];
    if (x != x) return x;
    if (x > 11.0f) return 0.0f;
    if (x < -4.0f) return 2.0f;
    c2cu_wide_from(v, x, 0);
    if (x >= 2.0f) {
        int k = c2cu_wide_erfc(v, v);
        return c2cu_to_float(v, k, 0);
    }
    c2cu_wide_erf(v, v);
    c2cu_wide_whole(one, 1);
    c2cu_wide_sum(v, one, 0, v, x > 0.0f);
    return c2cu_to_float(v, 0, 0);
}
#endif
