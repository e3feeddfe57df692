#include <string.h>
unsigned char a[16], b[12];
void kern(void) {
#ifndef FIXED
    memcpy(b, a, sizeof a); /* fault: element 12 is outside 'b', which has 12 elements, where k = 12 */
#else
    memcpy(b, a, sizeof b);
#endif
}
