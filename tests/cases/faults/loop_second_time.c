int a[2], b[6];
void kern(void) {
    int v;
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 2; i++) { /* fault: output through v */
#ifndef FIXED
            if (j == 0) v = a[i];
#else
            v = a[i];
#endif
            b[2 * j + i] = v;
        }
}
