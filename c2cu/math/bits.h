/* Floating-point numbers as their bits. */
#ifndef C2CU_MATH_BITS_H
#define C2CU_MATH_BITS_H
static unsigned long c2cu_as_bits(double x) {
    unsigned long bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double c2cu_from_bits(unsigned long bits) {
    double x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}

static unsigned c2cu_as_bits_f(float x) {
    unsigned bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float c2cu_from_bits_f(unsigned bits) {
    float x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}
#endif
