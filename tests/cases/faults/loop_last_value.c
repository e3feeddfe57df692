int a[4], b[4];
void kern(void) {
    int last = 0;
    for (int i = 0; i < 4; i++) { /* fault: output through last */
        last = a[i] * 2;
        b[i] = last + 1;
    }
#ifndef FIXED
    a[0] = last;
#else
    a[0] = 1;
#endif
}
