/* Finite impulse response filter: N outputs of a filter with TAPS coefficients.
 *
 * x: the signal, TAPS - 1 samples of history first. h: the coefficients.
 * y: y[n] = sum of h[k] * (the sample k steps before the n-th).
 */
#define N 1024
#define TAPS 64

void fir(const float x[N + TAPS - 1], const float h[TAPS], float y[N]) {
    for (int n = 0; n < N; n++) {
        float sum = 0;
        for (int k = 0; k < TAPS; k++)
            sum += h[k] * x[n + TAPS - 1 - k];
        y[n] = sum;
    }
}
