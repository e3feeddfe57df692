/* Forward 8x8 discrete cosine transform in integers, in place, as JPEG encoders do it.
 *
 * Loeffler, Ligtenberg and Moschytz' factorisation with 12 products a row, in fixed point with 13 fraction bits: first
 * all rows, kept with two more bits, then all columns. The coefficients come out 8 times as large as the orthonormal
 * transform's. Samples are -128 .. 127.
 */
#define CONST_BITS 13
#define PASS1_BITS 2
#define DESCALE(x, n) (((x) + (1 << ((n) - 1))) >> (n))

#define FIX_0_298631336 2446
#define FIX_0_390180644 3196
#define FIX_0_541196100 4433
#define FIX_0_765366865 6270
#define FIX_0_899976223 7373
#define FIX_1_175875602 9633
#define FIX_1_501321110 12299
#define FIX_1_847759065 15137
#define FIX_1_961570560 16069
#define FIX_2_053119869 16819
#define FIX_2_562915447 20995
#define FIX_3_072711026 25172

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
    int z = (e2 + e3) * FIX_0_541196100;
    d[0] = DESCALE((e0 + e1) * (1 << CONST_BITS), down);
    d[4 * stride] = DESCALE((e0 - e1) * (1 << CONST_BITS), down);
    d[2 * stride] = DESCALE(z + e3 * FIX_0_765366865, down);
    d[6 * stride] = DESCALE(z - e2 * FIX_1_847759065, down);

    /* Odd outputs: rotations of the differences. */
    int z1 = -(d4 + d7) * FIX_0_899976223;
    int z2 = -(d5 + d6) * FIX_2_562915447;
    int z5 = (d4 + d5 + d6 + d7) * FIX_1_175875602;
    int z3 = z5 - (d4 + d6) * FIX_1_961570560;
    int z4 = z5 - (d5 + d7) * FIX_0_390180644;
    d[7 * stride] = DESCALE(d4 * FIX_0_298631336 + z1 + z3, down);
    d[5 * stride] = DESCALE(d5 * FIX_2_053119869 + z2 + z4, down);
    d[3 * stride] = DESCALE(d6 * FIX_3_072711026 + z2 + z3, down);
    d[stride] = DESCALE(d7 * FIX_1_501321110 + z1 + z4, down);
}

void dct(void) {
    for (int y = 0; y < 8; y++)
        dct_1d(block + 8 * y, 1, CONST_BITS - PASS1_BITS);
    for (int x = 0; x < 8; x++)
        dct_1d(block + x, 8, CONST_BITS + PASS1_BITS);
}
