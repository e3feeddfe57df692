/* Numbers of 288 bits: nine words, the lowest first, of which the highest is whole and the others are a fraction; none
   is negative. Whole numbers alone are computed with, so that all machines have the same bits. A product, a quotient
   or a root is at most a few 2^-256 off. */
#ifndef C2CU_WIDE_H
#define C2CU_WIDE_H
#include "../bits.h"
#define C2CU_WORDS 9

static void c2cu_wide_whole(unsigned *out, unsigned n) {
    for (int k = 0; k < C2CU_WORDS - 1; k++) out[k] = 0;
    out[C2CU_WORDS - 1] = n;
}

static void c2cu_wide_copy(unsigned *out, const unsigned *a) {
    for (int k = 0; k < C2CU_WORDS; k++) out[k] = a[k];
}

static int c2cu_wide_less(const unsigned *a, const unsigned *b) {
    for (int k = C2CU_WORDS - 1; k >= 0; k--)
        if (a[k] != b[k]) return a[k] < b[k];
    return 0;
}

static void c2cu_wide_add(unsigned *out, const unsigned *a, const unsigned *b) {
    unsigned long carry = 0;
    for (int k = 0; k < C2CU_WORDS; k++) {
        carry += (unsigned long)a[k] + b[k];
        out[k] = (unsigned)carry;
        carry >>= 32;
    }
}

/* a - b, which is not negative. */
static void c2cu_wide_subtract(unsigned *out, const unsigned *a, const unsigned *b) {
    unsigned long borrow = 0;
    for (int k = 0; k < C2CU_WORDS; k++) {
        unsigned long difference = (unsigned long)a[k] - b[k] - borrow;
        out[k] = (unsigned)difference;
        borrow = difference >> 63;
    }
}

/* |a - b|; whether that is b - a. */
static int c2cu_wide_apart(unsigned *out, const unsigned *a, const unsigned *b) {
    int less = c2cu_wide_less(a, b);
    c2cu_wide_subtract(out, less ? b : a, less ? a : b);
    return less;
}

/* a b, less at most 2^-252. Columns are summed from the right; those whose sum cannot reach the result are left out. */
static void c2cu_wide_multiply(unsigned *out, const unsigned *a, const unsigned *b) {
    unsigned result[C2CU_WORDS];
    unsigned long low = 0, high = 0;
    for (int column = C2CU_WORDS - 3; column < 2 * C2CU_WORDS - 1; column++) {
        int first = column < C2CU_WORDS ? 0 : column - C2CU_WORDS + 1;
        int last = column < C2CU_WORDS ? column : C2CU_WORDS - 1;
        for (int k = first; k <= last; k++) {
            unsigned long product = (unsigned long)a[k] * b[column - k];
            low += product & 0xffffffffUL;
            high += product >> 32;
        }
        if (column >= C2CU_WORDS - 1) result[column - C2CU_WORDS + 1] = (unsigned)low;
        high += low >> 32;
        low = high & 0xffffffffUL;
        high >>= 32;
    }
    c2cu_wide_copy(out, result);
}

static void c2cu_wide_times(unsigned *out, const unsigned *a, unsigned n) {
    unsigned long carry = 0;
    for (int k = 0; k < C2CU_WORDS; k++) {
        carry += (unsigned long)a[k] * n;
        out[k] = (unsigned)carry;
        carry >>= 32;
    }
}

static void c2cu_wide_over(unsigned *out, const unsigned *a, unsigned n) {
    unsigned long rest = 0;
    for (int k = C2CU_WORDS - 1; k >= 0; k--) {
        rest = rest << 32 | a[k];
        out[k] = (unsigned)(rest / n);
        rest %= n;
    }
}

/* a 2^shift; what falls off either end is lost. */
static void c2cu_wide_shift(unsigned *out, const unsigned *a, int shift) {
    unsigned result[C2CU_WORDS];
    int words = shift >> 5, bits = shift & 31;
    for (int k = 0; k < C2CU_WORDS; k++) {
        int from = k - words;
        unsigned high = from >= 0 && from < C2CU_WORDS ? a[from] : 0;
        unsigned low = from >= 1 && from <= C2CU_WORDS ? a[from - 1] : 0;
        result[k] = (unsigned)(((unsigned long)high << 32 | low) << bits >> 32);
    }
    c2cu_wide_copy(out, result);
}

/* The number of the highest bit that is set, 256 being that of the number one; -1 for zero. */
static int c2cu_wide_top(const unsigned *a) {
    for (int k = C2CU_WORDS - 1; k >= 0; k--)
        if (a[k])
            for (int bit = 31; bit >= 0; bit--)
                if (a[k] >> bit & 1) return 32 * k + bit;
    return -1;
}

/* The exponent of a finite number that is not zero: 2^e <= |x| < 2^(e+1). */
static int c2cu_exponent(double x) {
    unsigned long bits = c2cu_as_bits(x) & 0x7fffffffffffffffUL;
    int below = 0;
    for (; bits >> 52 == 0; below++) bits <<= 1;
    return (int)(bits >> 52) - 1023 - below;
}

/* |x| 2^shift, of which at least 2^-256 and less than 2^32 is kept. */
static void c2cu_wide_from(unsigned *out, double x, int shift) {
    unsigned long bits = c2cu_as_bits(x) & 0x7fffffffffffffffUL;
    unsigned long exponent = bits >> 52;
    unsigned long digits = exponent ? (bits & 0xfffffffffffffUL) | 0x10000000000000UL : bits;
    c2cu_wide_whole(out, 0);
    out[C2CU_WORDS - 2] = (unsigned)digits;
    out[C2CU_WORDS - 1] = (unsigned)(digits >> 32);
    c2cu_wide_shift(out, out, (int)(exponent ? exponent : 1) - 1075 + 32 + shift);
}

/* About a 2^-exponent, within a few units in the last place. */
static double c2cu_wide_near(const unsigned *a, int *exponent) {
    unsigned shifted[C2CU_WORDS];
    int top = c2cu_wide_top(a);
    *exponent = top - 256;
    c2cu_wide_shift(shifted, a, 256 - top);
    unsigned long high = (unsigned long)shifted[C2CU_WORDS - 2] << 20 | shifted[C2CU_WORDS - 3] >> 12;
    return c2cu_from_bits(0x3ff0000000000000UL | high);
}

/* 1/a for a from 1/4 to 4: Newton's iteration, each step of which doubles the digits. */
static void c2cu_wide_inverse(unsigned *out, const unsigned *a) {
    unsigned inverse[C2CU_WORDS], product[C2CU_WORDS], two[C2CU_WORDS];
    int exponent;
    double near = c2cu_wide_near(a, &exponent);
    c2cu_wide_from(inverse, 1.0 / near, -exponent);
    c2cu_wide_whole(two, 2);
    for (int k = 0; k < 3; k++) {
        c2cu_wide_multiply(product, a, inverse);
        c2cu_wide_subtract(product, two, product);
        c2cu_wide_multiply(inverse, inverse, product);
    }
    c2cu_wide_copy(out, inverse);
}

/* The square root of a: that of 1/a, by y (3 - a y^2) / 2, times a; a is brought to between 1 and 4. */
static void c2cu_wide_root(unsigned *out, const unsigned *a) {
    unsigned from[C2CU_WORDS], inverse[C2CU_WORDS], product[C2CU_WORDS], three[C2CU_WORDS];
    int exponent, shift = c2cu_wide_top(a) - 256;
    if (shift < -256) {
        c2cu_wide_whole(out, 0);
        return;
    }
    shift -= shift & 1;
    c2cu_wide_shift(from, a, -shift);
    double near = c2cu_wide_near(from, &exponent);
    c2cu_wide_from(inverse, 1.0 / __builtin_sqrt(exponent ? 2.0 * near : near), 0);
    c2cu_wide_whole(three, 3);
    for (int k = 0; k < 3; k++) {
        c2cu_wide_multiply(product, inverse, inverse);
        c2cu_wide_multiply(product, product, from);
        c2cu_wide_subtract(product, three, product);
        c2cu_wide_multiply(inverse, inverse, product);
        c2cu_wide_shift(inverse, inverse, -1);
    }
    c2cu_wide_multiply(from, inverse, from);
    c2cu_wide_shift(out, from, shift / 2);
}

/* The double nearest to a 2^exponent that has at most so many digits, and whose last one is at least 2^least. What is
   nearer than 2^-236 of it to the middle between two is that: to even. */
static double c2cu_wide_rounded(const unsigned *a, int exponent, int digits, int least) {
    unsigned rest[C2CU_WORDS], half[C2CU_WORDS];
    int top = c2cu_wide_top(a);
    int last = top - 256 + exponent - (digits - 1);
    if (last < least) {
        digits -= least - last;
        last = least;
    }
    if (top < 0 || digits < 0) return 0.0;
    c2cu_wide_shift(rest, a, 287 - top); /* now the first digit is the first bit */
    unsigned long high = (unsigned long)rest[C2CU_WORDS - 1] << 32 | rest[C2CU_WORDS - 2];
    unsigned long whole = digits ? high >> (64 - digits) : 0;
    c2cu_wide_shift(rest, rest, digits);
    c2cu_wide_whole(half, 0x80000000u);
    int below = c2cu_wide_apart(rest, rest, half);
    int tie = c2cu_wide_top(rest) < 51 + digits;
    whole += tie ? whole & 1 : !below;

    double result = (double)whole;
    for (; last > 900; last -= 900) result *= 0x1p900;
    for (; last < -900; last += 900) result *= 0x1p-900;
    return result * c2cu_from_bits((unsigned long)(last + 1023) << 52);
}
#endif
