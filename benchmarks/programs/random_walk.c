/* A random walk until it is too far away. */
unsigned seed;
double barrier;
int steps;
void random_walk(void) {
    unsigned s = seed | 1;
    double x = 0;
    int n = 0;
    while (x < barrier && x > -barrier && n < 2000) {
        s ^= s << 13;
        s ^= s >> 17;
        s ^= s << 5;
        x += (double)s * 0x1p-32 - 0.5;
        n++;
    }
    steps = n;
}
