/* expm1: results that overflow, or nearly so. */
#include "../expm1_core.h"

double c2cu_rare_expm1(double x) {
    return x <= 0x1.62e42fefa39efp9 ? c2cu_expm1_core(x) : x == x ? __builtin_inf() : x;
}
