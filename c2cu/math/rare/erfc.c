/* erfc: results that are subnormal or zero. */
#include "../erf_core.h"
#include "exp_any.h"

double c2cu_rare_erfc(double x) {
    double z = c2cu_from_bits(c2cu_as_bits(x) & 0xffffffff00000000UL);
    double ratio = c2cu_erf_ratio(x, 0x1.6db6dp1);
    double tail = c2cu_exp_any(-z * z - 0.5625) * c2cu_exp_any((z - x) * (z + x) + ratio) / x;
    return x < 28.0 ? tail : x == x ? 0.0 : x;
}
