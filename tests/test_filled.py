"""Tables that a program fills with the same numbers whatever the data are constants; all others stay what they are."""

import numpy as np
import pytest

import c2cu
from c2cu import pipeline
from c2cu.frontend.preprocess import read_source
from c2cu.schedule.choose import choose
from tests import test_standalone_schedules as standalone
from tests.cuda_host import run_on_cpu
from tests.oracle import Original, same
from tests.sample import sampled, slow

P = 70
VARIABLES = [("x", "u1", (8,)), ("y", "u4", (8,))]
HEAD = "unsigned char x[8]; unsigned y[8];\n"
CRC = "for (unsigned i = 0; i < 256; i++) { unsigned c = i; for (int k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ c >> 1 : c >> 1; t[i] = c; }"
LOOK = "unsigned c = ~0u; for (int i = 0; i < 8; i++) y[i] = c = t[(c ^ x[i]) & 255] ^ c >> 8;"
FILLED = {  # the text, and how many arrays become constants
    "at each call": (f"static unsigned t[256];\nvoid k(void) {{ {CRC} {LOOK} }}", 1),
    "a local array": (f"void k(void) {{ unsigned t[256]; {CRC} {LOOK} }}", 1),
    "under a flag": (
        f"static unsigned t[256]; static int ready;\nvoid k(void) {{ if (!ready) {{ {CRC} ready = 1; }} {LOOK} }}",
        1,
    ),
    "under a flag that is set first": (
        f"#include <stdbool.h>\nstatic unsigned t[256]; static bool ready = false;\n"
        f"static void fill(void) {{ if (ready) return; ready = true; {CRC} }}\nvoid k(void) {{ fill(); {LOOK} }}",
        1,
    ),
    "a flag of another kind": (
        f"enum state {{ NEW = 3, OLD }};\nstatic enum state s = NEW; static unsigned t[256];\n"
        f"void k(void) {{ if (s == NEW) {{ {CRC} s = OLD; }} {LOOK} }}",
        1,
    ),
    "under one of its own elements": (
        f"static unsigned t[256];\nstatic void fill(void) {{ {CRC} }}\nvoid k(void) {{ if (t[255] == 0) fill(); {LOOK} }}",
        1,
    ),
    "statics of a function that is called in a loop": (
        f"static unsigned at(unsigned n) {{ static unsigned t[256]; static int ready; if (!ready) {{ {CRC} ready = 1; }} "
        "return t[n]; }\nvoid k(void) { unsigned c = ~0u; for (int i = 0; i < 8; i++) y[i] = c = at((c ^ x[i]) & 255) ^ c >> 8; }",
        1,
    ),
    "in a loop, in two places": (
        f"static unsigned t[256]; static int ready;\nstatic void fill(void) {{ if (!ready) {{ {CRC} ready = 1; }} }}\n"
        "static unsigned step(unsigned c, int b) { fill(); return t[(c ^ b) & 255] ^ c >> 8; }\n"
        "void k(void) { unsigned c = 0; for (int i = 0; i < 8; i++) { c = step(c, x[i]); if (i & 1) c = step(c, 7); y[i] = c; } }",
        1,
    ),
    "two, one from the other": (
        "static unsigned char e[512], l[256]; static int done;\n"
        "static void fill(void) { int v = 1; for (int i = 0; i < 255; i++) { e[i] = e[i + 255] = v; l[v] = i; "
        "v <<= 1; if (v & 256) v ^= 0x11d; } done = 1; }\n"
        "static int product(int a, int b) { if (!done) fill(); return a && b ? e[l[a] + l[b]] : 0; }\n"
        "void k(void) { for (int i = 0; i < 8; i++) y[i] = product(x[i], x[7 - i]); }",
        2,
    ),
    "of doubles": (
        "static double t[64]; static int ready;\nvoid k(void) { if (!ready) { t[0] = 1; for (int i = 1; i < 64; i++) "
        "t[i] = t[i - 1] / 3 + 0.1f * i; ready = 1; } for (int i = 0; i < 8; i++) y[i] = t[x[i] & 63] * 1e6; }",
        1,
    ),
    "in members": (
        "static struct { int ready; unsigned short t[64]; } s;\nvoid k(void) { if (!s.ready) { for (int i = 0; i < 64; i++) "
        "s.t[i] = i * i; s.ready = 1; } for (int i = 0; i < 8; i++) y[i] = s.t[x[i] & 63]; }",
        1,
    ),
    "where data decides": (
        f"static unsigned t[256]; static int ready;\nvoid k(void) {{ for (int i = 0; i < 8; i++) {{ y[i] = 9; if (x[i] > 99) "
        f"{{ if (!ready) {{ {CRC} ready = 1; }} y[i] = t[x[i]]; }} }} }}",
        1,
    ),
    "two arms that leave the same": (
        "static int t[64]; static int s;\nvoid k(void) { for (int i = 0; i < 8; i++) { if (x[i] & 1) { if (s == 0) "
        "{ for (int j = 0; j < 64; j++) t[j] = 3 * j; s = 1; } } else if (s == 0) { for (int j = 63; j >= 0; j--) "
        "t[j] = j + 2 * j; s = 1; } y[i] = t[x[i] & 63]; } }",
        1,
    ),
    "in many places": (
        f"static unsigned t[256]; static int ready;\nstatic void fill(void) {{ if (ready) return; {CRC} ready = 1; }}\n"
        "static unsigned step(unsigned c, int b) { fill(); return t[(c ^ b) & 255] ^ c >> 8; }\nvoid k(void) { unsigned c = 0; "
        + " ".join(f"c = step(c, x[{i % 8}]);" for i in range(40))
        + " y[0] = c; for (int i = 1; i < 8; i++) y[i] = 0; }",
        1,
    ),
    "a struct of tables": (
        "static struct { unsigned a, b; } s[64]; static int ready;\nvoid k(void) { if (!ready) { for (int i = 0; i < 64; i++) "
        "s[i].a = i * i, s[i].b = i ^ 5; ready = 1; } for (int i = 0; i < 8; i++) y[i] = s[x[i] & 63].a + s[x[7 - i] & 63].b; }",
        2,
    ),
    "elements that nothing fills": (
        "static int t[64]; static int ready;\nvoid k(void) { if (!ready) { for (int i = 1; i < 60; i += 2) t[i] = 5 * i; "
        "ready = 1; } for (int i = 0; i < 8; i++) y[i] = t[x[i] & 63]; }",
        1,
    ),
}
OTHERS = {
    "a flag that data sets": f"static unsigned t[256]; static int ready;\nvoid k(void) {{ if (!ready) {{ {CRC} ready = x[0] & 1; }} {LOOK} }}",
    "filled from data": "static int t[64]; static int ready;\nvoid k(void) { if (!ready) { for (int i = 0; i < 64; i++) t[i] = x[i & 7]; "
    "ready = 1; } for (int i = 0; i < 8; i++) y[i] = t[x[i] & 63]; }",
    "written later too": f"static unsigned t[256]; static int ready;\nvoid k(void) {{ if (!ready) {{ {CRC} ready = 1; }} {LOOK} t[x[0]] = 1; y[0] = t[x[1]]; }}",
    "read before": f"static unsigned t[256]; static int ready;\nvoid k(void) {{ y[0] = t[x[0]]; if (!ready) {{ {CRC} ready = 1; }} {LOOK} y[7] = t[x[1]]; }}",
    "not filled on one path": f"static unsigned t[256]; static int ready;\nvoid k(void) {{ if (x[0] & 1) if (!ready) {{ {CRC} ready = 1; }} {LOOK} }}",
    "a flag that is used": f"static unsigned t[256]; static int ready;\nvoid k(void) {{ if (!ready) {{ {CRC} ready = 5; }} {LOOK} y[0] += ready; }}",
    "two arms, of which both are taken": (
        "static int t[64]; static int ready;\nvoid k(void) { if (!ready) { for (int i = 0; i < 64; i++) t[i] += i + 1; ready = 1; } "
        "if (ready != 2) { for (int i = 0; i < 64; i++) t[i] += i + 1; ready = 2; } for (int i = 0; i < 8; i++) y[i] = t[x[i] & 63]; }"
    ),
    "a member that stays": (
        "static struct { unsigned t[256]; unsigned n; } s;\nvoid k(void) { for (unsigned i = 0; i < 256; i++) s.t[i] = i * i; "
        "s.n += x[0]; for (int i = 0; i < 8; i++) y[i] = s.t[x[i]] + s.n; }"
    ),
    "a member that data sets": (
        "static struct { unsigned t[256]; unsigned n; } s;\nvoid k(void) { for (unsigned i = 0; i < 256; i++) s.t[i] = i * i; "
        "s.n = x[0]; for (int i = 0; i < 8; i++) y[i] = s.t[x[i]] + s.n; }"
    ),
    "one half of each": (
        "static struct { unsigned a, n; } s[64];\nvoid k(void) { for (int i = 0; i < 64; i++) s[i].a = i * i; for (int i = 0; i < 64; i++) "
        "s[i].n = x[i & 7]; for (int i = 0; i < 8; i++) y[i] = s[x[i] & 63].a + s[3].n; }"
    ),
    "a flag that ends again": f"static unsigned t[256]; static int ready;\nvoid k(void) {{ for (int j = 0; j < 2; j++) {{ if (!ready) {{ {CRC} ready = 1; }} {LOOK} ready = x[0] & 1; }} }}",
    "a flag that has another arm": f"static unsigned t[256]; static int ready;\nvoid k(void) {{ for (int j = 0; j < 2; j++) {{ if (!ready) {{ {CRC} ready = 1; }} else t[5] = j; {LOOK} }} }}",
    "it counts": f"static unsigned t[256]; static int calls;\nvoid k(void) {{ if (!calls++) {{ {CRC} }} {LOOK} y[1] += calls; }}",
    "what it does more": f"static unsigned t[256], n; static int ready;\nvoid k(void) {{ if (!ready) {{ {CRC} ready = 1; y[3] = 4; n = 3; }} {LOOK} y[2] += n; }}",
    "a part at each call": "static int t[64];\nvoid k(void) { for (int i = 1; i < 60; i += 2) t[i] = 5 * i; for (int i = 0; i < 8; i++) y[i] = t[x[i] & 63]; }",
    "a turn too late": f"static unsigned t[256]; static int ready;\nvoid k(void) {{ for (int i = 0; i < 8; i++) {{ y[i] = t[x[i]]; if (!ready) {{ {CRC} ready = 1; }} }} }}",
    "a scalar of the program's": "static int s;\nvoid k(void) { if (s) y[0] = 1; else y[0] = 2; s = 1; for (int i = 1; i < 8; i++) y[i] = x[x[i] & 7]; }",
}


def understood(text: str):
    return pipeline.understand(read_source(text), pipeline.Options(fn="k"))


def constants(front) -> int:
    return sum(r.storage == "shared" and r.count > 1 for r in front.analysis.kernel.regions)


@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize("name", sampled(FILLED, 5))
def test_it_is_a_table(name):
    text, tables = HEAD + FILLED[name][0], FILLED[name][1]
    front = understood(text)
    assert constants(front) == tables
    assert {s.name for s in front.slots if s.reads or s.writes} == {"x", "y"}
    inputs = {"x": np.random.default_rng(1).integers(0, 256, (P, 8)).astype("u1")}
    expected = Original(text, "k", VARIABLES).bulk(inputs, P, fresh=True)["y"]
    for schedule in ("gang", "gang:two", "native", "auto"):
        assert same(c2cu.bulk(text, inputs, fn="k", backend="cpu", schedule=schedule), expected), schedule
    for schedule in ("registers", "thread", "private"):
        assert same(run_on_cpu(choose(front, "cuda", schedule)[1], inputs, P)["y"], expected), schedule


@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize("name", sampled(OTHERS, 5))
def test_it_is_none(name):
    text = HEAD + OTHERS[name]
    front = understood(text)
    assert constants(front) == 0
    inputs = {"x": np.random.default_rng(1).integers(0, 256, (P, 8)).astype("u1")}
    asked = {s.name: np.zeros((P, *s.shape), s.dtype) for s in front.slots if s.required and s.name != "x"}
    variables = [*VARIABLES, *((n, a.dtype, a.shape[1:]) for n, a in asked.items())]
    expected = Original(text, "k", variables).bulk({**inputs, **asked}, P, fresh=True)
    for schedule in ("gang", "native", "auto"):
        result = c2cu.bulk(text, {**inputs, **asked}, fn="k", backend="cpu", schedule=schedule)
        for n, a in (result if isinstance(result, dict) else {"y": result}).items():
            assert n not in expected or same(a, expected[n]), (schedule, n)


@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize("schedule", ["gang", "native"])
def test_a_call_may_bring_them(schedule):
    """Then they are inputs and outputs as any others, in this call."""
    text = HEAD + FILLED["under a flag"][0]
    rng = np.random.default_rng(2)
    x, t = rng.integers(0, 256, (P, 8)).astype("u1"), rng.integers(0, 1 << 32, (P, 256), dtype="u4")
    program = c2cu.compile(text, fn="k", backend="cpu", schedule=schedule)
    filled = program({"x": x})
    brought = program({"x": x, "ready": np.ones(P, "i4"), "t": t})
    c, rows = np.full(P, ~np.uint32(0)), np.arange(P)
    for i in range(8):
        c = t[rows, (c ^ x[:, i]) & 255] ^ c >> 8
        assert same(brought["y"][:, i], c)
    assert set(brought) == {"t", "ready", "y"} and same(brought["t"], t)
    begun = program({"x": x, "ready": np.zeros(P, "i4"), "t": t})
    assert same(begun["y"], filled) and not same(begun["t"], t) and (begun["ready"] == 1).all()
    assert same(program({"x": x}), filled)


@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
def test_a_state_keeps_them():
    text = HEAD + FILLED["under a flag"][0]
    x = np.random.default_rng(3).integers(0, 256, (P, 8)).astype("u1")
    state = c2cu.compile(text, fn="k", backend="cpu").state(P)
    assert not np.asarray(state["ready"]).any()
    first = state.step({"x": x})
    assert np.asarray(state["ready"]).all() and same(np.asarray(state["t"])[0, :2], np.array([0, 0x77073096], "u4"))
    state["t"][...] = 0
    second = state.step({"x": x})
    assert same(first, c2cu.bulk(text, x, fn="k", backend="cpu")) and not same(first, second)


@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize("name", ["at each call", "under a flag"])
def test_a_table_may_be_asked_for(name):
    text = HEAD + FILLED[name][0]
    x = np.random.default_rng(5).integers(0, 256, (P, 8)).astype("u1")
    for schedule in ("gang", "native"):
        given = {"x": x, **READY[name]}
        t = c2cu.bulk(text, given, fn="k", backend="cpu", schedule=schedule, outputs=["t"])
        assert t.shape == (P, 256) and (t == t[0]).all() and t[0, 1] == 0x77073096
    brought = c2cu.bulk(text, {"x": x, "t": np.zeros((P, 256), "u4"), **READY[name]}, fn="k", backend="cpu")
    assert same(brought["t"], t)
    kept = c2cu.compile(
        f"{text.replace('{', '{ n++;', 1) if name == 'at each call' else text}".replace(
            "static unsigned t[256];", "static unsigned t[256], n = 0;"
        ),
        fn="k",
        backend="cpu",
    ).state(3)
    kept.step({"x": x[:3]})
    assert same(np.asarray(kept["t"]), t[:3])


READY = {"at each call": {}, "under a flag": {"ready": np.zeros(P, "i4")}}


@pytest.mark.parametrize("filled", [8, 16])
def test_what_nothing_fills_is_a_fault_where_it_is_read(filled):
    text = f"""{HEAD}void k(void) {{
        int t[16];
        for (int i = 0; i < {filled}; i++) t[i] = 3 * i;
        for (int i = 0; i < 8; i++) y[i] = x[x[i] & 7] + t[i + 1];
    }}"""
    if filled == 16:
        assert constants(understood(text)) == 1
        return
    with pytest.raises(c2cu.UnsupportedError, match="'t' is read before anything is written to it, where i = 7"):
        understood(text)


def test_what_others_name_is_no_table():
    """What main or another function may have done to it, nobody knows."""
    text = HEAD + FILLED["under a flag"][0]
    for other in ("void reset(void) { ready = 0; }", "unsigned *all(void) { return t; }", "int *where = &ready;"):
        assert constants(understood(f"{text}\n{other}")) == 0


def test_a_fill_that_takes_long_is_left():
    large = "static unsigned char t[1 << 24]; static int ready;"
    text = f"{HEAD}{large}\nvoid k(void) {{ if (!ready) {{ t[77] = 1; ready = 1; }} y[0] = t[x[0]]; }}"
    assert constants(understood(text)) == 0
    assert constants(understood(text.replace("1 << 24", "256"))) == 1
    fill = "for (int i = 0; i < 256; i++) { unsigned c = i; for (int k = 0; k < 5000; k++) c = c * 3 + 1; t[i] = c; }"
    text = f"{HEAD}static unsigned t[256];\nvoid k(void) {{ {fill} {LOOK} }}"
    assert constants(understood(text)) == 0
    forever = f"{HEAD}static unsigned t[256];\nvoid k(void) {{ if (!t[9]) {{ for (;;) t[9] = 1; }} {LOOK} }}"
    assert constants(understood(forever)) == 0


WHOLE = """#include <stdio.h>
static unsigned t[256]; static int ready;
unsigned char text[16]; unsigned sum;
static void fill(void) { %s ready = 1; }
void k(void) { if (!ready) fill(); unsigned c = ~0u; for (int i = 0; i < 16; i++) c = t[(c ^ text[i]) & 255] ^ c >> 8; sum = ~c; }
int main(void) {
    %s {
        if (scanf("%%15s", (char *)text) != 1) return 1;
        k();
        printf("%%08x ", sum);
    }
    return 0;
}
"""


@pytest.mark.parametrize("target, schedule", [("cpu", "gang"), *(slow(("cuda", s)) for s in ("thread", "registers"))])
def test_a_whole_program(target, schedule):
    text = (WHOLE % (CRC, "")).replace("     {\n", "").replace("    }\n    return", "    return")
    standalone.check(text, [f"word{k}\n" for k in range(5)], target, schedule=schedule)


@pytest.mark.parametrize("schedule", ["auto", "native"])
def test_a_whole_program_that_calls_twice(schedule):
    text = WHOLE % (CRC, "for (int turn = 0; turn < 2; turn++)")
    standalone.check(text, [f"word{k} and{k * k}\n" for k in range(5)], "cpu", schedule=schedule)
