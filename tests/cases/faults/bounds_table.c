int a[8], b[8];
#ifndef FIXED
static const int order[8] = {1, 0, 3, 2, 5, 8, 7, 6};
#else
static const int order[8] = {1, 0, 3, 2, 5, 4, 7, 6};
#endif
void kern(void) {
    for (int i = 0; i < 8; i++)
        b[i] = a[order[i]]; /* fault: element 8 is outside 'a', which has 8 elements, where i = 5 */
}
