/* erf: what is tiny is scaled, so that no product is subnormal. */

double c2cu_rare_erf(double x) {
    return 0.0625 * (16.0 * x + (16.0 * 0x1.06eba8214db69p-3) * x);
}
