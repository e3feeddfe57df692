#include <math.h>
double spot, strike, years, rate, volatility; double call, put;

static double normal(double x) { return 0.5 * erfc(-x * 0.70710678118654752); }

void black_scholes(void) {
    double root = volatility * sqrt(years);
    double d1 = (log(spot / strike) + (rate + 0.5 * volatility * volatility) * years) / root;
    double d2 = d1 - root, discounted = strike * exp(-rate * years);
    call = spot * normal(d1) - discounted * normal(d2);
    put = discounted * normal(-d2) - spot * normal(-d1);
}
