"""Examples of what single schedules refuse, and of what goes wrong with files: part of tests/error_examples.py."""

from __future__ import annotations

from tests.error_example import CUDA, Example, State

SCAN = CUDA % "scan"
BLOCK = CUDA % "block"


def scan(loop: str, arrays: str = "int a[500], b[500];") -> Example:
    return Example(f"{arrays}\nvoid k(void) {{\n    {loop}\n}}\n", SCAN)


def paths(
    schedule: str, n: str, declared: str = "float D[N][N];", d: str = "D", k: str = "int k = 0; k < N; k++"
) -> Example:
    """Shortest paths."""
    return Example(
        f"#define N {n}\n{declared}\nvoid k(void) {{\n    for ({k})\n        for (int i = 0; i < N; i++)\n"
        f"            for (int j = 0; j < N; j++)\n"
        f"                if ({d}[i][k] + {d}[k][j] < {d}[i][j]) {d}[i][j] = {d}[i][k] + {d}[k][j];\n}}\n",
        CUDA % schedule,
    )


STATES = {
    "short blocks": State(
        "where the limit is 100 statements, and not 40,000",
        lambda m: m.setattr("c2cu.schedule.block.builder.LONGEST", 100),
    ),
    "short kernels": State(
        "where the limit is 100 statements, and not 10,000",
        lambda m: m.setattr("c2cu.schedule.registers.emit.LONGEST", 100),
    ),
}

EXAMPLES = {
    "C2CU294": Example(
        "double a[500], b[500], c[500], d[500], e[500], f[500], g[500], h[500];\nvoid k(void) {\n"
        "    for (int i = 0; i < 500; i++) a[i] = b[i] + c[i] + d[i] + e[i] + f[i] + g[i] + h[i];\n}\n",
        SCAN,
    ),
    "C2CU295": scan("for (int i = 0; i < 500; i++) b[i] = a[i] + a[499 - i];"),
    "C2CU296": scan("for (int i = 0; i < 400; i++) b[i] = a[i + 99];"),
    "C2CU297": scan("for (int i = 0; i < 500; i++) a[i] += i;\n    b = a[3];", "int a[500], b;"),
    "C2CU298": scan("for (int i = 0; i < 500; i++) b += a[i];\n    a[2] = b;", "int a[500], b;"),
    "C2CU299": scan("int t[500];\n    for (int i = 0; i < 500; i++) if (a[i] > 9) b[i] = t[i];"),
    "C2CU300": scan("for (int i = 0; i < 500; i++) a[i] = i + a[7];", "int a[500];"),
    "C2CU301": scan("for (int i = 0; i < 500; i++) a[i] += i;\n    for (int i = 0; i < 500; i++) b[i] = a[i];"),
    "C2CU302": scan("for (int i = 0; i < 500; i++) b += p[i].x;", "struct P { int x, y; } p[500];\nint b;"),
    "C2CU303": scan("for (int i = 0; i < 500; i++) b += a[i];", "int a[500] = {1}, b;"),
    "C2CU306": paths("gep:staged", "20000000"),
    "C2CU307": paths("gep:staged", "8", k="int k = 0; k < 0; k++"),
    "C2CU308": paths("gep:bands", "4", "float D[N][N] = {{1}};"),
    "C2CU310": paths("gep:tiles", "40000"),
    "C2CU311": Example(
        paths("gep", "8", "struct { float D[N][N]; int n; } s;", "s.D").source,
        'c2cu.compile("k.c", backend="cpu", schedule="gep")',
    ),
    "C2CU313": Example(
        "float D[8][8];\nvoid k(void) {\n    for (int k = 0; k < 8; k++)\n        for (int i = k + 1; i < 8; i++)\n"
        "            for (int j = k + 2; j < 8; j++) D[i][j] -= D[i][k] * D[k][j];\n}\n",
        'c2cu.compile("k.c", backend="cpu", schedule="gep")',
    ),
    "C2CU314": Example("union U { int i; float f; } u;\nvoid k(void) {\n    u.i = 1;\n}\n", CUDA % "thread"),
    "C2CU283": Example(
        "int a[40];\nvoid k(void) {\n    for (int i = 0; i < 40; i++)\n        for (int j = 0; j < 200; j++) a[i] = a[i] * 3 + j;\n}\n",
        BLOCK,
        state="short blocks",
    ),
    "C2CU284": Example(
        "int t[16], a[24];\nvoid k(void) {\n    int v = t[3];\n    for (int i = 0; i < 24; i++) a[i] += v;\n}\n",
        'c2cu.compile("k.c", backend="cuda", schedule="block", shared=["t"])',
    ),
    "C2CU286": Example(
        "int a[12];\nvoid k(void) {\n    for (int i = 0; i < 12; i++) a[i] += 1;\n    for (int j = 0; j < 11; j++)\n        if (a[j] > a[j + 1]) {\n            int t = a[j];\n            a[j] = a[j + 1];\n            a[j + 1] = t;\n        }\n}\n",
        BLOCK,
    ),
    "C2CU287": Example("int a[7];\nvoid k(void) {\n    for (int i = 0; i < 7; i++) a[i] += i;\n}\n", BLOCK),
    "C2CU288": Example(
        "float A[10][10];\nvoid k(void) {\n    for (int k = 0; k < 10; k++) {\n        float p = 1 / A[k][k];\n        for (int i = k + 1; i < 10; i++) {\n            A[i][k] *= p;\n            for (int j = k + 1; j < 10; j++) A[i][j] -= A[i][k] * A[k][j];\n        }\n    }\n}\n",
        BLOCK,
    ),
    "C2CU285": Example(
        "int a[24], t[16];\nvoid k(void) {\n    for (int i = 0; i < 24; i++) {\n        int v = 5;\n        a[i] += v;\n        if (i < 3) v = t[i];\n        a[i] ^= v;\n    }\n}\n",
        'c2cu.compile("k.c", backend="cuda", schedule="block", shared=["t"])',
    ),
    "C2CU320": Example(
        "int a[16], b[20];\nvoid k(void) {\n    for (int i = 0; i < 16; i++) {\n        if (i < 8) a[i] += 1;\n        else b[i] += a[i];\n    }\n}\n",
        BLOCK,
    ),
    "C2CU291": Example(
        "int s, t;\nvoid k(void) {\n    for (int i = 0; i < 200; i++) s = s * 3 + t;\n}\n",
        CUDA % "registers",
        state="short kernels",
    ),
}
