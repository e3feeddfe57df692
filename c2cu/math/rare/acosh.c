/* acosh: log(x) + ln2 of what is large; no number below 1. */
#include "../log_core.h"

double c2cu_rare_acosh(double x) {
    double result = x <= 0x1.fffffffffffffp1023 ? c2cu_log_core(x) + 0x1.62e42fefa39efp-1 : x + x;
    return x < 1.0 ? (x - x) / (x - x) : result;
}
