/* fminf: one instruction, which takes the second of two zeros, as the library's does. Rare: what is no number. */
#include <math.h>

float c2cu_fminf(float x, float y) {
    float result = x < y ? x : y;
    if (!(x < y || x >= y)) result = fminf(x, y);
    return result;
}
