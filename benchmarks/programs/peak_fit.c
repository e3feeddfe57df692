/* A peak of four parameters fitted to 16 points by Levenberg's and Marquardt's method. */
#include <math.h>
#define N 16
double x[N], y[N];
double p[4];
int turns;
static double model(const double *q, double x) {
    double u = (x - q[1]) * q[2];
    return q[0] / (1 + u * u) + q[3];
}
static double cost(const double *q) {
    double s = 0;
    for (int i = 0; i < N; i++) {
        double r = y[i] - model(q, x[i]);
        s += r * r;
    }
    return s;
}
void peak_fit(void) {
    double lambda = 1e-3, q[4] = {p[0], p[1], p[2], p[3]};
    double c = cost(q);
    int n;
    for (n = 0; n < 100; n++) {
        double A[4][4] = {0}, g[4] = {0};
        for (int i = 0; i < N; i++) {
            double u = (x[i] - q[1]) * q[2], d = 1 / (1 + u * u);
            double J[4] = {d, 2 * q[0] * u * d * d * q[2], -2 * q[0] * u * d * d * (x[i] - q[1]), 1};
            double r = y[i] - (q[0] * d + q[3]);
            for (int a = 0; a < 4; a++) {
                g[a] += J[a] * r;
                for (int b = 0; b < 4; b++) A[a][b] += J[a] * J[b];
            }
        }
        for (int a = 0; a < 4; a++) A[a][a] *= 1 + lambda;
        for (int k = 0; k < 4; k++)
            for (int i = k + 1; i < 4; i++) {
                double m = A[i][k] / A[k][k];
                for (int j = k; j < 4; j++) A[i][j] -= m * A[k][j];
                g[i] -= m * g[k];
            }
        double t[4];
        for (int i = 3; i >= 0; i--) {
            double s = g[i];
            for (int j = i + 1; j < 4; j++) s -= A[i][j] * t[j];
            t[i] = s / A[i][i];
        }
        double w[4];
        for (int a = 0; a < 4; a++) w[a] = q[a] + t[a];
        double next = cost(w);
        if (next < c) {
            double change = c - next;
            for (int a = 0; a < 4; a++) q[a] = w[a];
            c = next;
            lambda *= 0.3;
            if (change < 1e-10 * c) break;
        } else {
            lambda *= 10;
            if (lambda > 1e10) break;
        }
    }
    for (int a = 0; a < 4; a++) p[a] = q[a];
    turns = n;
}
