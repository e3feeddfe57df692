/* atan2: glibc's, of IBM's accurate library: within 0.56 units in the last place. u = the smaller of |x| and |y|
   over the larger, with its rest; the arc tangent of that as in atan.c, and a multiple of pi/2 less or plus it. The
   fused operations are those of glibc's FMA variant. Rare: both zero, and what is not zero and not between 2^-500
   and 2^500. */
#include "atan2_core.h"

double c2cu_atan2(double y, double x) {
    double x_size = fabs(x), y_size = fabs(y);
    _Bool steep = y_size >= x_size;
    double larger = steep ? y_size : x_size, smaller = steep ? x_size : y_size;
    double result = c2cu_atan2_core(y, x);
    if (!(larger >= 0x1p-500 && larger <= 0x1p500 && (smaller >= 0x1p-500 || smaller == 0.0))) result = atan2(y, x);
    return result;
}
