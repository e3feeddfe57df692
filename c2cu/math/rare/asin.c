/* asin: no number. */

double c2cu_rare_asin(double x) {
    return (x - x) / (x - x);
}
