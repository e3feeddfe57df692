"""Examples of what single schedules refuse, and of what goes wrong with files: part of tests/error_examples.py."""

from __future__ import annotations

import errno
import io
import os
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from c2cu.cli import main
from c2cu.io.sources import FileSource
from c2cu.program import Program
from c2cu.schedule import registry
from c2cu.streaming.streams import StreamWarning
from tests.error_example import ADD, CUDA, Example, State, command

SCAN = CUDA % "scan"
BLOCK = CUDA % "block"


RUN = command("run k.c --in a=%s --out b.npy --backend cpu")
GROUPS = RUN % "a.npy" + " --group 16"
SAVED = 'np.save("a.npy", np.ones((3, 4), np.float32))'
LARGE = 'np.save("a.npy", np.ones((1000, 4), np.float32))'


def raises(e: BaseException) -> Callable[..., None]:
    def do(*_: object, **__: object) -> None:
        raise e

    return do


def at_input(n: int, do: Callable[[], None]) -> Callable[[pytest.MonkeyPatch], None]:
    """``do`` happens when inputs from the n-th on are read from a file."""
    take = FileSource.take

    def taken(source: FileSource, first: int, last: int) -> np.ndarray:
        part = take(source, first, last)
        if first >= n:
            do()
        return part

    return lambda monkeypatch: monkeypatch.setattr(FileSource, "take", taken)


def half_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = io.BytesIO()
    np.save(whole, np.ones((3, 4), np.float32))
    monkeypatch.setattr("c2cu.io.sources._stdin", lambda: io.BytesIO(whole.getvalue()[:-16]))


def interrupted(_: pytest.MonkeyPatch) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        at_input(64, raises(SystemExit(130)))(monkeypatch)
        CliRunner().invoke(main, GROUPS.split()[2:])


def tried(monkeypatch: pytest.MonkeyPatch) -> None:
    emit = registry.emit_schedule
    monkeypatch.setattr(registry, "emit_schedule", lambda name, u, threads, backend: emit(name, u, 77, backend))


def lost_device(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Program.stream

    def warning(*args: Any, **options: Any) -> Any:
        warnings.warn(
            "GPU 1 failed and is left out: an illegal memory access was encountered", StreamWarning, stacklevel=2
        )
        return stream(*args, **options)

    monkeypatch.setattr(Program, "stream", warning)


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


PATHS = paths("gep", "8", "int a[N][N];", "a").source
TALL = paths("", "4", "float D[20000000][N];").source.replace("i < N", "i < 20000000")

STATES = {
    "a.npy changes": State(
        "where another program writes to a.npy meanwhile", at_input(0, lambda: os.utime("a.npy", (0, 0)))
    ),
    "half a pipe": State("where the program that writes to the pipe ends after two of three inputs", half_a_pipe),
    "no zarr": State("where zarr is not installed", lambda m: m.setitem(sys.modules, "zarr", None)),
    "zarr": State(
        "where zarr is installed",
        lambda m: m.setitem(sys.modules, "zarr", SimpleNamespace(open_array=raises(ValueError("no array found")))),
    ),
    "77 threads": State("while tuning tries 77 threads", tried),
    "closed stdout": State(
        "where stdout is closed", lambda m: m.setattr("c2cu.io.files.sys", SimpleNamespace(stdout=None))
    ),
    "another run": State(
        "where another run writes b.npy", lambda m: m.setattr("fcntl.flock", raises(BlockingIOError()))
    ),
    "a failing disk": State(
        "where the disk fails in mid-run", at_input(64, raises(OSError(errno.EIO, os.strerror(errno.EIO))))
    ),
    "interrupted": State("after a run that was interrupted", interrupted),
    "Ctrl-C": State("where Ctrl-C is pressed", at_input(64, raises(SystemExit(130)))),
    "a lost device": State("where a GPU fails", lost_device),
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
    "C2CU370": Example("#include <assert.h>\nint k(int x) {\n    assert(x > 0);\n    return 8 / x;\n}\n", SCAN),
    "C2CU371": Example(
        "int d[N];\nvoid k(void) {\n    for (int i = 0; i < N; i++) d[i] = i;\n}\nint main(void) {\n#pragma kernel\n    k();\n}\n",
        command("translate k.c -D N=0 --p 4"),
    ),
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
    "C2CU303": scan("for (int i = 0; i < 500; i++) b += a[i]++;", "int a[500] = {1}, b;"),
    "C2CU330": Example(PATHS, command("translate k.c --library --schedule gep:bands -o k_bulk.cu")),
    "C2CU331": Example(
        PATHS + "int main(void) {\n    k();\n    return 0;\n}\n", command("translate k.c --p 4 --schedule gep:bands")
    ),
    "C2CU332": Example(
        "int x, turns;\nvoid k(void) {\n    while (x > 1) x = x % 2 ? 3 * x + 1 : x / 2, turns++;\n}\n",
        'c2cu.compile("k.c", backend="cpu", schedule="gang:two")',
    ),
    "C2CU306": replace(paths("gep:staged", "4"), source=TALL),
    "C2CU307": paths("gep:staged", "8", k="int k = 0; k < 0; k++"),
    "C2CU308": paths("gep:bands", "4", "float D[N][N] = {{1}};"),
    "C2CU309": replace(paths("gep:tiles", "16"), state="77 threads"),
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
        "int s, t;\nvoid k(void) {\n    for (int i = 0; i < 120; i++) s = s * 3 + t;\n}\n",
        CUDA % "registers",
        state="short kernels",
    ),
    "C2CU342": Example(
        ADD,
        RUN % "a.npz",
        before='np.savez("a.npz", a=np.ones((3, 4), np.float32)); d = bytearray(Path("a.npz").read_bytes()); d[200] ^= 1; '
        'Path("a.npz").write_bytes(d)',
    ),
    "C2CU343": Example(
        "void k(float *a, int n) {\n    a[n] = 1;\n}\n",
        command("run k.c --in a=a.bin --out b.npy --backend cpu"),
        before='Path("a.bin").write_bytes(bytes(64))',
    ),
    "C2CU344": Example(
        "float a[4], b[4], c;\nvoid k(void) {\n    c = a[0] + b[1];\n}\n",
        command("run k.c --in a=a.npy --shared b=b.bin --out c.npy --backend cpu"),
        before='np.save("a.npy", np.ones((3, 4), np.float32)); Path("b.bin").write_bytes(bytes(10))',
    ),
    "C2CU347": Example(ADD, RUN % "a.npy", before=SAVED, state="a.npy changes"),
    "C2CU348": Example(ADD, RUN % "-", state="half a pipe"),
    "C2CU349": Example(ADD, RUN % "a.zarr", state="no zarr"),
    "C2CU350": Example(ADD, RUN % "a.zarr", before='Path("a.zarr").mkdir()', state="zarr"),
    "C2CU351": Example(
        "struct S { char c; double d; } v[2];\nvoid k(void) {\n    v[0].d += v[1].d;\n}\n",
        command("run k.c --in v=v.bin --out v=v.zarr --backend cpu"),
        before='Path("v.bin").write_bytes(bytes(64))',
        state="zarr",
    ),
    "C2CU352": Example(
        ADD,
        command("run k.c --in a=a.npy --out b.zarr --backend cpu"),
        before=SAVED + '; Path("b.zarr").mkdir(); Path("b.zarr/notes.txt").touch()',
    ),
    "C2CU353": Example(
        "int x;\nvoid k(void) { x++; }\nint main(void) {\n    k();\n    return 0;\n}\n",
        command("translate k.c --p 4 -o -"),
        state="closed stdout",
    ),
    "C2CU354": Example(ADD, GROUPS, before=SAVED, state="another run"),
    "C2CU355": Example(ADD, GROUPS, before=LARGE, state="a failing disk"),
    "C2CU363": Example(PATHS, RUN % "- --pack 8"),
    "C2CU364": Example(PATHS, RUN % "a.zarr --pack 8"),
    "C2CU365": Example(ADD, GROUPS + " --resume --fp fast", before=LARGE, state="interrupted"),
    "C2CU366": Example(ADD, GROUPS + " --resume", before=LARGE, state="interrupted"),
    "C2CU367": Example(ADD, GROUPS + " --resume", before=SAVED),
    "C2CU368": Example(ADD, GROUPS, before=LARGE, state="Ctrl-C"),
    "C2CU369": Example(ADD, GROUPS, before=SAVED, state="a lost device"),
}
