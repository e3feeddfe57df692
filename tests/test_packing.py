"""What the gang brings in: only what the program may read, or leave as it was."""

import numpy as np

import c2cu

TEXT = """
float a[40], b[40], c[40], d[40];
void k(void) {
    for (int i = 0; i < 40; i++) b[i] = a[i] * 2;
    for (int i = 0; i < 40; i++) if (a[i] > 0) c[i] = b[i]; else c[i] = -b[i];
    for (int i = 0; i < 39; i++) d[i] = b[i];
}
"""


def test_what_is_written_whole_is_not_packed():
    program = c2cu.compile(TEXT, backend="cpu")
    rng = np.random.default_rng(0)
    a, d = (rng.normal(size=(100, 40)).astype("f") for _ in range(2))
    out = program({"a": a, "d": d})
    before = program.source.split("kernel(g);")[0].split("long first = begin")[1]
    assert "slot[0].in" in before and "slot[3].in" in before
    assert "slot[1].in" not in before and "slot[2].in" not in before
    assert np.array_equal(out["b"], a * 2) and np.array_equal(out["c"], np.abs(a * 2))
    assert np.array_equal(out["d"][:, :39], (a * 2)[:, :39]) and np.array_equal(out["d"][:, 39], d[:, 39])
