int a[8];
void kern(void) {
    for (int i = 0; i < 8; i++) /* fault: flow through a */
#ifndef FIXED
        a[i] += a[i ^ 1];
#else
        a[i] += a[i ^ 0];
#endif
}
