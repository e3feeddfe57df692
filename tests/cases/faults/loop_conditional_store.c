int a[6], b[6];
void kern(void) {
    for (int i = 0; i < 6; i++) /* fault: output through b, conditional */
#ifndef FIXED
        if (a[i] > 0) b[i] = 1; else b[5 - i] = 2;
#else
        if (a[i] > 0) b[i] = 1; else b[i] = 2;
#endif
}
