/* expf: in double: x = k ln2/32 + r; 2^(k/32) from a table times a polynomial of degree 3. The algorithm of Arm's
   optimized routines, and of glibc since 2.27, with the fused operations of its FMA variant: within 0.502 units in the
   last place. Rare: results that overflow or are zero. */
#include "expf_core.h"

float c2cu_expf(float x) {
    float result = c2cu_expf_core(x);
    if (!(x <= 0x1.62e42ep6f && x >= -0x1.9d1d9ep6f)) result = expf(x);
    return result;
}
