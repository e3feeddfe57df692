/* What functions of doubles leave to longer numbers, see rounded.h. */
#ifndef C2CU_ACCURATE_H
#define C2CU_ACCURATE_H
#include "rounded.h"

static double c2cu_accurate_exp(double x) { return c2cu_rounded_exp(x, 53, -1074); }

static double c2cu_accurate_log(double x) { return c2cu_rounded_log(x, 0, 53, -1074); }

static double c2cu_accurate_sin(double x) { return c2cu_rounded_circular(x, 0, 53, -1074); }

static double c2cu_accurate_cos(double x) { return c2cu_rounded_circular(x, 1, 53, -1074); }

static double c2cu_accurate_tan(double x) { return c2cu_rounded_circular(x, 2, 53, -1074); }

static double c2cu_accurate_atan(double x) { return c2cu_rounded_atan(x, 53, -1074); }

static double c2cu_accurate_pow(double x, double y) { return c2cu_rounded_pow(x, y, 53, -1074); }
#endif
