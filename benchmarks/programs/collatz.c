/* How many steps a number takes to 1 (Collatz). */
unsigned long start;
int steps;
void collatz(void) {
    unsigned long n = start;
    int k = 0;
    while (n != 1) {
        n = n & 1 ? 3 * n + 1 : n >> 1;
        k++;
    }
    steps = k;
}
