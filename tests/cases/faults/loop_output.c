int a[8], b[8];
void kern(void) {
    for (int i = 0; i < 8; i++) /* fault: output through b */
#ifndef FIXED
        b[i / 2] = a[i];
#else
        b[i ^ 5] = a[i];
#endif
}
