/* cosf: of what is large; what is not finite has none. */
#include "../sinf_core.h"
#include "turnsf.h"

float c2cu_rare_cosf(float x) {
    unsigned n;
    double r = c2cu_turnsf(x, &n);
    float result = c2cu_sinf_core(r, n + 1);
    return fabsf(x) <= 0x1.fffffep127f ? result : x - x;
}
