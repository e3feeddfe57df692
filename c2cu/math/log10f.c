/* log10f: fdlibm's, and glibc's, which has no FMA variant but of logf: the exponent times log10(2) in two parts, and
   log of the rest over log(10): within two units in the last place. Rare: what is not positive, finite and normal. */
#include "logf_core.h"

float c2cu_log10f(float x) {
    unsigned bits = c2cu_as_bits_f(x);
    int below = x < 1.0f ? 1 : 0;
    float k = (float) ((int) (bits >> 23) - 127 + below);
    float rest = c2cu_from_bits_f((bits & 0x7fffffU) | (unsigned) (127 - below) << 23);
    float result = k * 0x1.a84fb6p-21f + 0x1.bcb7b2p-2f * c2cu_logf_core(rest);
    result = result + k * 0x1.3441p-2f;
    if (!(x >= 0x1p-126f && x <= 0x1.fffffep127f)) result = log10f(x);
    return result;
}
