int a[4];
static int weighted(const int *w, int n) {
    int s = 0;
    for (int i = 0; i < n; i++)
        s += w[i] * a[i]; /* fault: 'v' is read before anything is written to it, where i = 3 */
    return s;
}
void kern(void) {
    int w[4] = {1, 2, 3, 4}, v[4];
    for (int i = 0; i < 3; i++)
        v[i] = w[i] + a[i];
#ifndef FIXED
    a[0] = weighted(v, 4);
#else
    a[0] = weighted(v, 3);
#endif
}
