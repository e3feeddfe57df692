/* Robertson's kinetics, which are stiff, by a Rosenbrock method of second order with steps as long as the error allows. */
#include <math.h>
double k1, k2, k3, t_end;
double r[3];
int steps;
static void f(const double *y, double *d) {
    d[0] = -k1 * y[0] + k3 * y[1] * y[2];
    d[2] = k2 * y[1] * y[1];
    d[1] = -d[0] - d[2];
}
void rosenbrock(void) {
    const double gam = 1.0 + 0.7071067811865476;
    double t = 0, h = 1e-5, y[3] = {1, 0, 0};
    int n = 0;
    while (t < t_end && n < 10000) {
        if (t + h > t_end) h = t_end - t;
        double g = 1 / (gam * h);
        double A[3][3] = {{g + k1, -k3 * y[2], -k3 * y[1]}, {-k1, g + k3 * y[2] + 2 * k2 * y[1], k3 * y[1]}, {0, -2 * k2 * y[1], g}};
        for (int k = 0; k < 3; k++)
            for (int i = k + 1; i < 3; i++) {
                A[i][k] /= A[k][k];
                for (int j = k + 1; j < 3; j++) A[i][j] -= A[i][k] * A[k][j];
            }
        double a[3], b[3], w[3], d[3];
        f(y, d);
        for (int i = 0; i < 3; i++) a[i] = d[i];
        for (int i = 0; i < 3; i++) for (int j = 0; j < i; j++) a[i] -= A[i][j] * a[j];
        for (int i = 2; i >= 0; i--) { for (int j = i + 1; j < 3; j++) a[i] -= A[i][j] * a[j]; a[i] /= A[i][i]; }
        for (int i = 0; i < 3; i++) w[i] = y[i] + a[i] / gam;
        f(w, d);
        for (int i = 0; i < 3; i++) b[i] = d[i] - 2 * a[i] / (gam * h);
        for (int i = 0; i < 3; i++) for (int j = 0; j < i; j++) b[i] -= A[i][j] * b[j];
        for (int i = 2; i >= 0; i--) { for (int j = i + 1; j < 3; j++) b[i] -= A[i][j] * b[j]; b[i] /= A[i][i]; }
        double err = 0;
        for (int i = 0; i < 3; i++) {
            double e = (a[i] + b[i]) / (2 * gam) / (1e-8 + 1e-4 * fabs(y[i]));
            err += e * e;
        }
        err = sqrt(err / 3);
        if (err <= 1) {
            t += h;
            for (int i = 0; i < 3; i++) y[i] += (3 * a[i] + b[i]) / (2 * gam);
        }
        double s = 0.9 / sqrt(err + 1e-10);
        s = s > 5 ? 5 : s < 0.2 ? 0.2 : s;
        h *= s;
        n++;
    }
    for (int i = 0; i < 3; i++) r[i] = y[i];
    steps = n;
}
