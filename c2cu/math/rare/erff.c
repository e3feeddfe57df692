/* erff: what is tiny is scaled, so that no product is subnormal. */

float c2cu_rare_erff(float x) {
    return 0.0625f * (16.0f * x + (16.0f * 0x1.06eba8p-3f) * x);
}
