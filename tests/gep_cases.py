"""Spellings of loops of Gaussian-elimination type, and near misses."""

# ruff: noqa: E501

HEAD = "#define N 12\n"
LOOPS = "for (int k = 0; k < N; k++) for (int i = 0; i < N; i++) for (int j = 0; j < N; j++)"
STEP = "for (int k = 0; k < N; k++)"
IJ = "for (int i = 0; i < N; i++) for (int j = 0; j < N; j++)"
MIN = "static float min(float a, float b) { return a < b ? a : b; }\n"
IMIN = "static int imin(int a, int b) { return a < b ? a : b; }\n"


def matrix(body: str, t: str = "float", head: str = "") -> str:
    return f"{HEAD}{head}{t} D[N][N];\nvoid f(void) {{\n{body}\n}}\n"


# name: text, regions, parts of scale, (row may move, column may move)
RECOGNISED = {
    "if": (matrix(f"{LOOPS} if (D[i][k] + D[k][j] < D[i][j]) D[i][j] = D[i][k] + D[k][j];"), "D", 0, (1, 1)),
    "braces": (
        matrix(f"{LOOPS} {{ float s = D[i][k] + D[k][j]; if (D[i][j] > s) {{ D[i][j] = s; }} }}"),
        "D",
        0,
        (1, 1),
    ),
    "ternary": (
        matrix(f"{LOOPS} D[i][j] = D[i][k] + D[k][j] < D[i][j] ? D[i][k] + D[k][j] : D[i][j];"),
        "D",
        0,
        (1, 1),
    ),
    "helper": (matrix(f"{LOOPS} D[i][j] = min(D[i][j], D[i][k] + D[k][j]);", head=MIN), "D", 0, (1, 1)),
    "macro": (
        matrix(
            f"{LOOPS} D[i][j] = MIN(D[i][j], D[i][k] + D[k][j]);", head="#define MIN(a, b) ((a) < (b) ? (a) : (b))\n"
        ),
        "D",
        0,
        (1, 1),
    ),
    "fminf": (
        matrix(f"{LOOPS} D[i][j] = fminf(D[i][j], D[i][k] + D[k][j]);", head="#include <math.h>\n"),
        "D",
        0,
        (1, 1),
    ),
    "fmin": (
        matrix(f"{LOOPS} D[i][j] = fmin(D[i][j], D[i][k] + D[k][j]);", "double", "#include <math.h>\n"),
        "D",
        0,
        (1, 1),
    ),
    "hoisted": (
        matrix(
            f"{STEP} for (int i = 0; i < N; i++) {{ float a = D[i][k]; for (int j = 0; j < N; j++) {{ float t = a + D[k][j]; if (t < D[i][j]) D[i][j] = t; }} }}"
        ),
        "D",
        0,
        (1, 0),
    ),
    "early continue": (
        matrix(
            f"{STEP} for (int i = 0; i < N; i++) {{ if (D[i][k] >= 9999) continue; for (int j = 0; j < N; j++) {{ if (D[k][j] >= 9999) continue; int t = D[i][k] + D[k][j]; if (t < D[i][j]) D[i][j] = t; }} }}",
            "int",
        ),
        "D",
        0,
        (1, 1),
    ),
    "if around the inner loop": (
        matrix(
            f"{STEP} for (int i = 0; i < N; i++) if (i != k) for (int j = 0; j < N; j++) if (D[i][k] + D[k][j] < D[i][j]) D[i][j] = D[i][k] + D[k][j];"
        ),
        "D",
        0,
        (0, 1),
    ),
    "neither row k nor column k": (
        matrix(f"{LOOPS} if (i != k && j != k && D[i][k] + D[k][j] < D[i][j]) D[i][j] = D[i][k] + D[k][j];"),
        "D",
        0,
        (0, 0),
    ),
    "flat": (
        f"{HEAD}float d[N * N];\nvoid f(void) {{ {LOOPS} if (d[i*N+k] + d[k*N+j] < d[i*N+j]) d[i*N+j] = d[i*N+k] + d[k*N+j]; }}\n",
        "d",
        0,
        (1, 1),
    ),
    "a pointer to the matrix": (
        matrix(f"float *d = &D[0][0]; {LOOPS} if (d[i*N+k] + d[k*N+j] < d[i*N+j]) d[i*N+j] = d[i*N+k] + d[k*N+j];"),
        "D",
        0,
        (1, 1),
    ),
    "star": (
        matrix(f"{LOOPS} if (*(*(D + i) + k) + D[k][j] < D[i][j]) *(D[i] + j) = D[i][k] + D[k][j];"),
        "D",
        0,
        (1, 1),
    ),
    "row pointers": (
        matrix(
            f"{STEP} {{ const float *u = D[k]; for (int i = 0; i < N; i++) {{ float *row = D[i]; float a = row[k]; for (int j = 0; j < N; j++) if (a + u[j] < row[j]) row[j] = a + u[j]; }} }}"
        ),
        "D",
        0,
        (1, 0),
    ),
    "a parameter": (
        f"{HEAD}void f(float D[N][N]) {{ {LOOPS} if (D[i][k] + D[k][j] < D[i][j]) D[i][j] = D[i][k] + D[k][j]; }}\n",
        "D",
        0,
        (1, 1),
    ),
    "relax in a function": (
        matrix(
            f"{LOOPS} relax(&D[i][j], D[i][k] + D[k][j]);",
            head="static void relax(float *d, float s) { if (s < *d) *d = s; }\n",
        ),
        "D",
        0,
        (1, 1),
    ),
    "columns outside": (
        matrix(
            f"{STEP} for (int j = 0; j < N; j++) for (int i = 0; i < N; i++) if (D[i][k] + D[k][j] < D[i][j]) D[i][j] = D[i][k] + D[k][j];"
        ),
        "D",
        0,
        (1, 1),
    ),
    "columns outside, hoisted": (
        matrix(
            f"{STEP} for (int j = 0; j < N; j++) {{ float b = D[k][j]; for (int i = 0; i < N; i++) if (D[i][k] + b < D[i][j]) D[i][j] = D[i][k] + b; }}"
        ),
        "D",
        0,
        (0, 1),
    ),
    "next": (
        f"{HEAD}int D[N][N], next[N][N];\nvoid f(void) {{ {LOOPS} if (D[i][k] + D[k][j] < D[i][j]) {{ D[i][j] = D[i][k] + D[k][j]; next[i][j] = next[i][k]; }} }}\n",
        "D next",
        0,
        (1, 1),
    ),
    "predecessor": (
        f"{HEAD}int D[N][N]; short pred[N][N];\nvoid f(void) {{ {LOOPS} if (D[i][k] + D[k][j] < D[i][j]) {{ D[i][j] = D[i][k] + D[k][j]; pred[i][j] = pred[k][j]; }} }}\n",
        "D pred",
        0,
        (1, 1),
    ),
    "in the middle": (
        f"{HEAD}int D[N][N], mid[N][N];\nvoid f(void) {{ {LOOPS} {{ int t = D[i][k] + D[k][j]; if (t < D[i][j]) {{ D[i][j] = t; mid[i][j] = k; }} }} }}\n",
        "D mid",
        0,
        (1, 1),
    ),
    "three arrays": (
        f"{HEAD}float D[N][N]; int hops[N][N], next[N][N];\nvoid f(void) {{ {LOOPS} {{ float t = D[i][k] + D[k][j]; int h = hops[i][k] + hops[k][j]; if (t < D[i][j] || (t == D[i][j] && h < hops[i][j])) {{ D[i][j] = t; hops[i][j] = h; next[i][j] = next[i][k]; }} }} }}\n",
        "D hops next",
        0,
        (1, 1),
    ),
    "a struct's member": (
        f"{HEAD}struct {{ int n; float D[N][N]; }} s;\nvoid f(void) {{ {LOOPS} if (s.D[i][k] + s.D[k][j] < s.D[i][j]) s.D[i][j] = s.D[i][k] + s.D[k][j]; }}\n",
        "s.D",
        0,
        (1, 1),
    ),
    "a matrix of structs": (
        f"{HEAD}struct {{ int d, next; }} e[N][N];\nvoid f(void) {{ {LOOPS} if (e[i][k].d + e[k][j].d < e[i][j].d) {{ e[i][j].d = e[i][k].d + e[k][j].d; e[i][j].next = e[i][k].next; }} }}\n",
        "e.d e.next",
        0,
        (1, 1),
    ),
    "closure with || and &&": (
        matrix(f"{LOOPS} D[i][j] = D[i][j] || (D[i][k] && D[k][j]);", "unsigned char"),
        "D",
        0,
        (1, 1),
    ),
    "closure with | and &": (matrix(f"{LOOPS} D[i][j] |= D[i][k] & D[k][j];", "unsigned char"), "D", 0, (0, 0)),
    "closure with if": (matrix(f"{LOOPS} if (D[i][k] && D[k][j]) D[i][j] = 1;", "_Bool"), "D", 0, (1, 1)),
    "closure, hoisted": (
        matrix(
            f"{STEP} for (int i = 0; i < N; i++) if (D[i][k]) for (int j = 0; j < N; j++) D[i][j] |= D[k][j];", "int"
        ),
        "D",
        0,
        (0, 0),
    ),
    "bit tricks": (
        matrix(f"{LOOPS} {{ int t = D[i][k] + D[k][j], d = t - D[i][j]; D[i][j] += d & (d >> 31); }}", "int"),
        "D",
        0,
        (1, 1),
    ),
    "max-min": (
        matrix(f"{LOOPS} {{ float w = D[i][k] < D[k][j] ? D[i][k] : D[k][j]; if (w > D[i][j]) D[i][j] = w; }}"),
        "D",
        0,
        (1, 1),
    ),
    "min-max": (
        matrix(f"{LOOPS} {{ int w = D[i][k] > D[k][j] ? D[i][k] : D[k][j]; if (w < D[i][j]) D[i][j] = w; }}", "int"),
        "D",
        0,
        (1, 1),
    ),
    "max-times": (matrix(f"{LOOPS} if (D[i][k] * D[k][j] > D[i][j]) D[i][j] = D[i][k] * D[k][j];"), "D", 0, (1, 1)),
    "saturating": (
        matrix(f"{LOOPS} D[i][j] = imin(D[i][j], imin(D[i][k] + D[k][j], 255));", "unsigned char", IMIN),
        "D",
        0,
        (1, 1),
    ),
    "short": (
        matrix(f"{LOOPS} if (D[i][k] + D[k][j] < D[i][j]) D[i][j] = D[i][k] + D[k][j];", "short"),
        "D",
        0,
        (1, 1),
    ),
    "long": (matrix(f"{LOOPS} if (D[i][k] + D[k][j] < D[i][j]) D[i][j] = D[i][k] + D[k][j];", "long"), "D", 0, (1, 1)),
    "double": (
        matrix(f"{LOOPS} if (D[i][k] + D[k][j] < D[i][j]) D[i][j] = D[i][k] + D[k][j];", "double"),
        "D",
        0,
        (1, 1),
    ),
    "<=": (
        matrix(
            "for (int k = 0; k <= N - 1; k++) for (int i = 0; i <= N - 1; i++) for (int j = 0; j <= N - 1; j++) if (D[i][k] + D[k][j] < D[i][j]) D[i][j] = D[i][k] + D[k][j];"
        ),
        "D",
        0,
        (1, 1),
    ),
    "!=": (
        matrix(
            "for (int k = 0; k != N; ++k) for (int i = 0; N != i; i += 1) for (int j = 0; N > j; j = 1 + j) if (D[i][k] + D[k][j] < D[i][j]) D[i][j] = D[i][k] + D[k][j];"
        ),
        "D",
        0,
        (1, 1),
    ),
    "long counters": (
        matrix(
            "for (long k = 0; k < N; k++) for (unsigned long i = 0; i < N; i++) for (unsigned j = 0; j < N; j++) if (D[i][k] + D[k][j] < D[i][j]) D[i][j] = D[i][k] + D[k][j];"
        ),
        "D",
        0,
        (1, 1),
    ),
    "counters declared before": (
        matrix(
            "int i, j, k, n = N; float t; for (k = 0; k < n; k++) for (i = 0; i < n; i++) for (j = 0; j < n; j++) if ((t = D[i][k] + D[k][j]) < D[i][j]) D[i][j] = t;"
        ),
        "D",
        0,
        (1, 1),
    ),
    "while": (
        matrix(
            "int k = 0; while (k < N) { int i = 0; while (i < N) { int j = 0; while (j < N) { if (D[i][k] + D[k][j] < D[i][j]) D[i][j] = D[i][k] + D[k][j]; j++; } i++; } k++; }"
        ),
        "D",
        0,
        (1, 1),
    ),
    "bounds that are computed": (
        matrix(
            f"int half = N / 2, n = half * 2; {LOOPS.replace('N', 'n')} if (D[i][k] + D[k][j] < D[i][j]) D[i][j] = D[i][k] + D[k][j];"
        ),
        "D",
        0,
        (1, 1),
    ),
    "LU": (
        matrix(
            f"{STEP} for (int i = k + 1; i < N; i++) {{ D[i][k] /= D[k][k]; for (int j = k + 1; j < N; j++) D[i][j] -= D[i][k] * D[k][j]; }}"
        ),
        "D",
        1,
        (0, 0),
    ),
    "LU, the factor in a variable": (
        matrix(
            f"{STEP} for (int i = k + 1; i < N; i++) {{ float m = D[i][k] / D[k][k]; D[i][k] = m; for (int j = k + 1; j < N; j++) D[i][j] -= m * D[k][j]; }}"
        ),
        "D",
        1,
        (0, 0),
    ),
    "LU, two loops": (
        matrix(
            f"{STEP} {{ for (int i = k + 1; i < N; i++) D[i][k] /= D[k][k]; for (int i = k + 1; i < N; i++) for (int j = k + 1; j < N; j++) D[i][j] -= D[i][k] * D[k][j]; }}"
        ),
        "D",
        1,
        (0, 0),
    ),
    "LU, the reciprocal": (
        matrix(
            f"{STEP} {{ float r = 1.0f / D[k][k]; for (int i = k + 1; i < N; i++) D[i][k] *= r; for (int i = k + 1; i < N; i++) for (int j = k + 1; j < N; j++) D[i][j] = D[i][j] - D[i][k] * D[k][j]; }}"
        ),
        "D",
        1,
        (0, 0),
    ),
    "LU in two matrices": (
        f"{HEAD}double D[N][N], L[N][N];\nvoid f(void) {{ {STEP} for (int i = k + 1; i < N; i++) {{ L[i][k] = D[i][k] / D[k][k]; for (int j = k; j < N; j++) D[i][j] -= L[i][k] * D[k][j]; }} }}\n",
        "D L",
        1,
        (0, 0),
    ),
    "Crout": (
        matrix(
            f"{STEP} {{ for (int j = k + 1; j < N; j++) D[k][j] /= D[k][k]; for (int i = k + 1; i < N; i++) for (int j = k + 1; j < N; j++) D[i][j] -= D[i][k] * D[k][j]; }}"
        ),
        "D",
        1,
        (0, 0),
    ),
    "Gauss-Jordan": (
        matrix(
            f"{STEP} {{ float p = D[k][k]; for (int j = 0; j < N; j++) D[k][j] /= p; for (int i = 0; i < N; i++) {{ if (i == k) continue; float m = D[i][k]; for (int j = 0; j < N; j++) D[i][j] -= m * D[k][j]; }} }}"
        ),
        "D",
        1,
        (0, 0),
    ),
    "Gauss-Jordan with an inverse": (
        f"{HEAD}double A[N][N], B[N][N];\nvoid f(void) {{ {STEP} {{ double p = A[k][k]; for (int j = 0; j < N; j++) {{ A[k][j] /= p; B[k][j] /= p; }} for (int i = 0; i < N; i++) if (i != k) {{ double m = A[i][k]; for (int j = 0; j < N; j++) {{ A[i][j] -= m * A[k][j]; B[i][j] -= m * B[k][j]; }} }} }} }}\n",
        "A B",
        1,
        (0, 0),
    ),
    "augmented": (
        f"{HEAD}double A[N][N + 3];\nvoid f(void) {{ for (int k = 0; k < N - 1; k++) for (int i = k + 1; i < N; i++) {{ double m = A[i][k] / A[k][k]; for (int j = k; j < N + 3; j++) A[i][j] -= m * A[k][j]; }} }}\n",
        "A",
        0,
        (0, 0),
    ),
    "elimination modulo a prime": (
        matrix(
            f"{STEP} for (int i = k + 1; i < N; i++) for (int j = k + 1; j < N; j++) D[i][j] = (D[k][k] * D[i][j] + (97 - D[i][k]) * D[k][j]) % 97;",
            "int",
        ),
        "D",
        0,
        (0, 0),
    ),
    "matrix product": (
        f"{HEAD}float A[N][N], B[N][N], C[N][N];\nvoid f(void) {{ {LOOPS} C[i][j] += A[i][k] * B[k][j]; }}\n",
        "A B C",
        0,
        (0, 0),
    ),
    "part of a larger matrix": (
        f"{HEAD}float D[N + 4][N + 9];\nvoid f(void) {{ {LOOPS} if (D[i][k] + D[k][j] < D[i][j]) D[i][j] = D[i][k] + D[k][j]; }}\n",
        "D",
        0,
        (1, 1),
    ),
}


def near(lines: str, message: str, t: str = "float", head: str = "") -> tuple[str, str]:
    return f"{HEAD}{head}{t} D[N][N];\nvoid f(void) {{\n{lines}\n}}\n", message


FW = "if (D[i][k] + D[k][j] < D[i][j]) D[i][j] = D[i][k] + D[k][j];"
# the line at fault holds HERE
NEAR = {
    "another row": near(f"{STEP.replace('N', 'N - 1')} {IJ}\n if (D[i][k] + D[k + 1][j] < D[i][j]) D[i][j] = 0; // HERE", "it also reads D[k + 1][j]"),
    "another column": near(f"for (int k = 1; k < N; k++) {IJ}\n D[i][j] += D[i][k - 1] * D[k][j]; // HERE", "it also reads D[i][k - 1]"),
    "the transpose": near(f"{LOOPS}\n D[j][i] = D[i][k] + D[k][j]; // HERE", "it also writes D[j][i]"),
    "the transpose is read": near(f"{LOOPS}\n D[i][j] = D[j][i] + D[k][j]; // HERE", "it also reads D[j][i]"),
    "row k is written too": near(f"{STEP}\n for (int i = 0; i < N; i++)\n for (int j = 0; j < N; j++) {{ // HERE\n {FW} D[k][j] = 1; }}", "the inner loop also writes D[k][j]"),
    "a fixed element": near(f"{LOOPS}\n if (D[0][0] < D[i][j]) D[i][j] = D[i][k] + D[k][j]; // HERE", "it also reads D[0][0]"),
    "a vector": near(f"{LOOPS}\n D[i][j] = D[i][k] + D[k][j] * w[j]; // HERE", "it also reads w[j]", head="float w[N];\n"),
    "a table by data": near(f"{LOOPS}\n D[i][j] = D[i][p[j]] + D[k][j]; // HERE", "it also reads p[j]", head="int p[N];\n"),
    "a sum is carried": near(f"float s = 0;\n{LOOPS}\n {{ s += D[i][k]; D[i][j] = s; }} // HERE", "'s' may hold what an earlier turn left in it"),
    "a flag is carried": near(f"int first = 1;\n{LOOPS} {{\n if (first) D[i][j] = D[k][j]; // HERE\n first = 0; }}", "'first' may hold what an earlier turn left in it"),
    "a factor is carried": near(f"{STEP} for (int i = 0; i < N; i++) {{ float m = D[i][k]; for (int j = 0; j < N; j++) {{\n D[i][j] += m * D[k][j]; // HERE\n m = m * 2; }} }}", "'m' may hold what an earlier turn left in it"),
    "set on one path only": near(f"float m; {LOOPS} {{ if (D[i][j] > 0) m = D[i][k];\n D[i][j] = m; }} // HERE", "'m' may hold what an earlier turn left in it"),
    "a pivot sum": near(f"{STEP} {{ float s = 0; for (int j = 0; j < N; j++) {{\n s += D[k][j]; // HERE\n D[k][j] *= 2; }} {IJ} D[i][j] += s; }}", "'s' may hold what an earlier turn left in it"),
    "k backwards": near(f"for (int k = N - 1; k >= 0; k--) // HERE\n {IJ} {FW}", "this loop does not count up by one to a number"),
    "i backwards": near(f"{STEP}\n for (int i = N - 1; i >= 0; i--) // HERE\n for (int j = 0; j < N; j++) {FW}", "this loop does not count up by one to a number"),
    "by two": near(f"{STEP} for (int i = 0; i < N; i++)\n for (int j = 0; j < N; j += 2) // HERE\n {FW}", "this loop does not count up by one to a number"),
    "the counter jumps": near(f"{STEP} for (int i = 0; i < N; i++)\n for (int j = 0; j < N; j++) {{ // HERE\n {FW} if (D[i][j] > 5) j = j + 1; }}", "'j' is changed in its own loop"),
    "a bound by data": near(f"int m = D[0][0];\n{STEP}\n for (int i = 0; i < m; i++) // HERE\n for (int j = 0; j < N; j++) {FW}", "where 'i' ends is no number: it depends on data or on another counter", "int"),
    "a triangle": near(f"{STEP}\n for (int i = 0; i < k; i++) // HERE\n for (int j = 0; j < N; j++) {FW}", "where 'i' ends is no number: it depends on data or on another counter"),
    "a bound that changes": near(f"int n = N;\n{STEP} {{\n for (int i = 0; i < n; i++) // HERE\n for (int j = 0; j < N; j++) {FW}\n n = N / 2; }}", "where 'i' ends is no number: it depends on data or on another counter"),
    "from 2 k": near(f"{STEP}\n for (int i = 2 * k; i < N; i++) // HERE\n for (int j = 0; j < N; j++) {FW}", "'i' starts at neither a number nor 'k' + a number"),
    "k innermost": near(f"for (int i = 0; i < N; i++) // HERE\n for (int j = 0; j < N; j++) for (int k = 0; k < N; k++) {FW}", "no matrix is written at 'j' and 'k': the two inner loops are to go over rows and columns"),
    "k in the middle": near(f"for (int i = 0; i < N; i++) // HERE\n for (int k = 0; k < N; k++) for (int j = 0; j < N; j++) {FW}", "no matrix is written at 'k' and 'j': the two inner loops are to go over rows and columns"),
    "something before": near(f"for (int i = 0; i < N; i++) D[i][i] = 0; // HERE\n {LOOPS} {FW}", "this stands outside of the three loops"),
    "something after": near(f"{LOOPS} {FW}\n D[0][0] = 1; // HERE", "this stands outside of the three loops"),
    "twice": near(f"{LOOPS} {FW}\n {LOOPS} {FW} // HERE", "this stands outside of the three loops"),
    "between the loops": near(f"{STEP} {{\n D[k][k] = 0; // HERE\n {IJ} {FW} }}", "this stands outside of the loops over rows and columns"),
    "after the loops of a step": near(f"{STEP} {{ {IJ} {FW}\n for (int j = 0; j < N; j++) D[k][j] = 0; // HERE\n}}", "this follows the loops over rows and columns"),
    "after the inner loop": near(f"{STEP} for (int i = 0; i < N; i++) {{ for (int j = 0; j < N; j++) {FW}\n D[i][k] = 0; // HERE\n}}", "this follows the inner loop"),
    "four loops": near(f"{STEP} for (int i = 0; i < N; i++) for (int j = 0; j < N; j++)\n for (int t = 0; t < 2; t++) // HERE\n {FW}", "this loop is one too many: expected three in one another"),
    "a break": near(f"{STEP} for (int i = 0; i < N; i++)\n for (int j = 0; j < N; j++) {{ // HERE\n if (D[i][j] < 0) break; {FW} }}", "this loop may be left early"),
    "a return": near(f"{STEP} // HERE\n {IJ} {{ if (D[i][j] < 0) return; {FW} }}", "this loop may be left early"),
    "written before the inner loop": near(f"{STEP} for (int i = 0; i < N; i++) {{\n D[i][k] *= 2; // HERE\n for (int j = 0; j < N; j++) {FW} }}", "only column 'k' may be written before the inner loop, and only where 'i' starts after 'k'"),
    "the pivot changes under way": near(f"{STEP} {{\n for (int j = k; j < N; j++) D[k][j] /= D[k][k]; // HERE\n {IJ} D[i][j] -= D[i][k] * D[k][j]; }}", "D[k][k] is read while it may change: read it before the loop"),
    "an old pivot": near(f"{STEP} {{ float p = D[k][k]; for (int j = k; j < N; j++) D[k][j] /= p;\n for (int i = 0; i < N; i++)\n for (int j = 0; j < N; j++) // HERE\n D[i][j] -= D[i][k] * p; }}", "D[k][k] is used as it was before this step wrote it: read it anew"),
    "row k from column k": near(f"{STEP} {{\n for (int j = 0; j < N; j++) D[k][j] += D[j][k]; // HERE\n {IJ} {FW} }}", "it computes D[k][j] from D[i][k]"),
    "the counter as a number": near(f"{STEP} {{\n for (int j = 0; j < N; j++) D[k][j] += j; // HERE\n {IJ} {FW} }}", "'j' is computed with, in a loop over one row or column"),
    "written, read, written": near(f"{LOOPS} {{ D[i][j] += 1;\n D[i][j] += D[i][k]; }} // HERE", "'D' is written twice here, and read at row or column k in between"),
    "a division": near(f"{LOOPS} {{ int q = D[k][k];\n D[i][j] -= D[i][k] / q * D[k][j]; }} // HERE", "an integer division by what may be 0", "int"),
    "too small": near("for (int k = 0; k < N + 1; k++) for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) C[i][j] += A[i][k] * B[k][j];", "'A' is not of 13 rows and 13 columns, as the loops are", head="float A[N][N + 1]; // HERE\nfloat B[N + 1][N], C[N][N];\n"),
    "a size at run time": ("void f(int n, float *d) {\n for (int k = 0; k < n; k++) // HERE\n for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) d[i*n+j] += d[i*n+k] * d[k*n+j]; }\n", "where 'k' ends is 'n', which is known only when the program runs"),
    "a number at run time": near(f"float cap; {LOOPS}\n if (D[i][k] < cap) {FW} // HERE".replace("float cap; ", ""), "'cap' is known only when the program runs", head="float cap;\n"),
}  # fmt: skip
