/* A step of Newton after the other until it is small: other numbers of steps for other inputs. */
#include <math.h>
double M, e, E;
void kepler_library(void) {
    double x = e < 0.8 ? M : 3.14159265358979;
    for (int i = 0; i < 50; i++) {
        double d = (x - e * sin(x) - M) / (1 - e * cos(x));
        x -= d;
        if (fabs(d) < 1e-12) break;
    }
    E = x;
}
