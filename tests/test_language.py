"""docs/language.md, line by line: each construct is taken as its table says, and gives what gcc gives."""

import re
from pathlib import Path

import numpy as np
import pytest

import c2cu
from c2cu.frontend.preprocess import Source
from c2cu.pipeline import Options, understand
from tests.oracle import Original, same
from tests.sample import sampled

DOC = Path(__file__).parent.parent / "docs" / "language.md"
P = 19

# name in the document -> (declarations, statements of the kernel); globals: int a[8], b[8]; float f[8]
SAMPLES = {
    "integers of every width and signedness, `_Bool`": (
        "signed char c; unsigned short s; long l; unsigned long long u; _Bool q;",
        "c = a[0]; s = a[1]; l = (long)a[2] * a[3]; u = a[4]; q = a[5]; b[0] = c + s; b[1] = l >> 3; b[2] = u % 7 + q;",
    ),
    "`__int128`, but for division, remainder and conversions from and to floats": (
        "typedef unsigned __int128 u128;",
        "u128 t = (u128)a[0] * a[1] + ((u128)a[2] << 70); __int128 s = -(__int128)a[3] * a[4]; t ^= s >> 3; "
        "b[0] = t >> 64; b[1] = t; b[2] = s < t; b[3] = (t >> (a[5] & 127)) + (s++ == -5); b[4] = s;",
    ),
    "`float`, `double`": ("double d;", "d = f[0] * 2.5; f[1] = d / 3 + f[2];"),
    "promotions and conversions, made explicit": (
        "",
        "unsigned char c = a[0]; b[0] = -c >> 1; b[1] = c * 70000u > a[1];",
    ),
    "enums, typedefs, `sizeof`": (
        "typedef int word; enum color { RED = 2, GREEN };",
        "enum color k = GREEN; word w = a[k]; b[0] = w + RED + (int)sizeof(a);",
    ),
    "arrays of any rank, global, local, `static` and `const`": (
        "static int t[2][2][2]; static const int k[4] = {3, 1, 2, 0};",
        "int l[2][4]; for (int i = 0; i < 8; i++) l[i / 4][i % 4] = a[i]; t[1][0][1] = l[1][k[0]]; b[0] = t[1][0][1];",
    ),
    "static locals": ("", "static int n = 5; n += a[0]; b[0] = n;"),
    "initialisers, designated ones too, also by GNU's `[1 ... 5] =` of a constant": (
        "struct G { int a[4]; int b; };\n"
        "static const struct G grid[3] = {[0 ... 1] = {.a = {[1 ... 2] = 7, 9}, .b = 3}, [2].b = 5, [2].a[0 ... 3] = 8};\n"
        "static const char tail[] = {[2 ... 5] = 3, 4, [1] = 9};",
        "int l[5] = {[2] = a[0], 7}; b[0] = l[2] + l[3] + l[0]; int m[6] = {[1 ... 4] = 6, a[2]}; b[1] = m[0] + m[3] + m[5];\n"
        "b[2] = grid[1].a[2] + grid[0].a[3] * 10 + grid[1].b + grid[2].a[3]; b[3] = tail[5] + tail[6] * 10 + tail[1] + sizeof tail;",
    ),
    "`for`, `while`, `do`, `break`, `continue`": (
        "",
        "int n = 0; for (;;) { if (++n > 5) break; if (n == 2) continue; b[n] = a[n]; } while (n-- > 3) b[0] += n; "
        "do b[0] ^= n; while (--n > 0);",
    ),
    "early `return`": (
        "static int g(int x) { if (x < 0) return -x; for (int i = 0; i < 3; i++) if (i == x) return 9; return x; }",
        "b[0] = g(a[0]); if (a[1] > 3) return; b[1] = 1;",
    ),
    "`switch`, falling through too, also with GNU's `case 1 ... 5`": (
        "static int kind(int c) { switch (c) { case -9 ... -1: return 1; case 0: case 3 ... 4: return 2; case 7 ... 7: return 3; }\n"
        "    return 4; }\n"
        "static int narrow(unsigned char c) { int r = 0; switch (c) { case 200 ... 255: r = 1; case 0 ... 50: r += 2; } return r; }\n",
        "for (int i = 4; i < 8; i++) b[i] = kind(a[i]) + 10 * narrow(a[i] * 37);\n"
        "switch (a[0] & 3) { case 0: b[0] = 1; case 1: b[1] = 2; break; default: b[2] = 3; case 2: b[3] = 4; }",
    ),
    "`?:`, GNU's `x ?: y` where `x` calls and changes nothing, `&&`, logical or, comma, compound assignment, `++` in a subscript": (
        "",
        "int i = 0; b[i++] = a[0] > 0 && a[1] < 5 ? 1 : 2; b[i++] += (a[2]++, a[2] || a[3]); b[i] <<= 1; b[i++] += a[4] & 3 ?: -7; b[i] = a[5] > a[6] ?: a[7];",
    ),
    "functions with scalar, array, 2-D array and pointer parameters": (
        "static int row[2][4]; static int s(int m[][4], const int *p, int k) { return m[1][k] + *p; }",
        "row[1][2] = a[0]; b[0] = s(row, a + 3, 2);",
    ),
    "sub-array arguments: `a + i`, `&a[i]`, a row": (
        "static int m[2][4]; static void z(int *p) { p[0] = 4; p[1]--; }",
        "z(b + 2); z(&b[5]); z(m[1]); b[0] = m[1][1];",
    ),
    "local pointers, `*p++`, pointer differences and comparisons": (
        "",
        "int *p = a, *e = a + 8, s = 0; while (p < e) s += *p++; b[0] = s + (int)(e - a);",
    ),
    "structs with arrays, by pointer and by value": (
        "struct S { int x; int y[2]; } s[2]; static struct S g(struct S v) { v.y[1]++; return v; } "
        "static void h(struct S *p) { p->x = p->y[1]; }",
        "s[0].x = a[2]; s[0].y[0] = 1; s[0].y[1] = a[0]; s[1] = g(s[0]); h(&s[1]); b[0] = s[1].x;",
    ),
    "`&scalar` out-parameters": ("static void g(int *r) { *r = 5 + a[1]; }", "int t; g(&t); b[0] = t;"),
    "`memcpy`, `memmove`, `memset`": (
        "",
        "memcpy(b, a + 2, 3 * sizeof(int)); memmove(b + 1, b, 4 * sizeof(int)); memset(a, 0, sizeof a);",
    ),
    "`math.h`: functions of `float` and `double`, but for `nan` and `nexttoward`": (
        "",
        "f[0] = sqrtf(fabsf(f[1])); f[2] = floor(f[3]); f[4] = fmaxf(f[5], f[6]); f[5] = frexpf(f[3], &b[0]); "
        "double w; f[6] = modf(f[7], &w); f[7] = w; f[3] = remquof(f[1], f[2], &b[1]);",
    ),
    "calls of any depth": (
        "static int g(int x) { return x * 3; } static int h(int x) { return g(x) + g(x + 1); }",
        "b[0] = h(h(a[0]));",
    ),
    "unions of scalars of one size": (
        "union U { float f; unsigned u; };",
        "union U v; v.f = f[0]; v.u ^= 1u << 31; f[1] = v.f;",
    ),
    "function pointers whose target is known": (
        "static int g(int x) { return x + 1; } static int ap(int (*p)(int), int x) { return p(x); }",
        "b[0] = ap(g, a[0]);",
    ),
    "GNU's statements as expressions, `({ ... })`, that no jump leads out of; `typeof`": (
        "#define MAX(p, q) ({ typeof(p) p_ = (p); __typeof__(q) q_ = (q); p_ > q_ ? p_ : q_; })\nstruct S { int x, y; };",
        "for (int i = 0; i < 8; i++) b[i] = MAX(a[i], MAX(a[7 - i], i)) + ({ int s = 0; for (int j = 0; j < i; j++) "
        "{ if (a[j] > 5) continue; s += a[j]; } s; }); int *p = ({ int *q = a; q + 1; }); b[0] += *p; "
        "struct S s = ({ struct S t = {a[0], a[1]}; t.x++; t; }); b[1] += s.x * s.y; ({ b[2]++; b[3]--; }); "
        "b[4] = a[0] > 0 && ({ b[4]++; b[4] > 3; });",
    ),
    "subscripts that depend on data": ("", "b[a[0] & 7] = a[a[1] & 7];"),
    "loops whose end depends on data": ("", "unsigned x = a[0] & 255; while (x != 0) { b[0]++; x >>= 1; }"),
    "unions of members of different sizes": (
        "union U { int i; short h[2]; short s; float f; }; static const union U c[2] = {{-40}, {.f = -1.5f}};",
        "union U v; v.i = a[0]; b[0] = v.h[1]; b[1] += c[0].s >> 3; b[2] += c[1].i; b[3] = c[1].s + (int)(8 * c[1].f); "
        "v = c[0]; b[4] = v.s;",
    ),
    "casts of a pointer to elements of another size, `memcpy` between bytes and words": (
        "",
        "unsigned char *p = (unsigned char *)a, w[8]; b[0] = p[3]; p[4] = 7; memcpy(w, f, 8); w[3] ^= 128; memcpy(f, w, 8);",
    ),
    "pointers stored in arrays, structs, statics and tables; pointers to pointers; null": (
        "struct S { int *p, *q; }; static const int t[2] = {3, 4}; static const int *k[2] = {t, t + 1};",
        "int *rows[2] = {a, a + 4}; struct S s = {b}; int **r = rows; s.p[1] = r[1][1] + *k[1]; **r = 3; if (!s.q) b[2] = 7;",
    ),
    "pointers that may point into one of several objects: swapped buffers, rows chosen at run time": (
        "",
        "int *p = a, *q = b; for (int i = 0; i < 3; i++) { p[i] += q[i + 1]; int *t = p; p = q; q = t; } "
        "p = a[0] > 0 ? a : b; p[1] = 5;",
    ),
    "function pointers chosen at run time, also to functions of the library that take numbers": (
        "#include <stdlib.h>\nstatic int g(int x) { return x + 1; } static int (*const k[2])(int) = {g, abs};",
        "b[0] = k[a[0] & 1](a[1]);",
    ),
    "structs of bytes whose pointers are cast to one other struct, as libraries hide their state": (
        "struct S { long n; int t[3]; }; struct C { long first; char bytes[24]; };\n"
        "static void put(struct C *c, int x) { struct S *s = (struct S *)c; s->t[s->n++] = x; }",
        "struct C c; ((struct S *)&c)->n = 0; for (int i = 0; i < 3; i++) put(&c, a[i]); b[0] = ((struct S *)&c)->t[1] + ((struct S *)&c)->n;",
    ),
    "bit-fields of 33 to 63 bits": ("struct W { long x : 40; } w;", "w.x = a[0]; b[0] = w.x * 3;"),
    "bit-fields, but for those of 33 to 63 bits": (
        "struct F { unsigned x : 3, y : 5; };",
        "struct F v; v.x = a[0]; v.y = a[1]; b[0] = v.x + v.y;",
    ),
    "the other functions of C's `string.h`, but for `strncat`, `strpbrk`, `strcoll`, `strxfrm`, `strerror` and `strtok`, "
    "and of `ctype.h`": (
        "",
        "b[0] = memcmp(a, b, 8) != 0; b[1] = isdigit(a[1] & 127) != 0;",
    ),
    "`goto`, out of loops and back too, and into a block that ends in `return`": (
        "",
        "int n = 0; again: for (int i = 0; i < 8; i++) if (a[i] == n) goto found; if (++n < 9) goto again; b[0] = 1; found: b[1] = n;",
    ),
    "recursion whose depth is known before the program runs": (
        "static int r(int n) { return n < 1 ? a[n] : a[n] + r(n - 1); }",
        "b[0] = r(3);",
    ),
    "`goto` into other blocks": ("", "if (a[0]) goto in; if (a[1]) { in: b[0] = 1; }"),
    "recursion as deep as the data says": (
        "static int r(int n) { return n < 1 ? 0 : 1 + r(n - 1); }",
        "b[0] = r(a[0] & 3);",
    ),
    "`__builtin_expect`, `_unreachable`, `_bswap32`, `_clz`, `_ctz`, `_popcount`, `_parity`, `_ffs`, `_add_overflow` and their kind": (
        "",
        "unsigned x = a[0]; if (__builtin_expect(x > 4, 0)) b[0] = __builtin_bswap32(x); int r; "
        "b[1] = __builtin_clz(x | 1) + 100 * __builtin_popcount(x); b[2] = __builtin_add_overflow(a[1] << 27, a[2] << 27, &r);",
    ),
    "`malloc`, `calloc`, `alloca`, `aligned_alloc` of sizes that are known, and `free`": (
        "#include <stdlib.h>",
        "int *p = malloc(8), *q = calloc(3, 4); p[1] = a[0]; q[2] += p[1]; b[0] = q[0] + q[2]; free(p); free(q);",
    ),
    "`realloc`, `malloc` of sizes that depend on data, and what is allocated as often as the data says": (
        "#include <stdlib.h>",
        "int *p = malloc((a[0] & 7) * sizeof *p + 4); p[0] = a[1]; b[0] = p[0]; free(p);",
    ),
    "arrays whose extents are known where the function is called": (
        "static int last(int n, int *v) { int t[n][2]; for (int i = 0; i < n; i++) t[i][1] = v[i]; return t[n - 1][1]; }",
        "b[0] = last(3, a) + last(5, a) * 10;",
    ),
    "the time, the environment, threads, signals, and what else is outside the program": (
        "#include <time.h>",
        "b[0] = time(0) > a[0];",
    ),
    "input and output; printing, unless it is discarded": ("#include <stdio.h>", 'printf("%d", a[0]);'),
    "`setjmp`, `longjmp`": ("typedef long jmp_buf[25]; int setjmp(jmp_buf e);", "jmp_buf e; b[0] = setjmp(e);"),
    "`rand`, `random`, `rand_r`, `drand48`, `lrand48`, `mrand48` and what seeds them: glibc's numbers, in each input as in "
    "a fresh process": (
        "#include <stdlib.h>",
        "srand(a[0]); b[0] = rand(); unsigned s = a[1]; b[1] = rand_r(&s) ^ random(); srand48(3); b[2] = lrand48();",
    ),
    "`exit`, `abort`, a failing `assert`; what leads to nothing else may be anything (a message needs "
    '`stdio="discard"`)': (
        "#include <assert.h>",
        "assert(a[0] < 30); b[0] = 1;",
    ),
    "`strtok`; `erand48`, `nrand48`, `jrand48`, `seed48`, `lcong48`": (
        "#include <stdlib.h>",
        "unsigned short s[3] = {a[0], 1, 2}; b[0] = nrand48(s);",
    ),
    "other functions of the C library: `atoi`, `strtol`, `strtod`, `sscanf`, `snprintf`, `strdup`, `strtok_r`, "
    "`strcasecmp`": ("#include <stdlib.h>", 'char s[4] = "12"; s[0] += a[0] & 3; b[0] = atoi(s);'),
    "`qsort`, `bsearch`": (
        "#include <stdlib.h>\nstatic int c(const void *x, const void *y) { return 0; }",
        "qsort(a, 8, sizeof(int), c);",
    ),
    "inline assembly": ("", 'asm("nop"); b[0] = 1;'),
    "arrays whose extent depends on data": ("", "int n = a[0] & 7; int t[n + 1]; t[0] = 1; b[0] = t[0];"),
    "vectors (`vector_size`), and bit-fields in packed structs": (
        "struct __attribute__((packed)) K { char c; int x : 5; } k;",
        "k.x = a[0]; b[0] = k.x;",
    ),
    "structs laid out by `packed`, `aligned` or `#pragma pack`": (
        "struct __attribute__((packed)) K { char c; int x; double d[2]; }; "
        "typedef int wide __attribute__((aligned(16))); struct W { char c; wide x; char d; };\n"
        "static unsigned read(const void *p) { typedef unsigned __attribute__((aligned(1))) u; return *(const u *)p; }",
        "struct K k[2]; unsigned char t[29]; k[1].c = 1; k[1].x = a[0]; k[1].d[0] = k[1].d[1] = a[1]; struct W w = {1, a[2], 3}; "
        "memcpy(t, &k[1], sizeof k[1]); b[0] = read(t + 1) + sizeof(struct W) + (int)((char *)&w.x - (char *)&w); "
        "b[1] = k[1].x + k[1].d[1] + w.x + w.d;",
    ),
    "`va_start`, `va_arg` (a function that does not look at its `...` is taken)": (
        "static int v(int n, ...) { __builtin_va_list l; __builtin_va_start(l, n); n = __builtin_va_arg(l, int); return n; }",
        "b[0] = v(1, 2);",
    ),
    "GNU extensions without a line of their own here: `f(x) ?: y`, `__auto_type`, nested functions": (
        "static int same(int x) { return x; }",
        "b[0] = same(a[0]) ?: 3;",
    ),
    "`__int128` divided, or converted from or to a float": ("", "b[0] = (unsigned __int128)a[0] * a[1] % 7;"),
    "jumps out of a statement as an expression": ("", "b[0] = ({ if (a[0] > 9) return; a[0] + 1; });"),
    "`_Generic`": ("", "b[0] = _Generic(a[0], int: 1, default: 2);"),
    "GCC's other built-in functions": ("", "b[0] = __builtin_object_size(a, 0) > 4;"),
    "`float _Complex`, `double _Complex`; `complex.h`, but for functions of constants; GNU's `__real__`, `__imag__`, `1.0i`, `~`": (
        "#include <complex.h>\ndouble complex c[2];",
        "float complex s = f[4]; c[0] = f[0] + f[1] * I; c[1] = (c[0] * c[0] - a[0]) / ~c[0]; s = cexp(c[1]) * conjf(s); __imag__ s += 2.0i * 1.0i; "
        "f[2] = creal(c[1]) + cabsf(s); b[0] = c[0] == c[1]; f[3] = __real__ s;",
    ),
    "complex integers": ("", "int _Complex z = a[0]; b[0] = __real__ z;"),
    "functions whose source is in none of the files": ("int elsewhere(int);", "b[0] = elsewhere(a[0]);"),
}


def lines() -> list[tuple[str, str]]:
    """(construct, section) of every line of the document's tables."""
    constructs, section = [], ""
    for line in DOC.read_text().splitlines():
        if line.startswith("## "):
            section = line[3:].lower()
        elif re.match(r"^\| (?!construct|---)", line):
            constructs.append((line.split("|")[1].strip(), section))
    return constructs


LINES = lines()


def program(name: str) -> str:
    head, body = SAMPLES[name]
    return (
        f"#include <math.h>\n#include <string.h>\n#include <ctype.h>\nint a[8], b[8];\nfloat f[8];\n{head}\n"
        f"void kern(void) {{\n    {body}\n}}\n"
    )


def test_every_line_has_a_sample_and_every_sample_a_line():
    assert sorted(n for n, _ in LINES) == sorted(SAMPLES)


@pytest.mark.costly
@pytest.mark.parametrize("name", sampled([n for n, s in LINES if s.startswith("analysed")], 4))
def test_analysed(name):
    compare(name, ("gang", "native"))


@pytest.mark.costly
@pytest.mark.parametrize("name", sampled([n for n, s in LINES if s.startswith("followed")], 1))
def test_followed(name):
    compare(name, ("gang",))


@pytest.mark.parametrize("name", sampled([n for n, s in LINES if s.startswith(("passed through", "run as"))], 2))
def test_passed_through(name):
    text = program(name)
    with pytest.raises(c2cu.UnsupportedError) as caught:
        c2cu.compile(text, fn="kern", backend="cpu", schedule="gang")
    assert caught.value.line is not None
    plan = c2cu.compile(text, fn="kern", backend="cpu").plan
    assert plan.schedule == "native" and plan.rejected[0][0] == "gang"
    compare(name, ("native",))


@pytest.mark.parametrize("name", [n for n, s in LINES if s.startswith("refused")])
def test_refused(name):
    with pytest.raises(c2cu.UnsupportedError) as caught:
        c2cu.compile(program(name), fn="kern", backend="cpu")
    assert caught.value.line is not None
    assert caught.value.diagnostic.hint


def compare(name: str, schedules: tuple[str, ...]) -> None:
    rng = np.random.default_rng(3)
    inputs = {
        "a": rng.integers(-9, 9, (P, 8)).astype("int32"),
        "b": rng.integers(-9, 9, (P, 8)).astype("int32"),
        "f": rng.normal(size=(P, 8)).astype("float32"),
    }
    variables = [("a", "int32", (8,)), ("b", "int32", (8,)), ("f", "float32", (8,))]
    expected = Original(program(name), "kern", variables).bulk(inputs, P, fresh=True)
    for schedule in schedules:
        compiled = c2cu.compile(program(name), fn="kern", backend="cpu", schedule=schedule)
        slots = {s.name for s in compiled.slots}
        result = compiled({n: v for n, v in inputs.items() if n in slots})
        if not isinstance(result, dict):
            result = {next(s.name for s in compiled.slots if s.writes): result}
        for n in ("a", "b", "f"):
            assert same(result.get(n, inputs[n]), expected[n]), (schedule, n)


@pytest.mark.parametrize(
    ("first", "values", "bits"),
    [
        ("float f; unsigned u;", "{.u = 0x3f800000u}, {2.0f}", (1.0, 2.0)),
        ("unsigned u; float f;", "{.f = -0.0f}, {7}", (0x80000000, 7)),
        ("double f; long u;", "{.u = -1L << 52}, {1}", (float("-inf"), 1.0)),
    ],
)
def test_any_member_of_a_union_is_initialised(first, values, bits):
    text = f"static const union {{ {first} }} t[2] = {{{values}}};\nlong a[2];\n"
    text += "void kern(void) { for (int i = 0; i < 2; i++) a[i] = t[i].u; }\n"
    kernel = understand(Source("<input>", text), Options("kern")).analysis.kernel
    assert [r.init for r in kernel.regions if r.storage == "shared"] == [bits]


@pytest.mark.parametrize("schedule", ["native", "gang"])
def test_a_constant_union_with_a_pointer_is_copied_member_by_member(schedule):
    text = "union U { long l; char *p; short s; int i; };\nstatic union U g = {-1L};\nint x;\n"
    text += "union U kern(void) { x += 1; return g; }\n"
    result = c2cu.bulk(text, {"x": np.arange(P, dtype="i4")}, backend="cpu", schedule=schedule)
    assert (result["return"].view("i8") == -1).all() and list(result["x"]) == list(range(1, P + 1))


@pytest.mark.parametrize(
    ("declared", "body"),
    [
        ("union U { int i; unsigned u; } g;", "g.i = a[0] + 1; g.u ^= 0x80000001u;"),
        ("union U { float f; unsigned u; } g[2];", "g[0].f = a[0] * 0.5f; g[0].u ^= 1u << 31; g[1].u = g[1].u + a[1];"),
        ("struct S { int n; union { short s; unsigned short u; } v; } g;", "g.v.s = a[0]; g.v.u ^= 0x8001u; g.n += 2;"),
        (
            "struct S { int n; union { long l; double d; }; } g[2];",
            "g[1].d = g[0].d + a[0]; g[0].l ^= 5; g[1].n = g[0].n;",
        ),
        ("struct S { union { int i; unsigned u; }; int n; } g = {{3}, 4};", "g.u ^= 0x80000001u; g.n += g.i + a[0];"),
    ],
)
def test_unions_go_in_and_out(declared, body):
    """All members lie in one cell: what is written by one name is read by another, and comes in and goes out once."""
    text = f"int a[2];\n{declared}\nvoid kern(void) {{ {body} }}\n"
    program, rng = c2cu.compile(text, backend="cpu", schedule="native"), np.random.default_rng(5)
    (slot,) = (s for s in program.slots if s.name == "g")
    inputs = {"a": rng.integers(-9, 99, (P, 2)).astype("i4")}
    if slot.reads:
        inputs["g"] = np.zeros((P, *slot.shape), np.dtype(slot.dtype))
        raw = rng.integers(0, 60, inputs["g"].view(np.uint8).shape).astype(np.uint8)
        inputs["g"].view(np.uint8)[...] = raw
    expected = Original(text, "kern", [("a", "i4", (2,)), ("g", np.dtype(slot.dtype), slot.shape)]).bulk(inputs, P)["g"]
    for schedule in ("native", "gang"):
        result = c2cu.bulk(text, inputs, backend="cpu", schedule=schedule)
        result = result["g"] if isinstance(result, dict) else result
        # by members: what lies between them is nobody's
        assert repr(result.tolist()) == repr(expected.astype(np.dtype(slot.dtype)).tolist()), schedule


CONDITIONS = [
    "(x[i] > 0 && x[7 - i] < 4) != 1",
    "(x[i] > 0 && x[7 - i] < 4) != (x[0] > 1)",
    "(x[i] > 0 && x[7 - i] < 4) == 0",
    "!(x[i] > 0 && x[7 - i] < 4)",
    "i > 0 && x[i - 1] > 0 && (x[i] > 0 || x[7 - i] > 2)",
    "(i > 0 && x[i - 1] > 0) || x[i] < 0",
    "x[i] > 0 && (n = x[7 - i]) > 1",
    "x[i] > 0 && n++ < 3 && x[7 - i] > 0",
    "(x[i] > 0 && x[7 - i] > 0) + (x[i] > 1 && x[7 - i] > 1)",
]


@pytest.mark.parametrize("condition", sampled(CONDITIONS, 8))
@pytest.mark.parametrize("body", ["y[i] = 3 + n;", "{ y[i] = n; continue; }", "{ n += 2; if (x[0] > 5) break; }"])
def test_conditions(condition, body):
    """An `if` stands inside the one that && makes only where it asks for the whole && alone."""
    text = "int x[8], y[8];\nvoid kern(void) {\n    int n = 0;\n    for (int i = 0; i < 8; i++) y[i] = 0;\n"
    text += f"    for (int i = 0; i < 8; i++) {{ if ({condition}) {body}\n        y[i] += n; }}\n    y[0] += n;\n}}\n"
    inputs = {"x": np.random.default_rng(2).integers(-5, 9, (P, 8)).astype("i4")}
    expected = Original(text, "kern", [("x", "i4", (8,)), ("y", "i4", (8,))]).bulk(inputs, P)["y"]
    for schedule in ("native", "gang"):
        assert same(c2cu.bulk(text, inputs, backend="cpu", schedule=schedule), expected), schedule


@pytest.mark.parametrize(
    ("declared", "size"),
    [("int a; unsigned b : 5;", 4), ("char a; long b : 40; short c;", 8), ("unsigned a : 3, b : 9; int c : 31;", 4)],
)
def test_bit_fields_of_unions(declared, size):
    text = f"typedef union {{ {declared} }} U;\nint a[1];\nvoid kern(void) {{ a[0] += sizeof(U); }}\n"
    assert c2cu.bulk(text, np.zeros((1, 1), "i4"), backend="cpu").tolist() == [[size]]


def test_a_local_union_is_initialised_by_name():
    text = "int a[1];\nvoid kern(void) { union { int i; float f; } z = {.f = 2}; a[0] += z.i; }\n"
    for schedule in ("native", "gang"):
        result = c2cu.bulk(text, np.zeros((2, 1), "i4"), backend="cpu", schedule=schedule)
        assert result.tolist() == [[0x40000000]] * 2


def test_a_cell_that_holds_0_or_1_is_no_others():
    text = "unsigned char x[2], y[2];\nvoid kern(void) { union { _Bool a; unsigned char b; } v; v.b = x[0]; y[0] = v.b; }\n"
    x = np.array([[7, 1]], np.uint8)
    assert c2cu.bulk(text, {"x": x}, backend="cpu")[0, 0] == 7
    with pytest.raises(c2cu.UnsupportedError, match="a union whose first member is a _Bool"):
        c2cu.bulk(text, {"x": x}, backend="cpu", schedule="gang")
