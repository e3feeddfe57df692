/* acoshf: fdlibm's, and glibc's, which has no FMA variant but of logf: log1p(t + sqrt(2t + t^2)) of t = x - 1, beyond 2
   log(2x - 1 / (x + sqrt(x^2 - 1))): within two units in the last place. Rare: below 1, from 2^28, and what is no
   number. */
#include "log1pf_core.h"
#include "logf_core.h"

float c2cu_acoshf(float x) {
    float t = x - 1.0f;
    float near = c2cu_log1pf_core(t + sqrtf(2.0f * t + t * t));
    float far = c2cu_logf_core(2.0f * x - 1.0f / (x + sqrtf(x * x - 1.0f)));
    float result = x > 2.0f ? far : near;
    if (!(x >= 1.0f && x < 0x1p28f)) result = acoshf(x);
    return result;
}
