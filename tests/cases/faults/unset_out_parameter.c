int a[4];
static void largest(int *out, int n) {
#ifndef FIXED
    if (n > 4) *out = 0;
#else
    *out = 0;
#endif
    for (int i = 0; i < n; i++)
        if (a[i] > *out) *out = a[i]; /* fault: 'most' is read before anything is written to it, where i = 0 */
}
void kern(void) {
    int most;
    largest(&most, 4);
    a[0] = most;
}
