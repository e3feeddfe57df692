/* tan: of what is large; what is not finite has none. */
#include "../tan_core.h"
#include "turns.h"

double c2cu_rare_tan(double x) {
    double da;
    unsigned long n;
    double a = c2cu_turns(x, &da, &n);
    double sum = a + da;
    double rest = fabs(a) > fabs(da) ? a - sum + da : da - sum + a;
    double result = c2cu_tan_core(sum, rest, n & 1, 0);
    return fabs(x) <= 0x1.fffffffffffffp1023 ? result : x - x;
}
