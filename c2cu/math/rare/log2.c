/* log2: of zero, infinity and no number; what is subnormal is scaled. */
#include "../log2_core.h"

double c2cu_rare_log2(double x) {
    double special = x == 0.0 ? -__builtin_inf() : x < 0.0 ? (x - x) / (x - x) : x;
    return x > 0.0 && x < 0x1p-1022 ? c2cu_log2_scaled(x * 0x1p52, 0x1.00000000004p52 + 52.0) : special;
}
