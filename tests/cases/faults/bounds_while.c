int a[5], b[5];
void kern(void) {
    int i = 0;
#ifndef FIXED
    while (i <= 5) {
#else
    while (i < 5) {
#endif
        b[i] = -a[i]; /* fault: element 5 is outside 'a', which has 5 elements, where i = 5 */ /* fault: element 5 is outside 'b', which has 5 elements, where i = 5 */
        i++;
    }
}
