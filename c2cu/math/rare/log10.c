/* log10: of zero, infinity and no number; what is subnormal is scaled. */
#include "../log_core.h"

double c2cu_rare_log10(double x) {
    unsigned long bits = c2cu_as_bits(x * 0x1p54);
    double k = (double) ((int) (bits >> 52) - 1023 - 54 + 1);
    double rest = c2cu_from_bits((bits & 0xfffffffffffffUL) | 0x3fe0000000000000UL);
    double small = k * 0x1.9fef311f12b36p-42 + 0x1.bcb7b1526e50ep-2 * c2cu_log_core(rest);
    double special = x == 0.0 ? -__builtin_inf() : x < 0.0 ? (x - x) / (x - x) : x;
    return x > 0.0 && x < 0x1p-1022 ? small + k * 0x1.34413509f6p-2 : special;
}
