"""Standalone programs: one run on p inputs prints what p runs of the original print."""

import re
import shutil
import subprocess
import warnings
from collections import Counter

import pytest
from click.testing import CliRunner

import c2cu
from c2cu.cli import main
from tests.cuda_host import program_on_cpu
from tests.oracle import executable, run_original, with_defines
from tests.sample import sampled
from tests.test_gpu import as_text
from tests.whole_programs import HOST, PROGRAMS
from tests.workloads import EXAMPLES, WORKLOADS


def build(text: str, target: str, folder, p: int, **options):
    source = folder / ("x.c" if target == "cpu" else "x.cu")
    program = folder / "x"
    source.write_text(c2cu.translate(text, p=p, target=target, **options))
    command = ["cc", "-O3", "-Wall", "-Wextra", "-Werror"] if target == "cpu" else ["nvcc"]
    done = subprocess.run([*command, str(source), "-o", str(program), "-lm"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr, done.stderr
    return program


@pytest.mark.costly
@pytest.mark.parametrize(
    "w",
    [w for w in WORKLOADS if w.name in ("fw-16", "bitonic-32", "montgomery-512", "prefix-1024")],
    ids=lambda w: w.name,
)
def test_examples_on_the_cpu(w, tmp_path):
    p = 37
    inputs = w.inputs(p)
    runs = [as_text({n: a[k] for n, a in inputs.items()}) for k in range(p)]
    program = build(w.path, "cpu", tmp_path, p)
    done = subprocess.run([program], input="\n".join(runs).encode(), capture_output=True, check=True)
    assert done.stdout == b"".join(run_original(w.text, r) for r in runs)


TEXTS = {**{f.stem: f.read_text() for f in sorted(EXAMPLES.glob("*.c"))}, **PROGRAMS}


@pytest.mark.parametrize("group", [None, 8])
@pytest.mark.parametrize("target", ["cpu", "cuda"])
@pytest.mark.parametrize("name", sampled(TEXTS, 2))
def test_no_header_twice_and_no_helper_in_vain(name, target, group, tmp_path):
    text = c2cu.translate(TEXTS[name], p=37, target=target, group=group)
    headers = re.findall(r"#\s*include\s*(<.*?>)", text)
    assert len(set(headers)) == len(headers)
    words = Counter(re.findall(r"\w+", text))
    helpers = re.findall(r"^(?:__attribute__.*?\)\) )?static [^;={}\n]*?\b(\w+)\(", text, re.M)
    types = re.findall(r"^typedef .*?\b(\w+) __attribute__", text, re.M)
    assert helpers and not [h for h in [*helpers, *types] if words[h] < 2]
    if target == "cpu":
        (tmp_path / "x.c").write_text(text.replace("static inline ", "static "))
        command = ["cc", "-fsyntax-only", "-Wall", "-Wextra", "-Wunused-function", "-Werror", "x.c"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("hidden", ["", "#include <math.h>\n#include <stdio.h>\n#include <setjmp.h>\n"])
def test_headers_of_the_program_and_of_its_translation_are_one(hidden):
    text = (
        hidden
        + "#include <stdio.h>\n#include <stdlib.h>\nfloat a[4];\nvoid k(void) { for (int i = 0; i < 4; i++) a[i] *= 2; }\n"
    )
    text += 'int main(void) {\n    if (scanf("%f", a) != 1) exit(3);\n#pragma kernel\n    k();\n    printf("%g\\n", a[0]);\n    return 0;\n}\n'
    for target in ("cpu", "cuda"):
        headers = re.findall(r"#\s*include\s*<(.*?)>", c2cu.translate(text, p=5, target=target))
        assert len(set(headers)) == len(headers) and "setjmp.h" in headers


def test_a_compiler_may_have_its_headers_anywhere(tmp_path, monkeypatch):
    """What they define is not defined once more."""
    (tmp_path / "vectors.h").write_text("typedef int word __attribute__((aligned(8)));\n")
    monkeypatch.setenv("CC", f"gcc -isystem {tmp_path}")
    text = "#include <stdio.h>\n#include <vectors.h>\nint a;\nvoid k(void) { a++; }\n"
    text += 'int main(void) { if (scanf("%d", &a) != 1) return 1;\n    k();\n    printf("%d\\n", a);\n    return 0; }\n'
    made = c2cu.translate(text, p=2, target="cpu")
    assert "#include <vectors.h>" in made and "word" not in made


def test_headers_of_the_users_own_and_those_left_out_are_not_included(tmp_path):
    (tmp_path / "own.h").write_text("#include <string.h>\n#define TWICE(x) (2 * (x))\n")
    text = (
        "#include <stdio.h>\n#include <own.h>\n#ifdef NEVER\n#include <windows.h>\n#endif\nint n;\n"
        "void k(void) { n = TWICE(n); }\n"
        'int main(void) {\n    if (scanf("%d", &n) != 1) return 3;\n    k();\n    printf("%d\\n", n);\n    return 0;\n}\n'
    )
    program = build(text, "cpu", tmp_path, 3, include_dirs=[str(tmp_path)])
    assert subprocess.run([program], input=b"1 5 9", capture_output=True).stdout == b"2\n10\n18\n"


def test_main_is_split(tmp_path):
    runs = ["3 1 2 3", "1 100", "0", "4 9 8 7 6"]
    program = build(HOST, "cpu", tmp_path, len(runs))
    done = subprocess.run([program], input="\n".join(runs).encode(), capture_output=True)
    assert done.stdout == b"".join(_tolerant(r) for r in runs)
    assert done.returncode == 1  # the first run that fails, as the second does


def _tolerant(stdin: str, text: str = HOST) -> bytes:
    return subprocess.run([executable(text)], input=stdin.encode(), capture_output=True).stdout


def test_an_early_return_ends_its_run_only(tmp_path):
    program = build(HOST, "cpu", tmp_path, 3)
    done = subprocess.run([program], input=b"1 5 99", capture_output=True)
    assert done.stdout == _tolerant("1 5") and done.returncode == 3


@pytest.mark.slow
def test_a_macro_with_a_name_of_cudas_is_not_renamed():
    """As a variable of that name is."""
    kernel = "#define index 3\nvoid k(void) { o[0] = a[0] + index; }\n"
    text = program(kernel=kernel)
    done = subprocess.run(
        [program_on_cpu(c2cu.translate(text, p=len(RUNS)))], input="\n".join(RUNS).encode(), capture_output=True
    )
    assert done.stdout == b"".join(run_original(text, r) for r in RUNS)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is missing")
@pytest.mark.parametrize(
    "text",
    [*(w.path for w in WORKLOADS if w.name in ("fw-16", "bitonic-32", "montgomery-512", "prefix-1024")), HOST],
    ids=["fw", "bitonic", "montgomery", "prefix", "host"],
)
def test_cuda_compiles_without_a_warning(text, tmp_path):
    build(text, "cuda", tmp_path, 2048)


def test_the_papers_shape():
    w = WORKLOADS[0]
    text = c2cu.translate(w.path, p=2048)
    for piece in (
        "#define N 16",
        "#define __P__ 2048",
        "#define __T__ 64",
        "#define __B__",
        "__device__ float __D[N][N][__P__];",
        "__device__ void update_dist(int i, int j, int k, int __id__)",
        "__global__ void floyd_warshall()",
        "__D[i][j][__id__]",
        "floyd_warshall<<<__B__, __T__>>>()",
    ):
        assert piece in text
    assert "#line" not in text


HEAD = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nint a[3], o[3];\n"
DOUBLE = "void k(void) { for (int i = 0; i < 3; i++) o[i] = a[i] * 2; }\n"
READ = 'for (int i = 0; i < 3; i++) if (scanf("%d", &a[i]) != 1) return 2;\n'
PRINT = 'printf("%d %d %d\\n", o[0], o[1], o[2]);\n'
RUNS = ["1 2 3", "4 5 6", "-7 8 9", "10 0 -3", "5 5 5"]


def check(text: str, folder) -> None:
    """A translation prints what the runs of the original print, and ends as the first one that fails."""
    (folder / "o.c").write_text(text)
    subprocess.run(["cc", "-fwrapv", "-w", str(folder / "o.c"), "-o", str(folder / "o"), "-lm"], check=True)
    runs = [subprocess.run([folder / "o"], input=r.encode(), capture_output=True) for r in RUNS]
    done = subprocess.run(
        [build(text, "cpu", folder, len(RUNS))], input="\n".join(RUNS).encode(), capture_output=True, timeout=20
    )
    assert done.stdout == b"".join(r.stdout for r in runs)
    status = next((r.returncode for r in runs if r.returncode), 0)
    assert done.returncode == (status if status >= 0 else 128 - status)


def program(before: str = "", after: str = "", top: str = "", call: str = "k();", kernel: str = DOUBLE) -> str:
    return (
        f"{HEAD}{top}{kernel}int main(void) {{\n    {before}\n    {READ}#pragma kernel\n    {call}\n"
        f"    {after}\n    {PRINT}    return 0;\n}}\n"
    )


KEPT = {
    "by a call": program("int z[2] = {3, 4}; int *p = id(z);", 'printf("%d ", *p);', "int *id(int *p) { return p; }\n"),
    "by the library": program("char z[4] = \"ab\"; char *p = strchr(z, 'b');", 'printf("%s ", p);'),
    "in a struct": program("int z = 3; struct Q { int *p; } s = {&z};", 'printf("%d ", *s.p);'),
    "in a global": program("int z; gp = &z;", '*gp = a[0]; printf("%d ", z);', "int *gp;\n"),
    "in a list": program("struct L { struct L *l; } l = {&l};", 'printf("%d ", l.l->l == &l);'),
    "unwritten": program("int x, b[9]; const char *q;", 'x = 1; b[0] = 2; q = "z"; printf("%d%d%s ", x, b[0], q);'),
    "closed": program('char *q = malloc(9); q[0] = 0; free(q); q = "z";', "puts(q);"),
    "types": program("struct P { int x, y; }; enum { Q = 3 };", 'struct P p = {Q, 2}; printf("%d ", p.x);'),
    "const": program(
        'const int t[] = {1, 2}; static const int u[] = {3, 4}; const char *const s = "x";',
        'printf("%d %d %s ", t[1], u[1], s);',
    ),
    "arguments": program(
        "int v[3] = {1, 2, 3}, w;",
        'printf("%d ", w);',
        call="k2(v, &w);",
        kernel="void k2(int *v, int *w) { *w = v[0] + v[2]; }\n",
    ),
    "static arguments": program(
        "static struct T t; t.v[3] += 7;",
        'printf("%d %d ", t.v[0], t.v[3]);',
        call="o[0] = k3(&t, a);",
        kernel="struct T { int v[4]; };\nint k3(struct T *t, const int *a) { t->v[a[0] & 3] += a[1]; return t->v[3]; }\n",
    ),
}


@pytest.mark.parametrize("name", sampled(KEPT, 2))
def test_locals_of_main_are_kept(name, tmp_path):
    check(KEPT[name], tmp_path)


#: What the kernel's value goes to: gcc finds the object before the call, but for ``+=`` and where it converts.
RESULTS = (
    "o[o[1]] = k(a);", "o[o[1]] += k(a);", "o[2] -= k(a);", "s[g].f = k(a);", "s[g].f ^= k(a);", "s[g].k = k(a);",
    "t->k = k(a);", "*p = k(a);", "p[g] = k(a);", "(p + 1)[g] <<= k(a);", "*(short *)&o[g] = k(a);", "o[say(1)] = k(a);",
    "o[say(1)] *= k(a);", "o[*q] = k(a);", "*q += k(a);", "o[i] = k(a);", "g = k(a);", "(g ? t : s)->k = k(a);",
)  # fmt: skip


@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize("statement", sampled(RESULTS, 3))
def test_where_the_value_of_the_kernel_goes(statement, tmp_path):
    top = (
        "struct S { int k; unsigned f : 5; } s[4], *t = s; int g;\n"
        'static int say(int x) { printf("<%d>", x); return x; }\n'
    )
    kernel = "int k(int *a) { o[1] = 2; g = 1; t = &s[3]; for (int i = 0; i < 3; i++) a[i] += 2; return a[0] & 7; }\n"
    after = 'for (int j = 0; j < 4; j++) printf("%d %u %d ", s[j].k, s[j].f, a[j % 3]); printf("%d %d %d ", i, g, *q + (p == o));'
    check(program("int i = 0, *p = o, *q = &i; say(0);", after, top, statement, kernel), tmp_path)


SETS = """
#include <stdio.h>
struct S { int k; double d; } s[4], *t = s;
int a;
double k(void) { t = &s[a & 3]; return a * 2; }
int main(void) {
    if (scanf("%d", &a) != 1) return 1;
#pragma kernel
    STATEMENT
    printf("%d %g %g\\n", WHICH, s[0].d, s[3].d);
    return 0;
}
"""


@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize(
    "statement, which", [("k();", "(int)(t - s)"), ("t->d += k();", "a"), ("t->k = k();", "s[1].k")]
)
def test_a_pointer_that_the_kernel_sets(statement, which, tmp_path):
    text = SETS.replace("STATEMENT", statement).replace("WHICH", which)
    (tmp_path / "o.c").write_text(text)
    subprocess.run(["cc", "-w", str(tmp_path / "o.c"), "-o", str(tmp_path / "o")], check=True)
    runs = ["1", "2", "3"]
    right = b"".join(subprocess.run([tmp_path / "o"], input=r.encode(), capture_output=True).stdout for r in runs)
    done = subprocess.run([build(text, "cpu", tmp_path, 3)], input="\n".join(runs).encode(), capture_output=True)
    assert done.stdout == right
    for options in ({"target": "cpu", "schedule": "gang"}, {"target": "cuda"}):
        with pytest.raises(c2cu.UnsupportedError, match="'t' stores a pointer"):
            c2cu.translate(text, p=3, **options)


NAMES = {
    "of the translation": program(
        "from[0] = 1;",
        'printf("%d %d %d ", to[0], from[0], ended);',
        "int to[2], from[2], ended = 3;\n",
        kernel="void k(void) { for (int i = 0; i < 3; i++) o[i] = a[i] + from[0]; to[0] = 7; }\n",
    ),
    "of compilers": program(
        "real[1] = 2;",
        'printf("%d %d %d ", imag[1], sad[0], yy);',
        "int real[2], imag[2], sad[1], yy = 4;\n",
        kernel="void k(void) { for (int i = 0; i < 3; i++) o[i] = a[i] * real[1]; imag[1] = yy; sad[0] = real[0]; }\n",
    ),
    "a table": program(
        kernel="const int t[3] = {3, 1, 2};\nvoid k(void) { for (int i = 0; i < 3; i++) o[i] = a[i] * t[i]; }\n"
    ),
    "a table that main reads too": program(
        after='printf("%d ", t[1]);',
        kernel="const int t[3] = {3, 1, 2};\nvoid k(void) { for (int i = 0; i < 3; i++) o[i] = a[i] * t[i]; }\n",
    ),
    "a struct of the kernel's": program(
        kernel="struct C { int n, s; };\nstatic void add(struct C *c, int v) { c->n++; c->s += v; }\n"
        "void k(void) { struct C c = {0, 1}; for (int i = 0; i < 3; i++) { add(&c, a[i]); o[i] = c.s * c.n; } }\n"
    ),
    "structs in the kernel's functions": program(
        top="struct S { char c; };\n",
        kernel="static int inner(int v) { struct S { int a, b; } s = {v, 2}; union U { int i; float f; } u; u.i = s.a; return u.i + s.b; }\n"
        "void k(void) { struct R { int x; struct S s; } r = {a[0], {1}}; for (int i = 0; i < 3; i++) o[i] = inner(r.x) + r.s.c; }\n",
    ),
    "a struct without a tag goes out": program(
        after='printf("%d %d ", z.n, z.s);',
        call="sum_t z = k(2);",
        kernel="typedef struct { int n, s; } sum_t;\nsum_t k(int by) { sum_t z = {0, 0}; for (int i = 0; i < 3; i++)"
        " z.s += a[i] * by, z.n ^= a[i]; return z; }\n",
    ),
    "enums": program(
        "it z = {a[0], 1}; c = a[0] & 1; z.k = a[1]; d[1] = UP; e = 2;",
        'printf("%d %d %d %d %d ", c, z.k, d[1], e, c - 2 > 5);',
        "enum color { RED, GREEN = 5 } c;\ntypedef enum { UP, DOWN = -1 } way;\nenum { TWO = 2 } e, f;\nway d[TWO];\n"
        "typedef struct { way k; int v; } it;\nstatic way turn(way w) { return w + 1; }\nenum color last(void);\n",
        kernel="void k(void) { for (int i = 0; i < 3; i++) { c = a[i] & 1; o[i] = turn(a[i]) + (c == RED ? GREEN : c); } }\n"
        "enum color last(void) { return o[2]; }\n",
    ),
    "variables declared more than once": program(
        "m += t[1]; x.n = 2;",
        'printf("%d %d %d %d %d ", n, m, t[2], x.n, blank.n);',
        "int n; int n = 4; int n; extern int m; int m = 3; static int t[]; static struct X x; static int at(void) { return t[0]; }\n"
        "static int t[3] = {1, 2, 3}; static struct X { int n; } x = {5}; const int none; static const struct X blank;\n",
        kernel="void k(void) { for (int i = 0; i < 3; i++) o[i] = a[i] * n + t[i] + m + x.n + none + blank.n; n++; }\n",
    ),
    "declared by a header, defined with designators": program(
        "x.a = (int)d; int b[2] = {[1] = d}; struct X y = {.b = d, .a = d}; wide = (__int128)big;",
        'printf("%d %s %s %d %d %d %d %d %ld ", t[1], s, names[1], q == 0, x.a, b[1], y.a, sizes[1].b, (long)(wide >> 20));',
        'struct X { int a, b; } x; extern int t[3]; int t[3] = {[1] = 5}; extern char s[3]; char s[3] = "ab"; extern int *q;\n'
        'int *q = (void *)0; extern char *names[3]; char *names[3] = {[1] = "b"}; static struct X sizes[2]; int later[];\n'
        "static struct X sizes[2] = {[1] = {.b = 5}}; int later[3]; extern const int c; const int c; int *const cp; double d = 7;\n"
        "double big = 7.5e25; __int128 wide;\n",
        kernel="void k(void) { for (int i = 0; i < 3; i++) o[i] = a[i] + c + t[i] + later[i] + (cp == 0); }\n",
    ),
    "a type and a tag of one name": program(
        "point q = {4}; struct point r = {a[0], 3}; color c = GREEN; way w = UP; list l = &first; c |= 2;",
        'printf("%d %d %d %d %d %d ", q.a, r.x + r.y, c, w, l->n, next(2) + (way_type)3);',
        "struct point { int x, y; }; typedef struct line { int a; } point; enum color { RED, GREEN }; typedef enum color color;\n"
        "enum way { UP = 3 }; typedef int way; struct list { int n; } first = {7}; typedef struct list *list; typedef int way_type;\n"
        "static color next(color color_type) { color c = color_type; return c + 1; }\n",
    ),
    "addresses of compound literals": program(
        "int *v = (int[]){1, 2, 3, 4}; int s = 0; for (int i = 0; i < 4; i++) s += v[i] + sum(&(struct p){.y = i, .x = 1});",
        'printf("%d %d ", s, sum(&(struct p){2, 3}));',
        "typedef struct { int x, y; } couple; static int both(couple *q) { return q->x * q->y; }\n"
        "struct p { int x, y; }; static int sum(struct p *q) { return q->x + q->y + both(&(couple){q->x, 3}); }\n",
    ),
    "names of the C library": program(
        "time = 2; pause.read = 4;",
        'printf("%d %d %d ", time, clock(), pause.read);',
        "int time; static int clock(void) { return 3; } struct { int read; } pause;\n",
        kernel="static int open(int link) { return link + time; }\nvoid k(void) { for (int i = 0; i < 3; i++) o[i] = open(a[i]); }\n",
    ),
    "macros of a header": program(
        "NAN = 2.5; INFINITY[1] = 4;",
        'printf("%g %g ", NAN, INFINITY[1]);',
        "double NAN, INFINITY[2];\n",
        kernel="int M_PI = 3;\nvoid k(void) { for (int i = 0; i < 3; i++) o[i] = a[i] * M_PI + (int)INFINITY[1]; }\n",
    ),
    "alignment of a member": program(
        "w.x = 3;",
        'printf("%d %d ", w.x, (int)sizeof w);',
        "struct wide { char c; _Alignas(16) int x; } w; typedef void (*copy)(char *restrict, const char *restrict);\n",
    ),
    "alignment of a type": program(
        "w.x = (int)_Alignof(struct wide);",
        'printf("%d %d ", w.x, (int)(sizeof pool + _Alignof(double[2])));',
        "struct wide { char c; int x; } w; static _Alignas(_Alignof(struct wide)) char pool[sizeof(struct wide) * 3];\n",
    ),
    "parts of literals": program(
        'char *w = "www", *q = a[0] & 1 ? "odd" : w; printf("%s ", q); q = strchr("abc", 98); printf("%s ", q);',
        'q = &"abc"[1]; printf("%s ", q); printf("%s ", say("abc" + (a[0] & 1))); q = strstr(__func__, "m"); '
        'printf("%s ", q);',
        'static char *from(int i) { return "abcdefgh" + i; }\nstatic char *say(char *t) { return t[0] ? t : from(1); }\n',
    ),
    "functions or none": program(
        "for (int i = 0; ops[i].name; i++) a[0] += ops[i].f(3, 4);",
        top="typedef int (*op)(int, int);\nstatic int add(int x, int y) { return x + y; }\n"
        'static const struct { const char *name; op f; } ops[] = {{"add", add}, {NULL, NULL}};\n',
    ),
    "an enum in a struct": program(
        "node n = {1, B}; struct other t = {C, 2}; a[0] += (n.kind == B) + t.kind + t.v;",
        top="typedef struct { int v; enum { A = 1, B } kind; } node;\nstruct other { enum { C = 5 } kind; int v; };\n",
    ),
    "a literal out of order": program(
        "a[0] += sum((struct pt){.y = 3, .x = 4});",
        top="struct pt { int x, y; };\nstatic int sum(struct pt p) { return p.x * 10 + p.y; }\n",
    ),
    "parameters without types": program(
        "a[0] = add(a[0], 2);",
        top="add(x, y) { return x + y; }\n",
    ),
    "truth": program(
        "_Bool ok = a[0] > 1;",
        'printf("%d ", ok);',
        kernel="static _Bool odd(int v) { return v & 1; }\n"
        "void k(void) { for (int i = 0; i < 3; i++) { _Bool b = odd(a[i]); o[i] = b; } }\n",
    ),
}


@pytest.mark.parametrize("name", sampled(NAMES, 16))
def test_names_and_types(name, tmp_path, pytestconfig):
    check(NAMES[name], tmp_path)
    text = c2cu.translate(NAMES[name], p=len(RUNS))
    done = subprocess.run([program_on_cpu(text)], input="\n".join(RUNS).encode(), capture_output=True)
    assert done.stdout == b"".join(run_original(NAMES[name], r) for r in RUNS)
    if shutil.which("nvcc") is not None and pytestconfig.getoption("all"):
        build(NAMES[name], "cuda", tmp_path, len(RUNS))


CPP = {
    "keywords of C++": program(
        "struct class c = {2, {3}}; int virtual = 4; delete = c.this; goto catch; catch: template[1] = a[0];",
        'printf("%d %d %d %d ", virtual, delete, c.template.mutable, template[1] + new(1) + new_ + most(-9));',
        "int template[2], delete, new_ = 1; struct class { int this; union private { int mutable; } template; };\n"
        "typedef int export; typedef signed char bool; static bool most(bool b) { return b + 5; }\n"
        "static export new(export friend) { return friend + 1; }\n",
        kernel="int class; static int try(int throw) { int operator = throw; return operator + class; }\n"
        "void k(void) { for (int i = 0; i < 3; i++) o[i] = try(a[i]); class = o[0]; }\n",
    ),
    "operators of C++": program(
        "int not = a[0]; or[0] = not; /* not this, and not that */",
        'printf("and %d or %d ", or[0], compl(2) + xor.and);',
        "int or[2]; struct bitand { int and; } xor = {4}; static int compl(int v) { return ~v; }\n",
        kernel="static int and_eq(int v) { return v + 1; }\n"
        "void k(void) { int xor_eq = 2; for (int i = 0; i < 3; i++) o[i] = and_eq(a[i]) * xor_eq + or[1]; }\n",
    ),
    "CUDA's own": program(
        "float4 z = {1, 2}; min = max(a[0], 2); int dim3 = int3[0];",
        'printf("%d %d %d %d ", z.y, min, dim3, int2[1] + warpSize);',
        "typedef struct { int x, y; } float4; int min, int3[2] = {5, 6}, int2[2], warpSize = 3, any;\n"
        "static int all = 1; static int max(int a, int b) { return a > b ? a : b; }\n"
        "static int ballot(int a) { return any += all + a; }\n",
        kernel="void k(void) { for (int i = 0; i < 3; i++) o[i] = max(a[i], min) + int3[1] + ballot(i); int2[1] = o[2]; }\n",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CPP)
def test_names_that_mean_something_else_to_nvcc(name, tmp_path):
    check(CPP[name], tmp_path)
    runs = b"".join(run_original(CPP[name], r) for r in RUNS)
    for text in (CPP[name], CPP[name].replace("void k(void) {", "void k(void) { static int calls; calls++;")):
        done = subprocess.run(
            [program_on_cpu(c2cu.translate(text, p=len(RUNS)))], input="\n".join(RUNS).encode(), capture_output=True
        )
        assert done.stdout == runs
        if shutil.which("nvcc") is not None:
            build(text, "cuda", tmp_path, len(RUNS))
            build(text, "cuda", tmp_path, len(RUNS), group=2)


def test_a_cpu_runs_what_cannot_be_taken_apart(tmp_path):
    """Arrays of the heap, whose length nothing tells, are no part of a run that could be moved."""
    text = (
        "#include <stdio.h>\n#include <stdlib.h>\nvoid k(int n, int *x) { for (int i = 0; i < n; i++) x[i] = x[i] * 2 + i; }\n"
        'int main(void) { int n; if (scanf("%d", &n) != 1) return 2; int *x = calloc(n, sizeof *x); k(n, x);\n'
        'for (int i = 0; i < n; i++) printf("%d ", x[i]); free(x); return 0; }\n'
    )
    ours = subprocess.run(
        [executable(c2cu.translate(text, p=3, target="cpu", fn="k"))], input=b"1\n5\n3\n", capture_output=True
    )
    assert ours.stdout == b"".join(run_original(text, n) for n in ("1", "5", "3"))
    with pytest.raises(c2cu.Error, match="the length of 'x' is not known"):
        c2cu.translate(text, p=3, fn="k")


def test_memory_of_unknown_length_is_told_where_main_passes_it():
    text = (
        "#include <stdio.h>\n#include <stdlib.h>\nvoid k(int n, float *x) { for (int i = 0; i < n; i++) x[i] *= 2; }\n"
        'int main(void) {\n    int n;\n    if (scanf("%d", &n) != 1) return 2;\n    float *memory = malloc(n * sizeof *memory);\n'
        '    for (int i = 0; i < n; i++) scanf("%f", memory + i);\n#pragma kernel\n    k(n, memory);\n'
        '    for (int i = 0; i < n; i++) printf("%g ", memory[i]);\n    return 0;\n}\n'
    )
    with pytest.raises(c2cu.InputError, match="C2CU269") as caught:
        c2cu.translate(text, p=3)
    assert (caught.value.line, caught.value.column) == (10, 10) and "--shape x=LENGTH" in str(caught.value)
    assert "__global__" in c2cu.translate(text, p=3, shapes={"x": 5})


@pytest.mark.parametrize("walk", ["v[i].x *= 2", "(v + i)->x *= 2", "w++->x *= 2"])
def test_structs_of_unknown_number_are_no_single_one(walk):
    """A pointer to structs leads to one only where the kernel neither steps nor subscripts it."""
    text = (
        "#include <stdio.h>\n#include <stdlib.h>\nstruct s { int x, y; };\n"
        f"void k(int n, struct s *v) {{ struct s *w = v; for (int i = 0; i < n; i++) {walk}; }}\n"
        'int main(void) {\n    int n;\n    if (scanf("%d", &n) != 1) return 2;\n'
        "    struct s *memory = malloc(n * sizeof *memory);\n    for (int i = 0; i < n; i++) memory[i].x = i;\n"
        '#pragma kernel\n    k(n, memory);\n    for (int i = 0; i < n; i++) printf("%d ", memory[i].x);\n'
        "    return 0;\n}\n"
    )
    for schedule in (None, "auto"):
        ours = executable(c2cu.translate(text, p=3, target="cpu", schedule=schedule))
        done = subprocess.run([ours], input=b"3\n1\n5\n", capture_output=True)
        assert done.stdout == b"".join(run_original(text, n) for n in ("3", "1", "5"))
    with pytest.raises(c2cu.InputError, match="C2CU269"):
        c2cu.translate(text, p=3)


def test_names_that_kernels_find_their_input_by():
    text = program(top="int threadIdx;\n", kernel="void k(void) { o[0] = threadIdx; }\n")
    with pytest.raises(c2cu.UnsupportedError, match="'threadIdx' is CUDA's own.*C2CU271"):
        c2cu.translate(text, p=3)


@pytest.mark.slow
def test_names_that_math_h_declares(tmp_path, pytestconfig):
    """Where the program does not include it: for a C compiler they are its own."""
    kernel = "void k(void) { for (int i = 0; i < 3; i++) o[i] = a[i] + y0 * gamma[i]; y0 = o[2]; }\n"
    text = program("y0 = a[1];", 'printf("%d ", y0);', "int y0, gamma[3] = {1, 2, 3};\n", kernel=kernel)
    check(text, tmp_path)
    done = subprocess.run(
        [program_on_cpu(c2cu.translate(text, p=len(RUNS)))], input="\n".join(RUNS).encode(), capture_output=True
    )
    assert done.stdout == b"".join(run_original(text, r) for r in RUNS)
    if shutil.which("nvcc") is not None and pytestconfig.getoption("all"):
        build(text, "cuda", tmp_path, len(RUNS))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is missing")
@pytest.mark.parametrize("name", ["in a struct", "types", "unwritten"])
def test_cuda_keeps_them_too(name, tmp_path):
    build(KEPT[name], "cuda", tmp_path, 5)


UNISTD = "#include <unistd.h>\n"
ASSERT = "#include <assert.h>\n"
LIBRARY = {
    "rand before": program("o[0] = 0;", "o[1] += c;", "int c;\n").replace("int main(void) {", "int main(void) { c = rand();"),
    "rand after": program(after='printf("%d %d ", rand(), rand());'),
    "srand": program("srand(7); int c = rand() % 100;", 'printf("%d ", c);'),
    "random": program(after='printf("%ld ", random());'),
    "drand48": program("double d = drand48();", 'printf("%g ", d);'),
    "srand48": program("srand48(3); double d = drand48();", 'printf("%g ", d);'),
    "own rand": program(
        "r = rand();", 'printf("%d ", r + rand());', "static int r, s;\nint rand(void) { return s += 3; }\n"
    ).replace("#include <stdlib.h>\n", ""),
    "strtok before": program('char b[] = "1 2"; char *p = strtok(b, " "); p = strtok(0, " ");', "puts(p);"),
    "own output": program(after='fflush(stdout); if (write(1, "x", 1) != 1) return 9;', top=UNISTD),
    "own input": program('FILE *f = fopen("/dev/zero", "r");', 'printf("%d ", fgetc(f)); fclose(f);'),
    "buffers": program("setvbuf(stdout, NULL, _IOFBF, 1 << 16);", "setbuf(stdout, 0);"),
    "mixed output": program(after='if (write(1, "x", 1) != 1) return 9;', top=UNISTD),
    "system": program(after='if (system("echo y")) return 9;'),
    "to stderr": program('fprintf(stderr, "a"); perror("b"); if (write(2, "c", 1) != 1) return 9;', top=UNISTD),
    "a pointer called after": program(after='pf("%d ", 3);', top="static int (*pf)(const char *, ...) = printf;\n"),
    "exit": program(after="if (a[0] < 0) exit(3);"),
    "exit in a function": program(after="die(a[0]);", top="static int die(int x) { if (x < 0) exit(4); return x; }\n"),
    "exit by a pointer": program(after="if (a[0] < 0) die(5);", top="static void (*die)(int) = exit;\n"),
    "_Exit": program(after="if (a[0] < 0) _Exit(6);"),
    "quick_exit": program(after="if (a[0] < 0) quick_exit(7);"),
    "_exit": program(after="if (a[0] < 0) _exit(8);", top=UNISTD),
    "abort": program(after="if (a[0] < 0) abort();"),
    "assert after": program(after="assert(a[0] >= 0);", top=ASSERT),
    "goto": program(after="if (a[0] < 0) goto end;\n    puts(\"x\");\nend: ;"),
    "a pointer to a function": program(
        after='printf("%d ", f(a[0]));', top="static int add(int x) { return x + 1; }\nstatic int (*f)(int) = add;\n"
    ),
    "ended before": program(
        call="if (a[0] < 0) return 4;\n#pragma kernel\n    o[1] = k2(a[0], a[1]);",
        kernel="int k2(int x, int y) { return 100 / x + y; }\n",
    ).replace("#pragma kernel\n    if", "    if"),
    "an empty body": program("int c; while ((c = getchar()) == ' ');\n    ungetc(c, stdin);", "while (o[0]++ < 9);"),
    "declared": program(
        after='putchar_unlocked(65); char b[] = "1,2", *r; puts(strtok_r(b, ",", &r)); printf("%lld ", lldiv(7, 2).rem);'
    ),
}  # fmt: skip


@pytest.mark.costly
@pytest.mark.parametrize("text", sampled(LIBRARY.values(), 3), ids=LIBRARY)
def test_each_run_is_a_process_to_itself(text, tmp_path):
    check(text, tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is missing")
@pytest.mark.parametrize("name", ["exit by a pointer", "assert after", "drand48"])
def test_cuda_runs_are_processes_too(name, tmp_path):
    build(LIBRARY[name], "cuda", tmp_path, 5)


COUNTED = (
    "static int tick(int by) {\n    static int calls = 5, seen[2][3] = {{1, 2, 3}, {4}};\n    static long zero[2];\n"
    "    static const int table[3] = {7, 8, 9};\n    calls += by;\n    seen[by & 1][calls & 1]++;\n"
    "    zero[by & 1] += table[(by & 3) % 3];\n"
    "    return calls * 100 + seen[1][0] + seen[0][1] + (int)zero[1];\n}\n"
)
OWN_TEXT = {
    "static locals": program(kernel=COUNTED + "void k(void) { for (int i = 0; i < 3; i++) o[i] = tick(a[i]); }\n"),
    "static locals of main": program(
        "static int n = 3; static struct { int x; } s = {4}; n += next(s.x++);",
        'printf("%d %d %d ", n++, s.x, next(1));',
        "int next(int by) { static int n, *p = &n; return *p += by; }\n",
    ),
    "recursion": program(kernel="int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }\n"
    "void k(void) { for (int i = 0; i < 3; i++) o[i] = fib(a[i] & 7); }\n"),
    "memory and callbacks": program(kernel="int less(const void *x, const void *y) { return *(int *)x - *(int *)y; }\n"
    "void k(void) { int *m = malloc(12); if (!m) abort(); for (int i = 0; i < 3; i++) m[i] = a[i];\n"
    "    qsort(m, 3, 4, less); memcpy(o, m, 12); free(m); }\n"),
    "an exit": program(kernel="void k(void) { if (a[0] < 0) exit(a[1]); for (int i = 0; i < 3; i++) o[i] = rand() % 9; }\n"),
    "output": program(kernel='void k(void) { for (int i = 0; i < 3; i++) printf("%d, ", o[i] = a[i] + 1); }\n'),
    "volatile": program("flag = 2;", 'printf("%d ", flag);', "volatile int flag; volatile struct { int x; } s = {3};\n",
    kernel="void k(void) { flag++; for (int i = 0; i < 3; i++) o[i] = a[i] * flag + s.x++; }\n"),
    "a call within": program(call="if (a[0] > 1) { o[1] = less(); }", kernel="int less(void) { static int n; int *p = malloc(4); free(p); return ++n; }\n").replace("#pragma kernel\n", ""),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize("name", sampled(OWN_TEXT, 2))
def test_a_kernel_that_stays_as_it_stands(name, tmp_path):
    check(OWN_TEXT[name], tmp_path)


@pytest.mark.costly
@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize("group", [None, 2])
def test_static_locals_are_columns(group):
    text = OWN_TEXT["static locals"]
    translated = c2cu.translate(text, p=len(RUNS), group=group)
    assert "c2cu_device" not in translated
    done = subprocess.run([program_on_cpu(translated)], input="\n".join(RUNS).encode(), capture_output=True)
    assert done.stdout == b"".join(run_original(text, r) for r in RUNS)


JUMPS = program(
    'struct P q = {.y = 9, .x = 8}; int list[] = {1, 2}; char name[4] = "abcd";',
    'if (a[0] == 4) goto end; int more = 3; printf("%d %d %d %c ", classify(a[0]), q.x, list[1], name[more]);\nend:;',
    "struct P { int x, y; };\n"
    "static int classify(int v) {\n    if (v < 0) goto bad;\n    const int t[] = {1, 2, 3};\n"
    '    const char *w = "abc", s[4] = "defg";\n    struct P p = {.y = 4, .x = v};\n    int k = t[v % 3];\n'
    "    switch (v & 3) {\n        int z;\n    case 0: { int q = 5; return q + k; }\n"
    "    case 1: z = 3; return z + p.x + w[1] + s[3];\n    default: break;\n    }\n"
    "    for (int i = 0, j = 5; i < 3 && j; i++) if (i == v) goto done;\n    return k + p.y;\n"
    "bad:\n    return -1;\ndone:\n    return -2;\n}\n",
)


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_jumps_past_declarations_with_values(target, tmp_path):
    """C++ lets nothing jump past them."""
    translated = c2cu.translate(JUMPS, p=len(RUNS), target=target)
    path = program_on_cpu(translated) if target == "cuda" else build(JUMPS, target, tmp_path, len(RUNS))
    done = subprocess.run([path], input="\n".join(RUNS).encode(), capture_output=True)
    assert done.stdout == b"".join(run_original(JUMPS, r) for r in RUNS)


ADDRESSES = (
    "int x = 5, *p = &x; static int one(void) { return 1; }\nstruct F { int (*call)(void); struct F *next; } f = {one, &f};\n"
    "void k(void) { for (int i = 0; i < 3; i++) o[i] = a[i] + *p + f.next->call(); x++; p = &a[2]; o[0] += *p; }\n"
)


@pytest.mark.slow
def test_addresses_stay_on_the_device():
    text = program(kernel=ADDRESSES)
    done = subprocess.run(
        [program_on_cpu(c2cu.translate(text, p=5))], input="\n".join(RUNS).encode(), capture_output=True
    )
    assert done.stdout == b"".join(run_original(text, r) for r in RUNS)
    with pytest.raises(c2cu.UnsupportedError, match="'p'") as caught:
        c2cu.translate(program("p = &a[1];", kernel=ADDRESSES), p=5)
    assert caught.value.line == 5


@pytest.mark.parametrize("before, after", [("srand(7);", ""), ("", 'printf("%d ", rand());')])
def test_a_generator_of_the_kernel_and_of_main(before, after, tmp_path):
    """Each run goes on from one state: on a CPU run after run, for a GPU it is refused."""
    text = program(before, after, kernel="void k(void) { for (int i = 0; i < 3; i++) o[i] = a[0] + rand() % 9; }\n")
    with pytest.raises(c2cu.UnsupportedError, match="'rand' in the kernel and (before|after) its call") as caught:
        c2cu.translate(text, p=5, schedule="auto")
    assert caught.value.code == "C2CU075"
    check(text, tmp_path)


ONE_PROCESS = [
    ("int c = rand();", 'printf("%d", c + rand());', "", "C2CU075", "'rand' on both sides of the kernel call: all runs"),
    ('char b[] = "1 2"; strtok(b, " ");', 'puts(strtok(0, " "));', "", "C2CU262", "'strtok' on both sides"),
    ("", 'if (scanf("%d", &a[0]) != 1) return 1;', "", "C2CU264", "'scanf' on both sides of the kernel call: standard input"),
    ("", "while (fgetc(stdin) > 10);", "", "C2CU264", "'fgetc' on both sides of the kernel call"),
    ("", "a[0] += next(stdin);", "int next(FILE *f) { return fgetc(f); }\n", "C2CU264", "'stdin' on both sides"),
    ("FILE *f = stdin;", "a[0] += getc(f) + getchar();", "", "C2CU264", "'getchar' on both sides"),
    ("", "fclose(stdout);", "", "C2CU265", "'fclose' closes a file"),
    ("setvbuf(stdout, b, _IOFBF, 99);", "", "char b[99];\n", "C2CU266", "'setvbuf' gives the file a buffer"),
    ("atexit(bye);", "", "void bye(void) {}\n", "C2CU267", "'atexit' registers a function that would run once, after all runs"),
    ("", "if (fork()) return 1;", UNISTD, "C2CU268", "'fork' changes or ends the process"),
    ("again: ;", "if (a[0] < 0) goto again;", "", "C2CU076", "'goto again' crosses the kernel call"),
    ("if (a[0]) goto end;", "end: ;", "", "C2CU076", "'goto end' crosses the kernel call"),
]  # fmt: skip


@pytest.mark.parametrize("before, after, top, code, words", sampled(ONE_PROCESS, 1), ids=[c[4] for c in ONE_PROCESS])
def test_what_one_process_cannot_do_is_refused_for_a_gpu(before, after, top, code, words):
    with pytest.raises(c2cu.UnsupportedError, match=words) as caught:
        c2cu.translate(program(before, after, top), p=4)
    assert caught.value.code == code and caught.value.line and caught.value.column
    assert caught.value.diagnostic.hint and "^" in str(caught.value)


IN_TURN = {
    "generator": program("int c = rand();", 'printf("%d ", c + rand());'),
    "strtok": program('char b[] = "1 2"; strtok(b, " ");', 'puts(strtok(0, " "));'),
    "a closed file": program(after="fclose(stdin);"),
    "at exit": program("atexit(bye);", top='void bye(void) { puts("bye"); }\n'),
    "a child": program(after='fflush(stdout); if (!fork()) { puts("child"); exit(0); } wait(0);', top=UNISTD + "#include <sys/wait.h>\n"),
    "a jump": program("again: ;", "if (a[0] < 0) { a[0] = 3; goto again; }"),
    "members that stand apart": program(
        after='struct T t = {2, a[0]}; printf("%d %d ", (int)sizeof t, ((int *)&t)[4]);',
        top="struct T { char c; int x __attribute__((aligned(16))); };\n",
    ),
    "an assembler's word": program(after='__asm__("addl $1, %0" : "+r"(a[0])); printf("%d ", a[0]);'),
    "extents of a parameter": program(
        call="k2(3, m, o);", kernel="void k2(int n, int m[n][n], int *o) { for (int i = 0; i < n; i++) o[i] = a[i] + m[i][n - 1]; }\n",
        before="int m[3][3] = {{1, 2, 3}, {4}};",
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize("name", sampled(IN_TURN, 3))
def test_a_cpu_runs_in_turn_what_cannot_be_split(name, tmp_path):
    check(IN_TURN[name], tmp_path)
    assert "__turns" in (tmp_path / "x.c").read_text()


PACKED = {
    "for main alone": program(
        "struct S s = {1, a[0]};", 'printf("%d %d ", (int)sizeof s, *(int *)((char *)&s + 1));',
        "struct __attribute__((packed)) S { char c; int x; };\n",
    ),
    "in lanes": program(
        after='printf("%d %d ", (int)sizeof s, ((char *)s)[6]);',
        kernel="#pragma pack(push, 2)\nstruct { short c; int x; } s[3];\n#pragma pack(pop)\n"
        "void k(void) { for (int i = 0; i < 3; i++) s[i].x = a[i], o[i] = s[i].x + (int)sizeof s; }\n",
    ),
    "by pointers": program(
        after='printf("%d %g ", s[1].x, s[2].d[1]);',
        kernel="typedef struct __attribute__((packed)) { char c; int x; double d[2]; } S; S s[3];\n"
        "union __attribute__((packed)) W { unsigned u; unsigned char b[4]; }; static int get(const int *p) { return *p; }\n"
        "void k(void) { for (int i = 0; i < 3; i++) { s[i].x = a[i]; s[i].x++; s[i].x *= 2; s[i].d[1] = a[i] * 0.5;\n"
        "    S t = s[i], *p = &t; p->x--; ++p->d[0]; union W w; memcpy(&w, (char *)&t + 1, 4);\n"
        "    o[i] = get((int *)((char *)p + 1)) + w.b[0] + (int)p->d[0] + (int)sizeof(S) + ((unsigned char *)s)[i + 5]; } }\n",
    ),
}  # fmt: skip


@pytest.mark.costly
@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize("name", sampled(PACKED, 1))
def test_packed_structs_stay_packed(name, tmp_path):
    check(PACKED[name], tmp_path)
    assert "__turns" not in (tmp_path / "x.c").read_text()
    done = subprocess.run(
        [program_on_cpu(c2cu.translate(PACKED[name], p=len(RUNS)))], input="\n".join(RUNS).encode(), capture_output=True
    )
    assert done.stdout == b"".join(run_original(PACKED[name], r) for r in RUNS)


INPUT = """#include <stdio.h>
#include <stdlib.h>
int n, m, o;
void k(void) { int c = getchar(); ungetc(c, stdin); if (scanf("%d", &m) == 1) o = n * 10 + m + (c == ' '); }
int main(void) {
    if (scanf("%d", &n) != 1) { puts("end"); return n; }
    k();
    if (o > 80) abort();
    printf("%d\\n", o);
    return o > 40;
}
"""


def test_runs_in_turn_share_standard_input(tmp_path):
    """Each takes what it reads, looks one character ahead, and may be aborted."""
    program = build(INPUT, "cpu", tmp_path, 5, fn="k")
    done = subprocess.run([program], input=b"1 2\n8 9 3\n4", capture_output=True)
    assert (done.stdout, done.returncode) == (b"13\n34\nend\nend\n", 134)
    (tmp_path / "in").write_text("1 2\n8 9 3\n4")
    with open(tmp_path / "in") as file:
        assert subprocess.run([program], stdin=file, capture_output=True).stdout == done.stdout


def test_files_may_declare_a_function_unlike(tmp_path):
    """As long as no call can tell."""
    (tmp_path / "k.c").write_text(
        "#include <stdio.h>\nint x; extern int first(void *);\nvoid k(void) { x += first(&x); }\n"
        'int main(void) {\n    if (scanf("%d", &x) != 1) return 1;\n    k();\n    printf("%d %d\\n", x, first(&x));\n'
        "    return 0;\n}\n"
    )
    (tmp_path / "f.c").write_text("int first(v)\n    int v[];\n{ return v[0] + 1; }\n")
    text = c2cu.translate([tmp_path / "k.c", tmp_path / "f.c"], p=3, target="cpu", fn="k")
    done = subprocess.run([executable(text)], input=b"1 2 3", capture_output=True)
    assert done.stdout == b"3 4\n5 6\n7 8\n"


def test_headers_are_put_in_where_a_program_runs_in_turn(tmp_path):
    (tmp_path / "own.h").write_text("#pragma once\n#include <deep.h>\n#define TWICE(x) (2 * DEEP(x))\n")
    (tmp_path / "include").mkdir()
    (tmp_path / "include/deep.h").write_text("#ifndef DEEP\n#define DEEP(x) ((x) + N)\n#endif\n")
    (tmp_path / "k.c").write_text(
        '#define N 4\n#include <stdio.h>\n#include "own.h"\n#include "own.h"\nvoid k(int *x) { *x = TWICE(*x); }\n'
        'int main(void) { again: ; int n; if (scanf("%d", &n) != 1 || !n) return 0;\n#pragma kernel\n    k(&n);\n'
        '    printf("%d\\n", n); goto again; }\n'
    )
    text = c2cu.translate(
        tmp_path / "k.c", p=2, target="cpu", include_dirs=[str(tmp_path / "include")], defines={"N": 5}
    )
    done = subprocess.run([executable(text)], input=b"1 2 0 3 0", capture_output=True)
    assert done.stdout == b"12\n14\n16\n" and "__turns" in text


PRINTED = {
    "a prompt": program('setbuf(stdout, NULL); printf("three numbers: "); fflush(stdout); fputc(10, stdout);', 'puts("done");'),
    "by a pointer": program('pf("hi");', "", "int (*pf)(const char *, ...) = printf;\n"),
    "where a run ends": program('if (puts("x") < 0) return 1;').replace("#pragma kernel", "if (a[0] < 0) exit(printf(\"%d\", a[1]) + 2);\n#pragma kernel"),
    "not in order": program('puts("x"); fprintf(stderr, "y"); f();', top='void g(void) { puts("z"); }\nvoid (*f)(void) = g;\n'),
    "past stdio": program('if (write(1, "x", 1) != 1) return 1;', top=UNISTD),
    "both ways": program('puts("x"); if (write(1, "y", 1) != 1) return 1;', 'puts("z"); if (write(1, "w", 1) != 1) return 1;', UNISTD),
    "by another process": program('if (system("echo x")) return 1;'),
    "lost by abort": program('printf("a"); if (a[0] < 0) abort();', 'printf("b"); if (a[1] > 3) abort(); puts("c");'),
    "lost by _Exit": program('printf("a"); if (a[0] < 0) _Exit(3);', 'fflush(stdout); printf("b"); if (a[1] > 3) quick_exit(4); puts("c");'),
    "lost by assert": program('printf("a");', 'printf("b"); assert(a[0] >= 0); printf("c"); if (a[1] > 3) exit(4);', ASSERT),
    "by a variable": program('out = stdout; fputs("x", out);', 'fputs("y", out);', "FILE *out;\n"),
}  # fmt: skip


@pytest.mark.costly
@pytest.mark.parametrize("name", sampled(PRINTED, 2))
def test_what_main_prints_before_the_kernel_comes_out_in_order(name, tmp_path):
    check(PRINTED[name], tmp_path)
    assert "__turns" not in (tmp_path / "x.c").read_text()
    text = c2cu.translate(PRINTED[name], p=len(RUNS))
    done = subprocess.run([program_on_cpu(text)], input="\n".join(RUNS).encode(), capture_output=True)
    assert done.stdout == b"".join(_tolerant(r, PRINTED[name]) for r in RUNS)


MAIN = "#include <stdio.h>\nstruct S { int y; };\nint a[4];\nvoid k(void) { a[0]++; }\nint main(void) {\n%s\n    return 0;\n}\n"
CANNOT_SPLIT = [
    ("    for (int i = 0; i < 3; i++) {\n#pragma kernel\n        k();\n    }", "C2CU260", 8),
    ("    int *p = (int[]){1, 2};\n#pragma kernel\n    k();\n    a[1] = *p;", "C2CU261", 6),
    ("    struct S { int x; } s = {1};\n#pragma kernel\n    k();\n    a[1] = s.x;", "C2CU077", 6),
]


TWICE = "void k2(int *x, int *y) { for (int i = 0; i < 3; i++) y[i] = x[(i + 1) % 3] * 2; }\n"
GLOBAL = "void k2(int *x) { for (int i = 0; i < 3; i++) x[i] = o[i] * 2; }\n"


@pytest.mark.costly
@pytest.mark.parametrize(
    "call, kernel, before, words",
    [
        ("k2(v, v);", TWICE, "int v[3] = {1};", "'v' reaches the kernel twice"),
        ("k2(a, a);", TWICE, "", "'a' reaches the kernel twice"),
        ("k2(&s, &s);", TWICE.replace("[(i + 1) % 3]", "[0]").replace("y[i]", "y[0]"), "int s = 1;", "twice"),
        ("k2(o);", GLOBAL, "", "'o' reaches the kernel as an argument and as a global"),
    ],
)
def test_one_array_by_two_ways_is_for_the_cpu(call, kernel, before, words):
    text = program(before, call=call, kernel=kernel)
    ours = executable(c2cu.translate(text, p=len(RUNS), target="cpu"))
    done = subprocess.run([ours], input="\n".join(RUNS).encode(), capture_output=True)
    assert done.stdout == b"".join(run_original(text, r) for r in RUNS)
    with pytest.raises(c2cu.UnsupportedError, match=words) as caught:
        c2cu.translate(text, p=4)
    line = next(i for i, row in enumerate(text.split("\n"), 1) if row.strip() == call)
    assert (caught.value.code, caught.value.line) == ("C2CU274", line)
    assert caught.value.diagnostic.hint


def test_one_array_by_two_ways_may_be_read(tmp_path):
    dot = "int dot(int *x, int *y) { int s = 0; for (int i = 0; i < 3; i++) s += x[i] * y[i]; return s; }\n"
    check(program(call="o[0] = dot(a, a);", kernel=dot), tmp_path)


def test_a_global_may_be_an_argument_where_addresses_depend_on_data(tmp_path):
    scatter = "void k2(int *x, int *y) { for (int i = 0; i < 3; i++) y[x[i] & 1] += x[i]; }\n"
    check(program(call="k2(a, o);", kernel=scatter), tmp_path)


HEAP = """#include <stdio.h>
#include <stdlib.h>
typedef struct { int k; } item;
static int twice(int x) { return 2 * x; }
int run(int A[2][3], const int *c, item *it, int m) {
    int s = 0;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++) s += A[i][j] = twice(A[i][j]) + c[j % 2] * m;
    it[1].k += s;
    return s;
}
int main(void) {
    static const int c[2] = {5, 7};
    int (*A)[3] = malloc(2 * sizeof *A), m;
    item *it = calloc(3, sizeof *it);
    for (int i = 0; i < 6; i++) A[i / 3][i % 3] = i;
    if (scanf("%d %d %d", &m, &A[0][1], &A[1][2]) != 3) return 2;
    printf("m = %d\\n", m);
#pragma kernel
    int s = run(A, c, it + 1, m);
    printf("%d %d %d %d\\n", s, A[0][1], A[1][2], it[2].k);
    free(A);
    free(it);
    return 0;
}
"""
#: Arguments that overlap, or are null, in some of the runs.
MEETING = """#include <stdio.h>
#include <stdlib.h>
int g[8];
int run(int *x, int *y, int m) {
    int s = 0;
    if (!x) return -1;
    for (int i = 0; i < 3; i++) s += y[i] = 2 * x[(i + 1) % 3] + m;
    return s;
}
int main(void) {
    int *p = calloc(8, sizeof *p), m, b, c;
    if (scanf("%d %d %d", &m, &b, &c) != 3) return 2;
    for (int i = 0; i < 3; i++) g[i] = p[i] = i * m + b;
    printf("m = %d\\n", m);
#pragma kernel
    int s = run(c < 0 ? NULL : m % 2 ? p : g + 1, p + (m & 2), m);
    printf("%d %d %d %d %d\\n", s, p[0], p[2], p[4], g[1]);
    free(p);
    return 0;
}
"""
#: Objects that are shorter than the parameters say, of the heap and of the file, and effects in arguments.
SHORTER = """#include <stdio.h>
#include <stdlib.h>
int g[6], calls;
int next(void) { return ++calls; }
int run(int x[64], int y[4], int m, int n, int k) {
    int s = m * 100 + k * 1000;
    for (int i = 0; i < n; i++) s += x[i]++ + y[i]++;
    return s;
}
int main(void) {
    int n, b, c;
    if (scanf("%d %d %d", &n, &b, &c) != 3) return 2;
    n = n < 0 ? 2 : n > 3 ? 1 : n;
    int *q = malloc(24), *w = realloc(malloc(4), 256);
    for (int i = 0; i < 6; i++) g[i] = q[i] = w[i] = i * b;
#pragma kernel
    int s = run(b > 4 ? w : q, g + 3, next(), n, next());
    printf("%d %d %d %d\\n", s, q[0], w[0], g[3]);
    free(w);
    free(q);
    return 0;
}
"""
SIZED = {"HEAP": {"c": 2, "it": 2}, "MEETING": {"x": 3, "y": 3}, "SHORTER": {}}


@pytest.mark.parametrize("schedule", [None, "gang", "auto"])
@pytest.mark.parametrize("name, text", [("HEAP", HEAP), ("MEETING", MEETING), ("SHORTER", SHORTER)])
def test_arguments_may_be_any_addresses(name, text, schedule):
    ours = executable(c2cu.translate(text, p=len(RUNS), target="cpu", schedule=schedule, shapes=SIZED[name]))
    done = subprocess.run([ours], input="\n".join(RUNS).encode(), capture_output=True)
    assert done.stdout == b"".join(run_original(text, r) for r in RUNS)


def test_what_goes_beyond_a_parameter_stays_as_it_stands():
    """Nobody knows how much of the object such a kernel touches."""
    text = program(
        "int v[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};",
        call="o[0] = beyond(v + 2, a[0]);",
        kernel="int beyond(int x[2], int k) { return x[(k & 3) + 1] + x[0]; }\n",
    )
    ours = executable(c2cu.translate(text, p=len(RUNS), target="cpu", schedule="auto"))
    done = subprocess.run([ours], input="\n".join(RUNS).encode(), capture_output=True)
    assert done.stdout == b"".join(run_original(text, r) for r in RUNS)
    with pytest.raises(c2cu.UnsupportedError, match="cannot be copied"):
        c2cu.translate(text, p=len(RUNS), schedule="private")


@pytest.mark.slow
@pytest.mark.parametrize("group", [None, 2])
@pytest.mark.parametrize("schedule", ["thread", "private", "auto"])
def test_arguments_may_be_any_addresses_on_a_gpu(schedule, group):
    text = c2cu.translate(HEAP, p=len(RUNS), schedule=schedule, group=group, shapes=SIZED["HEAP"])
    done = subprocess.run([program_on_cpu(text)], input="\n".join(RUNS).encode(), capture_output=True)
    assert done.stdout == b"".join(run_original(HEAP, r) for r in RUNS)


@pytest.mark.slow
def test_arguments_that_overlap_end_a_program_of_a_gpu():
    text = c2cu.translate(MEETING, p=len(RUNS), schedule="private", shapes=SIZED["MEETING"])
    done = subprocess.run([program_on_cpu(text)], input="\n".join(RUNS).encode(), capture_output=True)
    assert done.returncode == 1 and b"overlaps another one" in done.stderr


LENGTHS = """#include <stdio.h>
#define N 4
int a[N][N];
int f(int n, long m, int b[N][N]) {
    int s = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) s += b[i][j] * j;
    n--;
    return s + n;
}
int main(void) {
    int n = N - 1, m = 2;
    %s
    for (int i = 0; i < 3; i++)
        if (scanf("%%d", &a[i][1]) != 1) return 2;
#pragma kernel
    int r = f(n, %s, a);
    printf("%%d\\n", r);
    return 0;
}
"""


@pytest.mark.parametrize(
    "then, argument, known",
    [("", "m", True), ("", "sizeof m / 2", True), ("m += a[0][0];", "m", False), ('scanf("%d", &m);', "m", False)],
)
def test_numbers_that_main_passes_are_known(then, argument, known):
    text = LENGTHS % (then, argument)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        ours = executable(c2cu.translate(text, p=len(RUNS), target="cpu", schedule="gang"))
    assert (not told) == known
    runs = [f"2 {r}" if "scanf" in then else r for r in RUNS]
    done = subprocess.run([ours], input="\n".join(runs).encode(), capture_output=True)
    assert done.stdout == b"".join(run_original(text, r) for r in runs)


#: As libraries have it that are older than math.h's own.
OWN_MATH = """#include <stdio.h>
double INFINITY = 1e9, NAN = -5;
double erf(double x) { return x > 0 ? x : NAN; }
int a[3];
double r;
%s
int main(void) {
    if (scanf("%%d %%d %%d", a, a + 1, a + 2) != 3) return 2;
    k();
    printf("%%g\\n", r);
    return 0;
}
"""
OWN_KERNELS = {
    "lanes": "void k(void) { r = a[0] > 5 ? INFINITY : erf(a[1]); }",
    "native": 'double floor();\nvoid k(void) { r = floor(a[0] / 2.0) + erf(a[1]); if (r < -9) printf("low\\n"); }',
}


@pytest.mark.parametrize("name", OWN_KERNELS)
def test_names_of_math_h_may_be_the_programs_own(name, tmp_path):
    check(OWN_MATH % OWN_KERNELS[name], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("schedule", ["thread", "private"])
def test_names_of_math_h_may_be_the_programs_own_on_a_gpu(schedule):
    text = OWN_MATH % OWN_KERNELS["lanes"]
    ours = program_on_cpu(c2cu.translate(text, p=len(RUNS), schedule=schedule))
    done = subprocess.run([ours], input="\n".join(RUNS).encode(), capture_output=True)
    assert done.stdout == b"".join(run_original(text, r) for r in RUNS)


def test_an_array_may_be_longer_than_the_parameter(tmp_path):
    kernel = "void k2(const int x[2], int y[2]) { y[0] = x[0] + x[1], y[1] = x[0] - x[1]; }\n"
    text = program("int v[4] = {7, 8, 9, 10};", 'printf("%d %d ", v[0], v[3]);', call="k2(a, v);", kernel=kernel)
    check(text, tmp_path)
    ours = executable(c2cu.translate(text, p=len(RUNS), target="cpu", schedule="gang"))
    done = subprocess.run([ours], input="\n".join(RUNS).encode(), capture_output=True)
    assert done.stdout == b"".join(run_original(text, r) for r in RUNS)


def test_rows_of_main_stay_on_a_cpu():
    text = """#include <stdio.h>
void scale(float **a, int n) { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i][j] *= 2; }
int main(void) {
    float m[2][2], *rows[2] = {m[0], m[1]};
    for (int i = 0; i < 4; i++) if (scanf("%f", &m[i / 2][i % 2]) != 1) return 1;
#pragma kernel
    scale(rows, 2);
    printf("%g %g\\n", m[0][1], m[1][0]);
    return 0;
}
"""
    ours = executable(c2cu.translate(text, p=2, target="cpu", schedule="auto", shapes={"a": (2, 2)}))
    assert subprocess.run([ours], input=b"1 2 3 4 5 6 7 8", capture_output=True).stdout == b"4 6\n12 14\n"


def test_a_constant_may_be_an_argument(tmp_path):
    kernel = "const int t[2] = {1, 2};\nvoid k2(const int *t) { o[0] = t[1]; }\n"
    check(program(call="k2(t);", kernel=kernel), tmp_path)
    check(program("static int u[2] = {7, 9}; u[1]++;", call="k2(u);", kernel=kernel), tmp_path)


#: What only the kernel has, and host code need not know; and constants that C++ wants written in its way.
CONSTANTS = {
    "functions in a table": "static int inc(int x) { return x + 1; }\nstatic int dbl(int x) { return x * 2; }\n"
    "typedef int (*handler)(int);\nstatic const handler table[] = {inc, dbl};\n"
    "void k(void) { for (int i = 0; i < 3; i++) o[i] = table[a[i] & 1](a[i]); }\n",
    "products of floats": "static const int t[] = {(int)(0.785 * 16384.0 + 0.5), (int)(0.1f * 3.0f)};\n"
    "static const double d[2] = {3.14159 * 2, -0.1 * 7};\n"
    "void k(void) { for (int i = 0; i < 3; i++) o[i] = t[a[i] & 1] + (int)(d[i & 1] * a[i]); }\n",
    "a string of bytes": 'static const unsigned char *s = (const unsigned char *)"exp\\xff 32";\n'
    "void k(void) { for (int i = 0; i < 3; i++) o[i] = s[a[i] & 3]; }\n",
}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is missing")
@pytest.mark.parametrize("schedule", [None, "private", "auto"])
@pytest.mark.parametrize("name", CONSTANTS)
def test_constants_of_the_kernel_compile(name, schedule, tmp_path):
    build(program(kernel=CONSTANTS[name]), "cuda", tmp_path, 4, schedule=schedule)


@pytest.mark.parametrize("name", CONSTANTS)
def test_constants_of_the_kernel(name, tmp_path):
    check(program(kernel=CONSTANTS[name]), tmp_path)


def test_main_has_no_third_parameter():
    with pytest.raises(c2cu.UnsupportedError, match="main takes 'e' beside") as caught:
        c2cu.translate(program().replace("main(void)", "main(int c, char **v, char **e)"), p=4)
    assert caught.value.code == "C2CU078" and caught.value.line and caught.value.diagnostic.hint


@pytest.mark.parametrize("body, code, line", CANNOT_SPLIT, ids=[c for _, c, _ in CANNOT_SPLIT])
def test_what_cannot_be_split_says_why(body, code, line):
    with pytest.raises(c2cu.UnsupportedError) as caught:
        c2cu.translate(MAIN % body, p=4)
    assert (caught.value.code, caught.value.line) == (code, line)
    assert caught.value.diagnostic.hint


def test_defines_reach_the_text():
    assert "#define N 5" in c2cu.translate(WORKLOADS[0].path, p=3, defines={"N": 5})
    assert with_defines("#define N 4\n", {"N": 5}) == "#define N 5\n"


POINTERS = """#include <stdio.h>
int x;
static float f = 3;
static volatile int v = 5;
static void bytes(char *p, int n) { for (int i = 0; i < n; i++) printf("%d ", p[i]); }
static char *back(int *p) { return p; }
static char *of(void *p) { return p; }
void k(void) { x++; }
int main(void) {
    scanf("%d", &x);
#pragma kernel
    k();
    char *q = &f, *r, *none = 0;
    const char *s = "ab";
    long l = &x;
    r = s;
    bytes(&f, sizeof f);
    bytes(&v, 4);
    printf("%d %d %d %d %d %d\\n", *q, *r, *back(&x), *of(&x), l == (long)&x, x + (none == 0));
    return 0;
}
"""


@pytest.mark.usefixtures("old_c")
def test_pointers_that_only_c_converts():
    """GCC warns, and goes on."""
    done = subprocess.run([program_on_cpu(c2cu.translate(POINTERS, p=3))], input=b"1 2 3", capture_output=True)
    assert done.stdout == b"".join(run_original(POINTERS, x) for x in "123")


ARGUMENTS = """
#include <stdio.h>
#include <stdlib.h>
float a[8];
void k(void) { for (int i = 0; i < 8; i++) a[i] *= 2; }
int main(int argc, char **argv) {
    float scale = BEFORE;
    if (scanf("%f", a) != 1) return 3;
#pragma kernel
    k();
    printf("%g\\n", a[0] * scale * AFTER);
    return 0;
}
"""


@pytest.mark.parametrize("before", ["1", "argc > 1 ? atof(argv[1]) : 1"])
@pytest.mark.parametrize("after", ["argc", "1"])
def test_a_part_of_main_that_has_no_use_for_its_arguments(before, after, tmp_path):
    text = ARGUMENTS.replace("BEFORE", before).replace("AFTER", after)
    program = build(text, "cpu", tmp_path, 3)  # without a warning
    done = subprocess.run([program, "3"], input=b"1 2 3", capture_output=True, check=True)
    factor = 2 * (2 if after == "argc" else 1) * (3 if "argv" in before else 1)
    assert done.stdout.split() == [str(k * factor).encode() for k in (1, 2, 3)]


@pytest.mark.parametrize("schedule", [[], ["--schedule", "auto"], ["--schedule", "native"]])
def test_what_the_program_as_it_stands_is_for_is_told(schedule, tmp_path):
    """The reason why it could not be taken apart; and C that is wrong is no program to run as it stands."""
    file, out = tmp_path / "k.c", tmp_path / "x.c"
    command = ["translate", str(file), "--target", "cpu", "--p", "2", "-o", str(out), *schedule]
    file.write_text(IN_TURN["a jump"])
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0 and out.exists()
    assert "note: the program stays as it stands, each run a process of its own: " in done.stderr
    file.write_text(program(kernel="void k(void) { for (int i = 0; i <= 3; i++) o[i] = a[i]; }\n"))
    out.unlink()
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 1 and "[C2CU035]" in done.stderr and not out.exists()


SPECTRUM = """
#include <complex.h>
#include <stdio.h>
double complex z[8], spectrum[8];
static void transformed(const double complex *x, int n, int stride, double complex *out) {
    if (n == 1) { out[0] = x[0]; return; }
    transformed(x, n / 2, 2 * stride, out);
    transformed(x + stride, n / 2, 2 * stride, out + n / 2);
    for (int k = 0; k < n / 2; k++) {
        double complex w = cexp(-2 * I * 3.141592653589793 * k / n) * out[k + n / 2], e = out[k];
        out[k] = e + w;
        out[k + n / 2] = e - w;
    }
}
void transform(void) { transformed(z, 8, 1, spectrum); }
int main(void) {
    for (int i = 0; i < 8; i++) { double r; if (scanf("%lf", &r) != 1) return 1; z[i] = r; }
#pragma kernel
    transform();
    for (int i = 0; i < 8; i++) printf("%a %a\\n", creal(spectrum[i]), cimag(spectrum[i]));
}
"""


@pytest.mark.parametrize("schedule", ["gang", "auto"])
def test_lanes_take_what_is_not_printed_anew(schedule):
    """Recursion of known depth, and complex numbers, which main's own text has too."""
    runs = [" ".join(str((i * k) % 7 - 2.5) for i in range(8)) for k in range(1, 6)]
    text = c2cu.translate(SPECTRUM, p=5, target="cpu", schedule=schedule)
    assert "in each SIMD lane" in text
    done = subprocess.run([executable(text)], input="\n".join(runs).encode(), capture_output=True)
    assert done.stdout == b"".join(run_original(SPECTRUM, r) for r in runs)
