/* What sinf and cosf share. */
#ifndef C2CU_SINF_CORE_H
#define C2CU_SINF_CORE_H
#include "bits.h"

/* sin(r) and cos(r); r is within pi/4 of 0. Polynomials of degree 7 and 8, of Arm's optimized routines, and of glibc
   since 2.28, with the fused operations of its FMA variant. */
static double c2cu_sine_poly(double r) {
    double r2 = r * r, r3 = r * r2;
    double sine = __builtin_fma(r3, -0x1.555545995a603p-3, r);
    return __builtin_fma(__builtin_fma(r2, -0x1.994eb3774cf24p-13, 0x1.1107605230bc4p-7), r3 * r2, sine);
}

static double c2cu_cosine_poly(double r) {
    double r2 = r * r, r4 = r2 * r2;
    double cosine = __builtin_fma(r4, 0x1.55553e1068f19p-5, __builtin_fma(r2, -0x1.ffffffd0c621cp-2, 1.0));
    return __builtin_fma(__builtin_fma(r2, 0x1.99343027bf8c3p-16, -0x1.6c087e89a359dp-10), r4 * r2, cosine);
}

/* One of the two; both have the same form, so that lanes and threads of either kind go side by side. */
static double c2cu_sine_or_cosine(double r, _Bool cosine) {
    double r2 = r * r, power = (cosine ? r2 : r) * r2;
    double first = cosine ? __builtin_fma(r2, -0x1.ffffffd0c621cp-2, 1.0) : r;
    first = __builtin_fma(power, cosine ? 0x1.55553e1068f19p-5 : -0x1.555545995a603p-3, first);
    double last = __builtin_fma(r2, cosine ? 0x1.99343027bf8c3p-16 : -0x1.994eb3774cf24p-13,
                                cosine ? -0x1.6c087e89a359dp-10 : 0x1.1107605230bc4p-7);
    return __builtin_fma(last, power * r2, first);
}

/* sin(r) of the quadrant n. */
static float c2cu_sinf_core(double r, unsigned n) {
    float result = (float) c2cu_sine_or_cosine(r, n & 1);
    return c2cu_from_bits_f(c2cu_as_bits_f(result) ^ (n & 2) << 30);
}
#endif
