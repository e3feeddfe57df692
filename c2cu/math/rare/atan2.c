/* atan2: multiples of pi/4 where a number is zero, infinite or far smaller than the other; the common way with
   both scaled where they are large or small. */
#include "../atan2_core.h"

static double c2cu_atan2_signed(double size, double y) {
    return c2cu_from_bits(c2cu_as_bits(size) | (c2cu_as_bits(y) & 0x8000000000000000UL));
}

double c2cu_rare_atan2(double y, double x) {
    double a = fabs(x), b = fabs(y), most = 0x1.fffffffffffffp1023, pi = 0x1.921fb54442d18p1;
    _Bool left = c2cu_as_bits(x) >> 63;
    long above = (long) (c2cu_as_bits(b) >> 52) - (long) (c2cu_as_bits(a) >> 52);
    double result;
    if (x != x || y != y) {
        result = x + y;
    } else if (b == 0.0 || (a > most && b <= most)) {
        result = c2cu_atan2_signed(left ? pi : 0.0, y);
    } else if (a > most && b > most) {
        result = c2cu_atan2_signed(left ? 0x1.2d97c7f3321d2p1 : pi / 4.0, y);
    } else if (a == 0.0 || b > most || above >= 57) {
        result = c2cu_atan2_signed(pi / 2.0, y);
    } else if (above <= -57) {
        result = c2cu_atan2_signed(left ? pi : b / a, y);
    } else {
        double scale = a < 0x1p-500 || b < 0x1p-500 ? 0x1p500 : a > 0x1p500 || b > 0x1p500 ? 0x1p-500 : 1.0;
        result = c2cu_atan2_core(y * scale, x * scale);
    }
    return result;
}
