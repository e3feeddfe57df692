/* The cube root of 2^e m; m from 0.5 to 1: see cbrt.c. */
#ifndef C2CU_CBRT_CORE_H
#define C2CU_CBRT_CORE_H
#include "bits.h"

static double c2cu_cbrt_core(double m, double e) {
    double third = (fabs(e) - 1.0) * 0x1.5555555555555p-2 + 0x1.8p52;
    third = third - 0x1.8p52;
    double over = fabs(e) - 3.0 * third;
    third = e < 0.0 ? -third : third;
    double u = 0x1.6b69cba168ff2p-2 + (0x1.8218dde9028b4p0 + (-0x1.0eb8277cd8d5dp1 + (0x1.39350adad51ecp1 +
        (-0x1.d5ae6cfa20f0cp0 + (0x1.91e2a6fe7e984p-1 - 0x1.29801e893366dp-3 * m) * m) * m) * m) * m) * m;
    double u3 = u * u * u;
    double one = e < 0.0 ? 0x1.965fea53d6e3cp-1 : 0x1.428a2f98d728bp0, two = e < 0.0 ? 0x1.428a2f98d728ap-1 :
        0x1.965fea53d6e3dp0;
    double factor = over == 0.0 ? 1.0 : over == 1.0 ? one : two;
    double root = u * (u3 + 2.0 * m) / (2.0 * u3 + m) * factor;
    double scale = c2cu_from_bits((c2cu_as_bits(third + 0x1.8p52) << 52) + 0x3ff0000000000000UL);
    return root * scale;
}
#endif
