/* Sine and cosine of pi x in float, x from -1/4 to 1/2: those of a rounded product, as glibc has them for the gamma
   function. */
#ifndef C2CU_RARE_GAMMA_TURNSF_H
#define C2CU_RARE_GAMMA_TURNSF_H
#include "../sinf_core.h"

/* As sinf.c and cosf.c, which is to the last bit where a is next to pi/4. */
static float c2cu_turnedf(float a, _Bool cosine) {
    double shifted = __builtin_fma((double) a, 0x1.45f306dc9c883p-1, 0x1.8p52);
    double r = __builtin_fma(-(shifted - 0x1.8p52), 0x1.921fb54442d18p0, (double) a);
    float result = c2cu_sinf_core(r, (unsigned) c2cu_as_bits(shifted) + (cosine ? 1U : 0U));
    return !cosine && fabsf(a) < 0x1p-12f ? a : result;
}

static float c2cu_sin_pif(float x) {
    _Bool far = x > 0.25f;
    return c2cu_turnedf(0x1.921fb6p1f * (far ? 0.5f - x : x), far);
}

static float c2cu_cos_pif(float x) {
    _Bool far = x > 0.25f;
    return c2cu_turnedf(0x1.921fb6p1f * (far ? 0.5f - x : x), !far);
}
#endif
