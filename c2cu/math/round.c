/* round: to the nearest whole number, halves away from zero; exact. */
#include "bits.h"

double c2cu_round(double x) {
    double size = fabs(x);
    double whole = trunc(size);
    double result = size - whole >= 0.5 ? whole + 1.0 : whole;
    return c2cu_from_bits(c2cu_as_bits(result) | (c2cu_as_bits(x) & 0x8000000000000000UL));
}
