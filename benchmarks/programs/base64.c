#define N 48
unsigned char src[N]; char dst[N / 3 * 4];
static const char T[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
void base64(void) {
    for (int i = 0, o = 0; i < N; i += 3) {
        unsigned v = src[i] << 16 | src[i + 1] << 8 | src[i + 2];
        dst[o++] = T[v >> 18]; dst[o++] = T[v >> 12 & 63]; dst[o++] = T[v >> 6 & 63]; dst[o++] = T[v & 63];
    }
}
