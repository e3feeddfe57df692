unsigned seed; unsigned dst[16];
void mersenne_twister(void) {
    unsigned s[624];
    s[0] = seed;
    for (int i = 1; i < 624; i++) s[i] = 1812433253u * (s[i - 1] ^ s[i - 1] >> 30) + i;
    for (int i = 0; i < 624; i++) {
        unsigned y = (s[i] & 0x80000000u) | (s[(i + 1) % 624] & 0x7fffffffu);
        s[i] = s[(i + 397) % 624] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
    }
    for (int i = 0; i < 16; i++) { unsigned y = s[i]; y ^= y >> 11; y ^= y << 7 & 0x9d2c5680u; y ^= y << 15 & 0xefc60000u; dst[i] = y ^ y >> 18; }
}
