/* sinf: of what is large; what is not finite has none. */
#include "../sinf_core.h"
#include "turnsf.h"

float c2cu_rare_sinf(float x) {
    unsigned n;
    double r = c2cu_turnsf(x, &n);
    float result = c2cu_sinf_core(r, n);
    result = c2cu_from_bits_f(c2cu_as_bits_f(result) ^ (c2cu_as_bits_f(x) & 0x80000000U));
    return fabsf(x) <= 0x1.fffffep127f ? result : x - x;
}
