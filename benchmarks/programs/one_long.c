/* Turns that an input brings: one input in a thousand has a thousand times as many as the others. */
int turns;
double x, r;

void one_long(void) {
    double y = x;
    for (int k = 0; k < turns; k++) y = y * 0.75 + 1 / (y + 2);
    r = y;
}
