/* lgammaf: as lgamma.c, in float but for the logarithm. Rare: what is negative, zero, subnormal or not finite. */
#include "lgammaf_core.h"

float c2cu_lgammaf(float x) {
    float result = c2cu_lgammaf_core(x);
    if (!(x >= 0x1p-126f && x <= 0x1.fffffep127f)) result = lgammaf(x);
    return result;
}
