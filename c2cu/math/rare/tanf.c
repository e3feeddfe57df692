/* tanf: of what is large; what is not finite has none. */
#include "../tanf_core.h"
#include "turnsf.h"

float c2cu_rare_tanf(float x) {
    unsigned n;
    double r = c2cu_turnsf(x, &n);
    float result = c2cu_tanf_core(x < 0.0f ? -r : r, (int) n & 1);
    return fabsf(x) <= 0x1.fffffep127f ? result : x - x;
}
