/* atan: no number. */

double c2cu_rare_atan(double x) {
    return x + x;
}
