"""What was found wrong from outside, each with its neighbours: gcc's own build says what is right.

Every kernel reads the global ``int x``; what it writes are globals that each sample lists.
"""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import c2cu
from c2cu.base.ctype import SCALARS, Array, CType, Member, Struct, align_of
from c2cu.frontend.parse import parse
from c2cu.frontend.preprocess import Source, preprocess
from c2cu.frontend.typed import typed
from c2cu.lower import zeros
from c2cu.pipeline import Options, understand
from tests.oracle import Original, same
from tests.sample import sampled
from tests.test_annex_c import emulated

P = 7
INT = np.dtype(np.int32)
DOUBLE = np.dtype(np.float64)
R = [("r", INT, ())]


def agrees(text: str, outputs: list, schedule: str = "auto", whole: bool = True) -> None:
    """The outputs are those listed (``whole``), and every one is gcc's."""
    x = np.arange(P, dtype=INT) - 2
    original = Original(text, "kernel", [("x", INT, ()), *outputs])
    expected = original.bulk({"x": x}, P, fresh=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = c2cu.bulk(text, {"x": x}, fn="kernel", backend="cpu", schedule=schedule)
    results = results if isinstance(results, dict) else {outputs[0][0]: results}
    assert not whole or set(results) == {name for name, *_ in outputs}
    for name, value in results.items():
        assert same(value, expected[name]), name


def kernel(body: str, outside: str = "") -> str:
    return f"int x, r;\n{outside}\nvoid kernel(void) {{ {body} }}\n"


G = [("g", INT, ())]
WRITTEN = {
    "static initialiser": ("int g; int *q = &g;", "*q = x * 2;", G),
    "element": ("int g[4]; int *q = g + 1;", "q[1] = x * 2;", [("g", INT, (4,))]),
    "static local": ("int g;", "static int *q = &g; *q = x + 1;", G),
    "pointer to the pointer": ("int g; int *q = &g; int **t = &q;", "**t = x;", G),
    "memcpy": ("int g;", "int *a = &g, *b; __builtin_memcpy(&b, &a, sizeof a); *b = x;", G),
    "memcpy of a global": ("int g; int *a = &g;", "int *b; __builtin_memcpy(&b, &a, sizeof a); *b = x;", G),
    "byte by byte": (
        "int g;",
        "int *a = &g, *b; char *s = (char *)&a, *d = (char *)&b; for (int i = 0; i < 8; i++) d[i] = s[i]; *b = x;",
        G,
    ),
    "as a number": ("int g;", "unsigned long u = (unsigned long)&g, v = u + 4; *(int *)(v - 4) = x;", G),
    "union": ("int g;", "union { int *p; unsigned long u; } u; u.p = &g; *u.p = x;", G),
    "struct by value": (
        "int g; struct S { int *p; }; static void f(struct S s) { *s.p = x; }",
        "struct S s = {&g}; f(s);",
        G,
    ),
    "returned": ("int g; static void *f(void *p) { return p; }", "*(int *)f(&g) = x;", G),
    "given back": ("int g; static void f(int **p) { *p = &g; }", "int *q; f(&q); *q = x;", G),
    "through a function's address": ("int g; static void f(int *p) { *p = x; } void (*h)(int *) = f;", "h(&g);", G),
}


@pytest.mark.parametrize("sample", sampled(WRITTEN, 2))
def test_what_is_written_through_a_pointer_is_an_output(sample):
    outside, body, outputs = WRITTEN[sample]
    agrees(kernel(body, outside), outputs)


@pytest.mark.parametrize("sample", sampled([s for s, (_, _, outputs) in WRITTEN.items() if outputs is G], 3))
def test_what_is_shared_is_not_written_through_a_pointer(sample):
    outside, body, _ = WRITTEN[sample]
    with pytest.raises(c2cu.Error, match="'g' is shared"):
        c2cu.bulk(
            kernel(body, outside), {"x": np.arange(P, dtype=INT)}, fn="kernel", backend="cpu", shared={"g": INT.type(3)}
        )


UNION = (
    "union { int i; char c[4]; } u; u.i = x; r = u.c[0];"  # so that nothing but the text itself says what is written
)


@pytest.mark.parametrize(
    "body",
    [
        "int a[4] = {0}; a[g[x & 3] & 3] = 1; r += a[1];",
        "int a[4]; for (int i = 0; i < 4; i++) a[i] = g[i]; a[0] = 1; r += a[x & 3];",
        "int a[2] = {g[0], g[1]}; a[1] += x; r += a[1];",
        "int a[4]; __builtin_memcpy(a, g, sizeof a); a[1] += x; r += a[1];",
        "r += __builtin_memcmp(g, g + 1, 4) + g[1];",
    ],
)
def test_what_is_only_read_may_be_shared(body):
    text = kernel(UNION + body, "int g[4];")
    g = np.array([1, 2, 3, 0], INT)
    x = np.arange(P, dtype=INT)
    result = c2cu.bulk(text, {"x": x}, fn="kernel", backend="cpu", shared={"g": g})
    original = Original(text, "kernel", [("x", INT, ()), ("g", INT, (4,)), *R])
    assert same(result, original.bulk({"x": x, "g": np.tile(g, (P, 1))}, P)["r"])


def test_a_null_global_pointer():
    agrees(kernel("r = q ? 1 : x;", "int *q;"), R)


DECLARED = {
    "extern in a block, const": ("", "extern const int g; r = x + g;", "const int g = 41;", R),
    "extern in a block, const, defined before": ("const int g = 41;", "extern const int g; r = x + g;", "", R),
    "extern in a block": ("", "extern int g; g += x;", "int g = 41;", G),
    "extern in two blocks": (
        "static int f(void) { extern int g; return g * x; }",
        "extern int g; g += x; r = f();",
        "int g = 41;",
        R + G,
    ),
    "extern in a loop": (
        "",
        "r = 0; for (int i = 0; i < 3; i++) { extern const int t[3]; r += t[i] * x; }",
        "const int t[3] = {4, 5, 6};",
        R,
    ),
    "extern behind a local": ("int g = 5;", "int y = x; { int g = x; { extern int g; g += y; } r = g; }", "", R + G),
    "tentative": ("int g;", "g += x;", "int g = 41;", G),
    "tentative, static": ("static int g;", "r = g + x; g = r;", "static int g = 41;", R + G),
    "tentative, without an extent": ("int g[];", "g[0] = x + 1;", "", [("g", INT, (1,))]),
    "without an extent": ("extern double t[];", "t[1] += x;", "double t[3] = {1.5, 2.5, 3.5};", [("t", DOUBLE, (3,))]),
    "const, without an extent": ("extern const int t[];", "r = t[x & 1];", "const int t[3] = {4, 5, 6};", R),
    "const, declared again": ("const int g = 41; extern const int g;", "r = x + g;", "extern const int g;", R),
    "struct completed later": (
        "struct S; extern struct S s; struct S { int a, b; };",
        "s.a += x;",
        "struct S s = {3, 4};",
        [("s", np.dtype([("a", INT), ("b", INT)]), ())],
    ),
    "static prototype": ("static int f(int);", "r = f(x);", "static int f(int y) { return 3 * y; }", R),
    "prototype in a block": ("", "int f(int); r = f(x);", "int f(int y) { return 3 * y; }", R),
    "function named by a table that comes later": (
        "typedef int (*fn)(int); extern const fn t[];",
        "r = t[1](x);",
        "static int f(int y) { return 3 * y; } static int h(int y) { return 5 * y; } const fn t[] = {f, h};",
        R,
    ),
}


@pytest.mark.parametrize("sample", sampled(DECLARED, 2))
def test_all_declarations_of_an_object_are_one(sample):
    before, body, after, outputs = DECLARED[sample]
    agrees(kernel(body, before) + after + "\n", outputs)


# the layout of structs


TYPES = ["char", "signed char", "short", "unsigned short", "int", "unsigned", "long", "long long", "unsigned long long"]
TYPES += ["_Bool", "enum E", "float", "double", "long double", "void *", "int (*)(void)"]
WIDTHS = {
    "_Bool": 1,
    "char": 8,
    "signed char": 8,
    "short": 16,
    "unsigned short": 16,
    "int": 32,
    "unsigned": 32,
    "enum E": 32,
}


def random_struct(rng: np.random.Generator, name: str, depth: int = 0) -> tuple[str, list[str], list[str]]:
    """The text of a struct or union (without what declares its name), and the paths of its members: bit-fields are the
    second list."""
    members: list[str] = []
    paths: list[str] = []
    fields: list[str] = []
    for k in range(rng.integers(1, 7)):
        t, m = str(rng.choice(TYPES)), f"{name}{k}"
        match rng.integers(0, 10):
            case 0 | 1 if depth < 2:
                inner, below, bits = random_struct(rng, m, depth + 1)
                shape = rng.integers(0, 4)
                if shape == 0:  # declares no member
                    members.append(f"{inner.replace(' ', f' T{m} ', 1)};")
                    continue
                dims, prefix = [("", ""), ("", f"{m}."), ("[2]", f"{m}[1].")][shape - 1]  # the first is anonymous
                members.append(f"{inner} {prefix and m}{dims};")
                paths += [prefix + path for path in below]
                fields += [prefix + path for path in bits]
            case 2 | 3 | 4 | 5 if t in WIDTHS or t.endswith("long long") or t == "long":
                width = int(rng.integers(0, WIDTHS.get(t, 64) + 1))
                named = width and rng.random() < 0.75
                members.append(f"{t} {m if named else ''} : {width};")
                fields += [m] * bool(named)
            case kind:
                d = f"{m}[3]" if kind == 6 else m
                members.append(f"{t.replace('(*)', f'(*{d})') if '(*)' in t else f'{t} {d}'};")
                paths.append(m)
    keyword = rng.choice(["struct", "struct", "union"])
    return f"{keyword} {{ {' '.join(members)} int end{name}; }}", [*paths, f"end{name}"], fields


def member_at(t: CType, path: str) -> Member:
    """The member of a path, its offset from the start of ``t``."""
    offset = 0
    for name in path.split("."):
        assert isinstance(t, Struct)
        m = t.member(name.removesuffix("[1]"))
        assert m is not None
        offset, t = offset + m.offset, m.type
        if isinstance(t, Array) and name.endswith("[1]"):
            offset, t = offset + t.of.size, t.of
    return replace(m, type=t, offset=offset)


FIRST_BIT = """
static long first_bit(const unsigned char *s) { long k = 0; while (!(s[k / 8] >> k % 8 & 1)) k++; return k; }
#define BIT(s, m) (__builtin_memset(&s, 0, sizeof s), s.m = -1, first_bit((void *)&s))
"""


def test_layouts_are_the_compilers():
    rng = np.random.default_rng(5)
    structs = [random_struct(rng, f"m{k}_") for k in range(50)]
    declared = "enum E { E0, E1 = 0x7fffffff };\n" + "".join(f"{s} s{k};\n" for k, (s, _, _) in enumerate(structs))
    members = [(k, path) for k, (_, paths, _) in enumerate(structs) for path in paths]
    fields = [(k, path) for k, (_, _, paths) in enumerate(structs) for path in paths]
    asked = [f"sizeof s{k}, _Alignof(s{k})" for k in range(len(structs))]
    asked += [f"(char *)&s{k}.{path} - (char *)&s{k}, sizeof s{k}.{path}" for k, path in members]
    asked += [f"BIT(s{k}, {path}), 0" for k, path in fields]
    answers = " ".join(f"{{ long v[] = {{{a}}}; t[{k}][0] = v[0]; t[{k}][1] = v[1]; }}" for k, a in enumerate(asked))
    n = len(asked)
    judge = f"{declared}{FIRST_BIT}long t[{n}][2];\nvoid kernel(void) {{ {answers} }}\n"
    expected = Original(judge, "kernel", [("t", np.dtype(np.int64), (n, 2))]).bulk({}, 1)["t"][0]

    unit = understand(Source("<input>", declared + kernel("r = x;")), Options(fn="kernel")).program.unit
    types = [unit.variables[f"s{k}"].type for k in range(len(structs))]
    ours = [(t.size, align_of(t)) for t in types]
    ours += [(m.offset, m.type.size) for m in (member_at(types[k], path) for k, path in members)]
    ours += [(8 * m.offset + m.bit, 0) for m in (member_at(types[k], path) for k, path in fields)]
    for question, answer, right in zip(asked, ours, expected.tolist(), strict=True):
        assert answer == tuple(right), question


# literals and the types of expressions


def test_character_constants():
    constants = ["'a'", "'\\xff'", "'ab'", "'abcd'", "'\\377\\377'", "L'a'", "L'\\xffffffff'", "u'\\xffff'"]
    constants += ["U'\\xffffffff'", "u'\\u20ac'", "L'\\U0001f600'", "'\\0'", "'\\''"]
    body = "".join(
        f"t[{4 * k}] = {c}; t[{4 * k + 1}] = sizeof({c}); t[{4 * k + 2}] = {c} - 1 - 0xffff < x; t[{4 * k + 3}] = -1 < {c};"
        for k, c in enumerate(constants)
    )
    agrees(kernel(body, f"long t[{4 * len(constants)}];"), [("t", np.dtype(np.int64), (4 * len(constants),))])


VARIABLES = """int x; enum E { E0, E1 } en; enum N { N0 = -1 } nn; enum L { L0 = 1l << 40 } ll;
_Bool b; char c; signed char sc; unsigned char uc; short h; unsigned short uh; int i; unsigned u; long l; unsigned long ul;
long long q; unsigned long long uq; float f; double d; long double ld; int a[3]; char m[2][5]; int *p; double *dp; void *vp;
int fi(char); float ff(void); struct T { char x[3]; short y; } t, *tp; struct T ft(void);
struct S { unsigned a:3, b:31, c:32; int d:5, e:32; long f:5; unsigned long g:31, h:32; _Bool i:1; char j:7; } s, *sp;
"""
NUMBERS = (
    "b c sc uc h uh i u l ul q uq f d ld en nn ll E0 N0 L0 a[1] m[1][2] *p *dp fi(c) ff() t.x[0] tp->y sp->a".split()
)
NUMBERS += [
    f"s.{m}" for m in "abcdefghij"
] + "1 1u 1l 1ull 0x80000000 2147483648 1.f 1. 1.l 'a' L'a' u'a' U'a' 'ab'".split()
INTEGERS = [n for n in NUMBERS if n not in "f d ld *dp ff() 1.f 1. 1.l".split()]
OTHERS = [
    "a",
    "m",
    "m[1]",
    "p",
    "vp",
    "&p",
    "&a",
    "&m[1]",
    "*m",
    "t",
    "tp",
    "ft()",
    "&t",
    "p + 1",
    "1 + a",
    "p++",
    "t = ft()",
]
OTHERS += [
    "(char[7]){0}",
    "(struct T){{1}}",
    "(int[]){1, 2, [5] = 3}",
    "x ? p : 0",
    "0 ? vp : p",
    "fi",
    "&fi",
    "*fi",
    "tp->x",
]
OTHERS += [f'{prefix}"ab\\0" "c\\1" "2"' for prefix in ("", "u8")]
OTHERS += [
    "ft().x",
    "x ? t : ft()",
    "(t, a)",
    "(0, m[1])",
    "p = 0",
    "p += 1",
    "p - p",
    "&a[2] - a",
    "&*fi",
    "sizeof(int[3])",
]


def random_number(rng: np.random.Generator, depth: int, integer: bool = False) -> str:
    if depth == 0:
        return str(rng.choice(INTEGERS if integer else NUMBERS))
    x, y = (random_number(rng, int(rng.integers(0, depth)), integer) for _ in "xy")
    match rng.integers(0, 10):
        case 0 | 1 | 2:
            return f"({x} {rng.choice(['+', '-', '*', '/'])} {y})"
        case 3 | 4:
            x, y = (random_number(rng, depth - 1, True) for _ in "xy")
            return f"({x} {rng.choice(['%', '&', '|', '^', '<<', '>>'])} {y})"
        case 5:
            return f"({x} {rng.choice(['<', '==', '&&', '||'])} {y})"
        case 6:
            return f"({y} ? {x} : {y})"
        case 7:
            return f"({rng.choice(['s.a', 's.c', 's.g', 'c', 'uh', 'u'] + ['f'] * (not integer))} {rng.choice(['=', '+=', '-='])} {x})"
        case 8:
            return rng.choice(["-", "+", "!"]) + x if rng.random() < 0.7 else f"~{random_number(rng, depth - 1, True)}"
        case _:
            return rng.choice(
                [f"(unsigned char){x}", f"(0, {x})", "s.a++", "--uh", "sizeof x", "_Alignof(short)", "q--"]
            )


def test_types_of_expressions():
    """Of random expressions: the type after promotion, and the size."""
    rng = np.random.default_rng(3)
    numbers = [*NUMBERS, *(random_number(rng, int(rng.integers(1, 4))) for _ in range(400))]
    sized = OTHERS + [n for n in numbers if "s." not in n and "sp" not in n]
    body = "".join(f"+({n});" for n in numbers) + "".join(f"sizeof({e});" for e in sized)
    pre = preprocess(Source("<input>", VARIABLES + kernel(body)))
    unit = typed(parse(pre), pre)
    statements = unit.require("kernel").node.body.block_items
    ours = [str(unit.type(n)) for n in statements[: len(numbers)]]
    ours += [str(unit.constant(n)) for n in statements[len(numbers) :]]

    codes = ", ".join(f"{t}: {k}" for k, t in enumerate(SCALARS))
    asked = [f"_Generic(+({n}), {codes})" for n in numbers] + [f"sizeof({e})" for e in sized]
    answers = "".join(f"answer[{k}] = {a};" for k, a in enumerate(asked))
    judge = f"{VARIABLES} long answer[{len(asked)}];\nvoid kernel(void) {{ {answers} }}"
    right = Original(judge, "kernel", [("answer", np.dtype(np.int64), (len(asked),))]).bulk({}, 1)["answer"][0].tolist()
    expected = [str(SCALARS[k]) for k in right[: len(numbers)]] + [str(k) for k in right[len(numbers) :]]
    for question, answer, value in zip([*numbers, *asked[len(numbers) :]], ours, expected, strict=True):
        assert answer == value, question


# what GCC makes of C


ZEROS = {
    "0.0 - (double)x": True, "0 - (double)x": True, "0.0 - x": True, "(1.0 - 1.0) - (double)x": True, "0.0 - (float)x": False,
    "0.0 - __builtin_fabs(y)": True, "0.0 - (x ? 1.0 : (double)x)": True, "0.0 - (x ? 1.0 : y)": False, "0.0 - y": False,
    "0.0 + -(double)x": True, "-(double)x + 0.0": True, "0.0 - ((double)x + 0.0)": True, "0.0 - 1.0 * (double)x": True,
    "zero - (double)x": True, "table[0] - (double)x": False, "-0.0 - (double)x": True,
    "(float)u * 0 - (float)x": True,
    "(float)(x > 9) * 0 - x": True,
    "(float)(x & 7) * 0 - x": True,
    "(double)(x - x) - (double)x": True, "(x ^ x) - (double)x": True, "(double)((x & 0) << x) - (double)x": True,
    "(double)-(0 / (x | 1)) - (double)x": True, "(double)(x ? u - u : 0) - x": True, "(x - (int)u) - (double)x": False,
    "(double)(y - y) - x": False,
    "__builtin_fabsf((float)(x - x)) - (float)(long)x": True, "__builtin_sqrt(__builtin_fabs((double)!255)) - x": True,
    "(double)__builtin_floorf((float)(x ^ x)) - x": True, "__builtin_fabs(y - y) - x": False,
    "__builtin_rint(0.0) - x": False,
    **{f"({zero}) * 2.0f - (float)x": True for zero in (
        "!((int)(y > 0) + 2)", "!((y > 0) * 2 + 1)", "!(x | 1)", "(y > 0) == 2", "((y > 0) + 2) < 2", "u > 255", "u == -1",
        "!(u + 1)", "!((x & 7) + 1)", "(x & 7) == 9", "x != x", "x % 1", "(y > 0) >> 1", "(x & 7) >> 3", "~(x | -1)",
        "(y > 0) & 2", "(u << 8) & 255", "(x * 2) & 1", "(y > 0) && 0", "2 - ((y > 0) + 2) > 1",
        "((y > 0) + 2) / 4", "!(x ? 1 : 2)",
    )},
    **{f"({zero}) * 2.0f - (float)x": False for zero in ("u >> 8", "u / 256", "(x & 7) / 8", "x % 4 == 9", "u & 256")},
    **{f"__builtin_{f}(0.0) - x": True for f in sorted(zeros.KEEP_ZERO)},
}  # fmt: skip


@pytest.mark.parametrize("expression", sampled(ZEROS, 3))
def test_differences_from_zero(expression):
    """GCC makes -x of 0.0 - x where it sees that x is not -0.0; then zero has the other sign."""
    outside = "double d; static const double zero = 0, table[1] = {0};"
    text = kernel(f"double y = x; unsigned char u = x; d = 1 / ({expression});", outside)
    agrees(text, [("d", DOUBLE, ())], "gang")
    zero = Original(text, "kernel", [("x", INT, ()), ("d", DOUBLE, ())]).bulk({}, 1)["d"][0]
    assert bool(np.signbit(zero)) == ZEROS[expression]


FLEXIBLE = {
    "string": 'struct { char n; char v[]; } t = {1, "wxy"};',
    "list": "static struct { int n; short v[]; } t = {2, {5, 6, 7}};",
    "designated": "static struct { int n; int v[]; } t = {.v = {[2] = 5}, .n = 3};",
    "const": "static const struct { char n; int v[]; } t = {2, {5, 6, 7}};",
}


@pytest.mark.parametrize("name", FLEXIBLE)
def test_an_initialiser_makes_an_object_larger_than_its_type(name):
    agrees(kernel("r = t.v[2] + 3 * t.v[x & 1] + t.n;", FLEXIBLE[name]), R)


ACROSS = {
    "memcmp": 'r = memcmp(&s, "\\1HE", 3);',
    "characters": "char *p = (char *)&s; for (int k = 0; k < 9; k++) r += p[k] * (k + 1);",
    "from the first member": "char *p = &s.m; for (int k = 0; k < 9; k++) r += p[k] * (k + 1);",
    "a known place": "char *p = (char *)&s; r = p[1] + 3 * p[7] + 5 * ((char *)&s)[8];",
}


@pytest.mark.parametrize("first", ["m", "m[1]", "m[3]"])
@pytest.mark.parametrize("name", sampled(ACROSS, 1))
def test_a_pointer_to_a_struct_leads_across_its_members(name, first):
    if name == "from the first member" and first != "m":
        pytest.skip("it is an array, which its elements' addresses do not leave")
    start = f"struct {{ char {first}, n[5]; int k; }} s; memset(&s, 0, sizeof s); r = 0; "
    start += "s.n[0] = x; s.n[1] = 'E'; *(char *)&s = 1; s.k = 7 << (x & 7); "
    agrees(kernel(start + ACROSS[name], "#include <string.h>"), R)


def test_constants_that_an_integer_type_does_not_hold():
    """GCC takes the type's nearest number."""
    constants = (
        "(int)2147483648.0f",
        "(int)-3e10",
        "(short)70000.0",
        "(signed char)-300.5f",
        "(unsigned)-1.5",
        "(_Bool)0.5",
    )
    body = "c[6] = x; " + " ".join(f"c[{k}] = {c};" for k, c in enumerate(constants))
    agrees(
        kernel(f"{body} c[7] = (long)1e30 == 0x7fffffffffffffff;", "long c[8];"),
        [("c", np.dtype(np.int64), (8,))],
        "gang",
    )


def test_an_integer_that_a_function_returns_is_no_pointer():
    text = kernel("int *p = (void *)f(); r = p ? *p : x;", "static long f(void) { return (long)&x; }")
    assert "a pointer is used as a number" in str(c2cu.check(text, fn="kernel").why_not)
    text = text.replace("(long)&x", "x - x")
    assert "a pointer is made from an integer" in str(c2cu.check(text, fn="kernel").why_not)
    agrees(text, R)


STRUCTS = {
    "variables": "struct S s = {x, 2}, a[] = {s, s, s}; r = sizeof a + a[2].y + a[1].x;",
    "calls": "struct S a[] = {f(x), f(1), {3}}; r = sizeof a + a[1].y;",
    "literals and numbers": "struct S a[] = {x ? f(1) : f(4), (struct S){5, 6}, 3, 4, 5}; r = sizeof a + a[1].y + a[0].x;",
    "members": "struct S s = {x, 2}; struct { int k; struct S s; } a[] = {1, s, 2, s}; r = sizeof a + a[1].s.y;",
}


@pytest.mark.parametrize("name", sampled(STRUCTS, 1))
def test_structs_initialise_elements_of_an_array_without_extent(name):
    outside = "struct S { int x, y; }; static struct S f(int k) { struct S s = {k, k}; return s; }"
    agrees(kernel(STRUCTS[name], outside), R, "gang")


def test_vectors_in_an_array_without_extent():
    outside = "typedef int V __attribute__((vector_size(16))); V v[] = {(V){1, 2, 3, 4}, (V){5, 6, 7, 8}};"
    agrees(kernel("r = sizeof v / sizeof v[0] + x;", outside), R)


@pytest.mark.parametrize(
    "body",
    [
        "r = one[1];",
        "int l[1]; l[1] = x; r = l[0];",
        "static int l[1]; r = l[1];",
        "int l[1], *p = l; *++p = x; r = l[0];",
    ],
)
def test_an_array_of_one_element_has_one(body):
    with pytest.raises(c2cu.UnsupportedError, match="element 1 is outside '(one|l)', which has 1 element ") as e:
        c2cu.check(kernel(body, "int one[1];"))
    assert e.value.code == "C2CU035" and e.value.line == 3


@pytest.mark.parametrize(
    "body",
    [
        "int l = x, *p = &l; r = p[1];",
        "int l = x, *p = &l; p[1] = 3; r = l;",
        "int l = x, *p = &l; for (int i = 0; i < 2; i++) r += p[i];",
        "struct S l = {x, 2}, *p = &l; for (int i = 0; i < 2; i++) r += p[i].y;",
        "double l = x; char *p = (char *)&l; for (int i = 0; i < 9; i++) r += p[i];",
    ],
)
def test_a_single_object_has_one_element(body):
    outside = (
        "struct S { int x, y; }; static int sum(int *a, int n) { int s = 0; while (n-- > 0) s += a[n]; return s; }"
    )
    with pytest.raises(c2cu.UnsupportedError, match="element 1 is outside 'l") as e:
        c2cu.check(kernel(body, outside), fn="kernel")
    assert e.value.code == "C2CU035"


def test_what_is_inside_a_single_object():
    outside = (
        "struct S { int x, y; }; static int sum(int *a, int n) { int s = 0; while (n-- > 0) s += a[n]; return s; }"
    )
    agrees(
        kernel("int l = x, *p = &l; struct S t = {x, 2}; r = sum(p, 1) + sum(&t.y, 1) + p[l - x];", outside), R, "gang"
    )


SUM = "static int sum(int n) { return n ? n * x + sum(n - 1) : 1; }"
WHILE = "static int count(int n) { if (n == 0 || x > n) return 0; return 1 + count(n - 1); }"


@pytest.mark.parametrize("outside, body", [(SUM, "r = sum(150);"), (WHILE, "r = count(40);")])
def test_recursion_that_ends_by_what_is_known(outside, body):
    agrees("int x, r;\n" + outside + f"\nvoid kernel(void) {{ {body} }}\n", R, "gang")


@pytest.mark.parametrize(
    "outside, body",
    [
        ("static int count(int n) { return n ? 1 + count(n - 1) : 0; }", "r = count(x & 7);"),
        ("static int tree(int n) { return n > 20 ? x : tree(n + 1) + tree(n + 2) * x; }", "r = tree(0);"),
    ],
)
def test_recursion_without_an_end_that_is_known_runs_as_it_stands(outside, body):
    text = "int x, r;\n" + outside + f"\nvoid kernel(void) {{ {body} }}\n"
    agrees(text, R)
    with pytest.raises(c2cu.UnsupportedError, match="is recursive") as e:
        c2cu.compile(text, fn="kernel", backend="cpu", schedule="gang")
    assert e.value.code == "C2CU020"


@pytest.mark.parametrize(
    "body",
    ["r = x < (3 | p->b);", "r = x / 2 < p->b;", "r = (x + p->b) / 2;", "r = x < +p->w;", "p->b -= 2; r = x < p->b;"],
)
@pytest.mark.parametrize("schedule", ["gang", "native"])
def test_a_bit_field_of_one_of_two_objects_is_promoted(body, schedule):
    outside = "struct S { unsigned b : 7, w : 32; int s : 5; };"
    agrees(kernel(f"struct S s = {{1, 2}}, t = {{2, 3}}, *p = x > 0 ? &s : &t; {body}", outside), R, schedule)


@pytest.mark.parametrize("schedule", ["gang", "native"])
def test_what_is_inside_an_array_of_one_element(schedule):
    text = kernel(
        "int l[1], *p = l; static int s[1] = {4}; l[0] = x; one[*p - x] += s[0] + l[0]; r = p[0] + one[0];",
        "int one[1] = {3};",
    )
    agrees(text, [*R, ("one", INT, (1,))], schedule)


def test_a_struct_may_end_with_an_array_of_one_element():
    """Room for more behind it is an old idiom."""
    text = kernel("s.n = x; r = s.d[x > 99];", "struct { int n; int d[1]; } s;")
    assert c2cu.check(text).why_not == ""


SPECIAL = np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, -np.nan, 5e-324, -1e-310, 1e-40, 3e38, 1e308, -1e-45])
FLOATS = np.array(
    [0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, -np.nan, 1e-45, -1e-40, 1e-38, 3e38, 1.5e-38, -1e-45], "f4"
)
CLASSES = ("isnan", "isfinite", "isnormal", "signbit", "fpclassify", "__builtin_isnan", "__builtin_isinf", "isinf")
ORDERS = ("isgreater", "isgreaterequal", "isless", "islessequal", "islessgreater", "isunordered", "__builtin_isless")


@pytest.mark.slow
def test_classifications_of_special_values():
    """A truth is 1 or another number, as the compiler likes; but fpclassify and isinf tell which."""
    results = [f"{f}({v}){'' if f in ('fpclassify', 'isinf') else ' != 0'}" for f in CLASSES for v in "df"]
    results += [f"{f}(d, f) != 0" for f in ORDERS]
    lines = " ".join(f"r[{k}] = {e};" for k, e in enumerate(results))
    text = f"#include <math.h>\ndouble d; float f; int r[{len(results)}];\nvoid kern(void) {{ {lines} }}\n"
    inputs = {"d": np.repeat(SPECIAL, len(SPECIAL)), "f": np.tile(FLOATS, len(SPECIAL))}
    variables = [("d", DOUBLE, ()), ("f", np.dtype(np.float32), ()), ("r", INT, (len(results),))]
    assert not c2cu.check(text).why_not
    expected = Original(text, "kern", variables).bulk(inputs, len(inputs["d"]))["r"]
    for schedule in ("gang", "native"):
        assert np.array_equal(c2cu.bulk(text, inputs, backend="cpu", schedule=schedule), expected), schedule
    for schedule in ("private", "thread"):
        emulated(text, variables, inputs, schedule)


def test_what_the_hosts_headers_define_is_declared():
    text = kernel("fd_set s; FD_ZERO(&s); FD_SET(x & 63, &s); r = FD_ISSET(5, &s) != 0;", "#include <sys/select.h>")
    agrees(text, R)
    text = kernel("r = isfinite((long double)x) + math_errhandling;", "#include <math.h>")
    agrees(text, R)
    text = kernel("static int n; __atomic_fetch_add(&n, x, 5); __sync_fetch_and_or(&n, 1); r = n;")
    agrees(text, R)


def test_a_struct_of_an_aligned_type_is_laid_out_as_the_compiler_does():
    """The attribute stands at the typedef; the struct that uses it, or its like by another name, has none."""
    text = """typedef int wide __attribute__((aligned(16)));
    typedef wide same;
    typedef int loose __attribute__((aligned(1)));
    struct S { char c; same x; char d; };
    struct U { char c; loose x; char d; };
    struct S s[2]; struct U u[2];
    void k(void) { s[1].x += s[0].c; u[1].x += u[0].d; }"""
    for schedule in ("native", "gang"):
        slots = {s.name: s for s in c2cu.compile(text, fn="k", backend="cpu", schedule=schedule).slots}
        assert np.dtype(slots["s"].dtype).fields["x"][1] == 16 and slots["s"].nbytes == 64
        assert np.dtype(slots["u"].dtype).fields["x"][1] == 1 and slots["u"].nbytes == 12


def test_the_low_bits_of_an_address():
    """As string functions ask for them: whether a pointer is aligned."""
    text = """#include <stdint.h>
    #include <stddef.h>
    static int aligned(const void *p, size_t n) { return ((size_t)p & (n - 1)) == 0; }
    int find(const unsigned char *s, int n, int c) {
        int k = 0;
        for (; n && (uintptr_t)s % 8 && *s != c; s++, n--) k++;
        if (n && aligned(s, 8)) for (const uint64_t *w = (const void *)s; n >= 8 && *w != 0; w++, n -= 8) k += 8;
        return k * 100 + 10 * (-(uintptr_t)(s + 1) & 7) + (s == 0 || ((unsigned)(uintptr_t)(s + 3) & 3));
    }"""
    s = np.random.default_rng(1).integers(0, 9, (37, 40)).astype("u1")
    s[::3, 8:16] = 0
    results = [
        c2cu.bulk(
            text, {"s": s, "c": np.arange(37, dtype="i4") % 9}, shared={"n": 40}, fn="find", backend="cpu", schedule=x
        )
        for x in ("native", "gang")
    ]
    assert (results[0] == results[1]).all() and len(set(results[0].tolist())) > 1


def test_a_jump_into_a_block_that_returns():
    """As in old numerical code: `goto` to where an error is dealt with, which another `if` comes to as well."""
    text = """int warned;
    static int code(int x, int y) {
        int n = 0;
        if (x == 3) goto pole;
        for (int i = 0; i < 4; i++) {
            if (x > 20 + i) goto domain;
            n += y;
        }
        if (x < 0) {
    domain:
            warned += 1;
            if (y > 2) goto pole;
            return -1;
        }
        if (y == 0) {
            n += 5;
    pole:
            warned += 2;
            return n + 100;
        }
        return n;
    }
    int k(int x, int y) { return code(x, y) * 2; }"""
    rng = np.random.default_rng(4)
    inputs = {"x": rng.integers(-9, 30, 200).astype("i4"), "y": rng.integers(0, 5, 200).astype("i4")}
    expected, gang = (c2cu.bulk(text, inputs, fn="k", backend="cpu", schedule=s) for s in ("native", "gang"))
    assert all((expected[n] == gang[n]).all() for n in ("warned", "return"))
    assert {*expected["return"].tolist()} > {-2, 200, 8}
    skips = "int k(int x) { if (x) goto in; int y = 3; if (y) { in: return y; } return 4; }"
    assert c2cu.compile(skips, backend="cpu").plan.schedule == "native"
    counter = "int k(int x) { if (x) goto in; for (int i = 3; i < 9; i++) { if (i > 5) { in: return i; } } return 0; }"
    assert c2cu.compile(counter, backend="cpu").plan.schedule == "native"


PARTS = {
    "bytes of a word": "unsigned w; unsigned char *p = (unsigned char *)&w; for (int i = 0; i < 4; i++) p[i] = x + i; r = w;",
    "bytes of words": (
        "unsigned w[4]; unsigned char *p = (unsigned char *)w; for (int i = 0; i < 16; i++) p[i] = x * i; r = w[x & 3];"
    ),
    "a copy into the middle": (
        "int m[3] = {x, 1, 2}; long w[2]; __builtin_memcpy((char *)w + 3, m, 12); r = w[0] >> 24;"
    ),
    "loads across elements": (
        "long w[3] = {x, 1, 2}; int m[4]; __builtin_memcpy(m, (char *)w + 3, 16); short s[3] = {x, 7, x}; int n;"
        "__builtin_memcpy(&n, (char *)s + 1, 4); r = m[0] + m[1] * 3 + m[2] + n;"
    ),
    "parts of doubles": "double d[2] = {x, 2}; int k[3] = {x, 5, x}; __builtin_memcpy((char *)d + 1, k, 12); r = d[1] * 8 + !d[0];",
    "in a function that is called twice": "r = joined(x) + joined(x + 1);",
}
COPIES = {
    "a union's member": (
        "union U { struct { int s; struct T { char t[64]; } t; } a; struct { struct T t; int s; } b; } u;"
        " u.a.s = x; u.b.s = 3; u.b.t = u.a.t; r = x + u.b.s;"
    ),
    "a union": "union { char t[64]; int s; } u, v; u.s = x; v = u; r = v.s;",
    "words to bytes": "int u[64]; char v[256]; u[3] = x; __builtin_memcpy(v, u, sizeof u); r = v[12];",
    "bytes to a word": "char u[4], v[4]; int w; u[0] = x; __builtin_memcpy(&w, u, 4); __builtin_memcpy(v, &w, 4); r = v[0];",
}
#: A static pointer that a loop meets first outlasts the turn; a copy's place in a struct may move.
TURNS = {
    "a static pointer": (
        "static int last(int *p) { static int *before; int v = before ? *before : 9; before = p; return v; }",
        "int t[4] = {x, 2, x + 3, 4}; r = 0; for (int i = 0; i < 3 + (x > 0); i++) r = r * 3 + last(t + i);",
    ),
    "static pointers": (
        "static int last(int k, int *p) { static int *before[2]; int v = before[k] ? *before[k] : 9; before[k] = p; return v; }",
        "int t[4] = {x, 2, x + 3, 4}; r = 0; for (int i = 0; i < 4; i++) r = r * 3 + last(i & 1, t + i);",
    ),
    "a copy from a moving place": (
        "struct s { int h; int r[3]; };",
        "struct s s; s.r[0] = 1; s.r[1] = x; s.r[2] = 5; char *c = (char *)&s.r; int v; __builtin_memcpy(&v, c + 4 * ((unsigned)x % 3), 4); r = v;",
    ),
    "a copy to a moving place": (
        "struct s { int h; int r[3]; };",
        "struct s s; s.r[0] = 1; s.r[1] = x; s.r[2] = 5; char *c = (char *)&s.r; __builtin_memset(c + 4 * ((unsigned)x % 3), 0, 4); "
        "r = s.r[0] * 100 + s.r[1] * 10 + s.r[2];",
    ),
}
JOINED = "static int joined(int n) { int w; char *p = (char *)&w; p[0] = p[2] = n; p[3] = p[1] = 2; return w; }"


@pytest.mark.parametrize("name", sampled(TURNS, 1))
def test_what_moves_from_turn_to_turn(name):
    outside, body = TURNS[name]
    agrees(kernel(body, outside), R, whole=False)


@pytest.mark.parametrize("name", sampled(PARTS, 1))
def test_parts_of_an_element_that_is_not_set(name):
    text = kernel(PARTS[name], JOINED)
    assert not c2cu.check(text, fn="kernel").why_not
    agrees(text, R)


@pytest.mark.parametrize("name", sampled(COPIES, 1))
def test_copies_of_what_is_not_set(name):
    agrees(kernel(COPIES[name]), R)


@pytest.mark.parametrize("body", ["int u[4]; u[3]++; r = u[3];", "int u[4]; char *p = (char *)u; r = x + p[3];"])
def test_what_is_read_and_not_set(body):
    with pytest.raises(c2cu.UnsupportedError, match="C2CU036"):
        c2cu.check(kernel(body), fn="kernel")


EXTENTS = {
    "of a parameter": ("static int f(int i, int a[i++]) { return i; }", "int q[10]; r = f(x, q);"),
    "a call": ("static int g(void) { return ++r; } static void f(int a[g()]) {}", "int q[10]; r = x; f(q);"),
    "of a type": ("", "int i = 3; r = sizeof(int[i++]) + i * 100 + x;"),
    "of a cast": ("int a[4];", "int i = 2; r = (*(int (*)[i++])a)[0] + i + x;"),
}


@pytest.mark.parametrize("name", sampled(EXTENTS, 1))
def test_effects_in_an_extent(name):
    outside, body = EXTENTS[name]
    agrees(kernel(body, outside), R, whole=False)


@pytest.mark.usefixtures("old_c")
@pytest.mark.parametrize("head", ["kernel()", "int kernel(void)"])
def test_a_function_that_returns_nothing_in_spite_of_its_type(head):
    """As of old, when C had no void."""
    text = f"int x, r;\n{head} {{ r = x + 1; if (x > 2) return; r++; }}\n"
    program = c2cu.compile(text, fn="kernel", backend="cpu", schedule="gang")
    assert [s.name for s in program.slots if s.writes] == ["r"]
    agrees(text, R)


def test_rows_for_a_function_that_returns_nothing_in_spite_of_its_type():
    text = "int kernel(int n, char **rows) { rows[0][1] = n; }\n"
    options = {"fn": "kernel", "backend": "cpu", "schedule": "gang", "shapes": {"rows": (1, 4)}}
    assert [s.name for s in c2cu.compile(text, **options).slots if s.writes] == ["rows"]


def test_numbers_made_of_addresses_have_their_own_type():
    text = """#include <stdint.h>
    int x, r;
    void kernel(void) {
        int a[4] = {x, 1, 2}, c[4] = {0}, *p = &a[x & 1];
        int d = (intptr_t)a - (intptr_t)c;
        r = (((intptr_t)p & 7) - 8 < 0) + 2 * ((((intptr_t)p & 7) - 8) / 2 + 9) + 100 * (d == 0) + a[0] + c[0];
        r += 1000 * ((unsigned)((uintptr_t)a - (uintptr_t)c) < 16u) + 10000 * ((-(long)&a[1] & 7) - 8 < 0);
    }"""
    agrees(text, R)


def test_the_distance_of_two_addresses():
    """As memmove asks whether its arguments overlap."""
    text = """#include <stdint.h>
    static void move(int *d, const int *s, long n) {
        if ((uintptr_t)d - (uintptr_t)s < n * sizeof *d) while (n--) d[n] = s[n];
        else while (n--) *d++ = *s++;
    }
    void k(int a[12], const int b[8], int x) {
        move(a + 1, a, 6);
        move(a + 2, a + 4, 7);
        move(a + 9, b + 2, 3);
        move(a, x > 0 ? a + 1 : b + 1, 3);
        a[11] = (uintptr_t)(a + 7) - (uintptr_t)(a + 3);
    }"""
    rng = np.random.default_rng(5)
    inputs = {n: rng.integers(-9, 9, (37, k)).astype("i4") for n, k in (("a", 12), ("b", 8))}
    inputs["x"] = rng.integers(-1, 2, 37).astype("i4")
    results = [c2cu.bulk(text, inputs, fn="k", backend="cpu", schedule=s) for s in ("native", "gang")]
    assert (results[0] == results[1]).all() and (results[0][:, 11] == 16).all()
