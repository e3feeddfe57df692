/* Fast Fourier transform of N complex numbers, N a power of two: Cooley and Tukey's, radix 2, in place.
 *
 * re, im: the numbers; afterwards their transform, X[k] = sum of x[n] * exp(-2 pi i k n / N).
 * wr, wi: the table of roots of unity, exp(-2 pi i k / N) for k < N / 2.
 */
#define N 1024

void fft(float re[N], float im[N], const float wr[N / 2], const float wi[N / 2]) {
    /* Bit reversal: j counts as i does, with its carry running from the top bit downwards. */
    for (int i = 1, j = 0; i < N; i++) {
        int bit = N / 2;
        while (j & bit) {
            j ^= bit;
            bit >>= 1;
        }
        j |= bit;
        if (i < j) {
            float t = re[i];
            re[i] = re[j];
            re[j] = t;
            t = im[i];
            im[i] = im[j];
            im[j] = t;
        }
    }
    /* Butterflies: transforms of length len from pairs of transforms half as long. */
    for (int len = 2; len <= N; len *= 2)
        for (int i = 0; i < N; i += len)
            for (int j = 0; j < len / 2; j++) {
                int a = i + j, b = a + len / 2, k = j * (N / len);
                float tr = re[b] * wr[k] - im[b] * wi[k];
                float ti = re[b] * wi[k] + im[b] * wr[k];
                re[b] = re[a] - tr;
                im[b] = im[a] - ti;
                re[a] += tr;
                im[a] += ti;
            }
}
