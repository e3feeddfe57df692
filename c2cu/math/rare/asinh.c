/* asinh: log(|x|) + ln2, as exact as log(2|x|) would be. */
#include "../log_core.h"

double c2cu_rare_asinh(double x) {
    double size = fabs(x);
    double result = c2cu_log_core(size) + 0x1.62e42fefa39efp-1;
    result = c2cu_from_bits(c2cu_as_bits(result) | (c2cu_as_bits(x) & 0x8000000000000000UL));
    return size <= 0x1.fffffffffffffp1023 ? result : x + x;
}
