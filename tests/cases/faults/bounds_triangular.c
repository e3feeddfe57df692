#define N 6
double packed[N * (N + 1) / 2], x[N];
void kern(void) {
    for (int i = 0; i < N; i++)
#ifndef FIXED
        for (int j = 0; j <= i + 1; j++)
#else
        for (int j = 0; j <= i; j++)
#endif
            x[i] += packed[i * (i + 1) / 2 + j]; /* fault: element 21 is outside 'packed', which has 21 elements, where i = 5 and j = 6 */
}
