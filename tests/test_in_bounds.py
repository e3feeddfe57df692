"""Branches on data whose arms touch what is in bounds whatever the data: lanes do them without a jump."""

import numpy as np
import pytest

import c2cu
from c2cu.frontend.preprocess import Source
from c2cu.ir.nodes import If, Store
from c2cu.ir.walk import statements
from c2cu.pipeline import Options, understand
from c2cu.transform.in_bounds import in_bounds
from tests.oracle import Original, same

P = 41
#: statements of the kernel -> whether they jump
PROGRAMS = {
    "for (int i = 0; i < 64; i++) if (a[i] > 3) x[i] = b[i];": False,
    "for (int i = 63; i >= 0; i--) if (a[i] > 3) x[i] = b[63 - i];": False,
    "for (int i = 0; i < 63; i++) if (a[i] > 3 && b[i + 1] > 3) n += a[i];": False,
    "for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) { int at = 8 * i + j; if (a[j] > 3) x[at] = b[at]; }": False,
    "for (int i = 1; i < 64; i++) for (int j = i; j < 64; j += 3) if (a[i] > 3) x[j] += b[j];": False,
    "for (int i = 0; i < 64; i++) if (a[i] > 3) { if (b[i] > 4) x[i] = 1; else x[i] = 2; }": False,
    "for (int i = 0; i < 65; i++) if (a[i & 63] > 9 && i < 64) x[i] = b[i];": True,  # the last one is not in bounds
    "int i = 0; while (i < 64) { if (a[i] > 3) x[i] = b[i]; i += 1 + (i == 62); }": True,  # no counted loop
    "for (int i = 0; i < 64; i++) if (a[i] > 3) x[a[i] & 63] = 1;": True,  # data tells where
    "for (int i = 0; i < 64; i++) if (a[i] > 3) { x[i] = b[i]; y[i] = n; z[i] = 3; }": True,  # much of it
    "for (int i = 0; i < 64; i++) if (a[i] > 3) x[i] = 100 / b[i];": True,  # not cheap
}


@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize("body", PROGRAMS)
def test_equal_to_gcc(body):
    text = f"int a[64], b[64], x[64], y[64], z[64], n;\nvoid f(void) {{ {body} }}\n"
    program = c2cu.compile(text, backend="cpu", schedule="gang")
    assert ("if (any(" in program.source) == PROGRAMS[body]
    rng = np.random.default_rng(len(body))
    given = {s.name: rng.integers(1, 9, (P, *s.shape)).astype(s.dtype) for s in program.slots if s.reads}
    original = Original(text, "f", [(s.name, s.dtype, s.shape) for s in program.slots])
    made, right = program(given), original.bulk(given, P, fresh=True)
    for name, array in made.items() if isinstance(made, dict) else [(program.slots[-1].name, made)]:
        assert same(array, right[name]), name


@pytest.mark.parametrize(
    "loop",
    [
        "for (unsigned i = 4000; i >= 3; i -= 7000) { if (a[i & 15] > 1000) s += b[i]; else s += 3; if (++c == 70000) break; }",
        "for (unsigned i = 4000; i >= 3; i -= 7000) { if (a[i & 15] > 1000) s += b[i]; else s += 3; if (s > 30000) break; }",
        "for (int i = 4000; (unsigned)i >= 3u; i -= 100003) { if (a[i & 15] > 1000) { b[i] = i; s++; } else s += 3; if (i < -9999999) break; }",
        "for (unsigned i = 4000; i < 4001; i += -1) { if (a[i & 15] > 1000) s += b[4000 - i]; else s += 3; }",
        "for (unsigned char i = 250; i < 255; i += 3) { if (a[i & 15] > 1000) s += b[4200 - i]; else s += 3; if (++c == 900) break; }",
    ],
)
@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
def test_counters_that_wrap_around_or_are_converted(loop):
    text = f"int a[16], b[4001], m;\nvoid f(void) {{ int s = 0, c = 0; {loop} m = s + c; }}\n"
    a = np.random.default_rng(0).integers(0, 50, (P, 16), "i4")
    program = c2cu.compile(text, backend="cpu", schedule="gang", verify=False, outputs=["m"])
    assert "if (any(" in program.source
    given = {s.name: a if s.name == "a" else np.zeros((P, *s.shape), s.dtype) for s in program.slots if s.reads}
    native = c2cu.compile(text, backend="cpu", schedule="native", outputs=["m"])
    assert same(program(given), native(given))


def test_what_changes_on_the_way_is_not_known():
    text = """
    int a[64], x[64];
    void f(void) {
        for (int i = 0; i < 60; i++) {
            int j = i;
            if (a[i] > 3) x[j] = 1;
            j += 4;
            if (a[i] > 4) x[j] = 2;
            j += a[0] & 1;
            if (a[i] > 5) x[j] = 3;
            j = i * i;
            if (j < 64) if (a[i] > 6) x[j] = 4;
        }
    }
    """
    kernel = understand(Source("<input>", text), Options(fn="f")).analysed().kernel
    inside = in_bounds(kernel.body)
    known = {}
    for s in statements(kernel.body):
        if isinstance(s, If):
            for x in s.then:
                if isinstance(x, Store):
                    known[x.value.value] = (x.region, x.index) in inside[id(s)]
    assert known == {1: True, 2: True, 3: False, 4: False}
