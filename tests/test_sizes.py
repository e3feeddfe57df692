"""Objects whose size is known only once the program is followed: arrays of variable length, and allocated memory."""

import numpy as np
import pytest

import c2cu
from c2cu import pipeline
from c2cu.frontend.options import Options
from c2cu.frontend.preprocess import Source
from tests.oracle import Original, same
from tests.sample import sampled

P = 21
MERGE = """static void sort(int n, double *v) {
    if (n < 2) return;
    int h = n / 2; double t[n];
    sort(h, v); sort(n - h, v + h);
    for (int q = 0, i = 0, j = h; q < n; q++) t[q] = j >= n || (i < h && v[i] <= v[j]) ? v[i++] : v[j++];
    for (int q = 0; q < n; q++) v[q] = t[q];
}
"""
PRODUCT = """static void product(int n, int m, double A[n][m], double B[m][n], double C[n][n]) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) { C[i][j] = 0; for (int q = 0; q < m; q++) C[i][j] += A[i][q] * B[q][j]; }
}
"""
VECTOR = """static double *vector(long first, long last) {
    double *v = (double *)malloc((size_t)((last - first + 2) * sizeof(double)));
    return v - first + 1;
}
static void free_vector(double *v, long first, long last) { free((char *)(v + first - 1)); }
"""
MATRIX = """static double **matrix(long r0, long r1, long c0, long c1) {
    long i, rows = r1 - r0 + 1, columns = c1 - c0 + 1;
    double **m = (double **)malloc((rows + 1) * sizeof(double *));
    m += 1; m -= r0;
    m[r0] = (double *)malloc((rows * columns + 1) * sizeof(double)); m[r0] += 1; m[r0] -= c0;
    for (i = r0 + 1; i <= r1; i++) m[i] = m[i - 1] + columns;
    return m;
}
"""
ROWS = """static double **rows(int n, int m) {
    double **A = malloc(n * sizeof *A);
    for (int i = 0; i < n; i++) A[i] = calloc(m, sizeof **A);
    return A;
}
"""
WORK = """struct work { int n; double *x, *y; };
static struct work *make(int n) {
    struct work *w = malloc(sizeof(struct work));
    w->n = n; w->x = calloc(n, sizeof(double)); w->y = malloc(n * sizeof(double));
    return w;
}
static void drop(struct work *w) { if (w) { free(w->x); free(w->y); free(w); } }
"""
TAIL = """struct point { double x, y; };
struct table { int n; double scale; struct point of[1]; };
struct text { int n; char c[]; };
static struct table *make(int n) {
    struct table *t = malloc(sizeof(struct table) + (n - 1) * sizeof(struct point));
    if (!t) return NULL;
    t->n = n; t->scale = 2;
    return t;
}
"""
XMALLOC = """#include <stdio.h>
static void *xmalloc(size_t n) {
    void *p = malloc(n);
    if (p == NULL) { fprintf(stderr, "no memory for %zu bytes\\n", n); exit(EXIT_FAILURE); }
    return p;
}
static double last(int n, double *v) {
    double t[n];
    if (n < 1) { fprintf(stderr, "none\\n"); abort(); }
    for (int i = 0; i < n; i++) t[i] = v[i] * 2;
    return t[n - 1];
}
"""
LIST = "struct node { double v; struct node *next; };\n"

# name -> (declarations, n, statements of a kernel of: int n, double a[16], double b[2])
KNOWN = {
    "extents from arguments": (
        PRODUCT,
        7,
        "double T[n][2], U[2][n], V[n][n]; for (int i = 0; i < n; i++) for (int j = 0; j < 2; j++) "
        "T[i][j] = U[j][i] = a[i * 2 + j]; product(n, 2, T, U, V); "
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) b[0] += V[i][j] * (i + j); b[1] = sizeof V;",
    ),
    "extents from locals": (
        "",
        7,
        "const int m = 2 * n + 1; int h = m / 2; double t[m], u[h][2]; for (int i = 0; i < m; i++) t[i] = a[i]; "
        "for (int i = 0; i < h; i++) u[i][0] = t[i], u[i][1] = t[m - 1 - i]; "
        "for (int i = 0; i < h; i++) b[0] += u[i][0] * u[i][1];",
    ),
    "two names alike": ("", 3, "double t[n]; t[n - 1] = a[0]; { int n = 2; t[n] += a[n]; double u[n]; u[1] = t[2]; b[0] = u[1]; }"),
    "pointers to rows": (
        "",
        3,
        "double (*B)[n] = malloc(sizeof(double[n][n])); for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) "
        "B[i][j] = a[i * n + j]; b[0] = B[1][0] + (*(B + 2))[1]; b[1] = sizeof *B; free(B);",
    ),
    "a flat walk": (
        "",
        5,
        "double B[n][n]; memset(B, 0, sizeof B); double *p = &B[0][0]; for (int i = 0; i < n * n; i++) p[i] += a[i % 16]; "
        "b[0] = B[n - 1][0]; b[1] = B[0][n - 1];",
    ),
    "recursion": (MERGE, 13, "sort(n, a); b[0] = a[n / 2]; b[1] = a[0];"),
    "typedef": (
        "",
        6,
        "typedef double row[n]; row t[2]; for (int i = 0; i < n; i++) t[0][i] = a[i], t[1][i] = a[n - 1 - i]; "
        "for (int i = 0; i < n; i++) b[0] += t[0][i] * t[1][i];",
    ),
    "what may be null is freed": (
        "",
        4,
        "double *t = malloc(n * sizeof *t), *gone = a[0] > 0 ? t : NULL; t[1] = a[2]; free(gone); "
        "double *u = a[0] > 0 ? a : t; b[0] = u[1]; if (a[0] <= 0) { t[0] = a[3]; b[1] = t[0] + t[1]; free(t); }",
    ),
    "an alignment that does something": (
        "",
        4,
        "int c = 0; double *t = aligned_alloc((c = 7, 64), n * sizeof *t); t[0] = a[0]; b[0] = t[0] + c; free(t);",
    ),
    "scratch": (
        "",
        9,
        "double *t = malloc(n * sizeof(double)), *u = calloc(n, sizeof *u); if (!t || !u) { free(t); free(u); return; } "
        "for (int i = 0; i < n; i++) t[i] = a[i]; for (int i = 1; i < n; i++) u[i] = u[i - 1] + t[i]; b[0] = u[n - 1]; "
        "free(t); free(u);",
    ),
    "an early return": (
        "",
        9,
        "double *t = malloc(n * sizeof *t); b[0] = -1; for (int i = 0; i < n; i++) { t[i] = a[i]; "
        "if (a[i] > 1.5) { free(t); return; } } b[0] = t[n - 1]; free(t);",
    ),
    "numbered from one": (
        VECTOR,
        8,
        "double *t = vector(1, n); for (int i = 1; i <= n; i++) t[i] = a[i - 1]; "
        "for (int i = 1; i <= n; i++) b[0] += t[i] * i; free_vector(t, 1, n);",
    ),
    "a matrix numbered from one": (
        MATRIX,
        4,
        "double **m = matrix(1, n, 1, n); for (int i = 1; i <= n; i++) for (int j = 1; j <= n; j++) "
        "m[i][j] = a[(i * 3 + j) % 16]; b[0] = m[2][3] + m[n][1]; free(m[1]); free(m);",
    ),
    "rows of their own": (
        ROWS,
        4,
        "double **A = rows(n, 3); for (int i = 0; i < n; i++) A[i][0] = a[i], A[i][1] += a[i + 1]; "
        "for (int i = 0; i < n; i++) b[0] += A[i][0] * A[n - 1 - i][1] + A[i][2]; b[1] = A[1][1] + A[2][2]; "
        "for (int i = 0; i < n; i++) free(A[i]); free(A);",
    ),
    "a struct of arrays": (
        WORK,
        4,
        "struct work *w = make(n); for (int i = 0; i < w->n; i++) w->y[i] = a[i]; "
        "for (int i = 1; i < n; i++) w->x[i] = w->x[i - 1] + w->y[i]; b[0] = w->x[3]; drop(w); "
        "w = make(2); w->x[1] = a[1]; b[1] = w->x[0] + w->x[1]; drop(w);",
    ),
    "a list": (
        LIST,
        4,
        "struct node *first = NULL; for (int i = 0; i < n; i++) { struct node *x = malloc(sizeof *x); x->v = a[i]; "
        "x->next = first; first = x; } for (struct node *x = first; x; x = x->next) b[0] = b[0] * 3 + x->v;",
    ),
    "anew at every turn": (
        "",
        3,
        "double *t = 0; for (int i = 0; i < 5; i++) { t = calloc(n, sizeof *t); t[i % n] += a[i]; b[0] += t[0] * 2 + t[1]; "
        "free(t); t = 0; }",
    ),
    "an index that data decides": (
        "",
        4,
        "int *h = calloc(n, sizeof(int)); for (int i = 0; i < 16; i++) h[a[i] < -1 ? 0 : a[i] < 0 ? 1 : a[i] < 1 ? 2 : 3]++; "
        "b[0] = h[0] * 100 + h[1]; b[1] = h[2] * 100 + h[3]; free(h);",
    ),
    "bytes first": (
        "",
        2,
        "void *v = malloc(n * 8); memcpy(v, a, n * 8); unsigned long *w = v; b[0] = (double)(w[0] >> 40 ^ w[1]); "
        "unsigned char *c = (unsigned char *)v; b[1] = c[7] + 3 * c[15]; free(v);",
    ),
    "words of bytes": (
        "",
        16,
        "unsigned char *c = malloc(n); memset(c, 0x5a, n); memcpy(c + 4, a, 8); unsigned *w = (unsigned *)c; "
        "for (int i = 0; i < n / 4; i++) b[0] += w[i]; free(c);",
    ),
    "freed on one path": (
        "",
        4,
        "double *t = malloc(n * 8); t[1] = a[1]; if (a[0] > 0) { b[0] = t[1]; free(t); t = NULL; } "
        "if (t) { b[1] = t[1] * 2; free(t); }",
    ),
    "a struct with a tail": (
        TAIL,
        5,
        "struct table *t = make(n); for (int i = 0; i < n; i++) t->of[i].y = a[i] * t->scale, t->of[i].x = i; "
        "for (int i = 0; i < t->n; i++) b[0] += t->of[i].y * t->of[n - 1 - i].x; b[1] = t->n; free(t); "
        "struct text *s = malloc(sizeof *s + n); s->n = n; memset(s->c, 7, n); s->c[2] = 1; "
        "for (int i = 0; i < s->n; i++) b[1] += s->c[i]; free(s);",
    ),
    "checked by the program's own": (
        XMALLOC,
        6,
        "double *t = xmalloc(n * sizeof *t); for (int i = 0; i < n; i++) t[i] = a[i]; "
        "for (int i = 0; i < n; i++) b[0] += t[n - 1 - i] * i; b[1] = last(n, t); free(t);",
    ),
    "a tail in the padding": (
        "struct t { double d; int n; char c[]; };\nstruct u { int n; short s; char c[1]; };\n",
        4,
        "struct t *p = malloc(sizeof *p); p->d = a[0]; p->n = n; p->c[0] = a[1] > 0; p->c[3] = 7; p->c[1] = 2; "
        "b[0] = p->c[0] * 100 + p->c[3] + p->d; b[1] = p->n + p->c[a[2] > 0 ? 3 : 1]; free(p); "
        "struct u *q = calloc(1, sizeof *q); q->c[a[3] > 0] = 5; b[1] += q->c[0] * 10 + q->s; free(q);",
    ),
    "one of two is freed": (
        "",
        4,
        "double *u = malloc(n * 8), *v = calloc(n, 8), *t; for (int i = 0; i < n; i++) u[i] = a[i]; "
        "for (int s = 0; s < 3; s++) { for (int i = 0; i < n; i++) v[i] = u[n - 1 - i] * 2; t = u; u = v; v = t; } "
        "if (a[0] > 0) { t = u; u = v; v = t; } b[0] = u[0]; b[1] = v[1]; free(u); free(v);",
    ),
    "one of each turn": ("static double last(int n, double *a) { double t[n]; t[n - 1] = a[n]; return t[n - 1]; }\n", 5,
        "for (int i = 1; i < n; i++) b[0] = b[0] * 2 + last(i, a);"),
    "anew when the data says": (
        "",
        2,
        "double *t = 0; for (int i = 0; i < 8; i++) { if (!t) t = calloc(n, 8); t[i & 1] += a[i]; "
        "if (a[i] > 0.5) { b[0] += t[0] * 3 + t[1]; free(t); t = NULL; } } if (t) b[1] = t[0];",
    ),
    "each outlives its turn": (
        "",
        3,
        "double *q = 0; for (int i = 0; i < 100 + n; i++) { double *t = malloc(8); *t = a[i % 16]; if (q) b[0] += *q * i; q = t; }",
    ),
    "what alloca gives": ("#include <alloca.h>\n", 5, "double *t = alloca(n * sizeof *t); t[n - 1] = a[2]; b[0] = t[n - 1];"),
    "to the start of a cleared struct": (
        "struct s { int n; double x[3]; };\n",
        1,
        "struct s *s = calloc(n, sizeof *s); s->x[1] = a[0]; b[0] = s->n + s->x[0] + s->x[1]; free(s);",
    ),
}  # fmt: skip

# what native alone runs: none of these must be taken for one object
UNKNOWN = {
    "more than there is": (
        "",
        4,
        "char *t = calloc((1UL << 62) + n - 3, 4); if (!t) { b[0] = -1; return; } t[0] = 1; b[0] = t[0] + a[0];",
    ),
    "one outlives the turn": (
        "",
        3,
        "double *q = 0; for (int i = 0; i < 1000 + n; i++) { double *t = malloc(8); *t = a[i % 16]; if (q) b[0] += *q * i; q = t; }",
    ),
    "as many as the data says": (
        LIST,
        4,
        "struct node *first = NULL; for (int i = 0; a[i] < 1 && i < 9; i++) { struct node *x = malloc(sizeof *x); "
        "x->v = a[i]; x->next = first; first = x; } for (; first; first = first->next) b[0] = b[0] * 3 + first->v;",
    ),
    "as long as the data says": ("", 4, "int m = a[0] > 0 ? n : 2; double t[m]; t[m - 1] = a[1]; b[0] = t[m - 1] + m;"),
    "as long as the turn says": ("", 7, "for (int i = 1; i < n; i++) { double t[i]; t[i - 1] = a[i]; b[0] += t[i - 1]; }"),
    "a length that changes": ("", 7, "n--; double t[n]; t[n - 1] = a[n]; b[0] = t[n - 1];"),
    "a static beside it": (
        "static int count(int n, double *a) { static int c; double t[n]; t[0] = a[0]; c += t[0] > 0; return c; }\n",
        7,
        "b[0] = count(n, a) + 2 * count(n + 1, a);",
    ),
    "pointers cleared": (LIST, 1, "struct node *x = calloc(n, sizeof *x); if (a[0] > 0) x->next = x; b[0] = x->next != 0;"),
    "a buffer made at the first call": (
        "static double sum(double x) { static double *s; if (!s) s = calloc(2, 8); s[0] += x; return s[0] * 2; }\n",
        2,
        "for (int i = 0; i < 6 + (a[0] > 0); i++) b[0] = b[0] * 0.5 + sum(a[i]); b[1] = n;",
    ),
    "a size with effects": ("", 4, "double t[2][n]; int i = 0; t[0][1] = a[0]; int q = sizeof t[i++]; b[0] = i + t[0][1]; b[1] = q;"),
    "extents of dead code": (
        "static double f(unsigned m, double *a) { if (m > 100) return 7; double t[m - 2]; t[0] = a[m]; return t[0] + sizeof t; }\n",
        3,
        "int m = -n; if (m > 0) { double t[m]; t[0] = a[0]; b[0] = t[0]; } if (n - 3) { double u[9 / (n - 3)]; u[0] = 1; b[0] = u[0]; } "
        "b[1] = f(n, a);",
    ),
    "an extent from a float": (
        "static int g(double x, int n) { int m = x > 2 ? n : n + 1; char t[m]; return sizeof t; }\n",
        3,
        "b[0] = g(1e300 * 1e300, n); b[1] = g(a[0], n);",
    ),
    "realloc": ("", 2, "double *t = malloc(n * 8); t[0] = a[0]; t = realloc(t, 16 * n); b[0] = t[0]; free(t);"),
}  # fmt: skip


def program(declarations: str, statements: str) -> str:
    return (
        "#include <stdlib.h>\n#include <string.h>\n"
        f"{declarations}void k(int n, double a[16], double b[2]) {{\n    b[0] = b[1] = 0;\n    {statements}\n}}\n"
    )


def inputs() -> np.ndarray:
    return np.random.default_rng(5).normal(size=(P, 16))


def expected(text: str, n: int) -> np.ndarray:
    whole = f"{text}double theirs[16], out[2];\nvoid judged(void) {{ k({n}, theirs, out); }}\n"
    variables = [("theirs", "float64", (16,)), ("out", "float64", (2,))]
    return Original(whole, "judged", variables).bulk({"theirs": inputs()}, P, fresh=True)["out"]


def compare(name: str, programs: dict, schedule: str) -> None:
    declarations, n, statements = programs[name]
    text = program(declarations, statements)
    how = {"backend": "cpu", "schedule": schedule, "outputs": ["b"], "stdio": "discard"}
    assert same(c2cu.bulk(text, {"a": inputs(), "n": n}, fn="k", **how), expected(text, n))


@pytest.mark.parametrize("name", sampled(KNOWN, 3))
@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
def test_known(name):
    compare(name, KNOWN, "gang")


@pytest.mark.parametrize("name", sampled(UNKNOWN, 2))
def test_unknown(name):
    declarations, n, statements = UNKNOWN[name]
    with pytest.raises(c2cu.UnsupportedError) as caught:
        c2cu.bulk(program(declarations, statements), {"a": inputs(), "n": n}, fn="k", schedule="gang", backend="cpu")
    assert caught.value.diagnostic.code in ("C2CU012", "C2CU143")
    compare(name, UNKNOWN, "auto")


ROW = "void k(int n, double A[n][n], double x[n], double y[n]) {\n    for (int i = 0; i < n; i++) {\n        y[i] = 0;\n" \
      "        for (int j = 0; j < n; j++) y[i] += A[i][j] * x[j];\n    }\n}\n"  # fmt: skip


@pytest.mark.parametrize("n", [8, 5])
def test_rows_of_a_parameter(n):
    """The distance of rows is what the C says, whatever array holds them."""
    rng = np.random.default_rng(2)
    A, x = rng.normal(size=(P, 8, 8)), rng.normal(size=(P, 8))
    for schedule in ("gang", "native"):
        out = c2cu.bulk(ROW, {"A": A, "x": x, "y": 0 * x, "n": n}, fn="k", schedule=schedule, backend="cpu")
        rows = A.reshape(P, 64)[:, : n * n].reshape(P, n, n)
        assert np.allclose(out[:, :n], (rows @ x[:, :n, None])[..., 0]) and not out[:, n:].any()


def test_each_number_is_a_program():
    text = program("", "double t[n]; for (int i = 0; i < n; i++) t[i] = a[i]; b[0] = t[n - 1];")
    run, a = c2cu.compile(text, fn="k", backend="cpu", schedule="gang"), inputs()
    for n in (3, 16, 3, 7):
        assert np.array_equal(run({"a": a, "n": n})[:, 0], a[:, n - 1])
    run = c2cu.compile(text, fn="k", backend="cpu")
    each = np.arange(P, dtype="int32") % 16 + 1
    assert np.array_equal(run({"a": a, "n": each})[:, 0], a[np.arange(P), each - 1])
    assert run.plan.schedule == "native"


def test_strict_waits_for_the_numbers():
    text = program("", "double t[n]; for (int i = 0; i < n; i++) t[i] = a[i]; b[0] = t[n - 1];")
    run = c2cu.compile(text, fn="k", backend="cpu", strict=True)
    assert np.array_equal(run({"a": inputs(), "n": 4})[:, 0], inputs()[:, 3])
    with pytest.raises(c2cu.NotObliviousError, match="the extent of an array is not a constant"):
        run({"a": inputs(), "n": np.full(P, 4, np.int32)})


def test_a_state():
    text = "double sum[1];\nvoid k(int n, double x) { double t[n]; for (int i = 0; i < n; i++) t[i] = x * i; sum[0] += t[n - 1]; }\n"
    state = c2cu.compile(text, fn="k", backend="cpu").state(P, shared={"n": 3})
    x = inputs()[:, 0]
    state.step({"x": x})
    state.step({"x": x})
    assert np.allclose(np.asarray(state["sum"])[:, 0], 4 * x)


def test_numbers_that_are_no_size_build_nothing_new():
    text = program("", "double t[n]; t[0] = a[0]; b[0] = t[0] * n;")
    front = pipeline.understand(
        Source("<input>", text.replace("int n,", "int n, double scale, int seed,")), Options(fn="k")
    )
    assert front.sized_by == {"n"}


def test_check_says_what_it_needs():
    text = program("", "double t[n]; for (int i = 0; i < n; i++) t[i] = a[i]; b[0] = t[n - 1];")
    report = c2cu.check(text, fn="k")
    assert "the extent of an array is not a constant" in report.why_not
    assert any("sizes come from n" in note for note in report.notes)
    assert c2cu.check(text, fn="k", shared={"n": 7}).oblivious


@pytest.mark.parametrize("n", ["x", None, [2]])
def test_what_is_no_number(n):
    text = "double a[4];\nvoid k(int n) { double t[n]; for (int i = 0; i < n; i++) t[i] = a[i], a[i] = t[i]; }\n"
    with pytest.raises(TypeError, match="input 'n' is of type"):
        c2cu.bulk(text, {"a": np.ones((3, 4)), "n": n}, backend="cpu", schedule="gang")
