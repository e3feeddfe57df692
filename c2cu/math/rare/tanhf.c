/* tanhf: no number. */

float c2cu_rare_tanhf(float x) {
    return x + x;
}
