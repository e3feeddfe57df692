/* Whether an approximation tells how its exact value is rounded. */
#ifndef C2CU_ROUNDING_H
#define C2CU_ROUNDING_H

/* That of high + low, within error, to a double: both ends of the interval are rounded to the same. Not if one is a
   NaN. */
static int c2cu_is_sure(double high, double low, double error) { return high + (low - error) == high + (low + error); }

/* That of near, of which 2^-46 may be missing (the functions of doubles are 50 times as accurate), to a float. */
static int c2cu_is_sure_f(double near) {
    double error = near * 0x1p-46;
    return (float)(near - error) == (float)(near + error);
}
#endif
