/* Forward 8x8 discrete cosine transform in integers, in place, as JPEG encoders do it.
 *
 * Loeffler, Ligtenberg and Moschytz' factorisation with 12 products a row, in fixed point with 13 fraction bits: first
 * all rows, kept with two more bits, then all columns. The coefficients come out 8 times as large as the orthonormal
 * transform's. Samples are -128 .. 127.
 */
#define CONST_BITS 13
#define PASS1_BITS 2
#define DESCALE(x, n) (((x) + (1 << ((n) - 1))) >> (n)) /* x / 2^n, rounded */

/* Sums of sqrt(2) * cos(k pi / 16), with CONST_BITS fraction bits. */
#define K0_2986  2446 /* 0.298631336 */
#define K0_3901  3196 /* 0.390180644 */
#define K0_5411  4433 /* 0.541196100 */
#define K0_7653  6270 /* 0.765366865 */
#define K0_8999  7373 /* 0.899976223 */
#define K1_1758  9633 /* 1.175875602 */
#define K1_5013 12299 /* 1.501321110 */
#define K1_8477 15137 /* 1.847759065 */
#define K1_9615 16069 /* 1.961570560 */
#define K2_0531 16819 /* 2.053119869 */
#define K2_5629 20995 /* 2.562915447 */
#define K3_0727 25172 /* 3.072711026 */

short block[64];

/* The transform of d[0], d[stride], ..., d[7 * stride], times sqrt(8) and with CONST_BITS - down more bits. */
static void dct_1d(short *d, int stride, int down) {
    int s0 = d[0] + d[7 * stride], d7 = d[0] - d[7 * stride];
    int s1 = d[stride] + d[6 * stride], d6 = d[stride] - d[6 * stride];
    int s2 = d[2 * stride] + d[5 * stride], d5 = d[2 * stride] - d[5 * stride];
    int s3 = d[3 * stride] + d[4 * stride], d4 = d[3 * stride] - d[4 * stride];

    /* Even outputs: a transform of length 4 of the sums. */
    int e0 = s0 + s3, e3 = s0 - s3;
    int e1 = s1 + s2, e2 = s1 - s2;
    int z = (e2 + e3) * K0_5411;
    d[0] = DESCALE((e0 + e1) * (1 << CONST_BITS), down);
    d[4 * stride] = DESCALE((e0 - e1) * (1 << CONST_BITS), down);
    d[2 * stride] = DESCALE(z + e3 * K0_7653, down);
    d[6 * stride] = DESCALE(z - e2 * K1_8477, down);

    /* Odd outputs: rotations of the differences. */
    int u = -(d4 + d7) * K0_8999;
    int v = -(d5 + d6) * K2_5629;
    int w = (d4 + d5 + d6 + d7) * K1_1758;
    int p = w - (d4 + d6) * K1_9615;
    int q = w - (d5 + d7) * K0_3901;
    d[7 * stride] = DESCALE(d4 * K0_2986 + u + p, down);
    d[5 * stride] = DESCALE(d5 * K2_0531 + v + q, down);
    d[3 * stride] = DESCALE(d6 * K3_0727 + v + p, down);
    d[stride] = DESCALE(d7 * K1_5013 + u + q, down);
}

void dct(void) {
    for (int y = 0; y < 8; y++)
        dct_1d(block + 8 * y, 1, CONST_BITS - PASS1_BITS);
    for (int x = 0; x < 8; x++)
        dct_1d(block + x, 8, CONST_BITS + PASS1_BITS);
}
