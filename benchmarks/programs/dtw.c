/* Dynamic time warping: the cost of aligning two recordings of N samples, |a - b| summed along the best alignment. */
#include <math.h>

#define N 64

float a[N], b[N], distance;

void dtw(void) {
    float D[N + 1][N + 1];
    for (int i = 0; i <= N; i++)
        for (int j = 0; j <= N; j++)
            D[i][j] = INFINITY;
    D[0][0] = 0;
    for (int i = 1; i <= N; i++)
        for (int j = 1; j <= N; j++) {
            float best = D[i - 1][j - 1];
            if (D[i - 1][j] < best)
                best = D[i - 1][j];
            if (D[i][j - 1] < best)
                best = D[i][j - 1];
            D[i][j] = fabsf(a[i - 1] - b[j - 1]) + best;
        }
    distance = D[N][N];
}
