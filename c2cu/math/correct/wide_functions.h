/* exp, log, sin, cos and the arctangent of wide numbers (wide.h): within 2^-240, or relative to the result where that
   says so. They take microseconds, and are for arguments whose result a faster evaluation cannot round. */
#ifndef C2CU_WIDE_FUNCTIONS_H
#define C2CU_WIDE_FUNCTIONS_H
#include "wide.h"
#include "wide_table.h"

/* a + b, each with a sign; the sign of the sum. */
static int c2cu_wide_sum(unsigned *out, const unsigned *a, int a_negative, const unsigned *b, int b_negative) {
    if (a_negative != b_negative) return c2cu_wide_apart(out, a, b) ? b_negative : a_negative;
    c2cu_wide_add(out, a, b);
    return a_negative;
}

/* a/b 2^-exponent, from 1/2 to 2, with all its digits. */
static void c2cu_wide_quotient(unsigned *out, const unsigned *a, const unsigned *b, int *exponent) {
    unsigned from[C2CU_WORDS], by[C2CU_WORDS];
    int a_top = c2cu_wide_top(a), b_top = c2cu_wide_top(b);
    c2cu_wide_shift(from, a, 256 - a_top);
    c2cu_wide_shift(by, b, 256 - b_top);
    c2cu_wide_inverse(by, by);
    c2cu_wide_multiply(out, from, by);
    *exponent = a_top - b_top;
}

/* e^v or e^-v as out 2^k, out from 1 to 2; v < 2^11. Returns k. With r = v - k ln 2: the 64th power of e^(r/64). */
static int c2cu_wide_exp(unsigned *out, const unsigned *v, int negative) {
    unsigned r[C2CU_WORDS], term[C2CU_WORDS];
    c2cu_wide_multiply(r, v, c2cu_wide_per_ln2);
    unsigned k = r[C2CU_WORDS - 1] + (negative ? 1u : 0u);
    c2cu_wide_times(term, c2cu_wide_ln2, k);
    if (c2cu_wide_apart(r, v, term) != negative) c2cu_wide_whole(r, 0); /* which rounding alone can bring about */
    c2cu_wide_shift(r, r, -6);
    c2cu_wide_whole(out, 1);
    c2cu_wide_copy(term, r);
    for (unsigned n = 2; n < 32; n++) {
        c2cu_wide_add(out, out, term);
        c2cu_wide_multiply(term, term, r);
        c2cu_wide_over(term, term, n);
    }
    for (int n = 0; n < 6; n++) c2cu_wide_multiply(out, out, out);
    return negative ? -(int)k : (int)k;
}

/* |log(a 2^exponent)|, a not zero; whether it is negative. For a near 1 the digits that a has behind the point count.
   With y a double near log(m): log(m) = y + log(1 + z), z = m e^-y - 1 below 2^-45. */
static int c2cu_wide_log(unsigned *out, const unsigned *a, int exponent) {
    unsigned m[C2CU_WORDS], z[C2CU_WORDS], power[C2CU_WORDS], term[C2CU_WORDS], sum[C2CU_WORDS];
    int shift = 256 - c2cu_wide_top(a), k;
    c2cu_wide_shift(m, a, shift);
    if (m[C2CU_WORDS - 2] >> 31) c2cu_wide_shift(m, a, --shift);
    double near = c2cu_wide_near(m, &k);
    near = k < 0 ? 0.5 * near : near;
    double s = (near - 1.0) / (near + 1.0), s2 = s * s, series = 0.0;
    for (int n = 31; n > 0; n -= 2) series = series * s2 + 2.0 / n;
    double y = s * series;

    c2cu_wide_from(out, y, 0);
    k = c2cu_wide_exp(z, out, y > 0.0);
    c2cu_wide_shift(z, z, k);
    c2cu_wide_multiply(z, m, z);
    c2cu_wide_whole(term, 1);
    int below = c2cu_wide_apart(z, z, term);
    c2cu_wide_copy(power, z);
    c2cu_wide_copy(sum, z);
    for (unsigned n = 2; n < 7; n++) {
        c2cu_wide_multiply(power, power, z);
        c2cu_wide_over(term, power, n);
        if (below || n & 1) c2cu_wide_add(sum, sum, term);
        else c2cu_wide_subtract(sum, sum, term);
    }
    int negative = c2cu_wide_sum(out, out, y < 0.0, sum, below);
    int whole = exponent - shift;
    c2cu_wide_times(term, c2cu_wide_ln2, (unsigned)(whole < 0 ? -whole : whole));
    return c2cu_wide_sum(out, out, negative, term, whole < 0);
}

/* sin(v) and cos(v), v from 0 to 0.8: their series. */
static void c2cu_wide_sin_cos(unsigned *sine, unsigned *cosine, const unsigned *v) {
    unsigned square[C2CU_WORDS], term[C2CU_WORDS];
    c2cu_wide_multiply(square, v, v);
    c2cu_wide_whole(cosine, 1);
    c2cu_wide_copy(sine, v);
    c2cu_wide_copy(term, square);
    for (unsigned n = 2; n < 60; n += 2) {
        c2cu_wide_over(term, term, n - 1);
        c2cu_wide_over(term, term, n);
        if (n & 2) c2cu_wide_subtract(cosine, cosine, term);
        else c2cu_wide_add(cosine, cosine, term);
        c2cu_wide_multiply(term, term, square);
    }
    c2cu_wide_multiply(term, square, v);
    for (unsigned n = 3; n < 60; n += 2) {
        c2cu_wide_over(term, term, n - 1);
        c2cu_wide_over(term, term, n);
        if (n & 2) c2cu_wide_subtract(sine, sine, term);
        else c2cu_wide_add(sine, sine, term);
        c2cu_wide_multiply(term, term, square);
    }
}

/* |x| less the nearest multiple n of pi/2, as its size, relative to which it is within 2^-190; n in the two low bits
   that are returned, and in the third whether the difference is negative. x is at least 2^-27. Of 2/pi those digits
   are multiplied that make the last bits of n and 350 behind the point. */
static int c2cu_wide_reduced(unsigned *out, double x) {
    unsigned long bits = c2cu_as_bits(x) & 0x7fffffffffffffffUL;
    unsigned long digits = (bits & 0xfffffffffffffUL) | 0x10000000000000UL;
    int scale = (int)(bits >> 52) - 1075, words = scale >> 5, shift = scale & 31;
    unsigned by[3] = {(unsigned)(digits << shift), (unsigned)(digits << shift >> 32),
                      (unsigned)(digits >> 32 << shift >> 32)};
    unsigned turns[C2CU_WORDS];
    unsigned long low = 0, high = 0;
    for (int place = -11; place <= 0; place++) {
        for (int j = 0; j < 3; j++) {
            int k = words - 1 - place + j;
            unsigned long product = k < 0 ? 0 : (unsigned long)c2cu_wide_two_over_pi[k] * by[j];
            low += product & 0xffffffffUL;
            high += product >> 32;
        }
        if (place >= 1 - C2CU_WORDS) turns[place + C2CU_WORDS - 1] = (unsigned)low;
        high += low >> 32;
        low = high & 0xffffffffUL;
        high >>= 32;
    }
    unsigned n = turns[C2CU_WORDS - 1];
    int negative = (int)(turns[C2CU_WORDS - 2] >> 31);
    turns[C2CU_WORDS - 1] = 0;
    if (negative) {
        c2cu_wide_whole(out, 1);
        c2cu_wide_subtract(turns, out, turns);
    }
    c2cu_wide_multiply(out, turns, c2cu_wide_half_pi);
    return (int)((n + (unsigned)negative) & 3) | negative << 2;
}

/* The angle of the point (x, y), from 0 to pi/2; the larger of x and y is from 1/2 to 2. With v a double near it, that
   point turned back by v has an angle below 2^-45. */
static void c2cu_wide_angle(unsigned *out, const unsigned *y, const unsigned *x) {
    unsigned angle[C2CU_WORDS], sine[C2CU_WORDS], cosine[C2CU_WORDS];
    unsigned far[C2CU_WORDS], rest[C2CU_WORDS], term[C2CU_WORDS];
    int steep = c2cu_wide_less(x, y), exponent, other;
    const unsigned *small = steep ? x : y, *large = steep ? y : x;
    double v = 0.0;
    c2cu_wide_whole(far, 0);
    if (c2cu_wide_less(far, small)) {
        double near = c2cu_wide_near(small, &exponent);
        double t = near / c2cu_wide_near(large, &other);
        for (exponent -= other; exponent < 0 && t > 0x1p-100; exponent++) t *= 0.5;
        t = t / (1.0 + __builtin_sqrt(1.0 + t * t));
        t = t / (1.0 + __builtin_sqrt(1.0 + t * t));
        for (int n = 27; n > 0; n -= 2) v = 4.0 / n - t * t * v;
        v *= t;
    }
    c2cu_wide_from(angle, v, 0);
    c2cu_wide_sin_cos(sine, cosine, angle);
    c2cu_wide_multiply(far, large, cosine);
    c2cu_wide_multiply(rest, small, sine);
    c2cu_wide_add(far, far, rest);
    c2cu_wide_multiply(rest, small, cosine);
    c2cu_wide_multiply(term, large, sine);
    int below = c2cu_wide_apart(rest, rest, term);
    c2cu_wide_inverse(far, far);
    c2cu_wide_multiply(rest, rest, far);
    c2cu_wide_sum(angle, angle, 0, rest, below);
    c2cu_wide_multiply(far, rest, rest);
    for (unsigned n = 3; n < 6; n += 2) {
        c2cu_wide_multiply(rest, rest, far);
        c2cu_wide_over(term, rest, n);
        c2cu_wide_sum(angle, angle, 0, term, (n & 2 ? 1 : 0) ^ below);
    }
    if (steep) c2cu_wide_subtract(angle, c2cu_wide_half_pi, angle);
    c2cu_wide_copy(out, angle);
}
#endif
