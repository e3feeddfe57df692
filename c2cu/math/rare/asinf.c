/* asinf: no number. */

float c2cu_rare_asinf(float x) {
    return (x - x) / (x - x);
}
