/* CRC-32 of a message, four bits at a time: every step looks up a table at a place that the message decides. */
#define LENGTH 128

static const unsigned table[16] = {
    0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
    0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
};

unsigned char message[LENGTH];
unsigned crc;

void crc32(void) {
    crc = ~0u;
    for (int k = 0; k < LENGTH; k++) {
        crc ^= message[k];
        crc = table[crc & 15] ^ (crc >> 4);
        crc = table[crc & 15] ^ (crc >> 4);
    }
    crc = ~crc;
}
