/* Montgomery modulo multiplication: r = x * y * 2^-BITS mod m, for an odd m and x, y < m.
 *
 * Coarsely integrated operand scanning: one row of the product and one step of the reduction in turn, in limbs of 32
 * bits, least significant first. No address and no branch depends on the numbers.
 *
 * stdin: x, y and m in hexadecimal, BITS / 4 digits each. stdout: r, likewise.
 */
#include <stdint.h>
#include <stdio.h>

#define BITS 512
#define LIMBS (BITS / 32)

uint32_t x[LIMBS], y[LIMBS], m[LIMBS];
uint32_t r[LIMBS];

/* -1 / m0 modulo 2^32 by Newton's iteration: each turn doubles the number of right bits. */
static uint32_t negative_inverse(uint32_t m0) {
    uint32_t inverse = m0;
    for (int i = 0; i < 5; i++)
        inverse *= 2 - m0 * inverse;
    return -inverse;
}

void montgomery(void) {
    uint32_t t[LIMBS + 2] = {0};
    uint32_t minus = negative_inverse(m[0]);
    for (int i = 0; i < LIMBS; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < LIMBS; j++) {
            uint64_t s = (uint64_t)x[j] * y[i] + t[j] + carry;
            t[j] = (uint32_t)s;
            carry = s >> 32;
        }
        uint64_t top = (uint64_t)t[LIMBS] + carry;
        t[LIMBS] = (uint32_t)top;
        t[LIMBS + 1] = (uint32_t)(top >> 32);

        uint32_t q = t[0] * minus;
        carry = ((uint64_t)q * m[0] + t[0]) >> 32;
        for (int j = 1; j < LIMBS; j++) {
            uint64_t s = (uint64_t)q * m[j] + t[j] + carry;
            t[j - 1] = (uint32_t)s;
            carry = s >> 32;
        }
        top = (uint64_t)t[LIMBS] + carry;
        t[LIMBS - 1] = (uint32_t)top;
        t[LIMBS] = t[LIMBS + 1] + (uint32_t)(top >> 32);
    }
    /* t < 2 m: subtract m where that does not borrow, by a mask and not by a branch. */
    uint64_t borrow = 0;
    for (int j = 0; j < LIMBS; j++) {
        uint64_t d = (uint64_t)t[j] - m[j] - borrow;
        r[j] = (uint32_t)d;
        borrow = d >> 63;
    }
    uint32_t keep = (uint32_t)0 - (uint32_t)(borrow > t[LIMBS]);
    for (int j = 0; j < LIMBS; j++)
        r[j] = (t[j] & keep) | (r[j] & ~keep);
}

static int read_number(uint32_t *a) {
    for (int i = LIMBS - 1; i >= 0; i--)
        if (scanf("%8x", &a[i]) != 1)
            return 0;
    return 1;
}

int main(void) {
    if (!read_number(x) || !read_number(y) || !read_number(m))
        return 1;
#pragma kernel
    montgomery();
    for (int i = LIMBS - 1; i >= 0; i--)
        printf("%08x", (unsigned)r[i]);
    printf("\n");
    return 0;
}
