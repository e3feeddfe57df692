/* Many divisions by constants of numbers that are next to nothing: products would not be exact. */
double x[8], r[8];

void zero_divided(void) {
    for (int k = 0; k < 8; k++) r[k] = x[k] / 3 + x[k] / 7 + x[k] / 11 + x[k] / 13;
}
