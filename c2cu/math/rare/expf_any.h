/* expf(x), for every x. What is near half of the least number is that number. */
#ifndef C2CU_RARE_EXPF_ANY_H
#define C2CU_RARE_EXPF_ANY_H
#include "../expf_core.h"

static float c2cu_expf_any(float x) {
    float result = c2cu_expf_core(x);
    result = x > 0x1.62e42ep6f ? __builtin_inff() : result;
    result = x < -0x1.9d1d9ep6f ? 0x1p-149f : result;
    result = x < -0x1.9fe368p6f ? 0.0f : result;
    return x != x ? x : result;
}
#endif
