/* The square root of a^2 + b^2, a >= b >= 0, where no square overflows or is lost: see hypot.c. */
#ifndef C2CU_HYPOT_CORE_H
#define C2CU_HYPOT_CORE_H
#include "bits.h"

static double c2cu_hypot_core(double a, double b) {
    double h = sqrt(a * a + b * b);
    _Bool near = h <= 2.0 * b;
    double delta = h - (near ? b : a);
    double first = near ? a * (2.0 * delta - a) : 2.0 * delta * (a - 2.0 * b);
    double second = near ? (delta - 2.0 * (a - b)) * delta : (4.0 * delta - b) * b + delta * delta;
    return h - (first + second) / (2.0 * h);
}
#endif
