/* Whether a number is none, and a signalling one. */
#ifndef C2CU_RARE_SIGNALS_H
#define C2CU_RARE_SIGNALS_H
#include "../bits.h"

static _Bool c2cu_signals(double x) {
    return x != x && (c2cu_as_bits(x) >> 51 & 1) == 0;
}

static _Bool c2cu_signalsf(float x) {
    return x != x && (c2cu_as_bits_f(x) >> 22 & 1) == 0;
}
#endif
