int a[8], b[8];
#ifndef FIXED
static const int to[8] = {4, 2, 7, 1, 0, 7, 3, 5};
#else
static const int to[8] = {4, 2, 7, 1, 0, 6, 3, 5};
#endif
void kern(void) {
    for (int i = 0; i < 8; i++) /* fault: output through b */
        b[to[i]] = a[i];
}
