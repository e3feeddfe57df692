/* Elements of a table of 256 KB, each at a place that the one before it decides: every lane is somewhere else. */
#define SIZE 65536

unsigned table[SIZE]; /* one for all inputs */
unsigned from, sum;

void far_lookups(void) {
    unsigned at = from;
    sum = 0;
    for (int k = 0; k < 64; k++) {
        at = table[at & (SIZE - 1)] + k;
        sum += at;
    }
}
