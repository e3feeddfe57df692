/* exp(x), for every x; as in exp_core.h, but for the scale. */
#ifndef C2CU_RARE_EXP_ANY_H
#define C2CU_RARE_EXP_ANY_H
#include "../exp_core.h"
#include "exp_special.h"

static double c2cu_exp_any(double x) {
    double shifted = __builtin_fma(x, 0x1.71547652b82fep7, 0x1.8p52);
    unsigned long k = c2cu_as_bits(shifted);
    double kd = shifted - 0x1.8p52;
    double r = __builtin_fma(kd, -0x1.cf79abc9e3b3ap-47, __builtin_fma(kd, -0x1.62e42fefa0000p-8, x));
    unsigned long row = 2 * (k & 127);
    double tail = c2cu_from_bits(c2cu_exp_table[row]);
    double r2 = r * r;
    double low = __builtin_fma(__builtin_fma(r, 0x1.555555555543cp-3, 0x1.ffffffffffdbdp-2), r2, r + tail);
    double high = __builtin_fma(r, 0x1.1111167a4d017p-7, 0x1.55555cf172b91p-5);
    double rest = __builtin_fma(r2 * r2, high, low);
    double far = c2cu_exp_special(rest, c2cu_exp_table[row + 1] + (k << 45), x > 0.0);
    double result = fabs(x) < 512.0 ? c2cu_exp_core(x) : far;
    result = x >= 1024.0 ? __builtin_inf() : result;
    result = x <= -1024.0 ? 0.0 : result;
    return x != x ? x : result;
}
#endif
