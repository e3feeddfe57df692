/* log1p: of -1 infinite, below no number; of what is large 1 + x is x. */
#include "../log1p_core.h"

double c2cu_rare_log1p(double x) {
    double special = x == -1.0 ? -__builtin_inf() : x < -1.0 ? (x - x) / (x - x) : x + x;
    return x > -1.0 && x <= 0x1.fffffffffffffp1023 ? c2cu_log1p_of(x, x, 0.0) : special;
}
