/* exp2: x = k/128 + r; 2^x = 2^(k/128) 2^r, the first from a table, the second by a polynomial of degree 5. The
   algorithm of Arm's optimized routines, and of glibc since 2.28, which has no FMA variant of it: within 0.511 units in
   the last place. Rare: arguments from 1023 or below -928. */
#include "bits.h"
#include "exp_table.h"

double c2cu_exp2(double x) {
    double shifted = x + 0x1.8p45;
    unsigned long k = c2cu_as_bits(shifted);
    double r = x - (shifted - 0x1.8p45);
    unsigned long row = 2 * (k & 127);
    double tail = c2cu_from_bits(c2cu_exp_table[row]);
    double scale = c2cu_from_bits(c2cu_exp_table[row + 1] + (k << 45));
    double r2 = r * r;
    double low = (tail + r * 0x1.62e42fefa39efp-1) + r2 * (0x1.ebfbdff82c424p-3 + r * 0x1.c6b08d70cf4b5p-5);
    double high = (r2 * r2) * (0x1.3b2abd24650ccp-7 + r * 0x1.5d7e09b4e3a84p-10);
    double result = scale + scale * (low + high);
    if (!(x > -928.0 && x < 1023.0)) result = exp2(x);
    return result;
}
