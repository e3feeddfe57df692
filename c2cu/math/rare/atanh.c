/* atanh: of 1 and -1 infinite, beyond no number. */

double c2cu_rare_atanh(double x) {
    return fabs(x) == 1.0 ? x * __builtin_inf() : (x - x) / (x - x);
}
