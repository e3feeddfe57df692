/* acosf: no number. */

float c2cu_rare_acosf(float x) {
    return (x - x) / (x - x);
}
