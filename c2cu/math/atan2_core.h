/* The angle of (x, y), neither of them extreme: see atan2.c. */
#ifndef C2CU_ATAN2_CORE_H
#define C2CU_ATAN2_CORE_H
#include "bits.h"
#include "atan_table.h"

static double c2cu_atan2_core(double y, double x) {
    double x_size = fabs(x), y_size = fabs(y);
    _Bool steep = y_size >= x_size;
    double larger = steep ? y_size : x_size, smaller = steep ? x_size : y_size;
    double u = smaller / larger;
    double product = larger * u;
    double du = (smaller - product - __builtin_fma(larger, u, -product)) / larger;
    _Bool right = x > 0.0;
    _Bool plain = right && y_size < x_size;
    _Bool minus = right || y_size <= x_size;
    /* The sum or difference with pi/2 or pi, in two parts. */
    _Bool half = right || x_size < y_size;
    double base = half ? 0x1.921fb54442d18p0 : 0x1.921fb54442d18p1;
    double base_rest = half ? 0x1.1a62633145c07p-54 : 0x1.1a62633145c07p-53;

    double scaled = __builtin_fma(u >= 0.0625 ? u : 0.0625, 256.0, 0x1p52);
    unsigned long row = 7 * ((c2cu_as_bits(scaled) & 511) - 16);
    double z = u - c2cu_atan_table[row];
    double v = z + du;
    double larger_z = fabs(z) > fabs(du) ? z : du, smaller_z = fabs(z) > fabs(du) ? du : z;
    double dv = larger_z - v + smaller_z;
    double taylor = __builtin_fma(v, c2cu_atan_table[row + 6], c2cu_atan_table[row + 5]);
    taylor = __builtin_fma(v, taylor, c2cu_atan_table[row + 4]);
    taylor = __builtin_fma(v, taylor, c2cu_atan_table[row + 3]);
    double slope = c2cu_atan_table[row + 2], angle = c2cu_atan_table[row + 1];
    double own = angle + __builtin_fma(v, slope, __builtin_fma(dv, slope, v * v * taylor));
    double turned = __builtin_fma(minus ? -v : v, __builtin_fma(v, taylor, slope), base_rest);
    turned = base + (minus ? -angle : angle) + turned;
    double far = plain ? own : turned;

    double u2 = u * u;
    double poly = __builtin_fma(u2, 0x1.375f08b31cbcep-4, -0x1.7458022b13c25p-4);
    poly = __builtin_fma(u2, poly, 0x1.c71c6e5129a3bp-4);
    poly = __builtin_fma(u2, poly, -0x1.24924923f7603p-3);
    poly = __builtin_fma(u2, poly, 0x1.99999999997fdp-3);
    poly = __builtin_fma(u2, poly, -0x1.5555555555555p-2);
    own = u + __builtin_fma(u * u2, poly, du);
    double bend = u * u2 * poly;
    double part = minus ? -u : u;
    double sum = base + part;
    double rest = base - sum + part + base_rest + (minus ? -du : du) + (minus ? -bend : bend);
    double near = plain ? own : sum + rest;

    double result = u < 0.0625 ? near : far;
    return c2cu_from_bits(c2cu_as_bits(result) | (c2cu_as_bits(y) & 0x8000000000000000UL));
}
#endif
