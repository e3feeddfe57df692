/* expf(size) / 2, where expf(size) may overflow and that not: by the square of expf(size / 2). */
#ifndef C2CU_RARE_HALF_EXPF_H
#define C2CU_RARE_HALF_EXPF_H
#include "expf_any.h"

static float c2cu_half_expf(float size) {
    float root = c2cu_expf_any(0.5f * size);
    float result = size < 0x1.62e3p6f ? 0.5f * c2cu_expf_any(size) : 0.5f * root * root;
    return size <= 0x1.65a9f8p6f ? result : size == size ? __builtin_inff() : size;
}
#endif
