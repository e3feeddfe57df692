/* Kepler's equation by Newton's method, with a sine of its own: as many turns as the eccentricity wants. */
#include <math.h>
double M, e, E;
static double sine(double x) {
    double k = floor(x * 0.15915494309189535 + 0.5);
    x = x - k * 6.283185307179586;
    double z = x * x;
    return x * (1 + z * (-1.66666666666666666e-1 + z * (8.3333333333333333e-3 + z * (-1.98412698412698413e-4 + z * (2.75573192239858907e-6 + z * (-2.50521083854417188e-8 + z * 1.60590438368216146e-10))))));
}
static double cosine(double x) { return sine(x + 1.5707963267948966); }
void kepler(void) {
    double x = e < 0.8 ? M : 3.141592653589793;
    for (int k = 0; k < 50; k++) {
        double d = (x - e * sine(x) - M) / (1 - e * cosine(x));
        x -= d;
        if (fabs(d) < 1e-12) break;
    }
    E = x;
}
