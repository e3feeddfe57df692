/* atanf: no number. */

float c2cu_rare_atanf(float x) {
    return x + x;
}
