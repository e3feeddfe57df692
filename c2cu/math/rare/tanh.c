/* tanh: no number. */

double c2cu_rare_tanh(double x) {
    return x + x;
}
