/* atanhf: of 1 and -1 infinite, beyond no number. */

float c2cu_rare_atanhf(float x) {
    return fabsf(x) == 1.0f ? x * __builtin_inff() : (x - x) / (x - x);
}
