/* hypotf: in double. Rare: what is not finite. */

float c2cu_hypotf(float x, float y) {
    float result = (float) sqrt((double) x * (double) x + (double) y * (double) y);
    if (!(fabsf(x) <= 0x1.fffffep127f && fabsf(y) <= 0x1.fffffep127f)) result = hypotf(x, y);
    return result;
}
