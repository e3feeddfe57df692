"""Schedule native: whatever gcc compiles, each input as a fresh process of gcc's own finds it."""

import platform

import numpy as np
import pytest
from click.testing import CliRunner
from pycparser import c_ast

import c2cu
from c2cu.cli import main
from c2cu.frontend.parse import parse
from c2cu.frontend.preprocess import preprocess, read_source
from tests.fresh import judge
from tests.oracle import same
from tests.sample import sampled, slow

DISTINCT = 33


def program(body: str, head: str = "") -> str:
    return f"{head}\nint k(int x, int *a) {{\n{body}\n}}\n"


PROGRAMS = {
    "recursion": program("return fib(x % 15) + a[1];", "int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }"),
    "what-a-constructor-leaves": program(
        "return t[x & 3] + a[0];",
        "static int t[4]; __attribute__((constructor)) static void init(void) { for (int i = 0; i < 4; i++) t[i] = 9 * i; }",
    ),
    "number-first": program("return *(int *)(4 + (long)t) + a[0];", "static int t[4] = {3, 1, 4};"),
    "static-locals": program("static int n = 7, m[4]; n += x; m[x & 3]++; a[0] = m[x & 3]; return n;"),
    "memo": program(
        "for (int i = 0; i < 9; i++) a[i & 3] += get(i * x); return hits;",
        "static int known[64] = {0}, value[64] = {0}, hits = 0;\nint get(int n) { n &= 63; if (known[n]) hits++; else value[n] = n * n + 1,"
        " known[n] = 1; return value[n]; }",
    ),
    "goto": program("again: a[0] += x; if (a[0] < 1000 && a[0] >= 0 && x > 0) goto again; return a[0];"),
    "computed-goto": program("static void *to[] = {&&one, &&two}; goto *to[x & 1]; one: return 1; two: return a[1];"),
    "vla": program("int n = (x & 7) + 1, v[n]; for (int i = 0; i < n; i++) v[i] = i * a[0]; return v[n - 1] + sizeof v;"),
    "alloca": program(
        "int *v = alloca(4 * ((x & 7) + 1)); for (int i = 0; i <= (x & 7); i++) v[i] = a[i & 3]; return v[x & 7];",
        "#include <alloca.h>",
    ),
    "statement-expression": program("return ({ int t = x; t * t + a[2]; });"),
    "int128": program("unsigned __int128 t = (unsigned __int128)x * x; t = t * t * a[0]; return t >> 61;"),
    "vector-types": program(
        "v4 t = {x, x + 1, x + 2, x + 3}; t = t * t + (v4){a[0], a[1], a[2], a[3]}; a[1] = t[3]; return t[2];",
        "typedef int v4 __attribute__((vector_size(16)));",
    ),
    "bit-fields": program(
        "struct s { int a : 3; unsigned : 0; unsigned b : 11, : 4, c : 5; } s = {x, x, x}; s.b += a[0];"
        " return s.a + 10 * s.b + 100000 * s.c;"
    ),
    "packed": program(
        "struct __attribute__((packed)) s { char c; int i; } s[2] = {{1, x}, {2, a[0]}}; char *q = (char *)s;"
        " return q[6] + q[7] + sizeof s;"
    ),
    "union": program("union { float f; int i; unsigned char c[4]; } u; u.f = x; a[0] = u.c[3]; return u.i;"),
    "old-style": program("return old(x, 3) + a[0];", "int old(n, m) int n; short m; { return n * m; }"),
    "memset-of-its-own": program(
        "char t[64]; memset(t, 1, 60 + (x & 3)); return t[5] + a[0];",
        "typedef unsigned long size; static void *fill(void *d, int c, size n) { char *p = d; while (n--) *p++ = c; return d; }\n"
        "void *memset(void *d, int c, size n) { return fill(d, c, n); }",
    ),
    "a-memcpy-of-its-own": program(
        "static char t[400]; memcpy(t, from, x & 255); return t[1];",
        "static char from[400] = {1, 2, 3}; static int calls = 0; void *memcpy(void *d, const void *s, unsigned long n) { calls++; char *p = d; const char *q = s;"
        " while (n--) *p++ = *q++; return d; }",
    ),
    "function-table": program(
        "return of[x & 3](x, a[x & 3]);",
        "static int add(int a, int b) { return a + b; }\nstatic int sub(int a, int b) { return a - b; }\n"
        "int (*of[])(int, int) = {add, sub, sub, add};",
    ),
    "written-function-pointer": program(
        "int r = now(x); now = x & 1 ? two : one; return r + now(a[0]);",
        "static int one(int n) { return n + 1; }\nstatic int two(int n) { return n * 2; }\nstatic int (*now)(int) = one;",
    ),
    "pointers-in-memory": program(
        "struct node n[4]; for (int i = 0; i < 4; i++) n[i].v = a[i] + x, n[i].next = i < 3 ? &n[i + 1] : 0;"
        " int s = 0; for (struct node *q = n; q; q = q->next) s = 3 * s + q->v; return s;",
        "struct node { int v; struct node *next; };",
    ),
    "variadic": program(
        "return sum(3, x, a[0], a[1]);",
        "#include <stdarg.h>\nint sum(int n, ...) { va_list l; va_start(l, n); int s = 0;"
        " while (n--) s = 2 * s + va_arg(l, int); va_end(l); return s; }",
    ),
    "assembler": program('int r = x; __asm__("" : "=r"(r) : "0"(r)); return r + a[0];'),
    "setjmp": program(
        "if (setjmp(back)) return n; n = x; down(x & 7); return -1;",
        "#include <setjmp.h>\nstatic jmp_buf back; static int n;\n"
        "static void down(int k) { n += k; if (!k) longjmp(back, 1); down(k - 1); }",
    ),
    "qsort": program(
        "qsort(a, 4, sizeof *a, less); return *(int *)bsearch(&a[2], a, 4, sizeof *a, less) + x;",
        "#include <stdlib.h>\nstatic int less(const void *a, const void *b)"
        " { return (*(int *)a > *(int *)b) - (*(int *)a < *(int *)b); }",
    ),
    "text": program(
        'char t[40]; int n = sprintf(t, "%d/%05.2f", x, a[0] / 7.0), m; sscanf(t, "%d", &m); return n + m + strlen(t) + t[1];',
        "#include <stdio.h>\n#include <string.h>",
    ),
    "errno": program("double y = log(-1.0 - x); (void)y; int e = errno; errno = 5; return e;", "#include <errno.h>\n#include <math.h>"),
    "rounding": program(
        "volatile double one = 1, three = 3 + (x & 1); double r = one / three; fesetround(FE_UPWARD);"
        " int raised = !!fetestexcept(FE_DIVBYZERO); feraiseexcept(FE_DIVBYZERO); return (one / three > r) + 2 * raised;",
        "#include <fenv.h>",
    ),
    "malloc": program(
        "int *v = malloc(100 * sizeof *v), *w = calloc(50, 4); for (int i = 0; i < 100; i++) v[i] = i * x;"
        " v = realloc(v, 4000); for (int i = 0; i < 50; i++) w[i] += v[2 * i] + a[i & 3]; free(v); int s = 0;"
        " for (int i = 0; i < 300; i++) { char *c = malloc(i * 37); memset(c, i, i * 37); s += c && i ? c[i] : 0; free(c); }"
        " char *t = strdup(\"abc\"); s += t[1] + w[49]; free(t); return s;",
        "#include <stdlib.h>\n#include <string.h>",
    ),
    "list": program(
        "static struct l *first; for (int i = 0; i < (x & 15); i++) { struct l *n = malloc(sizeof *n); n->v = i * x;"
        " n->next = first; first = n; } int s = a[0]; while (first) { struct l *n = first; s = 5 * s + n->v;"
        " first = n->next; free(n); } return s;",
        "#include <stdlib.h>\nstruct l { int v; struct l *next; };",
    ),
    "aligned": program(
        "void *p; posix_memalign(&p, 256, 1000); char *q = aligned_alloc(64, 640); int r = ((long)p & 255) + ((long)q & 63);"
        " free(p); free(q); return r + x + a[0];",
        "#include <stdlib.h>",
    ),
    "rand": program("int s = rand() ^ random(); if (x & 1) srand(x); return s + rand() + a[0];", "#include <stdlib.h>"),
    "drand48": program(
        "unsigned short s[3] = {1, 2, x}; double t = drand48() + erand48(s); if (x & 1) srand48(x);"
        " return 1e6 * (t + drand48()) + (lrand48() & 7) + (mrand48() & 7) + a[0];",
        "#include <stdlib.h>",
    ),
    "strtok": program(
        'char t[] = "ab,cd,ef"; if (x & 1) strtok(t, ","); char *q = strtok(x & 1 ? 0 : t, ","); return q[0] + a[0];',
        "#include <string.h>",
    ),
    "exit": program("if (x % 5 == 2) exit(x); a[0] += x; return a[0];", "#include <stdlib.h>"),
    "exit-deep": program(
        "down(x & 15); return a[0];",
        "#include <stdlib.h>\nstatic int n;\nstatic void down(int k) { n++; if (n == 9) _Exit(300 + k); if (k) down(k - 1); }",
    ),
    "abort": program("if (x % 7 == 3) abort(); return x + a[0];", "#include <stdlib.h>"),
    "assert": program("assert(x % 4 != 1); return x + a[0];", "#include <assert.h>"),
    "atexit": program(
        "atexit(bye); if (x & 1) exit(1); return a[0];",
        "#include <stdlib.h>\nstatic void bye(void) { _Exit(7); }",
    ).replace("return a[0];", "return a[0] + 0 * x;")
    .replace("if (x & 1) exit(1);", "if (x & 1) exit(1); _Exit(3);"),
    "own-rand": program("return rand() + rand() + a[0] + x;", "static int s = 0;\nint rand(void) { return s += 3; }"),
    "own-malloc": program(
        "int *p = malloc(8); p[1] = x; free(p); return p[1] + *(int *)malloc(4) + a[0];",
        "static char heap[999]; static unsigned used = 0;\nstatic void *malloc(unsigned long n) { used += 16; return heap + used - 16; }\n"
        "static void free(void *p) { used = 0; }",
    ),
    "thread-local": program("static _Thread_local int n; n += x; m += n; return m + a[0];", "__thread int m = 4;"),
    "constructor": program(
        "table[x & 3]++; return table[x & 3] + a[0];",
        "static int table[4] = {0};\n__attribute__((constructor)) static void fill(void) { for (int i = 0; i < 4; i++) table[i] = i * i; }",
    ),
    "constructor-calls": program(
        "return x + a[0] + drawn + (p != 0) + first;",
        "#include <stdlib.h>\n#include <string.h>\nstatic int drawn = 0, first = 0; static void *p = 0;\n"
        "__attribute__((constructor)) static void fill(void) { char t[] = \"a,b\"; first = *strtok(t, \",\"); drawn = rand();"
        " srand(2); drawn ^= rand(); drawn ^= (int)(99 * drand48()); p = aligned_alloc(64, 64); free(malloc(9)); }",
    ),
    "exported": program(
        "return x + a[0];",
        '#include <stdio.h>\n__attribute__((visibility("default"))) void shown(FILE *f) { fopen("x", "r"); printf("%p", f); }',
    ),
    "scratch": program(
        "for (int i = 0; i < 5000; i += 7) big[i] += x + i; for (int i = 0; i < 4; i++) a[i] = big[i * 7] + big[i * 7 + 1];"
        " return big[4998];",
        "static int big[5000] = {0};",
    ),
    "pragma-pack": program("return sizeof(struct s) + x + a[0];", "#pragma pack(push, 1)\nstruct s { char c; long l; };"),
    "wide": program('return L"aé"[x & 1] + sizeof L"ab" + a[0];', "#include <wchar.h>"),
    "comma-initialiser": program("int t = (a[0], x); return t;"),
    "names-of-ours": program("int slot = x, id = a[0], s = 3; return slot + id + s;", "int in, out, begin, end, buffer;"),
}  # fmt: skip


def inputs(p: int) -> dict:
    rng = np.random.default_rng(3)
    x = np.arange(DISTINCT, dtype=np.int32)
    a = rng.integers(-50, 1000, (DISTINCT, 4), dtype=np.int32)
    rows = np.arange(p) % DISTINCT
    return {"x": x[rows], "a": a[rows]}


@pytest.mark.costly
@pytest.mark.parametrize("name", sampled(PROGRAMS, 6))
def test_equals_a_fresh_process(name, monkeypatch):
    text = PROGRAMS[name]
    expected, status = judge(text, "k", inputs(DISTINCT), (), [("x", "int32", ()), ("a", "int32", (4,))], "int32")
    for threads in (1, 2):
        monkeypatch.setenv("C2CU_THREADS", str(threads))
        compiled = c2cu.compile(text, fn="k", backend="cpu", schedule="native", status=True)
        for p in (1, DISTINCT, 1000):
            rows = np.arange(p) % DISTINCT
            result = compiled(inputs(p))
            assert np.array_equal(result["status"], status[rows]), (p, result["status"][:9], status[:9])
            done = result["status"] == 0
            assert same(result["return"][done], expected["return"][rows][done]), p
            if "a" in result:
                assert same(result["a"][done], expected["a"][rows][done]), p


def test_what_the_kernel_does_not_reach_is_not_linked():
    text = "int nowhere(int);\nextern int lost;\nint other(int n) { return nowhere(n) + lost; }\nint k(int x) { return x; }\n"
    x = np.arange(5, dtype=np.int32)
    assert np.array_equal(c2cu.bulk(text, x, fn="k", backend="cpu", schedule="native"), x)


@pytest.mark.parametrize(
    "text, line, column",
    [
        ("int f(int);\nint k(int x) { return f(x) + 1; }\n", 2, 23),
        (
            "int f(int);\nstatic int g(int x) { return f(x); }\nint k(int x) { __auto_type y = x; return g(y); }\n",
            2,
            30,
        ),
        (
            "struct s { int (*f)(int); };\nint f(int);\nstatic const struct s s = {f};\nint k(int x) { return s.f(x); }\n",
            3,
            28,
        ),
    ],
)
def test_a_function_that_no_file_defines(text, line, column):
    """The error names the place that needs it, and how to go on."""
    with pytest.raises(c2cu.UnsupportedError, match="'f', which the kernel uses, is defined in no file") as e:
        c2cu.bulk(text, np.zeros(3, np.int32), backend="cpu")
    assert (e.value.line, e.value.column) == (line, column) and "c2cu run k.c other.c" in e.value.diagnostic.hint
    other = "int f(int x) { return 3 * x; }\n"
    x = np.arange(3, dtype=np.int32)
    assert c2cu.bulk([text, other], x, fn="k", backend="cpu").tolist() == [3 * n + text.count("+ 1") for n in x]


@pytest.mark.parametrize("schedule", ["auto", "gang", "native"])
@pytest.mark.parametrize(
    "declared, used",
    [
        ("extern const double t[];", "t[3]"),
        ("extern const double t[8];", "t[(int)a[1]]"),
        ("extern const struct { int n; double v[4]; } t;", "t.v[2]"),
        ("extern const double t[]; static const double *const p = &t[1];", "p[1]"),
        ("extern const double *t;", "(t != 0)"),
        ("", "({ extern const int t; t; })"),
    ],
)
def test_a_variable_that_no_file_defines(declared, used, schedule):
    """It is neither zero nor null. One of numbers that is not const is an input."""
    text = f"{declared}\nvoid k(double a[2]) {{ a[0] += {used}; }}\n"
    for call in (
        lambda: c2cu.bulk(text, np.ones((3, 2)), backend="cpu", schedule=schedule),
        lambda: c2cu.check(text),
    ):
        with pytest.raises(c2cu.UnsupportedError, match="'t', which the kernel uses, is defined in no file") as e:
            call()
        assert e.value.line == (1 if declared else 2)


def test_the_size_of_a_variable_that_no_file_defines():
    text = "extern const int t[7];\nint k(int x) { return sizeof t / sizeof t[0] + x; }\n"
    x = np.arange(3, dtype=np.int32)
    for schedule in ("gang", "native"):
        assert c2cu.bulk(text, x, backend="cpu", schedule=schedule).tolist() == [7, 8, 9]


ENDS = (
    "#include <stdlib.h>\nint n;\nint k(int x) {\n    n = x + 1;\n    if (x % 3 == 1) exit(x);\n    return 2 * x;\n}\n"
)


def test_inputs_that_end_early_raise_after_the_call():
    x = np.arange(300, dtype=np.int32)
    early = x % 3 == 1
    with pytest.raises(c2cu.ExitError, match="100 of 300 inputs ended early, the first of them input 1 with") as caught:
        c2cu.bulk(ENDS, {"x": x}, backend="cpu")
    assert np.array_equal(caught.value.status, np.where(early, x & 255, 0)) and caught.value.status.dtype == np.int32
    assert np.array_equal(caught.value.outputs["n"], x + 1)
    assert np.array_equal(caught.value.outputs["return"], np.where(early, 0, 2 * x))
    results = c2cu.bulk(ENDS, {"x": x}, backend="cpu", status=True)
    assert np.array_equal(results["status"], np.where(early, x & 255, 0))
    assert np.array_equal(c2cu.bulk(ENDS, {"x": x[:1]}, backend="cpu")["return"], [0])
    assert list(c2cu.bulk(ENDS, {"x": x}, backend="cpu", outputs=["n", "status"])) == ["n", "status"]


def test_an_input_that_exits_with_success_ends_early_too():
    text = "#include <stdlib.h>\nint k(int x) { if (x == 2) exit(0); return x; }\n"
    x = np.arange(4, dtype=np.int32)
    with pytest.raises(c2cu.ExitError, match="1 of 4 inputs ended early, the first of them input 2 with status 0") as e:
        c2cu.bulk(text, x, backend="cpu")
    assert e.value.early.tolist() == [False, False, True, False] and e.value.status.tolist() == [0] * 4
    assert e.value.outputs.tolist() == [0, 1, 0, 3]
    assert c2cu.bulk(text, x, backend="cpu", status=True)["status"].tolist() == [0] * 4


def test_inputs_of_a_stream_that_end_early():
    x = np.zeros(9, np.int32)
    x[7] = 1
    with c2cu.stream(ENDS, [{"x": x}], group=3, backend="cpu") as results:
        assert [np.array(next(results)["n"]).tolist() for _ in range(2)] == [[1, 1, 1]] * 2
        with pytest.raises(c2cu.ExitError) as caught:
            next(results)
    assert caught.value.status.tolist() == [0, 1, 0] and caught.value.outputs["n"].tolist() == [1, 2, 1]
    with c2cu.stream(ENDS, [{"x": x}], group=3, backend="cpu", status=True) as results:
        assert np.concatenate([r["status"] for r in results]).tolist() == x.tolist()


def test_status_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.c").write_text(ENDS)
    np.save("x.npy", np.arange(6, dtype=np.int32))
    command = ["run", "k.c", "--backend", "cpu", "--in", "x=x.npy", "--out", "n=n.npy"]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 1 and "2 of 6 inputs ended early" in done.output and not (tmp_path / "n.npy").exists()
    done = CliRunner().invoke(main, [*command, "--out", "status=s.npy"])
    assert done.exit_code == 0, done.output
    assert np.load("s.npy").tolist() == [0, 1, 0, 0, 4, 0] and np.load("n.npy").tolist() == [1, 2, 3, 4, 5, 6]


def test_the_status_of_what_does_not_end():
    text = "int a[4], s[4];\nvoid k(void) { for (int i = 0; i < 4; i++) s[i] = a[i] + 1; }\n"
    result = c2cu.bulk(text, {"a": np.ones((70, 4), np.int32)}, backend="cpu", schedule="gang", status=True)
    assert (result["s"] == 2).all() and result["status"].tolist() == [0] * 70


PRINTS = (
    '#include <stdio.h>\nint k(int x) {\n    int n = printf("%d\\n", x);\n    fputs("!", stderr);\n    return n;\n}\n'
)


def test_printing_is_discarded_where_that_is_asked_for(capfd):
    x = np.array([3, 40, 500], np.int32)
    with pytest.raises(c2cu.UnsupportedError, match='stdio="discard" / --stdio discard') as caught:
        c2cu.bulk(PRINTS, {"x": x}, backend="cpu")
    assert caught.value.line == 3
    assert c2cu.bulk(PRINTS, {"x": x}, backend="cpu", stdio="discard").tolist() == [2, 3, 4]
    assert c2cu.check(PRINTS, stdio="discard").why_not.startswith("<input>:3:13: the kernel prints")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("call", ['fopen("x", "r")', "getchar()", "time(0)", 'getenv("x")', 'system("x")', "getpid()"])
def test_what_reaches_outside_is_refused_with_its_line(call):
    head = "#include <stdio.h>\n#include <stdlib.h>\n#include <time.h>\n#include <unistd.h>\n"
    text = f"{head}int k(int x) {{\n    return !!{call} + x;\n}}\n"
    for refused in (lambda: c2cu.check(text), lambda: c2cu.bulk(text, np.zeros(3, np.int32), backend="cpu")):
        with pytest.raises(c2cu.UnsupportedError) as caught:
            refused()
        assert caught.value.line == 6


def test_outputs_that_are_asked_for():
    text = "int a[2], b[2], c;\nvoid k(void) { a[0]++; b[1] = a[0]; c = 5; }\n"
    a = np.ones((40, 2), np.int32)
    for schedule in ("gang", "native"):
        assert list(c2cu.bulk(text, {"a": a}, backend="cpu", schedule=schedule, outputs=["c", "b"])) == ["b", "c"]
        only = c2cu.bulk(text, {"a": a}, backend="cpu", schedule=schedule, outputs=["a"])
        assert only.tolist() == [[2, 1]] * 40
    with pytest.raises(c2cu.InputError, match="d"):
        c2cu.bulk(text, {"a": a}, backend="cpu", outputs=["d"])


def test_a_shared_constant_takes_the_given_values():
    text = "const float t[4] = {1, 2, 3, 4};\nfloat k(int x) { return t[x & 3] * 2; }\n"
    shared = {"t": np.array([5, 6, 7, 8], np.float32)}
    x = np.arange(70, dtype=np.int32)
    for schedule in ("gang", "native"):
        out = c2cu.bulk(text, {"x": x}, shared=shared, backend="cpu", schedule=schedule)
        assert np.array_equal(out, 2 * shared["t"][x & 3]), schedule


def test_several_files_with_variables_of_one_name():
    one = "static int n = 1;\nint other(int);\nint k(int x) { n += x; return n + other(x); }\n"
    two = "static int n = 5;\nint seen;\nint other(int x) { n *= 2; seen = n; return n + x; }\n"
    x = np.arange(200, dtype=np.int32)
    result = c2cu.bulk([one, two], {"x": x}, fn="k", backend="cpu", schedule="native")
    assert np.array_equal(result["return"], 1 + x + 10 + x) and (result["seen"] == 10).all()


NAMED = """
#include <stdlib.h>
#include <string.h>
struct named { const char *name; unsigned n; } colors[] = {{"red", 1}, {"green", 2}};
unsigned lookup(const char s[8]) {
    char *from = (char *)s, *end;
    unsigned n = strtoll(from, &end, 10);
    STATEMENT
    for (int i = 0; end == from && i < 2; i++) if (!strcmp(colors[i].name, s)) n = colors[i].n;
    return n;
}
"""


@pytest.mark.parametrize("statement", ["", '__asm__("" : "+r"(n));'])  # nobody follows that
def test_addresses_in_tables_are_no_results(statement):
    s = np.zeros((3, 8), np.int8)
    for row, text in zip(s, (b"green", b"12", b"7")):
        row[: len(text)] = list(text)
    done = c2cu.bulk(NAMED.replace("STATEMENT", statement), {"s": s}, fn="lookup", backend="cpu", schedule="native")
    done = done if isinstance(done, dict) else {"return": done}
    assert set(done) == {"return"} and done["return"].tolist() == [2, 12, 7]


def test_what_is_written_where_a_number_ends():
    text = "#include <stdlib.h>\nlong n; void k(char s[4]) { char *end; n = strtol(s, &end, 10); *end = '!'; }"
    s = np.frombuffer(b"12ab", np.int8).reshape(1, 4)
    done = c2cu.bulk(text, {"s": s}, backend="cpu", schedule="native")
    assert done["n"].tolist() == [12] and done["s"].tobytes() == b"12!b"


def test_what_nobody_can_follow_comes_out_where_it_changes():
    text = """
int n, m[4] = {1, 2, 3, 4}, never = 5;
const int c[2] = {1, 2};
static double d = 1.5;
int k(int x) { __auto_type t = x; n += t; m[1] += x > 2; return t + never + c[x & 1] + d; }
"""
    x = np.arange(5, dtype=np.int32)
    result = c2cu.bulk(text, {"x": x}, fn="k", backend="cpu")
    assert list(result) == ["n", "m", "return"] and result["m"][:, 1].tolist() == [2, 2, 2, 3, 3]
    arguments = {"x": x, "n": 7 - x, "never": x}
    result = c2cu.bulk(text, arguments, fn="k", backend="cpu")
    assert list(result) == ["n", "m", "return"] and (result["n"] == 7).all()
    assert result["return"].tolist() == [x + x + (1, 2)[x & 1] + 1 for x in range(5)]
    assert c2cu.bulk(text, arguments, fn="k", backend="cpu", outputs=["never"]).tolist() == x.tolist()


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="immintrin.h is of x86")
@pytest.mark.parametrize(
    "body, is_analysed",
    [
        slow(("for (int i = 0; i < 4; i++) o[i] = a[i] * 2;", True)),
        slow(("_mm_storeu_ps(o, _mm_add_ps(_mm_loadu_ps(a), _mm_set1_ps(1)));", False)),
    ],
)
def test_a_header_of_thousands_of_functions(body, is_analysed):
    """Those that nothing reaches are not parsed; what is reached is C like any other."""
    text = f"#include <immintrin.h>\nfloat a[4], o[4];\nvoid k(void) {{ {body} }}\n"
    parsed = parse(preprocess(read_source(text)))
    assert len([n for n in parsed.ast.ext if isinstance(n, c_ast.FuncDef)]) < 10
    assert bool(c2cu.check(text).why_not) is not is_analysed
    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert same(c2cu.bulk(text, {"a": a}, backend="cpu"), a * 2 if is_analysed else a + 1)


def test_a_static_variable_that_nothing_sets_is_zero():
    """Nobody else could have set it; `x` has to be given."""
    text = "#include <stdlib.h>\nstatic int flag; int x, y;\nvoid k(void) { int *p = realloc(0, 4); *p = x + flag; y = *p; free(p); }\n"
    x = np.arange(3, dtype=np.int32)
    assert c2cu.bulk(text, {"x": x}, backend="cpu").tolist() == [0, 1, 2]
    assert c2cu.bulk(text, {"x": x, "flag": x}, backend="cpu").tolist() == [0, 2, 4]
    with pytest.raises(c2cu.InputError, match="input 'x' is missing"):
        c2cu.bulk(text, {"flag": x}, backend="cpu")
    with pytest.raises(c2cu.InputError, match="input 'flag' is missing"):  # main sets it
        c2cu.bulk(text + "int main(void) { flag = 5; k(); return y; }\n", {"x": x}, fn="k", backend="cpu")


def test_nothing_is_fused():
    """GCC 12 makes fused multiply-adds of this loop, -ffp-contract=off or not."""
    text = """void product(float *restrict o, const float *restrict a, const float *restrict b, long n) {
        for (long i = 0; i < n; i++) {
            o[2 * i] = a[2 * i] * b[2 * i] - a[2 * i + 1] * b[2 * i + 1];
            o[2 * i + 1] = a[2 * i] * b[2 * i + 1] + a[2 * i + 1] * b[2 * i];
        }
    }"""
    rng = np.random.default_rng(3)
    inputs = {n: rng.normal(size=(40, 64)).astype("f4") for n in "ab"}
    a, b = (inputs[n].reshape(40, 32, 2) for n in "ab")
    expected = np.empty_like(a)
    expected[..., 0] = a[..., 0] * b[..., 0] - a[..., 1] * b[..., 1]
    expected[..., 1] = a[..., 0] * b[..., 1] + a[..., 1] * b[..., 0]
    for schedule in ("native", "gang"):
        result = c2cu.bulk(text, inputs, shared={"n": 32}, shapes={"o": (64,)}, backend="cpu", schedule=schedule)
        assert (result.view("u4") == expected.reshape(40, 64).view("u4")).all(), schedule


def test_what_a_parameter_says_to_be_const_is_no_output():
    """Also where nobody knows what the kernel writes."""
    text = (
        "#include <stdarg.h>\nstatic int sum(int n, ...) {\n    va_list v;\n    va_start(v, n);\n    int s = 0;\n"
        "    while (n--) s += va_arg(v, int);\n    va_end(v);\n    return s;\n}\n"
        "static int *any(const int *p) { return (int *)p; }\n"
        "int k(const int x[2], int y[2]) { y[0] = *any(x); return sum(2, x[0], x[1]); }\n"
    )
    program = c2cu.compile(text, backend="cpu")
    assert {s.name for s in program.slots if s.writes} == {"y", "return"}
    x = np.array([[1, 2], [3, 5]], np.int32)
    out = program({"x": x, "y": x})
    assert out["return"].tolist() == [3, 8] and out["y"].tolist() == [[1, 2], [3, 5]]
    with pytest.raises(c2cu.UnsupportedError, match=r":6:22: error: a function with '...' is not supported"):
        c2cu.compile(text, backend="cpu", schedule="gang")


ONLY_READ = "int big[300] = {1, 2, 3}, small[3] = {4, 5}, zero[90] = {0}; static int calls = 0;\n"


@pytest.mark.parametrize("threads", ["1", "2"])
def test_what_the_kernel_only_reads_stays_until_a_call_brings_other_values(threads, monkeypatch):
    monkeypatch.setenv("C2CU_THREADS", threads)
    text = ONLY_READ + "int k(int x) { return 7 * calls++ + big[x] + 10 * small[x] + 100 * zero[x]; }"
    program = c2cu.compile(text, schedule="native", outputs=["return"])
    x = np.arange(3 * DISTINCT, dtype="i4") % 3
    first = np.array([41, 52, 3], "i4")[x]
    others = {n: np.arange(x.size * k, dtype="i4").reshape(x.size, k) for n, k in (("big", 300), ("zero", 90))}
    rows = np.arange(x.size)
    assert same(program({"x": x}), first)
    brought = others["big"][rows, x] + 10 * np.array([4, 5, 0], "i4")[x] + 100 * others["zero"][rows, x]
    assert same(program({"x": x, **others}), brought)
    assert same(program({"x": x}), first)
    assert same(program({"x": x, "zero": others["zero"]}), first + 100 * others["zero"][rows, x])
    assert same(program({"x": x}), first)


def test_what_is_written_through_a_pointer_is_restored():
    text = "int t[200] = {1}; int *at = t; int k(int x) { at[x] += 5; return t[0] + t[1]; }"
    x = np.arange(DISTINCT, dtype="i4") % 2
    result = c2cu.bulk(text, x, schedule="native", outputs=["return"])
    assert same(result, np.full(DISTINCT, 6, "i4"))


@pytest.mark.parametrize(
    "text",
    [
        "int n = 0; static int cmp(const void *p, const void *q) { n++; return *(int *)p - *(int *)q; }\n"
        "int k(int x) { int v[2] = {1, 2}; qsort(v, 2, 4, cmp); return n; }",
        'int n[99] = {5}; int k(int x) { __asm__("incl %0" : "+m"(n[0])); return n[0] + n[98]; }',
        'int n[99] = {5}; int k(int x) { int m; sscanf("8", "%d", &m); sscanf("7", "%d", n[0] == 5 ? &n[0] : &n[1]); return n[1] + m; }',
        "int n[99] = {5}; int k(int x) { return __sync_fetch_and_add(&n[98], 1); }",
        "int n[99] = {5}; static void up(int *v) { n[1]++; } int k(int x) { { __attribute__((cleanup(up))) int v = 1; } return n[1]; }",
    ],
)
@pytest.mark.parametrize("schedule", ["native", "auto"])
def test_what_is_written_though_nobody_asks_for_it_is_restored(text, schedule):
    text = f"#include <stdlib.h>\n#include <stdio.h>\n{text}"
    program = c2cu.compile(text, fn="k", backend="cpu", schedule=schedule, outputs=["return"])
    for _ in range(2):
        result = program({"x": np.zeros(DISTINCT, "i4")})
        assert same(result, np.full(DISTINCT, result[0], "i4"))


def test_what_runs_before_main_is_seen():
    text = "static int t[4]; __attribute__((constructor)) static void init(void) { t[2] = 9; }\nint k(int x) { return t[x]; }"
    assert same(c2cu.bulk(text, np.arange(4, dtype="i4"), fn="k", backend="cpu"), np.array([0, 0, 9, 0], "i4"))
    with pytest.raises(c2cu.UnsupportedError, match="runs before main"):
        c2cu.bulk(text, np.arange(4, dtype="i4"), fn="k", backend="cpu", schedule="gang")


def test_many_variables_cost_a_call_nothing():
    """Each is no more than a range of what is restored."""
    names = [f"a{k}" for k in range(600)]
    text = "".join(f"int {n}[4] = {{1, 2}};" for n in names) + " int big[99] = {3}; static int m = 0;\nint k(int x) {\n"
    text += f"m++; return big[0] + m + {' + '.join(f'{n}[x]' for n in names)};\n}}"
    x = np.arange(DISTINCT, dtype="i4") % 2
    assert same(c2cu.bulk(text, x, schedule="native", outputs=["return"]), (604 + 600 * x).astype("i4"))
