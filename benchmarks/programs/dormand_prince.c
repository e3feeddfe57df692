/* Van der Pol by Dormand-Prince, with steps whose length data decides. */
#include <math.h>
double mu, start[2], y[2];
int steps;
static void f(const double *u, double *d) { d[0] = u[1]; d[1] = mu * (1 - u[0] * u[0]) * u[1] - u[0]; }
void rk45(void) {
    double t = 0, h = 0.01, end = 5, u[2] = {start[0], start[1]};
    int n = 0;
    while (t < end && n < 10000) {
        double k1[2], k2[2], k3[2], k4[2], k5[2], k6[2], k7[2], w[2], v[2];
        if (t + h > end) h = end - t;
        f(u, k1);
        for (int i = 0; i < 2; i++) w[i] = u[i] + h * (k1[i] / 5);
        f(w, k2);
        for (int i = 0; i < 2; i++) w[i] = u[i] + h * (3 * k1[i] / 40 + 9 * k2[i] / 40);
        f(w, k3);
        for (int i = 0; i < 2; i++) w[i] = u[i] + h * (44 * k1[i] / 45 - 56 * k2[i] / 15 + 32 * k3[i] / 9);
        f(w, k4);
        for (int i = 0; i < 2; i++)
            w[i] = u[i] + h * (19372 * k1[i] / 6561 - 25360 * k2[i] / 2187 + 64448 * k3[i] / 6561 - 212 * k4[i] / 729);
        f(w, k5);
        for (int i = 0; i < 2; i++)
            w[i] = u[i] + h * (9017 * k1[i] / 3168 - 355 * k2[i] / 33 + 46732 * k3[i] / 5247 + 49 * k4[i] / 176 - 5103 * k5[i] / 18656);
        f(w, k6);
        for (int i = 0; i < 2; i++)
            v[i] = u[i] + h * (35 * k1[i] / 384 + 500 * k3[i] / 1113 + 125 * k4[i] / 192 - 2187 * k5[i] / 6784 + 11 * k6[i] / 84);
        f(v, k7);
        double err = 0;
        for (int i = 0; i < 2; i++) {
            double e = h * (71 * k1[i] / 57600 - 71 * k3[i] / 16695 + 71 * k4[i] / 1920 - 17253 * k5[i] / 339200 + 22 * k6[i] / 525 - k7[i] / 40);
            double scale = 1e-6 + 1e-6 * fmax(fabs(u[i]), fabs(v[i]));
            err += (e / scale) * (e / scale);
        }
        err = sqrt(err / 2);
        if (err <= 1) { t += h; u[0] = v[0]; u[1] = v[1]; }
        double g = err > 0 ? 0.9 * pow(err, -0.2) : 5;
        h *= g < 0.2 ? 0.2 : g > 5 ? 5 : g;
        n++;
    }
    y[0] = u[0]; y[1] = u[1]; steps = n;
}
