/* pow: zero, infinity and no number; what is subnormal; results that overflow, are subnormal or zero. */
#include "../pow_core.h"
#include "exp_special.h"
#include "signals.h"

double c2cu_rare_pow(double x, double y) {
    double size = fabs(x), y_size = fabs(y), most = 0x1.fffffffffffffp1023, infinity = __builtin_inf();
    _Bool integral = trunc(y) == y;
    double half = y * 0.5;
    _Bool odd = integral && y_size < 0x1p53 && trunc(half) != half;
    unsigned long sign = odd ? c2cu_as_bits(x) & 0x8000000000000000UL : 0;

    _Bool small = size < 0x1p-1022;
    double log_low;
    double log_high = c2cu_pow_log(small ? size * 0x1p52 : size, small ? 0x1.00000000004p52 + 52.0 : 0x1.00000000004p52,
        &log_low);
    double high = y * log_high;
    double low = __builtin_fma(y, log_low, __builtin_fma(y, log_high, -high));
    unsigned long bits;
    double rest = c2cu_pow_exp(high, low, &bits);
    double scale = c2cu_from_bits(bits | sign);
    double result = fabs(high) < 512.0 ? __builtin_fma(rest, scale, scale)
        : c2cu_exp_special(rest, bits ^ sign, high > 0.0);
    double over = size == 1.0 ? 1.0 : y > 0.0 == size > 1.0 ? infinity : 0.0;  /* what is out of range */
    over = c2cu_from_bits(c2cu_as_bits(over) | sign);
    result = fabs(high) >= 1024.0 || y_size >= 0x1p63 ? over : result;
    result = x < 0.0 && !integral && size <= most ? (x - x) / (x - x) : result;
    result = size > most || size == 0.0 ? over : result;
    result = y_size > most ? (size == 1.0 ? 1.0 : y > 0.0 == size > 1.0 ? infinity : 0.0) : result;
    result = x != x || y != y ? x + y : result;
    return (y == 0.0 || x == 1.0) && !c2cu_signals(x) && !c2cu_signals(y) ? 1.0 : result;
}
