/* CRC-32 of 64 bytes, by a table that is filled when it is first needed. */
unsigned char text[64];
unsigned crc;

static unsigned table[256];
static int ready;

static void fill(void) {
    for (unsigned i = 0; i < 256; i++) {
        unsigned c = i;
        for (int k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ c >> 1 : c >> 1;
        table[i] = c;
    }
    ready = 1;
}

void crc32_filled(void) {
    unsigned c = ~0u;
    if (!ready) fill();
    for (int i = 0; i < 64; i++) c = table[(c ^ text[i]) & 255] ^ c >> 8;
    crc = ~c;
}
