/* tgamma: results that overflow; of what is negative pi / (sin(pi x) x gamma(x)), that of a whole number below zero is no
   number; beside zero the reciprocal. */
#include "../tgamma_core.h"
#include "gamma_turns.h"

/* x 2^power, where that is rounded at most once. */
static double c2cu_times_power(double x, double power) {
    double first = trunc(power * 0.5);
    double second = power - first;
    double half = c2cu_from_bits(c2cu_as_bits(first + 0x1.00000000003ffp52) << 52);
    return x * half * c2cu_from_bits(c2cu_as_bits(second + 0x1.00000000003ffp52) << 52);
}

double c2cu_rare_tgamma(double x) {
    double size = fabs(x), whole = trunc(x), power;
    _Bool usual = size > 0x1p-54 && size < 184.0;
    double up = c2cu_tgamma_core(usual ? size : 1.0, &power);
    double part = whole - x;
    part = part > 0.5 ? 1.0 - part : part;
    double sine = c2cu_sin_pi(part);
    double first = sine * up;
    double first_rest = __builtin_fma(sine, up, -first);
    double second = first * x;
    double second_rest = __builtin_fma(first, x, -second) + first_rest * x;
    double rest;
    double down = -c2cu_quotient(0x1.921fb54442d18p1, 0x1.1a62633145c07p-53, second, second_rest, &rest);
    double half = whole * 0.5;
    double result = usual ? c2cu_times_power(down, -power) : 0.0;
    result = trunc(half) == half ? -result : result;
    result = whole == x ? __builtin_nan("") : result;
    result = x > 0.0 ? (x < 172.0 ? c2cu_times_power(up, power) : __builtin_inf()) : result;
    result = size <= 0x1p-54 ? 1.0 / x : result;
    return x != x ? x : result;
}
