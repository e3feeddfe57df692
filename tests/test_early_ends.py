"""Inputs that end early in SIMD lanes: schedule gang has native do them again, and all comes out as under native."""

import subprocess
import sys
from contextlib import nullcontext

import numpy as np
import pytest

import c2cu
from c2cu.base import catalogue, toolchain
from c2cu.frontend.options import Options
from c2cu.frontend.preprocess import read_source
from c2cu.pipeline import understand
from c2cu.program import verify
from c2cu.schedule.choose import choose
from c2cu.standalone.library import library
from tests.early_programs import HEAD, PROGRAMS, inputs, text
from tests.oracle import same
from tests.sample import sampled

LANES = toolchain.vector_bytes() // 4
pytestmark = pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")


def compiled(name, schedule, **how):
    return c2cu.compile(
        text(name), fn="k", schedule=schedule, backend="cpu", status=True, stdio="discard", **{"verify": False, **how}
    )


def copied(arrays):
    return {n: a.copy() for n, a in arrays.items()}


@pytest.mark.costly
@pytest.mark.parametrize("name", sampled(PROGRAMS, 1))
def test_programs_under_gang(name):
    gang, native = compiled(name, "gang"), compiled(name, "native")
    assert not gang.report.why_not
    for p in (0, 1, LANES // 2 - 1, LANES + 1, 1000):
        arrays = inputs(name, p)
        ours, right = gang(copied(arrays), p=p), native(copied(arrays), p=p)
        assert ours.keys() == right.keys()
        for n in right:
            assert same(ours[n], right[n]), (n, p)
    assert right["status"].any() and not right["status"].all()


REFILL = ("collatz", "newton")


@pytest.mark.costly
@pytest.mark.parametrize("name", REFILL)
def test_lanes_that_end_early_refill(name):
    program = compiled(name, "gang")
    program(inputs(name, 9))
    assert program.loaded.artifact.refill


def random_program(rng):
    """Statements that may end the input, in loops that data ends and others."""

    def value():
        return rng.choice(["x", "y", "a[i & 7]", "a[x & 7]", "a[7]", "i", "t", str(rng.integers(-3, 9))])

    def condition():
        return f"{value()} {rng.choice(['<', '>', '==', '!='])} {value()}"

    def end():
        bad = rng.choice([f"{value()} == {rng.integers(20, 60)}", f"{value()} > {rng.integers(300, 3000)}"])
        return rng.choice(
            [
                f"assert(!({bad}));",
                f"if ({bad}) abort();",
                f"if ({bad}) {{ code = {value()}; die({rng.integers(0, 300)}); }}",
                f"t += checked({value()});",
                f"if ({bad}) exit({value()});",
                f"t = {bad} ? (die(7), 1) : {value()};",
            ]
        )

    def statement(depth):
        kind = rng.integers(0, 9)
        if kind < 3:
            return end()
        if kind < 5:
            to = rng.choice(["x", "y", "t", "a[i & 7]", "a[y & 7]"])
            return f"{to} {rng.choice(['=', '+=', '^='])} {value()} {rng.choice(['+', '-', '*'])} {value()};"
        if kind == 5:
            return f"t += {value()} / ({value()} | 1);"
        if kind == 6 or not depth:
            return f"if ({condition()}) {{ {body(depth - 1) if depth else end()} }}"
        if kind == 7:
            return f"for (int i = 0; i < {rng.integers(1, 5)}; i++) {{ {body(depth - 1)} }}"
        return (
            f"{{ int n = 0; while ({condition()} && n < checked({rng.integers(2, 9)})) {{ n++; {body(depth - 1)} }} }}"
        )

    def body(depth):
        return " ".join(statement(depth) for _ in range(rng.integers(1, 4)))

    return (
        HEAD
        + 'int a[8], code;\nstatic void die(int n) { fprintf(stderr, "%d", n); code++; exit(n); }\n'
        + "static int checked(int n) { if (n > 900) die(n); return n; }\n"
        + f"int k(int x, int y) {{ int i = 1, t = 0; {body(2)} {body(2)} {body(2)} return t; }}\n"
    )


def check_random(seed):
    rng = np.random.default_rng(seed)
    source = random_program(rng)
    how = {"fn": "k", "backend": "cpu", "status": True, "stdio": "discard", "verify": False}
    gang, native = (c2cu.compile(source, schedule=s, **how) for s in ("gang", "native"))
    for p in (1, LANES + 1, 300):
        arrays = {"a": rng.integers(-40, 60, (p, 8)), "x": rng.integers(-40, 400, p), "y": rng.integers(-9, 60, p)}
        arrays = {n: v.astype(np.int32) for n, v in arrays.items()}
        arrays["code"] = np.arange(p, dtype=np.int32)
        known = {s.name for s in native.slots if s.name in arrays}
        ours, right = (f({n: v.copy() for n, v in arrays.items() if n in known}, p=p) for f in (gang, native))
        assert ours.keys() == right.keys()
        for n in right:
            assert same(ours[n], right[n]), (seed, n, source)


@pytest.mark.costly
@pytest.mark.parametrize("seed", range(4))
def test_random_programs(seed):
    check_random(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4, 44))
def test_many_random_programs(seed):
    check_random(seed)


def test_an_input_that_ends_early_is_done_again_in_place():
    """What it has come in with is still there, though its results go to the same memory."""
    source = HEAD + "void k(int *a) { for (int i = 0; i < 4; i++) { a[i] += 1; assert(a[i] != 5); } }"
    a = np.arange(4000, dtype=np.int32).reshape(1000, 4) % 9
    right = c2cu.bulk(source, a, backend="cpu", schedule="native", status=True)
    b = a.copy()
    ours = c2cu.bulk(source, {"a": b}, backend="cpu", schedule="gang", status=True, out={"a": b})
    assert ours["a"] is b and same(b, right["a"]) and same(ours["status"], right["status"])


def test_inputs_that_end_early_raise():
    source = HEAD + "int n;\nint k(int x) { n = x + 1; if (x % 3 == 1) exit(x); return 2 * x; }"
    program = c2cu.compile(source, backend="cpu", schedule="gang")
    x = np.arange(300, dtype=np.int32)
    for _ in range(3):  # the first call is verified, and later ones are prepared
        with pytest.raises(c2cu.ExitError, match="100 of 300 inputs ended early, the first of them input 1 with") as e:
            program({"x": x})
        assert same(e.value.status, np.where(x % 3 == 1, x & 255, 0).astype(np.int32))
        assert same(e.value.outputs["n"], x + 1) and e.value.early.tolist() == (x % 3 == 1).tolist()
        assert same(e.value.outputs["return"], np.where(x % 3 == 1, 0, 2 * x).astype(np.int32))
    assert program({"x": x[::3].copy()})["return"].tolist() == (2 * x[::3]).tolist()


@pytest.mark.costly
@pytest.mark.parametrize("how", ["all", "strict"])
def test_verification_of_inputs_that_end_early(how, tmp_path, monkeypatch):
    """It sees a difference in inputs that return, and what has ended is native's."""
    monkeypatch.setenv("C2CU_CACHE_DIR", str(tmp_path))
    source = HEAD + "int k(int x) { assert(x != 3); return x * 5; }"
    x = np.arange(40, dtype=np.int32)
    with pytest.raises(c2cu.ExitError):
        c2cu.bulk(source, x, backend="cpu", schedule="gang", verify=how)
    proof = verify.Verification
    compare = proof._compared
    monkeypatch.setattr(proof, "_compared", lambda *a: compare(*a) or verify.Mismatch(7, "return", (), 1, 2))
    program = c2cu.compile(source.replace("5", "6"), backend="cpu", schedule="gang", verify=how)
    if how == "strict":
        with pytest.raises(c2cu.MismatchError):
            program(x)
        return
    for warns in (pytest.warns(c2cu.MismatchWarning), nullcontext()):
        with warns, pytest.raises(c2cu.ExitError) as e:
            program(x)
        assert e.value.outputs.tolist() == np.where(x == 3, 0, 6 * x).tolist() and e.value.status[3] == 134


@pytest.mark.parametrize("how", [False, "all"])
def test_a_stream_of_inputs_that_end_early(how):
    source = HEAD + "int n = 1;\nint k(int x) { n += x; if (x == 7) exit(n); return x; }"
    x = np.arange(9, dtype=np.int32)
    with c2cu.stream(source, [{"x": x}], group=3, backend="cpu", schedule="gang", verify=how) as results:
        assert [np.array(next(results)["n"]).tolist() for _ in range(2)] == [[1, 2, 3], [4, 5, 6]]
        with pytest.raises(c2cu.ExitError) as e:
            next(results)
    assert e.value.status.tolist() == [0, 8, 0] and e.value.outputs["n"].tolist() == [7, 8, 9]


def test_a_state_whose_inputs_end_early():
    source = HEAD + "int n = 0, last;\nint k(int x) { n += x; assert(n < 5); last = n; return n; }"
    states = [c2cu.compile(source, backend="cpu", schedule=s, verify=False).state(20) for s in ("gang", "native")]
    x = np.arange(20, dtype=np.int32) % 4
    for turn in range(4):
        outcomes = []
        for state in states:
            try:
                outcomes.append((state.step({"x": x}), np.zeros(20)))
            except c2cu.ExitError as e:
                outcomes.append((e.outputs, e.status))
        assert turn == 0 or outcomes[0][1].any() == (turn > 1 or 3 * 2 > 4)
        (ours, status), (right, right_status) = outcomes
        assert ours.keys() == right.keys() == {"return", "last"}
        assert all(same(ours[name], right[name]) for name in right)
        assert same(np.asarray(status), np.asarray(right_status))
        assert same(states[0]["n"], states[1]["n"])


def test_what_no_data_decides_ends_all():
    """A shared number that is out of range: nothing behind the check is touched."""
    source = HEAD + "double out[4];\nvoid k(const double *x, int n) {\n    assert(n <= 4);\n"
    source += "    for (int i = 0; i < n; i++) out[i] = 2 * x[i];\n}\n"
    program = c2cu.compile(source, backend="cpu", schedule="gang", status=True)
    x = np.arange(24.0).reshape(6, 4)
    assert same(program({"x": x}, shared={"n": 4})["out"], 2 * x)
    results = program({"x": x}, shared={"n": 1000})
    assert results["status"].tolist() == [134] * 6 and not results["out"].any()


def test_an_end_that_no_data_decides_before_a_loop_that_data_ends():
    source = HEAD + "int k(unsigned n, int m) {\n    int t = 0;\n    if (m > 5) exit(m);\n"
    source += "    while (n > 1) n = n & 1 ? 3 * n + 1 : n / 2, t++;\n    return t;\n}\n"
    gang, native = (c2cu.compile(source, backend="cpu", schedule=s, status=True) for s in ("gang", "native"))
    n = np.arange(40, dtype=np.uint32)
    for m in (3, 7):
        ours, right = (f({"n": n}, shared={"m": m}) for f in (gang, native))
        assert same(ours["return"], right["return"]) and same(ours["status"], right["status"])


def understood(source):
    return understand(read_source(source), Options(fn="k", stdio="discard"))


@pytest.mark.parametrize(
    ("body", "analysed"),
    [
        ('if (x < 0) { char *s = malloc(9); sprintf(s, "%d", x); puts(s); exit(1); } n = x;', True),
        ("char *s = realloc(0, 9); if (!s) abort(); n = x;", False),
        ('if (x < 0) { fprintf(stderr, "%d", rand()); fflush(stderr); abort(); } n = x;', True),
        ("if (x < 0) { if (n) return; n = rand(); exit(rand()); } n = x;", True),
        ("if (x < 0) { x = atexit(leave); if (n) return; exit(1); } n = x;", False),
        ("if (x < 0) { while (n--) rand(); exit(2); } n = x;", True),
        ("n = x; exit(x);", False),
        ("atexit(leave); if (x < 0) exit(1);", False),
        ("void (*f)(int) = exit; if (x < 0) f(1);", False),
        ("if (x < 0) { log_all(1, x); exit(2); } n = x;", True),
        ("if (x < 0) log_all(1, x); n = x;", False),
        ('switch (x) { case 1: printf("%d", rand()); exit(1); case 2: n = 1; } n = x;', True),
        ("if (x < 0) goto fail; n = x; return; fail: rand(); abort();", True),
        ("do { if (x < 0) { rand(); exit(1); } } while (0); n = x;", True),
    ],
)
def test_what_leads_to_an_end_need_not_be_understood(body, analysed):
    source = HEAD + "int n = 0;\nstatic void leave(void) { n++; }\n"
    source += 'static void log_all(int m, ...) { va_list l; va_start(l, m); vprintf("%d", l); va_end(l); }\n'
    front = understood(source + f"void k(int x) {{ {body} }}\n")
    assert (front.analysis is not None) == analysed and bool(front.ends) == analysed


def test_the_verdict_names_the_places():
    report = c2cu.check(HEAD + "int k(int x) {\n    assert(x);\n    if (x > 4) exit(1);\n    return x;\n}\n")
    assert report.notes[-1] == (
        "an input may end early, at <input>:7, <input>:8: schedule gang then has schedule native do this input again"
    )
    assert report.oblivious and not report.why_not


TABLES = """
typedef struct { double *c; int order; } series;
double even[4] = {1, .5, .25, .125};
int odd[4] = {1, 3, 5, 7};
series s = {even, 3};
struct { int *of; } t = {odd};
static void sum(const series *s, int x, double *r, int *n) {
    double d = 0;
    *n = 0;
    for (int j = s->order; j >= 0; j--) d = x * d + s->c[j], *n = *n % 7 + t.of[j];
    *r = d;
}
"""


@pytest.mark.parametrize(
    ("body", "written"),
    [
        ("sum(&s, x, &d, n);", []),
        ("sum(&s, x, &d, n); even[1] = d;", ["even"]),
        ("double *p; unsigned h[2]; memcpy(h, &s.c, 8); h[0] = h[0] + 0; memcpy(&p, h, 8); *p = x;", ["even", "s"]),
        ("union { int *p; unsigned h[2]; } u = {t.of}, w; w.h[0] = u.h[0] + 0; w.h[1] = u.h[1]; *w.p = x;", ["odd"]),
        ("unsigned long a = (unsigned long)s.c; a = a + 8; *(double *)a = x;", ["even", "s"]),
    ],
)
def test_what_sums_are_made_from_is_only_read(body, written):
    """Behind an end, what the kernel may write counts as written: not what numbers come from."""
    source = HEAD + "#include <string.h>\n" + TABLES
    source += f"double k(int x, int *n) {{ double d = 0; if (x > 99) {{ *n = 1; abort(); }} {body} return d; }}\n"
    outputs = {slot.name for slot in understood(source).slots if slot.writes} - {"n", "return"}
    assert outputs >= set(written) and (written or not outputs)


@pytest.mark.parametrize("schedule", ["registers", "scan", "block", "thread", "private", "auto"])
def test_a_gpu_does_not_have_it(schedule):
    front = understood(HEAD + "int k(int x) { assert(x); return x; }")
    with pytest.raises(c2cu.UnsupportedError) as e:
        choose(front, "cuda", schedule)
    assert e.value.code in (catalogue.ENDS_EARLY.code, catalogue.ENDS_PROCESS.code)


def test_translated_programs_stay_as_they_were():
    source = HEAD + 'int k(int x) { assert(x); return x; }\nint main(void) { int x; scanf("%d", &x);\n'
    source += '#pragma kernel\n    x = k(x);\n    printf("%d\\n", x); }\n'
    assert "c2cu_ended" not in c2cu.translate(source, p=3, target="cpu")
    with pytest.raises(c2cu.UnsupportedError) as e:
        library(understood(source), "k_bulk", target="cpu")
    assert e.value.code == catalogue.ENDS_EARLY.code


@pytest.mark.slow
def test_a_trap_ends_its_input_as_it_does_under_native():
    source = "int k(int x) { if (x > 3) __builtin_trap(); return 2 * x; }"
    code = "import c2cu, sys, numpy\n"
    code += f"f = c2cu.compile({source!r}, backend='cpu', schedule=sys.argv[1], verify=False)\n"
    code += "f(numpy.arange(4, dtype='int32'))\nprint('fine')\nf(numpy.arange(5, dtype='int32'))\nprint('not here')\n"
    for schedule in ("gang", "native"):
        done = subprocess.run([sys.executable, "-c", code, schedule], capture_output=True, text=True)
        assert done.returncode == 1 and done.stdout == "fine\n"
        assert "1 of 5 inputs ended early, the first of them input 4 with status 132" in done.stderr


#: Under a branch on data all lanes that take it may have ended, while others live: none does what follows there.
APART = {
    "a division": ("int k(int x, int n) { int y = 0; if (x > 0) { if (n == 0) exit(3); y = 100 / n; } return y + x; }", 0),
    "in a second branch": ("int k(int x, int n) { int y = 0; if (x > 0 && n == 0) exit(3); if (x > 0) y = 100 / n; return y; }", 0),
    "in a function": (
        "static int f(int n) { if (n == 0) exit(2); return 100 / n; }\n"
        "int k(int x, int n) { int y = x > 0 ? f(n) : 3; return y + (x < 2 || f(n) > 2); }",
        0,
    ),
    "in a loop": ("int k(int x, int n) { int y = 0; for (int i = 0; i < 8; i++) if (x > i) { if (i == n) exit(3); y += 100 / (n - i); } return y; }", 5),
    "by a constant": ("int k(int x, int n) { int y = n; for (int i = 0; i < 8; i++) if (x > i) { if (i == 5) exit(3); y += 100 / (5 - i); } return y; }", 0),
    "a load": ("const int a[4] = {1, 2, 3, 4}; int k(int x, int n) { int y = 0; if (x > 0) { if (n > 3) exit(3); y = a[n]; } return y; }", 1 << 30),
    "a store": ("int k(int x, int n) { int a[4] = {x, 2, 3, 4}; if (x > 0) { if (n > 3) exit(3); a[n] = 5; } return a[0] + a[x & 3]; }", 1 << 30),
    "a loop that would not end": ("int k(int x, int n) { int y = 0; if (x > 0) { if (n < 0) exit(3); for (int i = 0; i != n; i++) y += i; } return y; }", -1),
    "a loop that only an end leaves": ("int k(int x, int n) { if (x > 0) for (int i = 0;; i++) if (i == n) exit(i); return x; }", 5),
}  # fmt: skip


@pytest.mark.costly
@pytest.mark.parametrize("name", sampled(APART, 2))
def test_what_follows_an_end_of_all_lanes_of_a_branch(name):
    text, n = APART[name]
    x = np.arange(37, dtype=np.int32) % 10 - 5
    ours, right = (
        c2cu.bulk(f"#include <stdlib.h>\n{text}\n", {"x": x, "n": n}, fn="k", backend="cpu", schedule=s, status=True)
        for s in ("gang", "native")
    )
    assert same(ours["status"], right["status"]) and same(ours["return"], right["return"])
