int a[16];
void kern(void) {
    int t[16];
    for (int i = 0; i < 12; i++)
        t[i] = a[i];
    for (int i = 0; i < 12; i++)
#ifndef FIXED
        a[i] = t[i] + t[i ^ 4]; /* fault: 't' is read before anything is written to it, where i = 8 */
#else
        a[i] = t[i] + t[i ^ 2];
#endif
}
