/* fmaxf: one instruction, which takes the second of two zeros, as the library's does. Rare: what is no number. */
#include <math.h>

float c2cu_fmaxf(float x, float y) {
    float result = x > y ? x : y;
    if (!(x > y || x <= y)) result = fmaxf(x, y);
    return result;
}
