"""Programs with a small state: what the schedule ``registers`` is for. (text, globals, outputs) by name."""

DCT = """
#define N 8
int block[N][N];
static const int c[N][N] = {
    {362, 362, 362, 362, 362, 362, 362, 362},     {502, 426, 284, 100, -100, -284, -426, -502},
    {473, 196, -196, -473, -473, -196, 196, 473}, {426, -100, -502, -284, 284, 502, 100, -426},
    {362, -362, -362, 362, 362, -362, -362, 362}, {284, -502, 100, 426, -426, -100, 502, -284},
    {196, -473, 473, -196, -196, 473, -473, 196}, {100, -284, 426, -502, 502, -426, 284, -100}};

void dct(void) {
    int t[N][N];
    for (int i = 0; i < N; i++)
        for (int u = 0; u < N; u++) {
            int s = 0;
            for (int j = 0; j < N; j++) s += block[i][j] * c[u][j];
            t[i][u] = s >> 10;
        }
    for (int u = 0; u < N; u++)
        for (int v = 0; v < N; v++) {
            int s = 0;
            for (int i = 0; i < N; i++) s += t[i][v] * c[u][i];
            block[u][v] = s >> 10;
        }
}
"""

EDIT = """
#define N 32
unsigned char a[N], b[N];
int distance;

void edit(void) {
    int row[N + 1];
    for (int j = 0; j <= N; j++) row[j] = j;
    for (int i = 1; i <= N; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= N; j++) {
            int best = diagonal + (a[i - 1] != b[j - 1]);
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    distance = row[N];
}
"""

FFT = """
#include <math.h>
#define N 64
float re[N], im[N], wr[N / 2], wi[N / 2];

void fft(void) {
    for (int i = 0, j = 0; i < N; i++) {
        if (i < j) {
            float t = re[i]; re[i] = re[j]; re[j] = t;
            t = im[i]; im[i] = im[j]; im[j] = t;
        }
        int bit = N / 2;
        for (; j & bit; bit >>= 1) j ^= bit;
        j ^= bit;
    }
    for (int len = 2; len <= N; len *= 2)
        for (int i = 0; i < N; i += len)
            for (int k = 0; k < len / 2; k++) {
                int u = i + k, v = u + len / 2, w = k * (N / len);
                float xr = re[v] * wr[w] - im[v] * wi[w], xi = re[v] * wi[w] + im[v] * wr[w];
                re[v] = re[u] - xr;
                im[v] = im[u] - xi;
                re[u] += xr;
                im[u] += xi;
            }
}
"""

PATHS = """
#define N 8
float D[N][N];
void paths(void) {
    for (int k = 0; k < N; k++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                if (D[i][j] > D[i][k] + D[k][j]) D[i][j] = D[i][k] + D[k][j];
}
"""

STEPS = """
/* Loops too long to unroll over an array that then keeps its subscripts. */
unsigned state[16], out[16];
void steps(void) {
    unsigned x = 1;
    for (int n = 0; n < 5000; n++) {
        x = x * 1664525u + state[n & 15];
        state[(n * 7) & 15] ^= x >> 9;
    }
    for (int i = 0; i < 16; i++) out[i] = state[i] + x;
}
"""

#: name -> (text, kernel, variables, defines that make it short for a test)
PROGRAMS = {
    "dct": (DCT, "dct", [("block", "int32", (8, 8))]),
    "edit": (EDIT, "edit", [("a", "uint8", (32,)), ("b", "uint8", (32,)), ("distance", "int32", ())]),
    "fft": (
        FFT,
        "fft",
        [("re", "float32", (64,)), ("im", "float32", (64,)), ("wr", "float32", (32,)), ("wi", "float32", (32,))],
    ),
    "paths": (PATHS, "paths", [("D", "float32", (8, 8))]),
    "steps": (STEPS, "steps", [("state", "uint32", (16,)), ("out", "uint32", (16,))]),
}
