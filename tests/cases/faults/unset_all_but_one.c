long a[10];
void kern(void) {
    long t[10];
#ifndef FIXED
    for (int i = 1; i < 10; i++)
#else
    for (int i = 0; i < 10; i++)
#endif
        t[i] = a[i];
    for (int i = 9; i >= 0; i--)
        a[9 - i] = t[i] * 3; /* fault: 't' is read before anything is written to it, where i = 0 */
}
