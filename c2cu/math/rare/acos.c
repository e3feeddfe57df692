/* acos: no number. */

double c2cu_rare_acos(double x) {
    return (x - x) / (x - x);
}
