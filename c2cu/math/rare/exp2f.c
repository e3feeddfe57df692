/* exp2f: results that overflow or are zero; what is near half of the least number is that number. */

float c2cu_rare_exp2f(float x) {
    float result = x >= 128.0f ? __builtin_inff() : x <= -150.0f ? 0.0f : 0x1p-149f;
    return x != x ? x : result;
}
