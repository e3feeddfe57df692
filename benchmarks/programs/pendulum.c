#include <math.h>
#define STEPS 20
double state[4]; /* two angles, and how fast they change */

static void change(const double s[4], double out[4]) {
    const double g = 9.81, l1 = 1.0, l2 = 0.7, m1 = 1.2, m2 = 0.8;
    double d = s[0] - s[1], sine = sin(d), cosine = cos(d);
    double below = 2 * m1 + m2 - m2 * cos(2 * d);
    out[0] = s[2];
    out[1] = s[3];
    out[2] = (-g * (2 * m1 + m2) * sin(s[0]) - m2 * g * sin(s[0] - 2 * s[1])
              - 2 * sine * m2 * (s[3] * s[3] * l2 + s[2] * s[2] * l1 * cosine)) / (l1 * below);
    out[3] = 2 * sine * (s[2] * s[2] * l1 * (m1 + m2) + g * (m1 + m2) * cos(s[0])
              + s[3] * s[3] * l2 * m2 * cosine) / (l2 * below);
}

void pendulum(void) {
    const double h = 0.01;
    for (int n = 0; n < STEPS; n++) {
        double a[4], b[4], c[4], d[4], t[4];
        change(state, a);
        for (int i = 0; i < 4; i++) t[i] = state[i] + h / 2 * a[i];
        change(t, b);
        for (int i = 0; i < 4; i++) t[i] = state[i] + h / 2 * b[i];
        change(t, c);
        for (int i = 0; i < 4; i++) t[i] = state[i] + h * c[i];
        change(t, d);
        for (int i = 0; i < 4; i++) state[i] += h / 6 * (a[i] + 2 * b[i] + 2 * c[i] + d[i]);
    }
}
