"""Examples of errors that depend on the machine: GPUs, memory, streams, packages; and of what CUDA C++ lacks."""

from __future__ import annotations

from tests.error_example import ADD, CUDA, Example, command, statement

TWO = "float a[4], b[4] = {1, 2, 3, 4};\nvoid k(void) {\n    b[0] = a[0] + b[1];\n}\n"
LOADED = "int a[4], w[2];\nvoid k(void) {\n    a[0] += w[1];\n}\n"
GEP = (
    "#define N 8\nfloat D[N][N];\nvoid k(void) {\n    for (int k = 0; k < N; k++)\n        for (int i = 0; i < N; i++)\n"
    "            for (int j = 0; j < N; j++)\n                if (D[i][k] + D[k][j] < D[i][j]) D[i][j] = D[i][k] + D[k][j];\n}\n"
)
LATE = GEP.replace("j = 0", "j = k + 2")
IN_MAIN = "int x;\nvoid k(void) { x++; }\nint main(void) {\n    k();\n    return 0;\n}\n"
ROWS = "np.ones((3, 4), np.float32)"
ON_GPU = f'c2cu.bulk("k.c", {ROWS}, backend="cuda", schedule="thread")'
MATRIX = "np.ones((1, 8, 8), np.float32)"
BANDS = 'c2cu.bulk("k.c", %s, backend="cuda", schedule="gep:bands")'
SAVED = 'np.save("a.npy", np.ones((3, 4), np.float32))'


def stream(batches: str, more: str = "") -> str:
    return f'list(c2cu.stream("k.c", {batches}{more}, backend="cpu"))'


def many(count: int) -> str:
    """Python that writes a k.c with ``count`` variables."""
    return (
        f'Path("k.c").write_text("".join(f"int x{{n}};\\n" for n in range({count})) '
        f'+ "void k(void) {{ " + "".join(f"x{{n}}++; " for n in range({count})) + "}}\\n")'
    )


EXAMPLES = {
    # arrays and arguments
    "C2CU053": Example(ADD, 'c2cu.bulk("k.c", cupy.ones((3, 4), np.float32), backend="cpu")', state="GPU"),
    "C2CU054": Example(ADD, ON_GPU[:-1] + ", stream=3)", state="GPU"),
    "C2CU059": Example(ADD, command("run k.c --in a.npy --out b.npz --resume --backend cpu"), SAVED),
    "C2CU121": Example("", "c2cu.paths.lengths(np.ones((2, 2)), np.zeros((3, 3), int))"),
    "C2CU204": Example(
        ADD, '(lambda x: c2cu.dask.map_bulk("k.c", x[x[:, 0] > 0]))(da.ones((9, 4), np.float32))', state="Dask"
    ),
    "C2CU205": Example(GEP, BANDS % "cupy.ones((1, 8, 8), np.float32)", state="GPU"),
    "C2CU206": Example(GEP, BANDS % f"{MATRIX}, stream=cupy.cuda.Stream()", state="GPU"),
    "C2CU207": Example(GEP, BANDS % f"{MATRIX}, devices=[0, 1]", state="GPU"),
    "C2CU209": Example(
        ADD, f'c2cu.compile("k.c", backend="cuda", schedule="thread")({ROWS}, devices=[0])', state="GPU"
    ),
    "C2CU213": Example(
        TWO,
        stream(
            '[{"a": np.ones((3, 4), np.float32), "b": np.ones((3, 4), np.float32)}, {"a": np.ones((3, 4), np.float32)}]'
        ),
    ),
    "C2CU225": Example(
        GEP.replace("float", "int"), 'c2cu.bulk("k.c", np.full((1, 8, 8), 300, np.int32), pack=8, backend="cpu")'
    ),
    # groups of a stream
    "C2CU214": Example(
        LOADED,
        stream(
            '[{"a": np.ones((3, 4), np.int32), "w": np.ones(2, np.int32)}, {"a": np.ones((3, 4), np.int32), "w": np.zeros(2, np.int32)}]',
            ', shared={"w": np.ones(2, np.int32)}',
        ),
    ),
    "C2CU215": Example(
        TWO,
        stream(
            '[{"a": np.ones((3, 4), np.float32)}, {"a": np.ones((3, 4), np.float32), "b": np.ones((3, 4), np.float32)}]'
        ),
    ),
    "C2CU220": Example(ADD, stream(ROWS, ", group=64, memory=1000")),
    "C2CU221": Example(ADD, stream(ROWS, ", memory=64")),
    "C2CU222": Example(
        GEP, f'c2cu.stream("k.c", {MATRIX}, group=4, backend="cuda", schedule="gep:bands")', state="GPU"
    ),
    "C2CU223": Example(
        ADD,
        'c2cu.stream("k.c", cupy.ones((3, 4), np.float32), interval=0.1, backend="cuda", schedule="thread")',
        state="GPU refuses",
    ),
    # compilers, devices, memory, packages
    "C2CU063": Example(ADD, ON_GPU, state="CuPy, no GPU"),
    "C2CU064": Example(ADD, ON_GPU, state="full GPU"),
    "C2CU065": Example(IN_MAIN, command("run k.c --p 4 --backend cuda"), state="no nvcc"),
    "C2CU066": Example(ADD, command("explain k.c --backend cpu --plot k.png"), state="no matplotlib"),
    "C2CU067": Example(
        statement("while (x > 1) x /= 2;"), command("explain k.c --backend cpu --plot k.png"), state="matplotlib"
    ),
    "C2CU068": Example(LATE, BANDS % MATRIX, state="negative cycle"),
    "C2CU069": Example(ADD, "c2cu.dask", state="no Dask"),
    "C2CU099": Example(ADD, state="fault"),
    "C2CU244": Example(
        before=many(130), call='c2cu.compile("k.c", backend="cuda", schedule="thread")', state="old CUDA"
    ),
    "C2CU245": Example(
        GEP.replace("8", "99"),
        'c2cu.bulk("k.c", np.ones((1, 99, 99), np.float32), backend="cpu", schedule="gep")',
        state="no host memory",
    ),
    "C2CU246": Example(GEP.replace("8", "99"), BANDS % "np.ones((1, 99, 99), np.float32)", state="full GPU"),
    "C2CU247": Example(ADD, ON_GPU, state="GPU refuses"),
    "C2CU256": Example(ADD, ON_GPU, state="GPU faults"),
    "C2CU248": Example(ADD, f'list(c2cu.stream("k.c", {ROWS}, backend="cuda", schedule="thread"))', state="GPU fails"),
    "C2CU249": Example(GEP, f"(lambda d: {BANDS % 'd, out=d'})({MATRIX})", state="negative cycle"),
    # what CUDA C++ has no way to say
    "C2CU087": Example("#include <string.h>\n" + statement('x = strcoll("a", "b");'), CUDA % "private"),
    "C2CU092": Example(
        "",
        command("explain k.c --backend cuda --schedule block"),
        'Path("k.c").write_text("int x, a[256];\\nvoid k(void) {\\n" + "    x = x * x + 1;\\n" * 301 + "    for (int i = 0; i < 256; i++) a[i] += x;\\n}\\n")',
    ),
    "C2CU096": Example(before=many(1001), call='c2cu.compile("k.c", backend="cuda", schedule="thread")'),
    "C2CU275": Example("int c2cu_rate;\n" + IN_MAIN.replace("x++", "x += c2cu_rate"), command("translate k.c --p 4")),
    "C2CU270": Example(
        "enum { setjmp = 3 };\n" + IN_MAIN.replace("x++", "x += setjmp"), command("translate k.c --p 4")
    ),
}
