/* exp2: results that overflow, are subnormal or zero; as in exp2.c, but for the scale. No operation is fused. */
#include "../bits.h"
#include "../exp_table.h"

double c2cu_rare_exp2(double x) {
    double shifted = x + 0x1.8p45;
    unsigned long k = c2cu_as_bits(shifted);
    double r = x - (shifted - 0x1.8p45);
    unsigned long row = 2 * (k & 127);
    double tail = c2cu_from_bits(c2cu_exp_table[row]);
    double r2 = r * r;
    double low = (tail + r * 0x1.62e42fefa39efp-1) + r2 * (0x1.ebfbdff82c424p-3 + r * 0x1.c6b08d70cf4b5p-5);
    double high = (r2 * r2) * (0x1.3b2abd24650ccp-7 + r * 0x1.5d7e09b4e3a84p-10);
    double rest = low + high;
    unsigned long bits = c2cu_exp_table[row + 1] + (k << 45);
    double large = c2cu_from_bits(bits - (1UL << 52));
    large = 2.0 * (large + large * rest);
    double scale = c2cu_from_bits(bits + (1022UL << 52));
    double y = scale + scale * rest;
    double sum = 1.0 + y;
    double rounded = sum + (1.0 - sum + y + (scale - y + scale * rest)) - 1.0;
    double result = x > 0.0 ? large : 0x1p-1022 * (y < 1.0 ? rounded : y);
    result = x >= 1024.0 ? __builtin_inf() : result;
    result = x <= -1075.0 ? 0.0 : result;
    return x != x ? x : result;
}
