"""Whole programs, many runs' stdin for them, and what gcc's runs of them print."""

import functools
import os
import random
import select
import subprocess

from tests.oracle import executable

HOST = """
#include <stdio.h>
#include <stdlib.h>
#define MAX 16
typedef struct { int n; double sum; } Total;
int n, a[MAX];
static int calls = 7;
static Total total;
static int read_all(void) {
    if (scanf("%d", &n) != 1 || n > MAX) return 0;
    for (int i = 0; i < n; i++) if (scanf("%d", &a[i]) != 1) return 0;
    calls++;
    return 1;
}
static int squares(int *v, int k, int bias) {
    int s = bias;
    for (int i = 0; i < MAX; i++) if (i < k) { s += v[i] * v[i]; v[i] = -v[i]; }
    return s;
}
int main(void) {
    int ok, sum = 0, copy[MAX] = {0};
    char *name = malloc(8);
    ok = read_all();
    if (!ok) { fprintf(stderr, "no input\\n"); return 3; }
    for (int i = 0; i < n; i++) copy[i] = a[i];
    sprintf(name, "r%d", n);
#pragma kernel
    sum = squares(copy, n, calls);
    total.n += n;
    total.sum += sum;
    printf("%s: %d, %d, %g:", name, sum, total.n, total.sum);
    for (int i = 0; i < n; i++) printf(" %d", copy[i]);
    printf("\\n");
    free(name);
    return sum > 5000;
}
"""

#: One thread takes an input with all of its state: a union has no columns.
PRIVATE = """
#include <stdio.h>
union Word { unsigned whole; unsigned char byte[4]; };
union Word words[5];
unsigned n, sum;
void mix(void) {
    sum = n;
    for (int i = 0; i < 5; i++) { words[i].byte[i % 4] ^= 0x5a; sum = sum * 31 + words[(words[i].byte[0] + i) % 5].whole; }
}
int main(void) {
    if (scanf("%u", &n) != 1) return 2;
    for (int i = 0; i < 5; i++) if (scanf("%u", &words[i].whole) != 1) return 2;
#pragma kernel
    mix();
    printf("%u", sum);
    for (int i = 0; i < 5; i++) printf(" %u", words[i].whole);
    printf("\\n");
    return 0;
}
"""
COLUMNS = """
#include <stdio.h>
#define N 6
float D[N][N], total;
int steps;
float shortest(int k0, float *row, int *changed) {
    *changed = 0;
    for (int k = 0; k < N; k++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                if (k >= k0 && D[i][j] > D[i][k] + D[k][j]) { D[i][j] = D[i][k] + D[k][j]; *changed += 1; }
    for (int i = 0; i < N; i++) { row[i] += D[0][i]; total += row[i]; }
    steps++;
    return row[N - 1];
}
int main(void) {
    float row[N] = {1, 2, 3}, last;
    int k0, changed;
    if (scanf("%d", &k0) != 1) { fprintf(stderr, "no input\\n"); return 3; }
    for (int i = 0; i < N * N; i++) if (scanf("%f", &D[i / N][i % N]) != 1) return 2;
    if (k0 >= N) return 4;
#pragma kernel
    last = shortest(k0, row, &changed);
    for (int i = 0; i < N * N; i++) printf("%g ", D[i / N][i % N]);
    printf("%g %g %d %d %g\\n", last, total, changed, steps, row[0]);
    return 0;
}
"""
PROGRAMS = {"columns": COLUMNS, "private": PRIVATE, "host": HOST}


@functools.cache
def inputs(name: str) -> list[str]:
    """1000 runs' stdin; some runs of the columns' end before the kernel."""
    r = random.Random(name)
    match name:
        case "columns":
            starts = [r.choice([0, 0, 0, 1, 5, 9]) for _ in range(1000)]
            return [f"{k} " + " ".join(f"{r.random():.4f}" for _ in range(36)) for k in starts]
        case "private":
            return [" ".join(str(r.getrandbits(32)) for _ in range(6)) for _ in range(1000)]
    counts = [r.randrange(17) for _ in range(1000)]
    return [" ".join(map(str, [n, *(r.randrange(-99, 99) for _ in range(n))])) for n in counts]


@functools.cache
def original(text: str, stdin: str) -> tuple[bytes, int]:
    """What one run prints, and its exit status."""
    done = subprocess.run([executable(text)], input=stdin.encode(), capture_output=True)
    return done.stdout, done.returncode


def expected(name: str, p: int, first: int = 0) -> tuple[bytes, int]:
    """What p runs print in turn, and the status of the first that fails."""
    return together([original(PROGRAMS[name], r) for r in inputs(name)[first : first + p]])


def together(runs: list[tuple[bytes, int]]) -> tuple[bytes, int]:
    return b"".join(out for out, _ in runs), next((status for _, status in runs if status), 0)


def is_a_pipe(program, name: str, group: int, groups: int = 10) -> bool:
    """Whether each group's results are out before the next group's inputs are in."""
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        assert running.stdin and running.stdout
        for first in range(0, group * groups, group):
            running.stdin.write("".join(r + "\n" for r in inputs(name)[first : first + group]).encode())
            running.stdin.flush()
            right, _ = expected(name, group, first)
            if _read(running.stdout, len(right)) != right:
                running.kill()
                return False
        running.kill()
    return True


def _read(pipe, count: int) -> bytes:
    out = b""
    while len(out) < count and select.select([pipe], [], [], 20)[0]:
        new = os.read(pipe.fileno(), count - len(out))
        if not new:
            break
        out += new
    return out
