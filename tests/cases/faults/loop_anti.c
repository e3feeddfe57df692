int a[9];
void kern(void) {
#ifndef FIXED
    for (int i = 0; i < 8; i++) /* fault: anti through a */
        a[i] = a[i + 1];
#else
    for (int i = 0; i < 4; i++)
        a[i] = a[i + 4];
#endif
}
