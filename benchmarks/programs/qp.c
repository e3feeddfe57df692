/* A quadratic program with bounds by ADMM, as generators of embedded solvers write it: static memory, a workspace of
   structs that point into it. */
#include <math.h>

typedef double c_float;
typedef int c_int;
#define n 6
#define m 8
typedef struct { c_float *P, *A, *q, *l, *u; } Data;
typedef struct { c_float rho, sigma, alpha, eps; c_int max_iter; } Settings;
typedef struct { c_int iter; c_float pri, dua; } Info;
typedef struct { Data *data; Settings *settings; Info *info; c_float *x, *y, *z, *xt, *zt, *rhs, *L, *D; } Work;
c_float P[n * n], A[m * n], q[n], l[m], u[m], x[n];
c_int iterations;
static c_float P_[n * n], A_[m * n], q_[n], l_[m], u_[m], x_[n], y_[m], z_[m], xt_[n], zt_[m], rhs_[n], L_[n * n], D_[n];
static Data data = {P_, A_, q_, l_, u_};
static Settings settings = {0.1, 1e-6, 1.6, 1e-4, 200};
static Info info;
static Work work = {&data, &settings, &info, x_, y_, z_, xt_, zt_, rhs_, L_, D_};
static void factor(Work *w) {
    c_float K[n][n];
    for (c_int i = 0; i < n; i++) for (c_int j = 0; j < n; j++) {
        K[i][j] = w->data->P[i * n + j] + (i == j ? w->settings->sigma : 0);
        for (c_int k = 0; k < m; k++) K[i][j] += w->settings->rho * w->data->A[k * n + i] * w->data->A[k * n + j];
    }
    for (c_int j = 0; j < n; j++) {
        c_float d = K[j][j];
        for (c_int k = 0; k < j; k++) d -= w->L[j * n + k] * w->L[j * n + k] * w->D[k];
        w->D[j] = d;
        for (c_int i = j + 1; i < n; i++) {
            c_float v = K[i][j];
            for (c_int k = 0; k < j; k++) v -= w->L[i * n + k] * w->L[j * n + k] * w->D[k];
            w->L[i * n + j] = v / d;
        }
    }
}
static void lsolve(Work *w) {
    for (c_int i = 0; i < n; i++) for (c_int k = 0; k < i; k++) w->rhs[i] -= w->L[i * n + k] * w->rhs[k];
    for (c_int i = 0; i < n; i++) w->rhs[i] /= w->D[i];
    for (c_int i = n - 1; i >= 0; i--) for (c_int k = i + 1; k < n; k++) w->rhs[i] -= w->L[k * n + i] * w->rhs[k];
}
void qp(void) {
    Work *w = &work;
    for (c_int i = 0; i < n * n; i++) w->data->P[i] = P[i];
    for (c_int i = 0; i < n * m; i++) w->data->A[i] = A[i];
    for (c_int i = 0; i < n; i++) w->data->q[i] = q[i], w->x[i] = 0;
    for (c_int i = 0; i < m; i++) w->data->l[i] = l[i], w->data->u[i] = u[i], w->z[i] = 0, w->y[i] = 0;
    factor(w);
    c_float rho = w->settings->rho, al = w->settings->alpha;
    for (w->info->iter = 1; w->info->iter <= w->settings->max_iter; w->info->iter++) {
        for (c_int i = 0; i < n; i++) {
            w->rhs[i] = w->settings->sigma * w->x[i] - w->data->q[i];
            for (c_int k = 0; k < m; k++) w->rhs[i] += w->data->A[k * n + i] * (rho * w->z[k] - w->y[k]);
        }
        lsolve(w);
        for (c_int i = 0; i < n; i++) w->xt[i] = w->rhs[i];
        for (c_int k = 0; k < m; k++) { w->zt[k] = 0; for (c_int i = 0; i < n; i++) w->zt[k] += w->data->A[k * n + i] * w->xt[i]; }
        for (c_int i = 0; i < n; i++) w->x[i] = al * w->xt[i] + (1 - al) * w->x[i];
        w->info->pri = 0; w->info->dua = 0;
        for (c_int k = 0; k < m; k++) {
            c_float zr = al * w->zt[k] + (1 - al) * w->z[k], zn = zr + w->y[k] / rho;
            zn = fmin(fmax(zn, w->data->l[k]), w->data->u[k]);
            w->y[k] += rho * (zr - zn);
            c_float d = fabs(w->zt[k] - zn); if (d > w->info->pri) w->info->pri = d;
            d = rho * fabs(zn - w->z[k]); if (d > w->info->dua) w->info->dua = d;
            w->z[k] = zn;
        }
        if (w->info->pri < w->settings->eps && w->info->dua < w->settings->eps) break;
    }
    for (c_int i = 0; i < n; i++) x[i] = w->x[i];
    iterations = w->info->iter;
}
