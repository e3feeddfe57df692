"""Products of 64 bits as sums of two doubles (c2cu/math/extended.h), beside the x87's, whose registers have as many."""

import ctypes
import platform

import pytest

from c2cu.schedule.gang.functions import FOLDER
from tests.compiled import compiled_once, loaded

#: Of a of 64 bits and b of 53: any; those of which the product is next to the middle between two numbers of 64 bits,
#: or in it; those of which it is next to a power of 2.
TEXT = """
#include "EXTENDED"
#include <stdlib.h>
typedef unsigned long word;
static word any(void) { return (word)random() << 40 ^ (word)random() << 20 ^ random(); }
/* The a, with high bits that do not matter, of which a b ends in these bits. */
static word ending(word bits, word b) {
    word inverse = b;
    for (int n = 0; n < 6; n++) inverse *= 2 - b * inverse;
    return bits * inverse;
}
long different(long count, int kind) {
    long wrong = 0;
    for (long k = 0; k < count; k++) {
        word b = any() >> 12 | 1UL << 52 | 1, a = any() | 1UL << 63;
        int end = 51 + random() % 2;
        word keep = (1UL << (end + 1)) - 1;
        if (kind == 1) a = (a & ~keep) | (ending((1UL << end) + random() % 5 - 2, b) & keep);
        if (kind == 2) a = ((unsigned __int128)1 << 116) / b;
        long double product = (long double)a * b;
        double high = a, rest = (long double)a - high;
        high = c2cu_product_64(high, rest, b, 0.0, &rest);
        wrong += (long double)high + rest != product || high != (double)product;
    }
    return wrong;
}
"""


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="long double has other bits")
@pytest.mark.parametrize("kind", [0, 1, 2])
def test_products_are_those_of_the_x87(kind):
    text = TEXT.replace("EXTENDED", str(FOLDER / "extended.h"))
    command = ["gcc", "-O2", "-march=native", "-ffp-contract=off", "-shared", "-fPIC", "-w", "-x", "c", "-", "-lm"]
    run = loaded(compiled_once(command, text)).different
    run.restype = ctypes.c_long
    assert run(ctypes.c_long(300_000), kind) == 0
