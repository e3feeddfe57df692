/* The 8 check bytes of a Reed-Solomon code over GF(256) for 48 bytes, by logarithms that are filled at the first product. */
#define CHECKS 8
unsigned char message[48], check[CHECKS];

static unsigned char power[512], logarithm[256], generator[CHECKS + 1];

static void fill(void) {
    int v = 1;
    for (int i = 0; i < 255; i++) {
        power[i] = power[i + 255] = v;
        logarithm[v] = i;
        v <<= 1;
        if (v & 256) v ^= 0x11d;
    }
}

static int product(int a, int b) {
    if (!power[0]) fill();
    return a && b ? power[logarithm[a] + logarithm[b]] : 0;
}

void reed_solomon(void) {
    static const unsigned char roots[CHECKS] = {1, 2, 4, 8, 16, 32, 64, 128};
    for (int i = 0; i <= CHECKS; i++) generator[i] = i == 0;
    for (int i = 0; i < CHECKS; i++)
        for (int j = i + 1; j > 0; j--) generator[j] ^= product(generator[j - 1], roots[i]);
    for (int i = 0; i < CHECKS; i++) check[i] = 0;
    for (int i = 0; i < 48; i++) {
        int feedback = message[i] ^ check[0];
        for (int j = 0; j < CHECKS; j++)
            check[j] = (j + 1 < CHECKS ? check[j + 1] : 0) ^ product(feedback, generator[j + 1]);
    }
}
