int a[10], b[10];
void kern(void) {
#ifndef FIXED
    for (int k = 1; k <= 16; k *= 2)
#else
    for (int k = 1; k < 10; k *= 2)
#endif
        b[k] = a[k]; /* fault: element 16 is outside 'a', which has 10 elements, where k = 16 */ /* fault: element 16 is outside 'b', which has 10 elements, where k = 16 */
}
