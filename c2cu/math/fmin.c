/* fmin: one instruction, which takes the second of two zeros, as the library's does. Rare: what is no number. */
#include <math.h>

double c2cu_fmin(double x, double y) {
    double result = x < y ? x : y;
    if (!(x < y || x >= y)) result = fmin(x, y);
    return result;
}
