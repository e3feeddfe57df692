/* sinhf: half of expf(|x|), with the sign of x. */
#include "half_expf.h"

float c2cu_rare_sinhf(float x) {
    float size = c2cu_half_expf(fabsf(x));
    return x < 0.0f ? -size : size;
}
