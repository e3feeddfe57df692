"""What a kernel does not reach never matters; what it reaches makes the program 'not analysed', not an error."""

import numpy as np
import pytest

import c2cu
from c2cu.frontend.options import Options
from c2cu.frontend.preprocess import Source
from c2cu.pipeline import understand
from tests.oracle import Original
from tests.sample import sampled

#: A construct in a function `other`, or in what it needs; and a call of it on an `int` lvalue `x`.
CONSTRUCTS = {
    "assembler": ('int other(int n) { __asm__ volatile("nop" : "+r"(n)); return n; }', "other(x)"),
    "assembler at file scope": ('__asm__(".globl c2cu_nothing");\nint other(int n) { return n; }', ""),
    "a function's assembler name": ('int other(int n) __asm__("another"); int other(int n) { return n; }', ""),
    "statement expression": ("int other(int n) { return ({ if (n > 5) return 3; n + 1; }); }", "other(x)"),
    "__int128 divided": ("__int128 big; int other(int n) { big += n; return (int)(big / 3); }", "other(x)"),
    "complex": ("long double _Complex z; int other(int n) { z += n; return (int)z; }", "other(x)"),
    "vector": (
        "typedef int v4 __attribute__((vector_size(16)));\nv4 v; int other(int n) { v += n; return v[2]; }",
        "other(x)",
    ),
    "mode": ("typedef int half __attribute__((mode(HI)));\nint other(int n) { half h = n; return h; }", "other(70000)"),
    "computed goto": (
        "int other(int n) { void *t[] = {&&a, &&b}; goto *t[n & 1]; a: return 1; b: return 2; }",
        "other(x)",
    ),
    "nested function": ("int other(int n) { int f(int k) { return k + n; } return f(3); }", "other(x)"),
    "auto type": ("int other(int n) { __auto_type m = n; return m + 1; }", "other(x)"),
    "local label": ("int other(int n) { __label__ x; if (n) goto x; n++; x: return n; }", "other(x)"),
    "types compatible": ("int other(int n) { return __builtin_types_compatible_p(int, long) + n; }", "other(x)"),
    "variable arguments": (
        "#include <stdarg.h>\nint other(int n, ...)\n"
        "{ va_list l; va_start(l, n); int k = va_arg(l, int); va_end(l); return k + n; }",
        "other(x, 2)",
    ),
    "array of variable length": (
        "int other(int n) { int a[(n & 7) + 1]; a[0] = n; return a[0] + sizeof a; }",
        "other(x)",
    ),
    "alloca": ("int other(int n) { int *a = __builtin_alloca(8 + (n & 1)); a[1] = n; return a[1]; }", "other(x)"),
    "generic selection": ("int other(int n) { return n + _Generic(n, int: 1, default: 2); }", "other(x)"),
    "cast to a union": ("union U { int i; float f; }; int other(int n) { return ((union U)n).i; }", "other(x)"),
    "forward parameter": ("int other(int n; int a[n], int n) { return a[0] + n; }", "other(&x, 1)"),
    "alias": ('int first(int n) { return n; }\nint other(int n) __attribute__((alias("first")));', "other(x)"),
    "recursion": ("int other(int n) { return n > 0 ? n + other(n / 2 - 1) : 0; }", "other(x)"),
    "long jump": (
        "#include <setjmp.h>\njmp_buf env;\nint other(int n) { if (setjmp(env)) return n; longjmp(env, 1); }",
        "other(x)",
    ),
    "allocation": (
        "#include <stdlib.h>\nint other(int n) { int *p = malloc(8 + (n & 1)); p[1] = n; n = p[1]; free(p); return n; }",
        "other(x)",
    ),
    "sort": (
        "#include <stdlib.h>\nstatic int less(const void *a, const void *b) { return *(int *)a - *(int *)b; }\n"
        "int other(int n) { int a[3] = {3, n, 1}; qsort(a, 3, sizeof *a, less); return a[0]; }",
        "other(x)",
    ),
    "a function of the library": ('#include <stdlib.h>\nint other(int n) { return atoi("12") + n; }', "other(x)"),
    "an enumerator of the compiler's": (
        "enum { A = __builtin_constant_p(3) };\nint other(int n) { return n + A; }",
        "other(x)",
    ),
    "a member of a type that is not known": (
        "struct Z { int a; _Complex int b; } zs; int other(int n) { zs.a = n; return zs.a + sizeof zs; }",
        "other(x)",
    ),
    "middle operand left out of a call's value": (
        "static int f(int n) { return n - 1; }\nint other(int n) { return f(n) ?: 3; }",
        "other(x)",
    ),
    "a range whose value is computed once": (
        "int calls; static int next_call(void) { return ++calls; }\n"
        "int other(int n) { calls = n; int t[5] = {[0 ... 3] = next_call(), [4] = next_call()}; return t[0] + 8 * t[3] + 64 * t[4]; }",
        "other(x)",
    ),
    "a range of what is no constant": (
        "struct p { int a, b, c; };\n"
        "int other(int n) { struct p q[4] = {[0 ... 3] = {1, 2, n}, [1].b = 9}; return q[1].a + 8 * q[1].b + 64 * q[1].c; }",
        "other(x)",
    ),
    "middle operands left out in one another": ("int other(int n) { return (n ?: 3) ?: 4; }", "other(x)"),
    "_Float128": ("_Float128 other(_Float128 a) { return a; }", "other(x)"),
}
#: What is read as if it were not there, written otherwise, or laid out as the compiler does, and is analysed.
HARMLESS = {
    "packed": (
        "struct __attribute__((packed)) P { char c; int i; } p;\nint other(int n) { p.i = n; return sizeof p; }",
        "other(x)",
    ),
    "pragma pack": (
        "#pragma pack(push, 1)\nstruct Q { char c; int i; };\n#pragma pack(pop)\n"
        "int other(int n) { struct Q q = {1, n}; return q.i + sizeof q; }",
        "other(x)",
    ),
    "complex": ("double _Complex z; int other(int n) { z += n; return (int)z; }", "other(x)"),
    "several characters": ("int other(int n) { return 'ab' + n; }", "other(x)"),
    "definition before C89": ("int other(a, b) int a; char b; { return a + b; }", "other(x, 1)"),
    "definition without a type": ("other(a, b) int a; char b; { return a + b; }", "other(x, 1)"),
    "declarations without a type": (
        "typedef short SH;\nstatic sum_up, *whither;\nstatic volatile turns = 3;\nextern twofold();\n"
        "static bump(a) register *a; { static SH calls; register const k = 2; register i;\n"
        "  for (i = 0; i < k; i++) *a += i + ++calls; return *a; }\n"
        "int other(a, b) int a; register b; { register *p = &a, q = 3; whither = p; turns++;\n"
        "  sum_up += twofold(b) + q + turns + *whither; return bump(whither) + sum_up; }\n"
        "twofold(x) { return 2 * x; }",
        "other(x, 1)",
    ),
    "a function's name for itself": (
        "int other(int n) { return n * __func__[2] + __FUNCTION__[1] + (int)sizeof __PRETTY_FUNCTION__; }",
        "other(x)",
    ),
    "a member's offset": (
        "struct S { char c; struct { short s; int a[4]; } in; double d; };\n"
        "int other(int n) { char b[(long)&((struct S *)0)->d]; return n + sizeof b + (int)(long)&((struct S *)0)->in.a[2]; }",
        "other(x)",
    ),
    "attributes": (
        "__attribute__((noinline)) static int __attribute__((unused)) other(int) __attribute__((pure));\n"
        "static int other(int n) { int m __attribute__((aligned(16))) = n; return m; }",
        "other(x)",
    ),
    "pragmas": ('_Pragma("GCC diagnostic push") int y\n#pragma weird\n;\nint other(int n) { return n; }', "other(x)"),
    "an assembler's barrier": (
        'int other(int n) { int m[2] = {n, 2}; __asm__ __volatile__("" : "+r"(n), [x] "+m" (m[1]) : : "memory"); '
        '__asm__("" : "+r"(n) : /* none */); return n * m[1]; }',
        "other(x)",
    ),
    "empty assembler": ('int other(int n) { __asm__ volatile("" ::: "memory"); return n + 1; }', "other(x)"),
    "__extension__": ("int other(int n) { return __extension__ (__typeof__(n))n; }", ""),
    "thread": ("static __thread int t; int other(int n) { t = n; return t; }", "other(x)"),
    "assertion": ('_Static_assert(sizeof(int) == 4, "x"); int other(int n) { return n; }', "other(x)"),
    "case range": ("int other(int n) { switch (n) { case 1 ... 5: return 3; } return 0; }", "other(x)"),
    "designated range": ("int tab[8] = {[2 ... 5] = 3}; int other(int n) { return tab[3] + n + tab[1]; }", "other(x)"),
    "middle operand left out": ("int other(int n) { return n ?: 3; }", "other(x)"),
    "_Noreturn": ("_Noreturn void stop(void) { for (;;) {} } int other(int n) { return n; }", "other(x)"),
    "alignment of a variable": ("_Alignas(32) int al[4]; int other(int n) { al[1] = n; return al[1]; }", "other(x)"),
    "a call before its prototype": (
        "int other(); int twice(void) { return other(1); } int other(int n) { return n; }",
        "other(x)",
    ),
}
UNREACHED = "int a[4];\n%s\nvoid kern(void) { for (int i = 0; i < 4; i++) a[i] = 2 * a[i] + 1; }\n"
REACHED = "int a[4];\n%s\nvoid kern(void) { for (int i = 0; i < 4; i++) { int x = a[i]; a[i] = %s; } }\n"


@pytest.mark.parametrize("name", sampled([*CONSTRUCTS, *HARMLESS], 3))
@pytest.mark.usefixtures("old_c")
def test_unreached(name):
    text = UNREACHED % {**CONSTRUCTS, **HARMLESS}[name][0]
    assert c2cu.check(text, fn="kern").oblivious


@pytest.mark.usefixtures("old_c")
def test_unreached_runs_under_gang():
    """All of them in one file."""
    others = [text.replace("other", f"other{k}") for k, (text, _) in enumerate({**CONSTRUCTS, **HARMLESS}.values())]
    text = UNREACHED % "\n".join(others)
    program = c2cu.compile(text, fn="kern", backend="cpu")
    a = np.arange(20, dtype="int32").reshape(5, 4)
    assert program.plan.schedule == "gang" and np.array_equal(program(a), 2 * a + 1)


@pytest.mark.parametrize("name", sampled([n for n, (_, call) in CONSTRUCTS.items() if call], 3))
def test_reached(name):
    construct, call = CONSTRUCTS[name]
    text = REACHED % (construct, call)
    report = c2cu.check(text, fn="kern")
    assert report.why_not and not report.oblivious
    line = int(report.why_not.split(":")[1])
    assert 2 <= line <= 3 + construct.count("\n")


@pytest.mark.parametrize("name", sampled([n for n, (_, call) in HARMLESS.items() if call], 3))
def test_reached_and_analysed(name):
    assert c2cu.check(REACHED % HARMLESS[name], fn="kern").oblivious


def test_reached_runs():
    """All of them in one kernel, natively, with gcc's results."""
    called = {n: (text, call) for n, (text, call) in CONSTRUCTS.items() if call and n != "recursion"}
    texts, calls = zip(*(
        (text.replace("other", f"other{k}"), call.replace("other", f"other{k}"))
        for k, (text, call) in enumerate(called.values())
    ))  # fmt: skip
    body = "\n".join(f"    {{ int x = a[{k}]; a[{k}] = {call}; }}" for k, call in enumerate(calls))
    others = "\n".join(dict.fromkeys("\n".join(texts).split("\n")))  # headers once
    text = f"int a[{len(calls)}];\n{others}\nvoid kern(void) {{\n{body}\n}}\n"
    program = c2cu.compile(text, fn="kern", backend="cpu")
    a = np.random.default_rng(1).integers(-9, 99, (3, len(calls))).astype("int32")
    assert program.plan.schedule == "native" and program.report.why_not
    expected = Original(text, "kern", [("a", "int32", (len(calls),))]).bulk({"a": a}, 3, fresh=True)["a"]
    assert np.array_equal(program({"a": a})["a"], expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("void kern(double *J) { J[0] = 1; J[20] = 2; }", {"J": (21,)}),
        ("void kern(double *J, int *n) { *n = 3; J[2] = 1; }", {"J": (3,), "n": (1,)}),
        ("static void g(int *q) { q[7] = 1; }\nvoid kern(int *p) { p[2] = 1; g(p); }", {"p": (8,)}),
        ("static void g(int *q) { q[7] = 1; }\nvoid kern(int *p) { g(&p[2]); g(&*p); }", {"p": (10,)}),
        ("static void g(int *q, int i) { q[i] = 1; }\nvoid kern(int *p) { g(&p[2], 3); }", {"p": (-1,)}),
        ("void kern(int *p) { int *q = &p[2]; q[3] = 1; }", {"p": (-1,)}),
        ("void kern(int *p, int i) { p[i] = 1; p[2] = 3; }", {"p": (-1,), "i": ()}),
        ("void kern(int *p) { p[2] = 3; p++; *p = 1; }", {"p": (-1,)}),
        ("int kern(int *p) { return *p ? kern(p) : 1; }", {"p": (-1,), "return": ()}),
        ("typedef double vec[3];\nvoid kern(vec a) { for (int i = 0; i < 3; i++) a[i] = i; }", {"a": (3,)}),
        ("void kern(void *b) { memset(b, 0, 4); }", {"b": (-1,)}),
        ("struct S { int x; };\nvoid kern(struct S *s) { s->x = 1; (*s).x++; s[0].x++; }", {"s": ()}),
        ("struct S { int x; };\nvoid kern(struct S *s) { s->x = 1; s[2].x = 3; }", {"s": (3,)}),
        ("struct S { int x; };\nvoid kern(struct S *s) { struct S *q, *r = s; q = r; if (q) q->x = 1; }", {"s": ()}),
        ("struct S { int x; };\nvoid kern(struct S *s) { struct S *q, *r = s; q = r; q++; q->x = 1; }", {"s": (-1,)}),
        ("struct S { int x; };\nvoid kern(struct S *s) { for (int i = 0; i < 4; i++) s[i].x = i; }", {"s": (-1,)}),
    ],
)
def test_extents_that_the_text_tells(text, expected):
    front = understand(Source("<input>", f"#include <string.h>\n{text}\n"), Options("kern"))
    assert {s.name: s.shape for s in front.slots} == expected


def test_bytes_behind_pointers_to_void():
    text = (
        "void kern(const void *in, void *out) { const float *a = in; float *b = out; b[1] = a[0]; b[0] = 2 * a[1]; }\n"
    )
    a = np.array([[1, 2], [3, 4]], "float32")
    out = c2cu.bulk(text, {"in": a.view("uint8")}, shapes={"out": 8}, backend="cpu")
    assert out.dtype == "uint8" and np.array_equal(out.view("float32"), [[4, 1], [8, 3]])


def test_the_compilers_layouts():
    """Of types that attributes change: what crosses the border has the compiler's size and offsets."""
    text = """
typedef float v4 __attribute__((vector_size(16)));
struct __attribute__((packed)) P { char c; int i; };
typedef struct { char c; double d; struct { char e; short s; } in[3]; } __attribute__((packed)) Q;
#pragma pack(push, 2)
struct R { char c; int i; };
#pragma pack(pop)
struct N { char c; int i; };
struct A { int x; } __attribute__((aligned(64)));
v4 v; struct P p; Q q; struct R r; struct N n; struct A al; __int128 big; double _Complex z;
void kern(void) { v += v; p.i = 1; q.d = 2; r.i = 3; n.i = 4; al.x = 5; big++; z += 1; }
"""
    slots = {s.name: s for s in understand(Source("<input>", text), Options("kern")).slots}
    assert {n: s.nbytes for n, s in slots.items()} == {
        "v": 16, "p": 5, "q": 21, "r": 6, "n": 8, "al": 64, "big": 16, "z": 16
    }  # fmt: skip
    assert [slots[n].dtype["offsets"] for n in "pqrn"] == [[0, 1], [0, 1, 9], [0, 2], [0, 4]]
    assert (slots["v"].dtype, slots["z"].dtype) == ("V16", "complex128")


def test_what_is_not_followed_may_touch_every_global():
    text = 'int a[4], b, c; const int d = 3;\nvoid kern(int *p) { __asm__("nop" : "+m"(b)); }\n'
    front = understand(Source("<input>", text), Options("kern", shapes={"p": (3,)}))
    assert not front.program.followed
    assert [(s.name, s.reads, s.writes, s.required) for s in front.slots] == [
        ("a", True, True, False),
        ("b", True, True, False),
        ("c", True, True, False),
        ("p", True, True, False),
    ]


def test_a_main_that_the_parser_does_not_take():
    """Its pragma still names the kernel."""
    text = (
        "int a[4], w;\nvoid f(void) { a[0] = w; }\nvoid g(void) { a[1]++; }\n"
        "int main(void) {\n    int n = w ?: 2;\n#pragma kernel shared(w)\n    f();\n    g();\n    return n;\n}\n"
    )
    front = understand(Source("<input>", text), Options())
    assert front.program.kernel.name == "f"
    assert [(s.name, s.shared) for s in front.slots] == [("a", False), ("w", True)]


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("int f(int);\nint x;\nvoid kern(void) {\n    x = f(x);\n}\n", "C2CU086", 4),
        ("int x;\nvoid kern(void) {\n    x = f(x);\n}\n", "C2CU130", 3),
        ('#include <stdio.h>\nint x;\nvoid kern(void) {\n    printf("%d", x);\n}\n', "C2CU170", 4),
        ('#include <stdlib.h>\nint x;\nvoid kern(void) {\n    x = system("ls");\n}\n', "C2CU164", 4),
    ],
)
def test_what_nothing_can_run(text, code, line):
    with pytest.raises(c2cu.Error) as e:
        c2cu.compile(text, fn="kern", backend="cpu")
    assert (e.value.code, e.value.line) == (code, line)
    assert c2cu.check(text + "int y[2];\nvoid fine(void) { y[0] = y[1]; }\n", fn="fine").oblivious


def test_cuda_says_where():
    text = REACHED % CONSTRUCTS["computed goto"]
    for schedule in ("private", "thread"):
        with pytest.raises(c2cu.UnsupportedError, match="2:.*GNU"):
            c2cu.compile(text, fn="kern", backend="cuda", schedule=schedule, shapes={})


VOIDS = """
#include <stdint.h>
#include <string.h>
uint32_t mix(const void *in, size_t n, void *out) {
    const uint8_t *bytes = in;
    uint32_t words[2], s = 1;
    for (size_t i = 0; i < n; i++) s = s * 31 + bytes[i];
    memcpy(words, in, sizeof words);
    memset(out, 7, 4);
    *(uint32_t *)out += s;
    return words[0] ^ words[1] ^ ((const uint32_t *)in)[1];
}
"""


@pytest.mark.parametrize("schedule", ["auto", "native"])
def test_what_a_void_pointer_points_to_is_bytes(schedule):
    data = np.random.default_rng(5).integers(0, 256, (9, 8), "uint8")
    options = {"shapes": {"out": 4}, "shared": {"n": 8}, "backend": "cpu", "schedule": schedule}
    got = c2cu.bulk(VOIDS, {"in": data}, **options)
    words = data.view("u4")
    s = np.ones(9, "u4")
    for k in range(8):
        s = s * np.uint32(31) + data[:, k]
    assert (got["return"] == words[:, 0]).all()
    assert (got["out"].view("u4")[:, 0] == s + np.uint32(0x07070707)).all()
    with pytest.raises(c2cu.InputError, match="uint8"):
        c2cu.bulk(VOIDS, {"in": data.view("u4")}, **options)


def test_a_returned_pointer_is_no_output_beside_others():
    text = "char *join(char *d, const char *s) { char *r = d; while (*d) d++; while ((*d++ = *s++)); return r; }"
    s = np.array([[65, 66, 0]] * 5, "i1")
    d = np.array([[67, 0, 7, 7, 7]] * 5, "i1")
    for schedule in ("auto", "gang", "native"):
        got = c2cu.bulk(text, {"d": d, "s": s}, backend="cpu", schedule=schedule)
        assert (got == [67, 65, 66, 0, 7]).all()


PAIR = np.dtype({"names": ["n", "v"], "formats": ["i1", "i2"], "offsets": [0, 2], "itemsize": 4})
PLACES = {  # what is returned, where it points
    "char *f(const char *s, int c) { for (;; s++) { if (*s == (char)c) return (char *)s; if (!*s) return 0; } }": (
        lambda s, c: bytes(s).find(bytes([c]))
    ),
    "#include <string.h>\nvoid *f(const char *s, int c) { return memchr(s, c, 8); }": (
        lambda s, c: bytes(s).find(bytes([c]))
    ),
    "int *f(const char *s, int c) { return (int *)s + (c & 1); }": lambda s, c: c & 1,
    "static char t[4]; const char *f(const char *s, int c) { return c & 1 ? t + s[0] % 4 : s + 1; }": (
        lambda s, c: s[0] % 4 if c & 1 else 1
    ),
    "const char *f(const char *s, int c) { static const char t[4]; return s[0] > c ? t : c & 1 ? s + 2 : 0; }": (
        lambda s, c: -2 if s[0] > c else 2 if c & 1 else -1
    ),
    "typedef struct { char n; short v; } S; S g[2]; S *f(const char *s, int c) { return &g[(s[0] + g[0].v + c) & 1]; }": (
        lambda s, c: (s[0] + c) & 1
    ),
}


@pytest.mark.parametrize("text", sampled(PLACES, 1), ids=lambda t: t[-50:])
def test_a_returned_pointer_alone_comes_out_as_its_place(text):
    rng = np.random.default_rng(2)
    s, c = rng.integers(97, 103, (37, 8)).astype("i1"), rng.integers(97, 104, 37).astype("i4")
    s[:, 7] = 0
    expected = [PLACES[text](*each) for each in zip(s, c)]
    for schedule in ("auto", "gang", "native"):
        names = {slot.name for slot in c2cu.compile(text, backend="cpu", schedule=schedule).slots}
        arguments = {n: v for n, v in {"s": s, "c": c, "g": np.zeros((37, 2), PAIR)}.items() if n in names}
        got = c2cu.bulk(text, arguments, backend="cpu", schedule=schedule)
        got = got["return"] if isinstance(got, dict) else got
        assert got.dtype == "i8" and list(got) == expected, schedule


def test_a_returned_pointer_to_no_array_is_refused():
    for text in (
        "static int t[2]; static const int u[2]; const int *f(int i) { return u + i; }",
        "int f(int x) { return x; } int (*g(int *a))(int) { return a[0] ? f : 0; }",
    ):
        with pytest.raises(c2cu.UnsupportedError, match="C2CU015"):
            c2cu.check(text, fn="f" if "u + i" in text else "g")


def test_errno_has_its_names():
    text = "#include <errno.h>\nint f(int x) { return x == EINTR ? EAGAIN : EILSEQ; }"
    assert list(c2cu.bulk(text, np.array([4, 5], "i4"), backend="cpu")) == [11, 84]


def test_a_classification_that_another_librarys_header_calls():
    text = """
int __fpclassify(double); int __fpclassifyl(long double);
static unsigned long bits(double x) { union { double f; unsigned long i; } u = {x}; return u.i; }
#define isnan(x) (sizeof(x) == sizeof(double) ? bits(x) << 1 > 0x7ffUL << 53 : __fpclassifyl(x) == 0)
int f(double x) { return isnan(x); }
"""
    assert list(c2cu.bulk(text, np.array([1.0, np.nan, np.inf]), backend="cpu")) == [0, 1, 0]


@pytest.mark.parametrize(
    "text, given",
    [
        ("void k(double *y) { for (int i = 0; i < 2; i++) y[i] += i + 1; }\n", {"y": np.zeros((3, 1))}),
        ("void k(const double *y, double *d) { d[0] = y[1]; }\n", {"y": np.zeros((3, 1)), "d": np.zeros((3, 2))}),
        (
            "struct q { int a; double b; };\nvoid k(const struct q *p, double *d) { d[0] = p[1].b; }\n",
            {"p": np.zeros((3, 1), np.dtype([("a", "i4"), ("b", "f8")], align=True)), "d": np.zeros((3, 2))},
        ),
    ],
)
@pytest.mark.parametrize("schedule", ["gang", "native"])
def test_an_array_of_one_element_has_bounds(text, given, schedule):
    with pytest.raises(c2cu.Error, match="element 1 is outside .*, which has 1 element") as e:
        c2cu.bulk(text, given, backend="cpu", schedule=schedule)
    assert e.value.code == "C2CU035"


def test_an_array_of_one_element_is_an_array():
    y = np.arange(3.0).reshape(3, 1)
    text = "void k(double *y, int n) { double *p = y + n; *p += 2; y[0] *= 3; }\n"
    assert (c2cu.bulk(text, {"y": y, "n": 0}, backend="cpu", schedule="gang") == (y + 2) * 3).all()
