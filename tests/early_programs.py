"""Programs some of whose inputs end early, of the kinds that people have: checks of indices and invariants, pivots of
zero, functions that say what is wrong and never return, exits out of loops that data ends."""

import numpy as np

HEAD = "#include <assert.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <stdarg.h>\n#include <string.h>\n"
DIE = """
static int errors;
static void die(const char *format, ...) {
    va_list list;
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    errors++;
    exit(70 + errors);
}
"""


def integers(low, high, *shape):
    return lambda rng, p: rng.integers(low, high, (p, *shape)).astype(np.int32)


def numbers(zeros, *shape):
    """Numbers of which some are 0."""
    return lambda rng, p: np.where(rng.random((p, *shape)) < zeros, 0.0, rng.uniform(-1, 1, (p, *shape)))


#: name -> (C text, makers of the inputs)
PROGRAMS = {
    "histogram": (
        """
        int count[8] = {0};
        int k(const int *x) {
            int last = -1;
            for (int i = 0; i < 16; i++) {
                assert(x[i] >= 0 && x[i] < 8);
                count[x[i]]++;
                last = x[i];
            }
            return last;
        }
        """,
        {"x": lambda rng, p: np.where(rng.random((p, 16)) < 0.01, 10**9, rng.integers(0, 8, (p, 16))).astype(np.int32)},
    ),
    "lu": (
        """
        void k(double a[6][6]) {
            for (int c = 0; c < 6; c++) {
                if (a[c][c] == 0) abort();
                for (int i = c + 1; i < 6; i++) {
                    a[i][c] /= a[c][c];
                    for (int j = c + 1; j < 6; j++) a[i][j] -= a[i][c] * a[c][j];
                }
            }
        }
        """,
        {"a": numbers(0.02, 6, 6)},
    ),
    "checked-subscripts": (
        """
        static int within(int i, int n) {
            if (i < 0 || i >= n) { fprintf(stderr, "%d is not below %d\\n", i, n); exit(2); }
            return i;
        }
        int k(int *a, const int *b) {
            for (int i = 0; i < 8; i++) a[within(b[i], 8)] += b[within(i + b[i] % 2, 9)] / (b[7 - i] - 5);
            return a[within(a[0] & 7, 8)];
        }
        """,
        {
            "a": integers(0, 90, 8),
            "b": lambda rng, p: (rng.integers(0, 4, (p, 9)) + 8 * (rng.random((p, 9)) < 0.02)).astype(np.int32),
        },
    ),
    "parser": (
        DIE
        + """
        int value, at;
        int k(const char *s) {
            int sign = 1, stack[4], depth = 0;
            at = value = 0;
            while (s[at]) {
                char c = s[at++];
                switch (c) {
                case '+': sign = 1; break;
                case '-': sign = -1; break;
                case '(':
                    if (depth == 4) die("too deep at %d\\n", at);
                    stack[depth++] = value;
                    value = 0;
                    break;
                case ')':
                    if (!depth) { die("nothing is open at %d\\n", at); }
                    value = stack[--depth] + sign * value;
                    break;
                default:
                    if (c < '0' || c > '9') {
                        value = -1;
                        die("what is '%c'?\\n", c);
                    }
                    value += sign * (c - '0');
                }
            }
            return depth ? (die("%d are open\\n", depth), 0) : value;
        }
        """,
        {"s": lambda rng, p: _texts(rng, p)},
    ),
    "collatz": (
        """
        int steps;
        unsigned k(unsigned n) {
            steps = 0;
            assert(n > 0);
            while (n != 1) {
                if (++steps > 60) exit(steps);
                n = n & 1 ? 3 * n + 1 : n / 2;
            }
            return n;
        }
        """,
        {"n": lambda rng, p: rng.integers(0, 80, p).astype(np.uint32)},
    ),
    "newton": (
        """
        int turns;
        double k(double a, double x) {
            double old;
            turns = 0;
            assert(a >= 0);
            do {
                old = x;
                if (x == 0) abort();
                x = 0.5 * (x + a / x);
                assert(turns++ < 9);
            } while (old - x > 1e-9 || x - old > 1e-9);
            assert(x * x - a < 1e-3);
            return x;
        }
        """,
        {"a": lambda rng, p: rng.uniform(-0.1, 4, p), "x": numbers(0.1)},
    ),
    "sentinel": (
        """
        long sum = 0;
        void k(const int *x) {
            for (int i = 0;; i++) {
                if (!x[i]) exit(i);
                sum += x[i];
            }
        }
        """,
        {"x": lambda rng, p: np.c_[rng.integers(0, 6, (p, 20)), np.zeros(p)].astype(np.int32)},
    ),
    "condition": (
        """
        int n;
        static int next(const int *x) {
            assert(n < 12);
            return x[n++];
        }
        int k(const int *x) {
            int sum = 0, y;
            n = 0;
            while ((y = next(x)) != 3 && next(x) != y) sum += y / (next(x) - 7);
            return sum;
        }
        """,
        {"x": integers(0, 7, 12)},
    ),
    "written-on-the-way": (
        """
        int error, where[2], twice;
        static void fail(int code, int *place) { error = code; *place = twice; exit(code + 256); }
        int k(const float *x) {
            float product = 1;
            for (int i = 0; i < 10; i++) {
                twice = 2 * i;
                if (x[i] > 0.95f) fail(i + 1, &where[i & 1]);
                product *= x[i];
            }
            return product > 0.01f;
        }
        """,
        {"x": lambda rng, p: rng.uniform(0.5, 1, (p, 10)).astype(np.float32)},
    ),
    "goto": (
        """
        char message[8];
        int k(int *a) {
            int s = 0;
            for (int i = 0; i < 6; i++) {
                if (a[i] < 0) goto fail;
                s += a[i] % 7;
                a[i] = s;
            }
            return s;
        fail:
            strcpy(message, "minus");
            puts(message);
            abort();
        }
        """,
        {"a": integers(-1, 40, 6)},
    ),
    "choice": (
        DIE
        + """
        int k(int x, int y) {
            int q = y ? x / y : (die("zero\\n"), 1);
            for (int i = 0; i < 3; i++) q += x % (y - i ? y - i : (abort(), 1));
            return q > 1000 ? exit(9), 1 : q;
        }
        """,
        {"x": integers(0, 4000), "y": integers(-2, 30)},
    ),
    "never-returns": (
        "int n;\nvoid k(int x) { n = x; while (n > 5) n--; if (n) exit(n); while (n > 2) n--; for (;;) if (n < 9) exit(n); }",
        {"x": integers(0, 20)},
    ),
    "mixed-loops": (
        """
        double sum = 0, most = 0;
        int rounds[3];
        int k(const double *x, int n) {
            int done = 0;
            for (int i = 0; i < 3; i++) {
                double e = x[i] * x[i], t = 1;
                int r = 0;
                while (t > 1e-6 * (1 + e)) {
                    t *= 0.5 * e;
                    if (++r > 12) abort();
                    sum += t;
                }
                rounds[i] = r;
                assert(sum < 40);
                if (sum > most) most = sum;
                for (int j = 0; j < n; j++) {
                    if (j == 7) exit(8);
                    done += (int)(x[j % 3] * 100) / (2 * (r + j) - 9);
                }
            }
            return done;
        }
        """,
        {"x": lambda rng, p: rng.uniform(0, 1.35, (p, 3)), "n": integers(0, 9)},
    ),
    "search": (
        """
        static int find(const int *t, int key) {
            int low = 0, high = 15;
            while (low < high) {
                int middle = (low + high) / 2;
                assert(middle >= 0 && middle < 16);
                if (t[middle] < key) low = middle + 1; else high = middle;
            }
            if (t[low] != key) exit(1);
            return low;
        }
        int k(const int *t, const int *keys) {
            int s = 0;
            for (int i = 0; i < 4; i++) s = 3 * s + find(t, keys[i]);
            return s;
        }
        """,
        {
            "t": lambda rng, p: np.sort(rng.integers(0, 24, (p, 16)).astype(np.int32), axis=1),
            "keys": lambda rng, p: np.minimum(integers(0, 24, 4)(rng, p), 30),
        },
    ),
    "fields": (
        """
        struct body { double x[2], mass; int hits; };
        static struct body *checked(struct body *b, int i) {
            if (b[i].mass <= 0) { printf("%g\\n", b[i].mass); _Exit(200 + i); }
            return &b[i];
        }
        double k(struct body b[4]) {
            double e = 0;
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < i; j++) {
                    double d = checked(b, i)->x[0] - checked(b, j)->x[1];
                    assert(d != 0);
                    b[i].hits++;
                    e += b[i].mass * b[j].mass / d;
                }
            return e;
        }
        """,
        {"b": lambda rng, p: _bodies(rng, p)},
    ),
}


def _texts(rng, p):
    letters = np.frombuffer(b"+-()0123456789)(12x", np.int8)
    texts = letters[np.minimum(rng.integers(0, 40, (p, 16)), rng.integers(0, 19, (p, 16)))]
    texts[np.arange(16) >= rng.integers(0, 16, (p, 1))] = 0
    return texts


def _bodies(rng, p):
    t = np.dtype(
        {"names": ["x", "mass", "hits"], "formats": [("f8", (2,)), "f8", "i4"], "offsets": [0, 16, 24], "itemsize": 32}
    )
    b = np.zeros((p, 4), t)
    b["x"], b["mass"] = rng.integers(0, 50, (p, 4, 2)), rng.uniform(-0.03, 1, (p, 4))
    return b


def inputs(name, p, seed=0):
    rng = np.random.default_rng([seed, p, len(name)])
    return {n: make(rng, p) for n, make in PROGRAMS[name][1].items()}


def text(name):
    return HEAD + PROGRAMS[name][0]
