unsigned key[8], nonce[3], dst[16];
static unsigned rotl(unsigned x, int n) { return x << n | x >> (32 - n); }
#define Q(a, b, c, d) a += b; d = rotl(d ^ a, 16); c += d; b = rotl(b ^ c, 12); a += b; d = rotl(d ^ a, 8); c += d; b = rotl(b ^ c, 7)
void chacha20(void) {
    unsigned s[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}, x[16];
    for (int i = 0; i < 8; i++) s[4 + i] = key[i];
    s[12] = 1; for (int i = 0; i < 3; i++) s[13 + i] = nonce[i];
    for (int i = 0; i < 16; i++) x[i] = s[i];
    for (int i = 0; i < 10; i++) {
        Q(x[0], x[4], x[8], x[12]); Q(x[1], x[5], x[9], x[13]); Q(x[2], x[6], x[10], x[14]); Q(x[3], x[7], x[11], x[15]);
        Q(x[0], x[5], x[10], x[15]); Q(x[1], x[6], x[11], x[12]); Q(x[2], x[7], x[8], x[13]); Q(x[3], x[4], x[9], x[14]);
    }
    for (int i = 0; i < 16; i++) dst[i] = x[i] + s[i];
}
