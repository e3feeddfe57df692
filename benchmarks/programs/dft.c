/* The discrete Fourier transform of 32 complex numbers by its definition. */
#include <math.h>
#define N 32
double re[N], im[N], out_re[N], out_im[N];

void dft(void) {
    for (int k = 0; k < N; k++) {
        double a = 0, b = 0;
        for (int n = 0; n < N; n++) {
            double w = -2 * M_PI * k * n / N;
            a += re[n] * cos(w) - im[n] * sin(w);
            b += re[n] * sin(w) + im[n] * cos(w);
        }
        out_re[k] = a, out_im[k] = b;
    }
}
