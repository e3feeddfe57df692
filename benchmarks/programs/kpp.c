/* Chemical kinetics as a preprocessor of mechanisms writes it: a Rosenbrock method of second order with steps of its
   own, on static arrays with pointers into them. */
#include <math.h>

#define NVAR 6
#define NFIX 2
#define NREACT 9
double conc[NVAR + NFIX], temp, tend, reached[NVAR];
int steps;
static double C[NVAR + NFIX];
static double *VAR = &C[0], *FIX = &C[NVAR];
static double RCONST[NREACT];
static double TEMP;
static void Update_RCONST(void) {
    RCONST[0] = 1.2e-3; RCONST[1] = 8.0e-2 * exp(-150.0 / TEMP); RCONST[2] = 1.6e-1; RCONST[3] = 1.4e-1 * exp(-500.0 / TEMP);
    RCONST[4] = 9.8e-2 * pow(TEMP / 300.0, -1.2); RCONST[5] = 2.3e-1; RCONST[6] = 4.0e-2 * exp(120.0 / TEMP); RCONST[7] = 2.0e-2; RCONST[8] = 1.1e-2;
}
static void Fun(double V[], double F[], double RCT[], double Vdot[]) {
    double A[NREACT];
    A[0] = RCT[0] * F[1]; A[1] = RCT[1] * V[0] * F[1]; A[2] = RCT[2] * V[1]; A[3] = RCT[3] * V[0] * V[1];
    A[4] = RCT[4] * V[2] * F[0]; A[5] = RCT[5] * V[2]; A[6] = RCT[6] * V[3] * V[1]; A[7] = RCT[7] * V[4] * V[0]; A[8] = RCT[8] * V[5];
    Vdot[0] = 2 * A[0] - A[1] + A[2] - A[3] + A[5] - A[7];
    Vdot[1] = A[1] - A[2] - A[3] - A[6];
    Vdot[2] = A[2] - A[4] - A[5];
    Vdot[3] = A[7] - A[6] + A[8];
    Vdot[4] = A[6] - A[7] + 0.5 * A[4];
    Vdot[5] = A[3] - A[8];
}
static void Jac(double V[], double F[], double RCT[], double J[NVAR][NVAR]) {
    for (int i = 0; i < NVAR; i++) for (int j = 0; j < NVAR; j++) J[i][j] = 0;
    J[0][0] = -RCT[1] * F[1] - RCT[3] * V[1] - RCT[7] * V[4]; J[0][1] = RCT[2] - RCT[3] * V[0]; J[0][2] = RCT[5]; J[0][4] = -RCT[7] * V[0];
    J[1][0] = RCT[1] * F[1] - RCT[3] * V[1]; J[1][1] = -RCT[2] - RCT[3] * V[0] - RCT[6] * V[3]; J[1][3] = -RCT[6] * V[1];
    J[2][1] = RCT[2]; J[2][2] = -RCT[4] * F[0] - RCT[5];
    J[3][0] = RCT[7] * V[4]; J[3][1] = -RCT[6] * V[3]; J[3][3] = -RCT[6] * V[1]; J[3][4] = RCT[7] * V[0]; J[3][5] = RCT[8];
    J[4][0] = -RCT[7] * V[4]; J[4][1] = RCT[6] * V[3]; J[4][2] = 0.5 * RCT[4] * F[0]; J[4][3] = RCT[6] * V[1]; J[4][4] = -RCT[7] * V[0];
    J[5][0] = RCT[3] * V[1]; J[5][1] = RCT[3] * V[0]; J[5][5] = -RCT[8];
}
static int Decomp(double A[NVAR][NVAR]) {
    for (int k = 0; k < NVAR; k++) {
        if (A[k][k] == 0.0) return k + 1;
        for (int i = k + 1; i < NVAR; i++) {
            A[i][k] /= A[k][k];
            for (int j = k + 1; j < NVAR; j++) A[i][j] -= A[i][k] * A[k][j];
        }
    }
    return 0;
}
static void Solve(double A[NVAR][NVAR], double *b) {
    for (int i = 1; i < NVAR; i++) for (int j = 0; j < i; j++) b[i] -= A[i][j] * b[j];
    for (int i = NVAR - 1; i >= 0; i--) { for (int j = i + 1; j < NVAR; j++) b[i] -= A[i][j] * b[j]; b[i] /= A[i][i]; }
}
void kpp(void) {
    const double g = 1.0 + 1.0 / 1.4142135623730951;
    double J[NVAR][NVAR], A[NVAR][NVAR], K[2 * NVAR], y1[NVAR], f[NVAR];
    double *K1 = &K[0], *K2 = &K[NVAR];
    for (int i = 0; i < NVAR + NFIX; i++) C[i] = conc[i];
    TEMP = temp;
    Update_RCONST();
    double t = 0, h = 1e-2;
    int n = 0;
    while (t < tend && n < 500) {
        if (t + h > tend) h = tend - t;
        Fun(VAR, FIX, RCONST, f);
        Jac(VAR, FIX, RCONST, J);
        for (;;) {
            for (int i = 0; i < NVAR; i++) for (int j = 0; j < NVAR; j++) A[i][j] = (i == j ? 1.0 / (h * g) : 0.0) - J[i][j];
            if (Decomp(A)) { h *= 0.5; continue; }
            for (int i = 0; i < NVAR; i++) K1[i] = f[i];
            Solve(A, K1);
            for (int i = 0; i < NVAR; i++) y1[i] = VAR[i] + K1[i] / g;
            Fun(y1, FIX, RCONST, K2);
            for (int i = 0; i < NVAR; i++) K2[i] -= 2.0 / (h * g) * K1[i];
            Solve(A, K2);
            double err = 0;
            for (int i = 0; i < NVAR; i++) {
                double yn = VAR[i] + 1.5 / g * K1[i] + 0.5 / g * K2[i], e = 0.5 / g * (K1[i] + K2[i]);
                double sc = 1e-6 + 1e-4 * fmax(fabs(VAR[i]), fabs(yn));
                err += (e / sc) * (e / sc);
                y1[i] = yn;
            }
            err = sqrt(err / NVAR);
            double fac = fmin(5.0, fmax(0.2, 0.9 / sqrt(err > 1e-10 ? err : 1e-10)));
            n++;
            if (err <= 1.0) { t += h; h *= fac; break; }
            h *= fac;
            if (n > 500) break;
        }
        for (int i = 0; i < NVAR; i++) VAR[i] = y1[i] > 0 ? y1[i] : 0;
    }
    for (int i = 0; i < NVAR; i++) reached[i] = VAR[i];
    steps = n;
}
