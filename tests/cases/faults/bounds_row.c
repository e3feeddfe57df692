float m[4][6], sum[4];
void kern(void) {
    for (int i = 0; i < 3; i++)
#ifndef FIXED
        for (int j = 0; j <= 6; j++)
#else
        for (int j = 0; j < 6; j++)
#endif
            sum[i] += m[i][j]; /* fault: subscript 6 is outside this dimension of 'm', which has 6 elements, where i = 0 and j = 6 */
}
