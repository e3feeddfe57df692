short a[7];
int total;
void kern(void) {
    const short *p = a;
#ifndef FIXED
    for (int n = 8; n > 0; n--)
#else
    for (int n = 7; n > 0; n--)
#endif
        total += *p++; /* fault: element 7 is outside 'a', which has 7 elements, where n = 1 */
}
