int a[4][4];
void kern(void) {
    int t[4];
#ifndef FIXED
    for (int j = 0; j < 4; j++) t[j] = 0;
#endif
    for (int i = 0; i < 4; i++) { /* fault: flow through t */
#ifdef FIXED
        for (int j = 0; j < 4; j++) t[j] = 0;
#endif
        for (int j = 0; j < 4; j++) t[j ^ 1] += a[i][j];
        for (int j = 0; j < 4; j++) a[i][j] = t[j];
    }
}
