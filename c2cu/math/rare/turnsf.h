/* x = n pi/2 + r of a large float, in integers: 62 bits of the fraction of x 2/pi. Without the sign of x. */
#ifndef C2CU_RARE_TURNSF_H
#define C2CU_RARE_TURNSF_H
#include "../bits.h"

/* 2/pi, 32 bits in each, of which the next has 24. */
static const unsigned c2cu_over_pi_f[24] = {
    0xa2, 0xa2f9, 0xa2f983, 0xa2f9836e, 0xf9836e4e, 0x836e4e44, 0x6e4e4415, 0x4e441529,
    0x441529fc, 0x1529fc27, 0x29fc2757, 0xfc2757d1, 0x2757d1f5, 0x57d1f534, 0xd1f534dd, 0xf534ddc0,
    0x34ddc0db, 0xddc0db62, 0xc0db6295, 0xdb629599, 0x6295993c, 0x95993c43, 0x993c4390, 0x3c439041
};

static double c2cu_turnsf(float x, unsigned *n) {
    unsigned bits = c2cu_as_bits_f(x);
    unsigned long row = bits >> 26 & 15;
    unsigned mantissa = (bits & 0xffffffU | 0x800000U) << (bits >> 23 & 7);
    unsigned long first = mantissa * c2cu_over_pi_f[row];
    unsigned long second = (unsigned long) mantissa * c2cu_over_pi_f[row + 4];
    unsigned long third = (unsigned long) mantissa * c2cu_over_pi_f[row + 8];
    unsigned long product = (third >> 32 | first << 32) + second;
    unsigned long quadrant = product + (1UL << 61) >> 62;
    *n = (unsigned) quadrant;
    return (double) (long) (product - (quadrant << 62)) * 0x1.921fb54442d18p-62;
}
#endif
