/* Van der Pol's oscillator by Runge, Kutta and Fehlberg: steps are as long as the error allows. */
#include <math.h>
double mu, ya, yb, t_end;
double r0, r1;
int steps;
static void f(double mu, const double *y, double *d) {
    d[0] = y[1];
    d[1] = mu * (1 - y[0] * y[0]) * y[1] - y[0];
}
void rk45(void) {
    double t = 0, h = 0.01, y[2] = {ya, yb};
    int n = 0;
    while (t < t_end && n < 100000) {
        double k1[2], k2[2], k3[2], k4[2], k5[2], k6[2], w[2];
        if (t + h > t_end) h = t_end - t;
        f(mu, y, k1);
        for (int i = 0; i < 2; i++) w[i] = y[i] + h * (k1[i] / 4);
        f(mu, w, k2);
        for (int i = 0; i < 2; i++) w[i] = y[i] + h * (3 * k1[i] / 32 + 9 * k2[i] / 32);
        f(mu, w, k3);
        for (int i = 0; i < 2; i++) w[i] = y[i] + h * (1932 * k1[i] / 2197 - 7200 * k2[i] / 2197 + 7296 * k3[i] / 2197);
        f(mu, w, k4);
        for (int i = 0; i < 2; i++) w[i] = y[i] + h * (439 * k1[i] / 216 - 8 * k2[i] + 3680 * k3[i] / 513 - 845 * k4[i] / 4104);
        f(mu, w, k5);
        for (int i = 0; i < 2; i++) w[i] = y[i] + h * (-8 * k1[i] / 27 + 2 * k2[i] - 3544 * k3[i] / 2565 + 1859 * k4[i] / 4104 - 11 * k5[i] / 40);
        f(mu, w, k6);
        double err = 0;
        for (int i = 0; i < 2; i++) {
            double d = h * (k1[i] / 360 - 128 * k3[i] / 4275 - 2197 * k4[i] / 75240 + k5[i] / 50 + 2 * k6[i] / 55);
            d = fabs(d) / (1e-6 + 1e-6 * fabs(y[i]));
            if (d > err) err = d;
        }
        if (err <= 1) {
            t += h;
            for (int i = 0; i < 2; i++) y[i] += h * (16 * k1[i] / 135 + 6656 * k3[i] / 12825 + 28561 * k4[i] / 56430 - 9 * k5[i] / 50 + 2 * k6[i] / 55);
        }
        double s = err > 0 ? 0.9 / sqrt(sqrt(err)) : 4;
        if (s > 4) s = 4;
        if (s < 0.1) s = 0.1;
        h *= s;
        n++;
    }
    r0 = y[0];
    r1 = y[1];
    steps = n;
}
