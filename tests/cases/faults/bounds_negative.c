int a[9], b[9];
void kern(void) {
#ifndef FIXED
    for (int i = 0; i < 9; i++)
#else
    for (int i = 1; i < 9; i++)
#endif
        b[i] = a[i] - a[i - 1]; /* fault: element -1 is outside 'a', which has 9 elements, where i = 0 */
}
