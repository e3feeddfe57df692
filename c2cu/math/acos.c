/* acos: below 0.96875 pi/2 - asin(x) as in asin.c, from there 2 asin(sqrt((1 - |x|) / 2)), or pi less that; see
   asin_core.h: within 0.53 units in the last place. Rare: what is not within -1 and 1. */
#include "asin_core.h"

double c2cu_acos(double x) {
    double size = fabs(x);
    double turned = 0x1.921fb54442d18p0 - x;
    double turned_rest = 0x1.921fb54442d18p0 - turned - x + 0x1.1a62633145c07p-54;
    double small = turned + __builtin_fma(-c2cu_asin_series(x * x), x * (x * x), turned_rest);
    unsigned long row = c2cu_asin_row(size);
    double high = c2cu_asin_table[row + 3], low = c2cu_asin_low(size, row);
    double middle = 0x1.921fb54442d18p0 + (x > 0.0 ? -high : high);
    middle = middle + (0x1.1a62633145c07p-54 + (x > 0.0 ? -low : low));

    double z = 0.5 * (1.0 - size);
    double t = c2cu_asin_root(z);
    double c = z * t;
    double y = __builtin_fma(-c, 0x1p27, __builtin_fma(c, 0x1p27, c));
    double sum = __builtin_fma(__builtin_fma(-(t * 0.5), c, 1.5), c, y);
    double rest = __builtin_fma(-y, y, z) / sum;
    double p = c2cu_asin_series(z) * z * (y + rest);
    double right = y + (rest + p);
    double left = 0x1.921fb54442d18p0 - y + (0x1.1a62633145c07p-54 - rest - p);
    double large = 2.0 * (x > 0.0 ? right : left);

    double result = size < 0.96875 ? middle : large;
    result = size < 0.125 ? small : result;
    result = x == 1.0 ? 0.0 : x == -1.0 ? 0x1.921fb54442d18p1 : result;
    if (!(size <= 1.0)) result = acos(x);
    return result;
}
