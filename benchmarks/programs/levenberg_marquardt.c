/* A sum of two exponentials, fitted to 20 points. */
#include <math.h>
double ty[20], par[4];
int turns;
static double model(const double *q, double t) { return q[0] * exp(-q[1] * t) + q[2] * exp(-q[3] * t); }
static double cost(const double *q) {
    double c = 0;
    for (int i = 0; i < 20; i++) { double r = ty[i] - model(q, 0.1 * i); c += r * r; }
    return c;
}
void lm(void) {
    double q[4] = {1, 1, 0.5, 4}, lambda = 1e-2, c = cost(q);
    int n = 0;
    while (n < 60) {
        double A[4][4] = {{0}}, g[4] = {0}, d[4];
        for (int i = 0; i < 20; i++) {
            double t = 0.1 * i, e1 = exp(-q[1] * t), e2 = exp(-q[3] * t);
            double J[4] = {e1, -q[0] * t * e1, e2, -q[2] * t * e2}, r = ty[i] - q[0] * e1 - q[2] * e2;
            for (int a = 0; a < 4; a++) { g[a] += J[a] * r; for (int b = 0; b < 4; b++) A[a][b] += J[a] * J[b]; }
        }
        for (int a = 0; a < 4; a++) A[a][a] *= 1 + lambda;
        for (int k = 0; k < 4; k++)
            for (int i = k + 1; i < 4; i++) {
                double f = A[i][k] / A[k][k];
                for (int j = k; j < 4; j++) A[i][j] -= f * A[k][j];
                g[i] -= f * g[k];
            }
        for (int i = 3; i >= 0; i--) {
            double s = g[i];
            for (int j = i + 1; j < 4; j++) s -= A[i][j] * d[j];
            d[i] = s / A[i][i];
        }
        double w[4];
        for (int a = 0; a < 4; a++) w[a] = q[a] + d[a];
        double c2 = cost(w);
        n++;
        if (c2 < c) {
            double gain = c - c2;
            for (int a = 0; a < 4; a++) q[a] = w[a];
            c = c2; lambda *= 0.3;
            if (gain < 1e-12 * c) break;
        } else { lambda *= 5; if (lambda > 1e8) break; }
    }
    for (int a = 0; a < 4; a++) par[a] = q[a];
    turns = n;
}
