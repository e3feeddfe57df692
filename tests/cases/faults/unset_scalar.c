int a[4];
void kern(void) {
#ifndef FIXED
    int sum;
#else
    int sum = 0;
#endif
    for (int i = 0; i < 4; i++)
        sum += a[i]; /* fault: 'sum' is read before anything is written to it, where i = 0 */
    a[0] = sum;
}
