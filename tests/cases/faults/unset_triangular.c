#define N 5
float a[N][N];
void kern(void) {
    float t[N][N];
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++)
            t[i][j] = a[i][j];
    for (int i = 0; i < N; i++)
#ifndef FIXED
        for (int j = 0; j < N; j++)
#else
        for (int j = 0; j <= i; j++)
#endif
            a[i][j] = t[i][j] + 1; /* fault: 't' is read before anything is written to it, where i = 0 and j = 1 */
}
