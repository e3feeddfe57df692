/* How many steps a point takes to leave the circle of radius 2: another number for every point. */
#define MOST 1000

double x0, y0;
int steps;

void mandelbrot(void) {
    double x = 0, y = 0;
    steps = 0;
    while (steps < MOST && x * x + y * y <= 4) {
        double next = x * x - y * y + x0;
        y = 2 * x * y + y0;
        x = next;
        steps++;
    }
}
