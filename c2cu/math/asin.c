/* asin: below 0.125 a polynomial of degree 13, to 0.96875 a Taylor polynomial at a number from a table, from there by
   pi/2 - 2 asin(sqrt((1 - |x|) / 2)); see asin_core.h: within 0.53 units in the last place. Rare: what is not within -1
   and 1. */
#include "asin_core.h"

double c2cu_asin(double x) {
    double size = fabs(x);
    double small = __builtin_fma(c2cu_asin_series(size * size), size * (size * size), size);
    unsigned long row = c2cu_asin_row(size);
    double middle = c2cu_asin_table[row + 3] + c2cu_asin_low(size, row);

    double z = 0.5 * (1.0 - size);
    double t = c2cu_asin_root(z);
    double c = z * t;
    double y = c + 0x1p24 - 0x1p24;
    double sum = __builtin_fma(__builtin_fma(-(t * 0.5), c, 1.5), c, y);
    double rest = __builtin_fma(-y, y, z) / sum;
    double p = c2cu_asin_series(z) * z;
    double low = __builtin_fma(-(2.0 * (y + rest)), p, __builtin_fma(-rest, 2.0, 0x1.1a62633145c07p-54));
    double large = __builtin_fma(-y, 2.0, 0x1.921fb54442d18p0) + low;

    double result = size < 0.96875 ? middle : large;
    result = size < 0.125 ? small : result;
    result = size == 1.0 ? 0x1.921fb54442d18p0 : result;
    result = c2cu_from_bits(c2cu_as_bits(result) | (c2cu_as_bits(x) & 0x8000000000000000UL));
    if (!(size <= 1.0)) result = asin(x);
    return result;
}
