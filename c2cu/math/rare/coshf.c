/* coshf: half of expf(|x|). */
#include "half_expf.h"

float c2cu_rare_coshf(float x) {
    return c2cu_half_expf(fabsf(x));
}
