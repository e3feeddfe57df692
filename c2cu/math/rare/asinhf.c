/* asinhf: log(|x|) + ln2. */
#include "../logf_core.h"

float c2cu_rare_asinhf(float x) {
    float size = fabsf(x);
    float result = c2cu_logf_core(size) + 0x1.62e43p-1f;
    result = c2cu_from_bits_f(c2cu_as_bits_f(result) | (c2cu_as_bits_f(x) & 0x80000000U));
    return size <= 0x1.fffffep127f ? result : x + x;
}
