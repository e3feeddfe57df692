/* hypot: the square root of x^2 + y^2 with a correction by its own square: Borges, "An Improved Algorithm for
   hypot(a,b)"; glibc's since 2.35, which has no FMA variant: below one unit in the last place. Rare: what is not zero
   and not between 2^-459 and 2^511. */
#include "hypot_core.h"

double c2cu_hypot(double x, double y) {
    double x_size = fabs(x), y_size = fabs(y);
    double a = x_size < y_size ? y_size : x_size, b = x_size < y_size ? x_size : y_size;
    double result = c2cu_hypot_core(a, b);
    result = b <= a * 0x1p-54 ? a + b : result;
    if (!(a <= 0x1p511 && (b >= 0x1p-459 || b == 0.0))) result = hypot(x, y);
    return result;
}
