"""Two gangs side by side, schedule gang:two: the bits of the C, whatever they share and however few inputs there are."""

import numpy as np
import pytest

import c2cu
from c2cu import pipeline
from c2cu.base import toolchain
from c2cu.frontend.preprocess import read_source
from c2cu.schedule.gang.chains import has_chains

KERNELS = {
    "chain": "unsigned s; unsigned y[20]; void k(void) { for (int i = 0; i < 20; i++) { s = s * 1664525u + 1013904223u; y[i] = s >> 8; } }",
    "shared": "const double w[8] = {1, 2, 3, 4, 5, 6, 7, 8.5}; double x[8]; double s; void k(void) { s = 0; for (int i = 0; i < 8; i++) s = s * w[i] + x[i]; }",
    "uniform": "int x[9]; int y[9]; void k(void) { int t[9]; int n = 0; for (int i = 0; i < 9; i++) { t[i] = (i * 7) % 9; n += t[i]; }"
    " for (int i = 0; i < 9; i++) { if (t[i] > 4) y[i] = x[t[i]] + n; else y[i] = -x[i]; n ^= i; } }",
    "large": "int x[4]; int y[4]; void k(void) { int t[5000]; for (int i = 0; i < 5000; i++) t[i] = i ^ 21; for (int i = 0; i < 4; i++) y[i] = x[i] + t[4000 + i]; }",
    "branches": "int x[8]; int y[8]; void k(void) { int a = 0; for (int i = 0; i < 8; i++) { if (x[i] > 3) { a += x[i]; y[i] = a * 2;"
    " if (a & 1) y[i] -= 7; else { y[i] ^= a; a--; } } else if (x[i] < -3) a = -a; } y[0] += a; }",
    "narrow": "unsigned char a[24], b[24]; int best; void k(void) { int row[25]; for (int j = 0; j < 25; j++) row[j] = 0; best = 0;"
    " for (int i = 0; i < 24; i++) { int d = 0; for (int j = 1; j < 25; j++) { int t = row[j]; int v = d + (a[i] == b[j - 1] ? 2 : -1);"
    " if (t - 1 > v) v = t - 1; if (row[j - 1] - 1 > v) v = row[j - 1] - 1; if (v < 0) v = 0; row[j] = v; d = t; if (v > best) best = v; } } }",
    "tables": "static const unsigned char T[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3}; static const double U[4] = {0.5, 1.5, 2.25, 8};"
    " int x[6]; double y[6]; void k(void) { for (int i = 0; i < 6; i++) y[i] = U[x[i] & 3] + T[x[i] & 15] * T[(x[i] >> 3) & 15]; }",
    "functions": "#include <math.h>\ndouble x[3]; double y[4]; void k(void) { double s = 0; for (int i = 0; i < 3; i++) { s += sin(x[i]) * cos(x[i]);"
    " y[i] = exp(-s) + floor(x[i]) + sqrt(fabs(x[i])); } y[3] = pow(fabs(s), 1.5); }",
    "uniform pair": "#include <math.h>\ndouble a; double y[3]; void k(void) { double u = 0.5, v; for (int i = 0; i < 50; i++) { u = sin(u);"
    " v = cos(u); y[0] += v * a; y[1] += v * v * a; y[2] += sin(a + i) * cos(a + i); } }",
    "neighbours": "static const double T[40] = {1, 2.5, 4, 8.25, 3, 7.5, 9, 1.5, 2, 6}; int i; double y; void k(void) { y = T[i + 4] * T[i + 5]; }",
    "scatter": "int x[8]; int c[4]; void k(void) { for (int i = 0; i < 4; i++) c[i] = 0; for (int i = 0; i < 8; i++) c[x[i] & 3] += i; }",
    "nothing": "int a[3]; void k(void) {}",
}
SIZES = [0, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100]


@pytest.mark.parametrize("kernel", KERNELS)
def test_bits(kernel):
    text = KERNELS[kernel]
    program = c2cu.compile(text, fn="k", backend="cpu", schedule="gang:two", verify=False)
    right = c2cu.compile(text, fn="k", backend="cpu", schedule="native")
    assert program.plan.schedule == "gang:two"
    rng = np.random.default_rng(0)
    for p in SIZES:
        inputs = {}
        for slot in program.slots:
            if slot.reads:
                kind, size = np.dtype(slot.dtype).kind, (p, *slot.shape)
                numbers = rng.uniform(-9, 9, size) if kind == "f" else rng.integers(0, 9, size)
                inputs[slot.name] = (numbers - (4 if kind == "i" else 0)).astype(slot.dtype)
        ours, theirs = program(inputs, p=p), right(inputs, p=p)
        if not isinstance(ours, dict):
            ours, theirs = {"": ours}, {"": theirs}
        for name, array in ours.items():
            assert array.tobytes() == theirs[name].tobytes(), (p, name)


@pytest.mark.parametrize("text, reason", [
    ("int k(const int a[1]) { int x = a[0], n = 0; while (x > 1) { x /= 2; n++; } return n; }", "data ends loops or inputs"),
    ("#include <stdlib.h>\nint k(int x) { if (x < 0) exit(3); return x + 1; }", "data ends loops or inputs"),
    ("int x[4]; int s; void k(void) { int n = 0; for (int i = 0; i < 4; i++) if (x[i] > 0) { for (n = 0; n < 999; n++) s += x[n & 3] * n; } }", "'n'"),
])  # fmt: skip
def test_what_is_not_taken(text, reason):
    with pytest.raises(c2cu.UnsupportedError) as caught:
        c2cu.compile(text, fn="k", backend="cpu", schedule="gang:two")
    assert caught.value.code == "C2CU332" and reason in str(caught.value)


def test_which_are_worth_a_comparison():
    """A recurrence is; turns that do not depend on one another are not."""
    chain = "unsigned s[2]; void k(void) { for (int i = 0; i < 500; i++) { s[0] = s[0] * 1664525u + 7u; s[1] ^= s[0] >> 9; } }"
    apart = "float a[64]; void k(void) { for (int i = 0; i < 64; i++) a[i] = a[i] * a[i] * a[i] + 1; }"
    if toolchain.vector_bytes() < 32:
        pytest.skip("vectors are too short")
    rival = c2cu.compile(chain, backend="cpu").plan.rival
    assert rival is not None and rival.schedule == "gang:two"
    plan = c2cu.compile(apart, backend="cpu").plan
    assert "gang:two" not in (plan.schedule, plan.rival and plan.rival.schedule)


def test_a_contest_with_two_gangs(monkeypatch):
    """Whoever wins, the results are the same, and the outcome is kept."""
    from c2cu.program import contest

    monkeypatch.setattr(contest, "ENOUGH", 0.0)
    monkeypatch.setattr(contest, "SHORT", 0.0)
    monkeypatch.setattr(contest, "SHARE", 1.0)
    monkeypatch.setattr(contest, "PIECE", 1e-5)
    monkeypatch.setattr("c2cu.schedule.gang.PAID", 0.0)
    chain = "unsigned s[2]; void k(void) { for (int i = 0; i < 499; i++) { s[0] = s[0] * 1664525u + 7u; s[1] ^= s[0] >> 9; } }"
    program = c2cu.compile(chain, backend="cpu")
    s = np.random.default_rng(0).integers(0, 1 << 32, (20_000, 2), dtype=np.uint32)
    right = c2cu.bulk(chain, s, backend="cpu", schedule="native")
    for _ in range(3):
        assert (program(s) == right).all()
    assert program.plan.measured is not None
    assert {str(c) for c, _ in program.plan.measured.times} == {"gang", "gang:two"}


def test_a_checksum_by_a_table_is_a_chain():
    """Data chooses what is loaded, so that the trace does not tell."""
    table = ", ".join(str(k * 2654435761 % 2**32) for k in range(256))
    text = f"static const unsigned t[256] = {{{table}}}; unsigned char x[64]; unsigned c;\n"
    chained = "void k(void) { c = 1; for (int i = 0; i < 64; i++) c = t[(c ^ x[i]) & 255] ^ c >> 8; }\n"
    apart = "unsigned y[64]; void k(void) { c = 1; for (int i = 0; i < 64; i++) y[i] = t[x[i]] >> 3; }\n"
    for body, expected in ((chained, True), (apart, False)):
        assert has_chains(pipeline.understand(read_source(text + body), pipeline.Options(fn="k"))) is expected
    x = np.random.default_rng(0).integers(0, 256, (99, 64), np.uint8)
    one, two = (c2cu.bulk(text + chained, {"x": x}, backend="cpu", schedule=s) for s in ("native", "gang:two"))
    assert np.array_equal(one, two)
