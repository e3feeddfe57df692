/* x = n pi/2 + a + da of a large number, |a| below pi/4 and da its rest: glibc's way, of IBM's accurate library. No
   operation is fused. */
#ifndef C2CU_RARE_TURNS_H
#define C2CU_RARE_TURNS_H
#include "../bits.h"

/* 2/pi, 24 bits in each. */
static const float c2cu_over_pi[75] = {
    10680707.0f, 7228996.0f, 1387004.0f, 2578385.0f, 16069853.0f, 12639074.0f, 9804092.0f, 4427841.0f, 16666979.0f,
    11263675.0f, 12935607.0f, 2387514.0f, 4345298.0f, 14681673.0f, 3074569.0f, 13734428.0f, 16653803.0f, 1880361.0f,
    10960616.0f, 8533493.0f, 3062596.0f, 8710556.0f, 7349940.0f, 6258241.0f, 3772886.0f, 3769171.0f, 3798172.0f,
    8675211.0f, 12450088.0f, 3874808.0f, 9961438.0f, 366607.0f, 15675153.0f, 9132554.0f, 7151469.0f, 3571407.0f,
    2607881.0f, 12013382.0f, 4155038.0f, 6285869.0f, 7677882.0f, 13102053.0f, 15825725.0f, 473591.0f, 9065106.0f,
    15363067.0f, 6271263.0f, 9264392.0f, 5636912.0f, 4652155.0f, 7056368.0f, 13614112.0f, 10155062.0f, 1944035.0f,
    9527646.0f, 15080200.0f, 6658437.0f, 6231200.0f, 6832269.0f, 16767104.0f, 5075751.0f, 3212806.0f, 1398474.0f,
    7579849.0f, 6349435.0f, 12618859.0f, 4703257.0f, 12806093.0f, 14477321.0f, 2786137.0f, 12875403.0f, 9837734.0f,
    14528324.0f, 13719321.0f, 343717.0f
};

/* The fraction of x 2^600 2/pi, and its rest; whole gets its whole part, modulo what is no matter. x has 27 bits. */
static double c2cu_turns_part(double x, double *whole, double *rest) {
    int exponent = (int) (c2cu_as_bits(x) >> 52 & 2047);
    int k = exponent < 450 ? 0 : (exponent - 450) / 24;
    double scale = c2cu_from_bits((unsigned long) (1023 + 576 - 24 * k) << 52);
    double r0 = x * (double) c2cu_over_pi[k] * scale;
    double r1 = x * (double) c2cu_over_pi[k + 1] * (scale * 0x1p-24);
    double r2 = x * (double) c2cu_over_pi[k + 2] * (scale * 0x1p-48);
    double r3 = x * (double) c2cu_over_pi[k + 3] * (scale * 0x1p-72);
    double r4 = x * (double) c2cu_over_pi[k + 4] * (scale * 0x1p-96);
    double r5 = x * (double) c2cu_over_pi[k + 5] * (scale * 0x1p-120);
    double s0 = r0 + 0x1.8p52 - 0x1.8p52, s1 = r1 + 0x1.8p52 - 0x1.8p52, s2 = r2 + 0x1.8p52 - 0x1.8p52;
    double sum = s0 + s1 + s2;
    r0 = r0 - s0;
    r1 = r1 - s1;
    r2 = r2 - s2;
    double t = r5 + r4 + r3 + r2 + r1 + r0;
    double low = r0 - t + r1 + r2 + r3 + r4 + r5;
    double s = t + 0x1.8p52 - 0x1.8p52;
    sum = sum + s;
    t = t - s;
    double b = t + low;
    *rest = t - b + low;
    *whole = sum - (sum + 0x1.8p54 - 0x1.8p54);
    return b;
}

static double c2cu_turns(double x, double *da, unsigned long *n) {
    double small = x * 0x1p-600;
    double split = small * 0x1.0000002p27;
    double upper = split - (split - small);
    double whole1, whole2, rest1, rest2;
    double b1 = c2cu_turns_part(upper, &whole1, &rest1);
    double b2 = c2cu_turns_part(small - upper, &whole2, &rest2);
    double sum = whole1 + whole2;
    double b = b1 + b2;
    double low = fabs(b1) > fabs(b2) ? b1 - b + b2 : b2 - b + b1;
    double more = b > 0.5 ? 1.0 : b < -0.5 ? -1.0 : 0.0;
    b = b - more;
    sum = sum + more;
    double s = b + (low + rest1 + rest2);
    double t = b - s + low + (rest1 + rest2);
    double s_split = s * 0x1.0000002p27;
    double s1 = s_split - (s_split - s);
    double s2 = s - s1;
    double product = s * 0x1.921fb54442d18p0;
    double rest = s1 * 0x1.921fb58p0 - product + s1 * -0x1.dde974p-27 + s2 * 0x1.921fb58p0 +
        (s2 * -0x1.dde974p-27 + s * 0x1.1a62633145c07p-54 + t * 0x1.921fb54442d18p0);
    double a = product + rest;
    *da = product - a + rest;
    *n = c2cu_as_bits(sum + 0x1.8p52) & 3;
    return a;
}
#endif
