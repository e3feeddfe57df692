"""Pointers in memory, views and jumps that lowering resolves before the program runs: what gang gives is what gcc gives."""

import numpy as np
import pytest

import c2cu
from tests.oracle import Original, same
from tests.sample import sampled
from tests.test_annex_c import emulated

P = 19
HEAD = (
    "#include <math.h>\n#include <string.h>\n#include <stdint.h>\nint a[8], b[8];\nfloat f[8];\ndouble d[8], e[8];\n"
    "unsigned char c[16];\n"
)
VARIABLES = [
    ("a", "i4", (8,)), ("b", "i4", (8,)), ("f", "f4", (8,)), ("d", "f8", (8,)), ("e", "f8", (8,)), ("c", "u1", (16,))
]  # fmt: skip

# name -> (declarations, statements of the kernel)
POINTERS = {
    "instance struct": (
        "typedef struct { int *buf; int n; } S; static void push(S *s, int v) { s->buf[s->n++] = v; } "
        "static void init(S *s, int *p) { s->buf = p; s->n = 0; }",
        "S s; init(&s, b); for (int i = 0; i < 8; i++) if (a[i] > 0) push(&s, a[i]); push(&s, s.n & 0); b[7] = s.n;",
    ),
    "vtable": (
        "struct V { int (*f)(int); int (*g)(int); }; static int p1(int x) { return x + 1; } static int m2(int x) "
        "{ return x * 2; } static const struct V v = {p1, m2}; struct O { const struct V *v; int x; }; "
        "static int both(struct O *o) { return o->v->f(o->x) + o->v->g(o->x); }",
        "struct O o = {&v, a[0]}; b[0] = both(&o); o.x = a[1]; b[1] = both(&o);",
    ),
    "table of functions, known index": (
        "static int g(int x) { return x + 1; } static int h(int x) { return x * 3; } static int (*const k[2])(int) = {g, h};",
        "b[0] = k[1](a[0]); b[1] = k[0](a[1]);",
    ),
    "table of functions, counted": (
        "static int g(int x) { return x + 1; } static int h(int x) { return x * 3; } typedef int (*F)(int); "
        "static const F k[3] = {g, h, g};",
        "for (int i = 0; i < 8; i++) b[i] = k[i % 3](a[i]);",
    ),
    "pointer to a const table": (
        "static const int t[4] = {5, 6, 7, 8}; static const int *q = t;",
        "const int *r = q + 1; for (int i = 0; i < 3; i++) b[i] += r[i]; b[3] = *q;",
    ),
    "double buffer": (
        "",
        "double u[8], v[8]; double *cur = u, *nxt = v; for (int i = 0; i < 8; i++) u[i] = d[i]; "
        "for (int t = 0; t < 5; t++) { for (int i = 0; i < 8; i++) nxt[i] = cur[i] + 0.5 * cur[(i + 1) & 7]; "
        "double *tmp = cur; cur = nxt; nxt = tmp; } for (int i = 0; i < 8; i++) e[i] = cur[i];",
    ),
    "double buffer, data decides how often": (
        "",
        "double u[8] = {0}, v[8] = {0}; double *cur = u, *nxt = v; for (int i = 0; i < 8; i++) u[i] = d[i]; "
        "for (int t = 0; t < (a[0] & 7); t++) { for (int i = 0; i < 8; i++) nxt[i] = cur[i] + cur[(i + 1) & 7]; "
        "double *tmp = cur; cur = nxt; nxt = tmp; } for (int i = 0; i < 8; i++) e[i] = cur[i];",
    ),
    "double buffer, inputs swapped": (
        "static void step(const double *x, double *y) { for (int i = 0; i < 8; i++) y[i] = x[i] * 0.5 + x[7 - i]; }",
        "double *p = d, *q = e; for (int t = 0; t < 4; t++) { step(p, q); double *s = p; p = q; q = s; }",
    ),
    "three buffers": (
        "",
        "int x[8] = {0}, y[8] = {0}, z[8] = {0}; int *p[3] = {x, y, z}; for (int i = 0; i < 8; i++) x[i] = a[i]; "
        "for (int t = 0; t < 7; t++) { for (int i = 0; i < 8; i++) p[2][i] = p[0][i] + 2 * p[1][7 - i]; "
        "int *s = p[2]; p[2] = p[1]; p[1] = p[0]; p[0] = s; } for (int i = 0; i < 8; i++) b[i] = p[0][i];",
    ),
    "rows of a matrix": (
        "",
        "int m[4][3]; int *r[4]; for (int i = 0; i < 4; i++) r[i] = m[i]; for (int i = 0; i < 4; i++) "
        "for (int j = 0; j < 3; j++) r[i][j] = a[i] * j; int *t = r[1]; r[1] = r[2]; r[2] = t; "
        "for (int i = 0; i < 4; i++) b[i] = r[i][2] + r[(i + 1) & 3][1];",
    ),
    "rows chosen by data": (
        "",
        "int x[4] = {1, 2, 3, 4}; int *r[3] = {a, b, x}; for (int i = 0; i < 3; i++) b[i + 4] = r[(a[i] & 255) % 3][i];",
    ),
    "pivoting by pointers": (
        "",
        "double m[3][3]; double *r[3]; for (int i = 0; i < 3; i++) { r[i] = m[i]; for (int j = 0; j < 3; j++) "
        "m[i][j] = d[i] * (j + 1) + d[(i + 3 * j) & 7]; } for (int k = 0; k < 3; k++) { int w = k; for (int i = k + 1; i < 3; "
        "i++) if (fabs(r[i][k]) > fabs(r[w][k])) w = i; double *t = r[k]; r[k] = r[w]; r[w] = t; for (int i = k + 1; i < 3; "
        "i++) { double q = r[i][k] / r[k][k]; for (int j = k; j < 3; j++) r[i][j] -= q * r[k][j]; } } "
        "for (int i = 0; i < 3; i++) e[i] = r[i][i];",
    ),
    "null tests": (
        "int *q; static int g(const int *p, int *out) { if (!p) return -1; if (out) *out = *p; return 1; }",
        "if (q) b[0] = 1; else b[0] = 2; b[1] = g(0, b); b[2] = g(a, 0); b[3] = g(a + 1, b + 4); if (q == 0) b[5] = 1;",
    ),
    "null, and no elements": (
        "static int sum(const int *p, unsigned char n) { int s = 1; for (int i = 0; i < n; i++) s += p[i]; return s; } "
        "static int g(const int *p, int n) { while (n-- > 0) { if (*p > 9) break; b[7] += *p++; } return n; } "
        "static int all_set(const int *p, long n) { n = n < 4 ? n : 4; for (long i = 0; i < n; i++) if (!p[i]) return 3; "
        "return 5; }",
        "b[0] = sum(0, 0); b[1] = sum(a, 3); b[2] = g(0, 0); b[3] = g(a, 2); b[4] = all_set(0, 0) + all_set(a, 6); "
        "b[5] = sum(0, 0);",
    ),
    "null or not, decided by data": (
        "",
        "int *p = 0; if (a[0] > 0) p = b + 1; if (p) p[0] = 7; else b[2] = 3; b[0] = p != 0; b[3] = p == b + 1;",
    ),
    "casadi": (
        "static int g(const double **arg, double **res, int *iw, double *w, int mem) { double t = arg[0] ? arg[0][0] : 0; "
        "w[0] = t; if (res[0] != 0) res[0][0] = w[0] + (arg[1] ? arg[1][1] : 0); if (res[1]) res[1][2] = 1; return 0; } "
        "static int f2(const double **arg, double **res, int *iw, double *w, int mem) { const double **arg1 = arg + 2; "
        "double **res1 = res + 1; arg1[0] = arg[0] + 3; arg1[1] = arg[1]; res1[0] = w; res1[1] = 0; w += 2; "
        "if (g(arg1, res1, iw, w, 0)) return 1; if (res[0] != 0) res[0][0] = (w - 2)[0]; return 0; }",
        "const double *arg[4] = {d, e}; double *res[3] = {e + 4}; double w[5]; int iw[1]; b[0] = f2(arg, res, iw, w, 0);",
    ),
    "linked list": (
        "struct N { int v; struct N *next; };",
        "struct N n[4]; for (int i = 0; i < 4; i++) { n[i].v = a[i]; n[i].next = i < 3 ? &n[i + 1] : 0; } "
        "int s = 0; for (struct N *p = n; p; p = p->next) s = s * 3 + p->v; b[0] = s;",
    ),
    "out pointers": (
        'static void next(const char **s, int **p) { (*s)++; *p += 2; } static const char text[] = "abc";',
        "const char *s = text; int *p = a; next(&s, &p); b[0] = *s; b[1] = *p; next(&s, &p); b[2] = *s + *p;",
    ),
    "returned pointer, one of two": (
        "static int *larger(int *x, int *y) { return *x > *y ? x : y; }",
        "*larger(&a[0], &b[0]) += 5; int *m = a; for (int i = 1; i < 8; i++) m = larger(m, &b[i]); *m = 1000;",
    ),
    "void pointer to a context": (
        "struct K { int s; int *o; }; static void cb(void *x, int v) { struct K *k = x; k->s += v; *k->o++ = k->s; } "
        "static void each(const int *p, int n, void (*g)(void *, int), void *x) { for (int i = 0; i < n; i++) g(x, p[i]); }",
        "struct K k = {0, b}; each(a, 8, cb, &k);",
    ),
    "struct copied with its pointers": (
        "struct P { int *p; int n; };",
        "struct P x = {a, 2}, y; y = x; y.n++; x.p = b; b[0] = y.p[y.n] + x.p[1]; struct P z[2] = {x, y}; "
        "for (int i = 0; i < 2; i++) b[i + 2] = z[i].p[z[i].n];",
    ),
    "strings": (
        'static const char *const names[3] = {"one", "two", "three"};',
        'for (int i = 0; i < 3; i++) b[i] = names[i][1]; b[3] = "xyz"[a[0] & 1]; const char *s = "hello"; while (*s) b[4] += *s++;',
    ),
    "static pointer": (
        "static int next(void) { static int *p = a; static int n = 2; n++; return *p++ + n; }",
        "b[0] = next(); b[1] = next(); for (int i = 0; i < 3; i++) b[i + 2] = next();",
    ),
    "workspace carved up": (
        "typedef struct { double *x, *y, *z; int n; } W; static double *take(double **w, int n) { double *r = *w; *w += n; return r; }",
        "double store[24]; double *w = store; W s; s.n = 8; s.x = take(&w, 8); s.y = take(&w, 8); s.z = take(&w, 8); "
        "for (int i = 0; i < s.n; i++) { s.x[i] = d[i]; s.y[i] = s.x[i] * 2; s.z[i] = s.y[7 - i < i ? 7 - i : i] + s.x[i]; } "
        "for (int i = 0; i < 8; i++) e[i] = s.z[i];",
    ),
    "difference and order": (
        "",
        "int *p = a + 2, *q = a + 6; int t[2]; b[0] = q - p; b[1] = p < q; b[2] = p == a + 2; b[3] = p == t; "
        "int *r = a[0] > 0 ? p : t; b[4] = r == p; b[5] = r != t;",
    ),
    "pointer set in a loop before it is used": (
        "",
        "int *p; for (int i = 0; i < 4; i++) { if (i == 0) p = a; else p = p + 1; b[i] = *p; }",
    ),
    "pointer to a pointer": ("", "int *p = a; int **q = &p; **q = 3; *q = b; *p = 4; (*q)[1] = 5; b[2] = **q + 1;"),
}
VIEWS = {
    "bytes of a union beside other members, where data says": (
        "typedef struct { int k; union { uint8_t b[32]; uint64_t q[4]; } st; int at; uint8_t rest[4]; } C; "
        "static void put(C *c, uint8_t x) { c->st.b[c->at++] ^= x; if (c->at == 32) c->at = 0; }",
        "C s = {3}; for (int i = 0; i < 8; i++) if (c[i] > 5 || s.at < 2) put(&s, c[i]); s.st.b[a[0] & 31] += 7; s.at++; "
        "for (int i = 0; i < 4; i++) b[i] = s.st.q[i] >> 24, b[4 + i] = s.st.q[i]; a[1] = s.at + s.k; s.st.q[a[2] & 3]++; "
        "a[2] = s.st.b[a[3] & 31]; a[4] = s.st.b[31 - s.at];",
    ),
    "a context of bytes that is seen as a struct": (
        "typedef struct { unsigned long aligner; unsigned char opaque[72]; } ctx; "
        "typedef struct { uint32_t h[4]; size_t left; uint8_t buffer[16], last; } state; "
        "static void block(state *s) { for (int i = 0; i < 16; i++) { s->h[i & 3] = (s->h[i & 3] ^ s->buffer[i]) * 16777619u; "
        "s->h[(i + 1) & 3] += s->h[i & 3] >> 7; } s->left = 0; } static void update(ctx *c, uint8_t x) { state *s = (state *)c; "
        "s->buffer[s->left++] = x; if (s->left == 16) block(s); }",
        "ctx t; state *s = (state *)&t; for (int i = 0; i < 4; i++) s->h[i] = i * 77; s->left = s->last = 0; "
        "for (int i = 0; i < 20 + (a[0] & 7); i++) update(&t, c[i & 7]); if (s->left) { s->buffer[s->left++] = 1; "
        "for (size_t i = s->left; i < 16; i++) s->buffer[i] = 0; s->last = 1; block(s); } "
        "for (int i = 0; i < 4; i++) b[i] = s->h[i] + s->last; b[4] = s->buffer[a[1] & 15];",
    ),
    "a part of a union's bytes": (
        "typedef struct { union { struct { uint32_t lo, hi; } w; uint8_t b[8]; uint16_t h[2]; } u; int n; } C;",
        "C s; s.u.w.lo = a[0]; s.u.w.hi = a[1]; s.n = 5; b[0] = s.u.b[3] + s.u.h[1]; s.u.h[0] = a[2]; b[1] = s.u.w.lo; "
        "b[2] = s.u.w.hi + s.n;",
    ),
    "a struct's bytes, word by word": (
        "struct P { uint8_t n, k; uint16_t s; uint32_t w[3]; uint64_t l; }; static uint32_t get(const void *p) { uint32_t x; "
        "memcpy(&x, p, 4); return x; }",
        "struct P p[1]; memset(p, 0, sizeof p); p->n = c[0]; p->k = 7; p->s = a[1]; p->w[1] = a[2]; p->l = (uint64_t)a[3] << 9; "
        "const uint8_t *at = (const uint8_t *)p; for (int i = 0; i < 6; i++) b[i] ^= get(at + sizeof(uint32_t) * i); "
        "for (int i = 0; i < 24; i += 5) b[6] += at[i]; b[7] = sizeof p;",
    ),
    "a struct wiped byte by byte, and what lies between its members": (
        "struct W { char t; double x; int n[33]; short s; }; static void wipe(void *p, size_t n) { volatile unsigned char *v = p; "
        "for (size_t i = 0; i < n; i++) v[i] = 0; }",
        "struct W w; w.t = c[0]; w.x = d[0]; for (int i = 0; i < 33; i++) w.n[i] = a[i & 7]; w.s = 3; e[0] = w.x * w.n[32]; "
        "b[0] = w.t + w.s; wipe(&w, sizeof w); e[1] = w.x; b[1] += w.n[5] + w.t; w.s += a[1]; b[2] = w.s;",
    ),
    "words out of bytes": (
        "",
        "uint32_t w[4]; memcpy(w, c, 16); for (int i = 0; i < 4; i++) b[i] = w[i] ^ (w[3 - i] >> 3);",
    ),
    "bytes out of words": (
        "",
        "unsigned char t[32]; memcpy(t, a, 32); for (int i = 0; i < 8; i++) b[i] = t[4 * i + 1] - t[31 - i];",
    ),
    "a word by a cast": (
        "",
        "const uint32_t *w = (const uint32_t *)c; b[0] = w[1]; b[1] = *(const uint32_t *)(c + 8); ((uint16_t *)c)[3] = 77;",
    ),
    "unaligned words": (
        "",
        "uint32_t x; memcpy(&x, c + 3, 4); b[0] = x; uint64_t y; memcpy(&y, c + 5, 8); b[1] = y >> 20; memcpy(c + 1, &x, 4);",
    ),
    "words at an index": (
        "static uint32_t get(const void *p) { uint32_t x; memcpy(&x, p, 4); return x; } "
        "static void put(void *p, uint32_t x) { memcpy(p, &x, 4); }",
        "for (int i = 0; i < 4; i++) b[i] = get(c + 4 * i) * 3u; for (int i = 0; i < 3; i++) put(c + 3 * i, a[i]);",
    ),
    "the bits of a double": (
        "",
        "uint64_t u; memcpy(&u, &d[0], 8); b[0] = u >> 52; u &= ~(1ull << 63); memcpy(&e[0], &u, 8); b[1] = *(int *)&d[1]; "
        "b[2] = ((int *)&d[1])[1];",
    ),
    "union of a double and its words": (
        "union U { double d; struct { uint32_t lo, hi; } w; unsigned char b[8]; };",
        "union U u; u.d = d[0]; b[0] = u.w.lo; b[1] = u.w.hi; u.b[7] ^= 0x80; e[0] = u.d; u.w.hi = 0x3ff00000; u.w.lo = 5; e[1] = u.d;",
    ),
    "union tables": (
        "static const union { unsigned char b[8]; double d; } k[2] = {{{0, 0, 0, 0, 0, 0, 0xf0, 0x3f}}, {{1, 2, 3, 4, 5, 6, 7, 8}}};",
        "e[0] = k[0].d + d[0]; e[1] = k[1].d; b[0] = k[1].b[a[0] & 7];",
    ),
    "struct as bytes": (
        "struct H { uint16_t type; uint32_t len; uint8_t tag[3]; };",
        "struct H h; memset(&h, 0, sizeof h); h.type = a[0]; h.len = a[1]; h.tag[1] = a[2]; unsigned char t[sizeof h]; "
        "memcpy(t, &h, sizeof h); unsigned s = 0; for (unsigned i = 0; i < sizeof h; i++) s = s * 31 + t[i]; b[0] = s; "
        "struct H g; memcpy(&g, t, sizeof g); b[1] = g.type + g.len * 3 + g.tag[1];",
    ),
    "struct over bytes": (
        "struct H { uint16_t type; uint8_t x[2]; uint32_t len; };",
        "struct H *h = (struct H *)c; b[0] = h->type; b[1] = h[1].len; h->x[1] = 9; h[1].type = a[0]; struct H k = *h; b[2] = k.len;",
    ),
    "members walked as an array": (
        "struct V { double x, y, z; };",
        "struct V v = {d[0], d[1], d[2]}; double *p = &v.x; e[0] = p[0] + p[1] * p[2]; p[2] = 4; e[1] = v.z;",
    ),
    "wiped": (
        "",
        "uint64_t k[4]; memcpy(k, c, 16); memset(k + 2, a[0], 16); b[0] = k[0] + k[1]; b[1] = k[3]; memset(k, 0, sizeof k); b[2] = k[0];",
    ),
    "part of a word": (
        "",
        "memset((char *)a + 5, 0xab, 6); memcpy((char *)b + 3, c, 7); memcpy(b + 4, (char *)a + 2, 8);",
    ),
    "swapped through bytes": (
        "static void swap(void *x, void *y, int n) { unsigned char *p = x, *q = y; while (n--) { unsigned char t = *p; *p++ = *q; *q++ = t; } }",
        "swap(a, b, sizeof(int)); swap(&d[0], &d[3], sizeof(double)); swap(a + 2, c, 8);",
    ),
    "long at a byte offset": (
        "",
        "for (int i = 0; i < 2; i++) b[i] = *(uint64_t *)(c + 8 * i) >> (8 * i + 3); *(uint64_t *)(c + 8) += a[0];",
    ),
    "array of unions": (
        "typedef union { uint32_t u; uint8_t b[4]; } W;",
        "W w[4]; for (int i = 0; i < 4; i++) w[i].u = a[i]; for (int i = 0; i < 4; i++) for (int k = 0; k < 4; k++) b[i] += w[i].b[k] << k; w[a[0] & 3].b[2] = 1; b[4] = w[2].u;",
    ),
    "as many bytes as a variable says, into a member": (
        "typedef struct { unsigned n; unsigned char buf[16]; unsigned w[3]; } S; static void add(S *s, const unsigned char *p, "
        "unsigned n) { memcpy(&s->buf[s->n], p, n); s->n += n; }",
        "S s; memset(&s, 0, sizeof s); add(&s, c, 3 + (a[0] & 3)); add(&s, c + 2, a[1] & 7); for (int i = 0; i < 8; i++) "
        "b[i] = s.buf[i] + 256 * s.buf[i + 8]; a[0] = s.w[0];",
    ),
    "memmove of bytes": ("", "memmove(c + 2, c, 9); memmove((char *)a + 1, a, 11); memmove(b, b + 1, 12);"),
}


def case(head: str, body: str) -> tuple[str, dict[str, np.ndarray]]:
    """A program's text and its inputs."""
    text = f"{HEAD}{head}\nvoid kern(void) {{\n    {body}\n}}\n"
    rng = np.random.default_rng(3)
    return text, {
        "a": rng.integers(-99, 99, (P, 8)).astype("i4"),
        "b": rng.integers(-99, 99, (P, 8)).astype("i4"),
        "f": rng.normal(size=(P, 8)).astype("f4"),
        "d": rng.normal(size=(P, 8)),
        "e": rng.normal(size=(P, 8)),
        "c": rng.integers(0, 256, (P, 16)).astype("u1"),
    }


def judged(name: str, head: str, body: str, schedules=("gang",)) -> None:
    text, inputs = case(head, body)
    expected = Original(text, "kern", VARIABLES).bulk(inputs, P, fresh=True)
    for schedule in schedules:
        compiled = c2cu.compile(text, fn="kern", backend="cpu", schedule=schedule)
        slots = {s.name for s in compiled.slots}
        result = compiled({n: v for n, v in inputs.items() if n in slots})
        if not isinstance(result, dict):
            result = {next(s.name for s in compiled.slots if s.writes): result}
        for n, *_ in VARIABLES:
            assert same(result.get(n, inputs[n]), expected[n]), (name, schedule, n)


@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize("name", sampled(POINTERS, 2))
def test_pointers(name):
    judged(name, *POINTERS[name])


@pytest.mark.costly
@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize("name", sampled(VIEWS, 3))
def test_views(name):
    judged(name, *VIEWS[name])


JUMPS = {
    "out of turns that are written one by one": (
        "struct S { int x, y; double z; }; static int differ(const void *p, const void *q, int n) { const uint8_t *x = p, *y = q; "
        "for (int i = 0; i < n; i++) { if (i == 2) continue; if (x[i] == 3 + y[i]) break; if (x[i] != y[i]) return i + 10 * x[i]; } "
        "return y[0]; }",
        "struct S s = {a[0] & 3, a[1] & 3, 1.5}, t = {a[2] & 3, a[3] & 3, 1.5}; b[0] = differ(&s, &t, sizeof s); "
        "b[1] = differ(&s.y, &t.y, 4); b[2] = memcmp(&s.y, &t.y, 4) < 0; b[3] = memcmp(&s, &t, sizeof s); "
        "b[4] = differ(&s, &s, 16); t.z = d[0]; b[5] = differ(&s.z, &t.z, 8);",
    ),
    "cleanup": (
        "static int g(const int *p) { int r = -1; if (p[0] < 0) goto out; r = 1; for (int i = 0; i < 8; i++) { if (p[i] > 90) "
        "goto out; r += p[i]; } r *= 2; out: return r; }",
        "b[0] = g(a); b[1] = g(b);",
    ),
    "out of nested loops": (
        "",
        "int i, j; for (i = 0; i < 8; i++) for (j = 0; j < 8; j++) if (a[i] + a[j] == b[2]) goto found; i = j = -1; "
        "found: b[0] = i; b[1] = j;",
    ),
    "back": ("", "int n = 0; again: n++; b[n & 7] += n; if (n < 11) goto again; b[0] = n;"),
    "back, data decides": (
        "",
        "unsigned x = a[0]; int n = 0; next: if (x > 1) { x = x & 1 ? 3 * x + 1 : x / 2; n++; if (n < 50) goto next; } b[0] = n;",
    ),
    "several labels": (
        "",
        "if (a[0] > 50) goto two; if (a[0] > 0) goto one; b[0] = 1; goto end; one: b[1] = 2; two: b[2] = 3; end: b[3] = 4;",
    ),
    "state machine": (
        "",
        "int i = 0, n = 0; start: if (i >= 8) goto end; if (a[i] < 0) goto neg; i++; n += 2; goto start; "
        "neg: n -= a[i]; i++; if (i < 8 && a[i] < 0) goto neg; goto start; end: b[0] = n; b[1] = i;",
    ),
    "out of a switch": (
        "",
        "for (int i = 0; i < 8; i++) { switch (a[i] & 3) { case 0: goto next; case 1: b[i] = 1; break; default: if (a[i] > 40) "
        "goto stop; b[i] = 2; } b[i] += 5; next: b[i]++; } stop: b[0] = 9;",
    ),
    "errors in a chain": (
        "static int step(int *p, int v) { if (v < -60) return 1; *p += v; return 0; }",
        "int err = 0, s = 0; if ((err = step(&s, a[0]))) goto fail; if ((err = step(&s, a[1]))) goto fail; "
        "if ((err = step(&s, a[2])) != 0) goto fail; b[0] = s; goto done; fail: b[0] = -err; done: b[1] = s;",
    ),
    "bounded recursion": (
        "static int r(int n, int x) { return n < 1 ? x : x + r(n - 1, x * 2); } "
        "static int sum(const int *p, int n) { if (n == 1) return *p; int h = n / 2; return sum(p, h) + sum(p + h, n - h); }",
        "b[0] = r(5, a[0]); b[1] = sum(a, 8);",
    ),
    "transform by halves": (
        "static void fft(double *p, int n, int s) { if (n == 1) return; fft(p, n / 2, 2 * s); fft(p + s, n / 2, 2 * s); "
        "for (int k = 0; k < n / 2; k++) { double x = p[2 * k * s % 8], y = p[(2 * k + 1) * s % 8]; p[k % 4] = x + y; p[k % 4 + 4 - 4 * (s > 1)] = x - y; } }",
        "double w[16]; for (int i = 0; i < 16; i++) w[i] = d[i & 7]; fft(w, 4, 1); for (int i = 0; i < 8; i++) e[i] = w[i];",
    ),
}
LIBRARY = {
    "memcmp": ("", "b[0] = memcmp(a, b, 8) != 0; b[1] = memcmp(a, a, 32); b[2] = memcmp(c, c + 3, 5) < 0;"),
    "strings": (
        "static char s[16], t[16];",
        "for (int i = 0; i < 7; i++) s[i] = 97 + (c[i] & 3); s[7] = 0; strcpy(t, s); t[2] = 98; b[0] = strlen(s); "
        "b[1] = strcmp(s, t) < 0; b[2] = strncmp(s, t, 2); b[3] = strchr(s, 98) ? strchr(s, 98) - s : -1; "
        'b[4] = strcmp(s, "abc") > 0; b[5] = strstr(s, "ab") != 0; strncpy(t, "xy", 6); b[6] = t[1] + t[5]; '
        'b[7] = strrchr(s, 97) ? strrchr(s, 97) - s : 77; a[0] = strspn(s, "ab"); a[1] = strcspn(s, "d");',
    ),
    "character classes": (
        "#include <ctype.h>",
        "for (int i = 0; i < 8; i++) { int x = c[i] & 127; b[i] = !!isdigit(x) + 2 * !!isalpha(x) + 4 * !!isspace(x) + 8 * !!isupper(x) "
        "+ 16 * !!ispunct(x) + 32 * !!isxdigit(x) + 64 * !!isalnum(x) + 128 * !!isprint(x) + 256 * !!iscntrl(x); a[i] = toupper(x) + 300 * tolower(x); }",
    ),
    "bits": (
        "",
        "unsigned x = a[0]; unsigned long y = (unsigned long)a[1] * 0x123456789abcdul; b[0] = __builtin_popcount(x) + __builtin_popcountll(y); "
        "b[1] = __builtin_bswap32(x); b[2] = __builtin_bswap64(y) >> 30; b[3] = __builtin_clz(x | 1) + __builtin_clzl(y | 1); "
        "b[4] = __builtin_ctz(x | 256) + __builtin_ctzll(y | 4096); b[5] = __builtin_parity(x) + __builtin_ffs(x); b[6] = __builtin_bswap16(x);",
    ),
    "expectations": (
        "#define likely(x) __builtin_expect(!!(x), 1)\nstatic int g(int x) { switch (x & 1) { case 0: return 4; case 1: return 5; } __builtin_unreachable(); }",
        "if (likely(a[0] > 0)) b[0] = 1; b[1] = g(a[1]); int *p = __builtin_assume_aligned(a, 4); b[2] = p[2];",
    ),
    "overflow": (
        "",
        "int r; unsigned u; long l; unsigned long w; b[0] = __builtin_add_overflow(a[0] << 25, a[1] << 25, &r); b[1] = r; "
        "b[2] = __builtin_mul_overflow((unsigned)a[0], 3u, &u); b[3] = u; b[4] = __builtin_sub_overflow((long)a[0] << 57, (long)a[1] << 57, &l); "
        "b[5] = l >> 40; b[6] = __builtin_mul_overflow((unsigned long)a[0], (unsigned long)a[1], &w); b[7] = w;",
    ),
}


PROGRAMS = {**POINTERS, **VIEWS, **JUMPS, **LIBRARY}


@pytest.mark.costly
@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize("name", sampled(JUMPS, 3))
def test_jumps(name):
    judged(name, *JUMPS[name])


@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize("name", sampled(LIBRARY, 2))
def test_library(name):
    judged(name, *LIBRARY[name])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("schedule", ["private", "thread"])
def test_as_cuda_text(name, schedule):
    """The schedules that keep the program's own pointers, jumps and calls."""
    text, inputs = case(*PROGRAMS[name])
    try:
        emulated(text, VARIABLES, inputs, schedule)
    except c2cu.UnsupportedError as e:
        assert e.line, e


#: A pointer that leads from a member's bytes to another member, at an element that data says: lanes refuse it, and do not
#: take what is not there.
LEADS_OUT = {
    "back to the struct": (
        "struct S { int n[4]; union { unsigned char b[8]; int w[2]; } u; int t[2]; } g; static int tail(const unsigned char *b, "
        "int d) { return ((const struct S *)(b - __builtin_offsetof(struct S, u)))->t[d]; }",
        "for (int i = 0; i < 4; i++) g.n[i] = a[i]; g.t[0] = a[6]; g.t[1] = a[7]; b[0] = tail(g.u.b, a[0] & 1);",
    ),
    "to the member before": (
        "struct S { int n[4]; union { unsigned char b[16]; int w[4]; } u; int t[4]; };",
        "struct S s; for (int i = 0; i < 4; i++) s.n[i] = a[i], s.u.w[i] = s.t[i] = a[4 + i]; char *p = (char *)s.u.b; "
        "int *q = (int *)(p - 16); b[0] = q[a[0] & 3];",
    ),
    "to the member behind": (
        "struct S { int n[4]; unsigned char b[16]; int t[4]; };",
        "struct S s; for (int i = 0; i < 4; i++) s.n[i] = a[i], s.b[i] = s.t[i] = a[4 + i]; "
        "int *q = (int *)((char *)s.b + 16); b[0] = q[a[0] & 3];",
    ),
}


@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize("name", LEADS_OUT)
def test_a_pointer_out_of_a_member(name):
    with pytest.raises(c2cu.UnsupportedError) as e:
        c2cu.compile(case(*LEADS_OUT[name])[0], fn="kern", backend="cpu", schedule="gang")
    assert e.value.code == "C2CU019"
    judged(name, *LEADS_OUT[name], ("auto",))


GAP = "struct S { char c; int i; };"
#: What lies between members and may be other than zero: lanes do not hold it, so that such programs run as they stand.
GAPS = {
    "a byte": (GAP, "struct S s; s.c = c[0]; s.i = a[1]; ((unsigned char *)&s)[1] = 'x'; memcpy(c + 8, &s, 8);"),
    "memset": (GAP, "struct S s; memset(&s, 0xff, sizeof s); s.c = c[0]; s.i = a[1]; memcpy(c + 8, &s, 8);"),
    "there and back": (GAP, "struct S s; memcpy(&s, c, 8); s.i++; memcpy(c + 8, &s, 8);"),
    "by another struct": (GAP, "struct S s, t; memcpy(&s, c, 8); t = s; memcpy(c + 8, &t, 8);"),
    "in the turn before": (
        GAP,
        "struct S s; memset(&s, 0, 8); for (int i = 0; i < 2; i++) { memcpy(c + 8, &s, 8); memcpy(&s, c, 8); }",
    ),
    "in the turn before, by memcpy": (
        GAP,
        "struct S s, t; memset(&s, 0, 8); memset(&t, 0, 8); for (int i = 0; i < 2; i++) { memcpy(&t, &s, 8); "
        "memcpy(c + 8, &t, 8); memset(&s, 0xff, 8); s.c = 1; s.i = a[i]; }",
    ),
    "on one of two paths": (GAP, "struct S s; memset(&s, 0, 8); if (a[0] > 0) memset(&s, 1, 8); memcpy(c + 8, &s, 8);"),
    "bytes seen as a struct": (
        GAP,
        "unsigned char l[8]; memcpy(l, c, 8); struct S s; memcpy(&s, (struct S *)l, 8); memcpy(c + 8, &s, 8);",
    ),
    "out of a union": (
        GAP,
        "union { struct S s; unsigned char l[8]; } u; memcpy(u.l, c, 8); struct S s; memcpy(&s, &u.s, 8); memcpy(c + 8, &s, 8);",
    ),
    "part of what comes in": (
        GAP + " struct S v[2];",
        "struct S w[2]; memset(w, 0, 16); memcpy(w, v, 13); memcpy(c, w, 16);",
    ),
    "byte by byte": (
        GAP,
        "struct S s; memset(&s, a[0], 8); s.c = s.i = 1; unsigned char *p = (unsigned char *)&s; "
        "for (int i = 0; i < 8; i++) b[0] = b[0] * 31 + p[i];",
    ),
    "assigned to a union": (
        GAP,
        "union { struct S s; unsigned char l[8]; } u; memset(&u, 1, 8); struct S s = {1, 2}; u.s = s; memcpy(c + 8, u.l, 8);",
    ),
    "a word over a gap and a member": (
        "struct S { char a; short b; long l; };",
        "struct S s; memset(&s, 0, sizeof s); *(uint32_t *)((char *)&s + 1) = 0x11223344; b[0] = s.b;",
    ),
}


@pytest.mark.parametrize("name", GAPS)
def test_what_lies_between_members(name):
    text, inputs = case(*GAPS[name])
    with pytest.raises(c2cu.UnsupportedError) as e:
        c2cu.compile(text, fn="kern", backend="cpu", schedule="gang")
    assert e.value.code in ("C2CU165", "C2CU019")
    result = c2cu.compile(text, fn="kern", backend="cpu")
    assert result.plan.schedule == "native"


#: Zero that lies between members, and what lies between those of a struct that only has such a shape.
NO_GAPS = {
    "cleared at first": (GAP, "struct S s; memset(&s, 0, 8); s.c = c[0]; s.i = a[1]; memcpy(c + 8, &s, 8);"),
    "a static": (GAP, "static struct S s; memset(&s, 0, 8); s.c = c[0]; s.i = a[1]; memcpy(c + 8, &s, 8);"),
    "as a struct into bytes": (
        GAP,
        "struct S s; memset(&s, 0, 8); s.c = c[0]; s.i = a[1]; memset(c, 9, 16); memcpy((struct S *)c, &s, 8);",
    ),
    "bytes as structs": (
        GAP,
        "unsigned char l[8] = {9, 9, 9}; memcpy((struct S *)l, (struct S *)c, 8); memcpy(c + 8, l, 8);",
    ),
    "a struct into a union": (
        GAP,
        "union { struct S s; unsigned char l[8]; } u; struct S s; memset(&s, 0, 8); s.c = 1; s.i = a[0]; "
        "memset(&u, 7, 8); memcpy(&u.s, &s, 8); memcpy(c + 8, u.l, 8);",
    ),
    "of malloc": (
        "#include <stdlib.h>\n" + GAP,
        "struct S *p = malloc(16); memset(p, 0, 16); p[0].c = c[0]; p[1].i = a[1]; memcpy(c, p, 16); free(p);",
    ),
    "byte by byte": (
        GAP,
        "struct S s[2]; unsigned char *p = (unsigned char *)s; memset(s, 0, sizeof s); s[1].c = c[0]; "
        "s[0].i = a[1]; for (int i = 0; i < 16; i++) b[0] = b[0] * 31 + p[i];",
    ),
    "an aligned member": (
        "struct A { _Alignas(8) int v; };",
        "struct A l; memcpy(&l, c, sizeof l); b[0] = l.v; struct A m[2]; memset(m, 0, 16); m[1].v = a[0]; memcpy(c, m, 16);",
    ),
    "as many bytes as the data says": (
        "struct T { char n[5]; int v; };",
        "struct T t; memset(&t, 0, sizeof t); memcpy(t.n, c, a[0] & 3); t.v = a[0] & 3; memcpy(c, &t, 12);",
    ),
}


@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize("name", NO_GAPS)
def test_what_lies_between_members_is_zero(name):
    judged(name, *NO_GAPS[name])


@pytest.mark.parametrize(
    "operands",
    ['"+m"(l[i++])', '"+m"(*p++)', ': "r"(i++)', ': "g"(i = a[3])', ': "g"(i += 2)', ': "g"(--i)'],
)
def test_an_assembler_s_operands_have_effects(operands):
    text, inputs = case(
        "", f'int l[3] = {{1, 2, 3}}, i = 1, *p = l; __asm__ volatile("" : {operands}); b[0] = i + *p + l[0];'
    )
    with pytest.raises(c2cu.UnsupportedError) as e:
        c2cu.compile(text, fn="kern", backend="cpu", schedule="gang")
    assert e.value.code == "C2CU085"


OFFSETS = "struct T { char a; int b[3]; struct { short x; double y; } in; };"


@pytest.mark.parametrize("spelled", ["offsetof", "__builtin_offsetof"])
def test_offsets_of_members(spelled):
    judged(
        f"{spelled}",
        f"#include <stddef.h>\n{OFFSETS} static int at[] = {{{spelled}(struct T, in.y)}};",
        f"b[0] = {spelled}(struct T, b); b[1] = {spelled}(struct T, b[2]); b[2] = sizeof(char[{spelled}(struct T, in)]); "
        f"b[3] = at[0]; struct T t; t.b[0] = a[1]; double *p = &t.in.y; "
        f"b[4] = ((struct T *)((char *)p - {spelled}(struct T, in.y)))->b[0];",
    )


def test_nested_loops_over_what_cannot_be_told_apart_end_soon():
    """Each of them is tried turn by turn, in vain: twice as often for each level, if nothing ended that."""
    loops = "".join(f"for (int i{k} = 0; i{k} < 2; i{k}++) " for k in range(14))
    text = f"{HEAD}{GAP}\nvoid kern(void) {{ struct S s = {{1, a[0]}}; unsigned char *p = (unsigned char *)&s;\n"
    text += f"    {loops}b[0] = b[0] * 31 + p[i0 + 1]; }}\n"
    assert c2cu.check(text, fn="kern").why_not


def test_an_address_is_no_output():
    """Lowering follows the pointers of an array at file scope; none of them comes out as a number."""
    text = 'int a[4], b; char *words[2];\nvoid k(void) { if (a[0]) words[a[1] & 1] = "ab"; b = a[2] + 1; }\n'
    program = c2cu.compile(text, backend="cpu", schedule="gang")
    assert [s.name for s in program.slots if s.writes] == ["b"]
    assert program(np.arange(8, dtype=np.int32).reshape(2, 4)).tolist() == [3, 7]
