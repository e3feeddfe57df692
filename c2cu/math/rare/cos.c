/* cos: of what is large; what is not finite has none. */
#include "../sin_core.h"
#include "turns.h"

double c2cu_rare_cos(double x) {
    double da;
    unsigned long n;
    double a = c2cu_turns(x, &da, &n);
    double result = c2cu_sin_core(a, da, n + 1 & 1, (n + 1 & 2) << 62);
    return fabs(x) <= 0x1.fffffffffffffp1023 ? result : x - x;
}
