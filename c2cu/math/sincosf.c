/* sinf and cosf of one argument: the bits of sinf.c and cosf.c, from one reduction and both polynomials. Rare: from
   2^31, and what is not finite. */
#include "sinf_core.h"

void c2cu_sincosf(float x, float *sine, float *cosine) {
    double shifted = __builtin_fma((double) x, 0x1.45f306dc9c883p-1, 0x1.8p52);
    double n = shifted - 0x1.8p52;
    double r = __builtin_fma(-n, 0x1.921fb54442d18p0, (double) x);
    r = fabsf(x) < 120.0f ? r : __builtin_fma(-n, 0x1.1a62633145c07p-54, r);
    unsigned quadrant = (unsigned) c2cu_as_bits(shifted);
    float of_sine = (float) c2cu_sine_poly(r), of_cosine = (float) c2cu_cosine_poly(r);
    unsigned s = c2cu_as_bits_f(quadrant & 1 ? of_cosine : of_sine) ^ (quadrant & 2) << 30;
    unsigned c = c2cu_as_bits_f(quadrant & 1 ? of_sine : of_cosine) ^ (quadrant + 1 & 2) << 30;
    float sine_of_x = fabsf(x) < 0x1p-12f ? x : c2cu_from_bits_f(s), cosine_of_x = c2cu_from_bits_f(c);
    if (!(fabsf(x) < 0x1p31f)) {
        sine_of_x = sinf(x);
        cosine_of_x = cosf(x);
    }
    *sine = sine_of_x;
    *cosine = cosine_of_x;
}
