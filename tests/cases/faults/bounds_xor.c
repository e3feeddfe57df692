float a[12], b[12];
void kern(void) {
    for (int i = 0; i < 12; i++)
#ifndef FIXED
        b[i] = a[i ^ 4]; /* fault: element 12 is outside 'a', which has 12 elements, where i = 8 */
#else
        b[i] = a[i ^ 3];
#endif
}
