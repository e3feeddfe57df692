/* exp(size) / 2, where exp(size) may overflow and that not: by the square of exp(size / 2). */
#ifndef C2CU_RARE_HALF_EXP_H
#define C2CU_RARE_HALF_EXP_H
#include "exp_any.h"

static double c2cu_half_exp(double size) {
    double root = c2cu_exp_any(0.5 * size);
    double result = size < 0x1.62e42p9 ? 0.5 * c2cu_exp_any(size) : 0.5 * root * root;
    return size <= 0x1.633ce8fb9f87dp9 ? result : size == size ? __builtin_inf() : size;
}
#endif
