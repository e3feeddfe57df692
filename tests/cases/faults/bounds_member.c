struct State { int count; unsigned key[4]; unsigned after; } s;
void kern(void) {
    for (int round = 0; round < 5; round++)
#ifndef FIXED
        s.key[round] += s.after; /* fault: subscript 4 is outside this dimension of 's.key', which has 4 elements, where round = 4 */
#else
        s.key[round & 3] += s.after;
#endif
}
