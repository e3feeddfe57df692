/* roundf: to the nearest whole number, halves away from zero; exact. */
#include "bits.h"

float c2cu_roundf(float x) {
    float size = fabsf(x);
    float whole = truncf(size);
    float result = size - whole >= 0.5f ? whole + 1.0f : whole;
    return c2cu_from_bits_f(c2cu_as_bits_f(result) | (c2cu_as_bits_f(x) & 0x80000000U));
}
