/* Key stretching: ROUNDS rounds of add, rotate and xor on a state of four words, so that guessing a key costs time.
 *
 * The rounds are the quarter round of ChaCha (RFC 8439, section 2.1).
 */
#include <stdint.h>
#define ROUNDS 20000

uint32_t key[4];

static uint32_t rotate(uint32_t x, int by) {
    return x << by | x >> (32 - by);
}

void stretch(void) {
    uint32_t a = key[0], b = key[1], c = key[2], d = key[3];
    for (int i = 0; i < ROUNDS; i++) {
        a += b, d = rotate(d ^ a, 16);
        c += d, b = rotate(b ^ c, 12);
        a += b, d = rotate(d ^ a, 8);
        c += d, b = rotate(b ^ c, 7);
    }
    key[0] = a, key[1] = b, key[2] = c, key[3] = d;
}
