#define N 5
float a[N][N];
void kern(void) {
    for (int i = 0; i < N; i++) /* fault: flow through a */
        for (int j = 0; j < i; j++)
#ifndef FIXED
            a[i][j] += a[j][i % 2];
#else
            a[i][j] += a[j][i];
#endif
}
