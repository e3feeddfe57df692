/* expm1: see expm1_core.h; within one unit in the last place. Rare: from 709, and what is no number. */
#include "expm1_core.h"

double c2cu_expm1(double x) {
    double result = c2cu_expm1_core(x);
    if (!(x < 709.0)) result = expm1(x);
    return result;
}
