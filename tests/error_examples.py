"""An example for every code of c2cu/base/catalogue.py, and docs/errors.md, which is printed from both.

``python -m tests.error_examples > docs/errors.md`` (``make errors``) runs each example and prints what the user sees.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from click.testing import CliRunner

import c2cu
import c2cu.paths
from c2cu.base import cache as base_cache
from c2cu.base import catalogue, toolchain
from c2cu.base.notices import Notice
from c2cu.cli import main
from c2cu.codegen.simd import Printer
from c2cu.program.verify import Verification
from c2cu.runtime import cuda
from tests import error_examples_schedules, error_examples_states, error_fakes
from tests.error_example import ADD, CUDA, Example, State, command, statement


def no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", os.devnull)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)


def compiler(script: str) -> Callable[[pytest.MonkeyPatch], None]:
    """$CC is a shell script that preprocesses and checks as gcc does, and compiles as ``script`` says."""

    def make(monkeypatch: pytest.MonkeyPatch) -> None:
        path = Path("mycc").resolve()
        honest = 'case "$*" in *-E*|*-fsyntax-only*|*--version*) exec gcc "$@";; esac\n'
        path.write_text(f"#!/bin/sh\n{honest}{script}\n")
        path.chmod(0o755)
        monkeypatch.setenv("CC", str(path))
        monkeypatch.setenv("C2CU_CACHE_DIR", str(Path("cache").resolve()))

    return make


def broken_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("mycc").write_bytes(b"\x7fELF\0")
    Path("mycc").chmod(0o755)
    monkeypatch.setenv("CC", str(Path("mycc").resolve()))


def silent_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    compiler("")(monkeypatch)
    Path("mycc").write_text("#!/bin/sh\nexec sleep 9\n")
    monkeypatch.setattr(toolchain, "ANSWER", 1)


def shared_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("cache").mkdir()
    Path("cache").chmod(0o777)
    monkeypatch.setenv("C2CU_CACHE_DIR", str(Path("cache").resolve()))
    base_cache._say.cache_clear()


def a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """Schedule gang prints differences in place of sums."""
    binary = Printer.binary
    monkeypatch.setattr(Printer, "binary", lambda self, e, rep: binary(self, replace(e, op="-"), rep))
    monkeypatch.setenv("C2CU_CACHE_DIR", str(Path("cache").resolve()))


def a_late_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first call does not wait for native, the second finds it there."""
    a_fault(monkeypatch)
    monkeypatch.delenv("C2CU_VERIFY")
    monkeypatch.setattr(Verification, "_is_there", lambda self, seconds: False)
    set_aside = Verification._set_aside

    def then_compiled(self: Any, *call: Any) -> bool:
        done = set_aside(self, *call)
        self._compiler.join()
        return done

    monkeypatch.setattr(Verification, "_set_aside", then_compiled)


def deep(monkeypatch: pytest.MonkeyPatch) -> None:
    def parse(*_: object) -> None:
        raise RecursionError

    monkeypatch.setattr("c2cu.frontend.parse.CParser.parse", parse)


def no_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    cuda.cupy_module.cache_clear()  # it may have been imported


STATES = {
    **error_fakes.STATES,
    "no CuPy": State("where CuPy is not installed", no_cupy),
    "deep": State("for an expression in a million parentheses", deep),
    "no compiler": State("where no C compiler is installed", no_compiler),
    "no such $CC": State("with CC=/opt/cc, which does not exist", lambda m: m.setenv("CC", "/opt/cc")),
    "broken $CC": State("where $CC is a file that cannot be executed", broken_compiler),
    "killed $CC": State(
        "where the compiler is killed while it works",
        compiler('echo "cc: internal compiler error: Killed" >&2; exit 1'),
    ),
    "silent $CC": State("where $CC is a program that never ends", silent_compiler),
    "shared cache": State("where everybody may write to $C2CU_CACHE_DIR", shared_folder),
    "a fault": State("where c2cu has a fault", a_fault),
    "a late fault": State("where c2cu has a fault, and the C compiler takes long", a_late_fault),
    "16 GiB": State(
        "where there are 16 GiB of memory", lambda m: m.setattr("c2cu.base.memory.most_memory", lambda: 1 << 34)
    ),
    "no /tmp": State(
        "where no folder can be written to",
        lambda m: m.setattr("c2cu.base.scratch.place", lambda *_: "/nowhere"),
    ),
    "$CC writes no program": State(
        "where the compiler writes no program of this machine",
        compiler('while [ "$1" != -o ]; do shift; done; echo nothing > "$2"'),
    ),
    "rejecting $CC": State(
        "where the compiler finds a mistake in generated code",
        compiler("echo \"<stdin>:2:1: error: expected ';' before 'int'\" >&2; exit 1"),
    ),
    **error_examples_schedules.STATES,
}


GANG = 'c2cu.compile("k.c", backend="cpu", schedule="gang")'
PRIVATE = 'c2cu.compile("k.c", backend="cuda", schedule="private")'
THREAD = 'c2cu.compile("k.c", backend="cuda", schedule="thread")'
COUNTER = "int n;\nint f(int a) {\n    n += a;\n    return n;\n}\n"
TWO = "float a[4], b[4];\nvoid k(void) {\n    b[0] = a[0] + b[1];\n}\n"
TWO_OUT = "int a[2], b[2];\nvoid k(void) { a[0] = b[0] = 1; }\n"
SCALED = "void k(int a[4], int n) {\n    a[0] *= n;\n}\n"
OUT = 'c2cu.bulk("k.c", np.ones((3, 4), np.float32), out=%s, backend="cpu")'
RUN = command("run k.c --in a=%s --out b.npy --backend cpu")
TRANSLATE = command("translate k.c --p 4")
IN_MAIN = "int x;\nvoid k(void) { x++; }\nint main(void) {\n%s    return 0;\n}\n"


EXAMPLES = {
    **error_examples_states.EXAMPLES,
    # reading and parsing
    "C2CU001": Example(call=command("check missing.c")),
    "C2CU100": Example(call='c2cu.check("int x")'),
    "C2CU101": Example(before='Path("k.c").write_bytes(bytes(64))'),
    "C2CU102": Example("\n"),
    "C2CU103": Example("#if 1\n" + ADD),
    "C2CU104": Example('#include "mine.h"\n' + ADD),
    "C2CU002": Example(statement("x = ;")),
    "C2CU105": Example("int x;\nvoid k(void) {\n    x = 3;\n"),
    "C2CU106": Example(statement("x = (((( /* and so on */ 1 ))));"), state="deep"),
    "C2CU107": Example(statement("x = x++ ?: 3;"), PRIVATE),
    "C2CU185": Example("int key;\n#pragma c2cu declassify(key)\nint k(int x) { return x / key; }\n"),
    "C2CU183": Example("#include <cmath>\nnamespace a {\nfloat k(float x) { return std::sqrt(x); }\n}\n"),
    "C2CU008": Example(statement("break;")),
    "C2CU009": Example(
        "extern float n;\nint k(int x) { return x + n; }\n",
        command("check k.c other.c"),
        before='Path("other.c").write_text("int n;\\n")',
    ),
    "C2CU003": Example("int a[2] = {1, 2, 3};\nvoid k(void) { a[0]++; }\n", GANG),
    "C2CU108": Example("unsigned float x;\nvoid k(void) { x = 1; }\n"),
    "C2CU109": Example("int a[-1];\nvoid k(void) { a[0] = 1; }\n"),
    "C2CU110": Example("int n;\nenum { A = n };\nvoid k(void) { n = A; }\n"),
    "C2CU111": Example(statement(r"x = L'\ud800';")),
    "C2CU112": Example(statement("x = sizeof(int[]);")),
    "C2CU113": Example("int a[4 / 0];\nvoid k(void) { a[0] = 1; }\n"),
    "C2CU114": Example(
        "int n;\nint k(int x) { return x + n; }\n",
        command("check k.c other.c"),
        before='Path("other.c").write_text("int n;\\n")',
    ),
    "C2CU115": Example(statement("a[0][1] = 2;")),
    "C2CU116": Example(statement("*x = 2;")),
    "C2CU117": Example(statement("s.x = s + 1;", "struct S { int x; } s;")),
    "C2CU118": Example(statement("x = a(3);")),
    "C2CU119": Example("int b[2] = {[0].y = 3};\nvoid k(void) { b[0]++; }\n"),
    "C2CU004": Example(statement("x = y;")),
    "C2CU130": Example(statement("x = square(x);")),
    "C2CU132": Example(statement("x.re = 1;")),
    "C2CU133": Example(statement("s.lenght = 1;", "struct S { int length; } s;")),
    "C2CU005": Example("#define N 4\nint a[N];\nvoid k(void) { a[0]++; }\n", command("check k.c -D M=8")),
    "C2CU134": Example(ADD, command("check k.c -D 3=8")),
    "C2CU135": Example(
        "#undef N\n#define N 4\nint a[N];\n#undef N\n#define N 5\nvoid k(void) { a[N - 2]++; }\n",
        command("check k.c -D N=8"),
    ),
    "C2CU006": Example("int x;\n"),
    "C2CU136": Example("int x;\nvoid f(void) { x = 1; }\nvoid g(void) { x = 2; }\n"),
    "C2CU137": Example(ADD, command("check k.c --fn kernel")),
    "C2CU007": Example(IN_MAIN % "#pragma kernel public(x)\n    k();\n"),
    "C2CU138": Example(IN_MAIN % "#pragma kernal\n    k();\n"),
    "C2CU139": Example(IN_MAIN % "#pragma kernel\n    k();\n#pragma kernel\n    k();\n"),
    "C2CU140": Example(IN_MAIN % "#pragma kernel\n    x = 3;\n    k();\n"),
    # C that no schedule takes
    "C2CU011": Example("double _Complex z;\nvoid k(void) { z = z * z; }\n", PRIVATE),
    "C2CU012": Example("int x;\nvoid k(void) {\n    int a[x];\n    a[0] = 1;\n}\n", PRIVATE),
    "C2CU014": Example(statement("x = _Generic(x, int: 1, default: 2);"), PRIVATE),
    "C2CU015": Example("static const int t[2] = {3, 4};\nconst int *k(int x) {\n    return t + x;\n}\n"),
    "C2CU184": Example("void k(struct { int q; } x) {}\n", 'c2cu.compile("k.c", backend="cpu")'),
    "C2CU142": Example("void k(float **rows) {\n    rows[0][0] = 1;\n}\n"),
    "C2CU177": Example("void k(float ***boxes) {\n    boxes[0][0][0] = 1;\n}\n"),
    "C2CU020": Example(
        "int x;\nint fib(int n) {\n    return n < 2 ? n : fib(n - 1) + fib(n - 2);\n}\nvoid k(void) { x = fib(x); }\n",
        PRIVATE,
    ),
    "C2CU084": Example(statement("int sum(int n, ...);"), PRIVATE),
    "C2CU085": Example(statement('__asm__("nop");'), PRIVATE),
    "C2CU086": Example("int square(int);\nint x;\nvoid k(void) {\n    x = square(x);\n}\n"),
    "C2CU143": Example("#include <stdlib.h>\n" + statement("int *p = malloc(4);\n    *p = x;"), PRIVATE),
    "C2CU170": Example("#include <stdio.h>\n" + statement('printf("%d", x);')),
    "C2CU172": Example(
        "int status;\nvoid k(void) { status = 3; }\n", 'c2cu.bulk("k.c", p=2, status=True, backend="cpu")'
    ),
    "C2CU173": Example(
        "#include <stdlib.h>\nint k(int x) {\n    if (x > 1) exit(x);\n    return x;\n}\n",
        'c2cu.bulk("k.c", np.arange(4, dtype=np.int32), backend="cpu")',
    ),
    "C2CU174": Example(
        "void k(int a[2]) {\n    int n = 0;\n    while (a[0] != 1) {\n        a[0] = a[0] & 1 ? 3 * a[0] + 1 : a[0] / 2;\n"
        "        n++;\n    }\n    a[1] = 1000 / (n - a[1]);\n}\n",
        'c2cu.bulk("k.c", a := np.full((50, 2), [8, 3], np.int32), out=a, backend="cpu", schedule="gang", verify=False)',
    ),
    "C2CU144": Example("#include <stdio.h>\n" + statement("x = getchar();")),
    "C2CU164": Example("#include <stdlib.h>\n" + statement('x = system("ls");')),
    "C2CU166": Example("enum { A = __builtin_constant_p(3) };\nint x;\nvoid k(void) { x = A; }\n", PRIVATE),
    "C2CU145": Example("#include <setjmp.h>\njmp_buf b;\n" + statement("longjmp(b, 1);"), PRIVATE),
    "C2CU146": Example("#include <stdlib.h>\n" + statement("if (x) exit(1);"), PRIVATE),
    "C2CU147": Example("#include <time.h>\n" + statement("x = time(0);")),
    "C2CU182": Example("#include <string.h>\n" + statement('char t[] = "a b"; x = *strtok(t, " ");'), PRIVATE),
    "C2CU181": Example("#include <stdlib.h>\n" + statement("x = rand();"), THREAD),
    "C2CU148": Example(
        "#include <stdlib.h>\nint x[4];\nint less(const void *a, const void *b) { return *(int *)a - *(int *)b; }\n"
        "void k(void) {\n    qsort(x, 4, sizeof(int), less);\n}\n",
        GANG,
    ),
    "C2CU149": Example(statement("if (x < 9) goto in;\n    if (x > 20) {\nin:\n        x++;\n    }"), GANG),
    "C2CU091": Example(
        "struct __attribute__((packed)) S { char c; int i : 3; } s;\nvoid k(void) { s.i = 1; }\n", PRIVATE
    ),
    "C2CU176": Example(
        "struct S { char c; int i __attribute__((aligned(16))); } s;\nvoid k(void) { s.i = 1; }\n", PRIVATE
    ),
    # what lowering cannot follow
    "C2CU016": Example(statement("for (;x < 9;) " * 51 + "x++;"), GANG),
    "C2CU017": Example(statement("s.bits = 3;", "struct S { long bits : 40; } s;"), GANG),
    "C2CU018": Example(statement("u.s = 1;", "union { int *p; short s; } u;"), GANG),
    "C2CU150": Example(statement("u.c = 1;", "#include <stdbool.h>\nunion { bool b; char c; } u;"), GANG),
    "C2CU019": Example(statement("x = ((char *)&s)[1];", "struct { int *p; } s;\nint x;"), GANG),
    "C2CU021": Example(
        "int x;\n"
        + "".join(f"static void f{n}(void) {{ {(f'f{n - 1}(); ' if n else 'x++; ') * 8}}}\n" for n in range(6))
        + "void k(void) { f5(); }\n",
        GANG,
    ),
    "C2CU022": Example(statement("**(int **)a = 3;"), GANG),
    "C2CU153": Example(statement("x = s.n;", "int x, y;\nstatic const struct { long p, n; } s = {(long)&y, 3};"), GANG),
    "C2CU179": Example(
        "#include <math.h>\n" + statement("x *= t;", "double x;\nstatic const double t = 2 * exp(1.5);"), GANG
    ),
    "C2CU154": Example(statement("x = u.f;", "float x;\nconst union { float f; int i; } u = {.i = 0x7fc00000};"), GANG),
    "C2CU023": Example("long double x;\nvoid k(void) {\n    x = x * 2;\n}\n", GANG),
    "C2CU024": Example(statement("a[0] = x;"), 'c2cu.compile("k.c", shared=["a"])'),
    "C2CU025": Example(statement('x = L"abc"[x & 1];'), GANG),
    "C2CU027": Example(statement("int *p = 0;\n    *p = 3;"), GANG),
    "C2CU155": Example(statement("x = *(int *)f;", "int x;\nvoid f(void) {}"), GANG),
    "C2CU156": Example(statement("int *p;\n    *p = 3;"), GANG),
    "C2CU028": Example(
        statement(
            f"int *t[] = {{{', '.join(f'v{k}' for k in range(17))}}};\n    *t[x & 15] = 3;",
            f"int x, {', '.join(f'v{k}[2]' for k in range(17))};",
        ),
        GANG,
    ),
    "C2CU029": Example(statement("x = (long)a >> 3;"), GANG),
    "C2CU158": Example(statement("int *p = (int *)4096L;\n    *p = 3;"), GANG),
    "C2CU159": Example(statement("int *p = 0;\n    x = p < a;"), GANG),
    "C2CU160": Example(statement("x = a < b;", "int x, a[4], b[4];"), GANG),
    "C2CU178": Example(
        "#include <math.h>\ndouble x, y;\nvoid k(void) {\n    y = exp(x) * erf(x);\n}\n",
        command("explain k.c --backend cpu --math correct"),
    ),
    "C2CU080": Example("#include <stdlib.h>\nchar s[8];\nint n;\nvoid k(void) {\n    n = strtol(s, 0, 10);\n}\n", GANG),
    "C2CU161": Example(
        "#include <string.h>\n" + statement("memcpy(&s, &t, x);", "int x;\nstruct S { int n; char c; } s, t;"), GANG
    ),
    "C2CU165": Example(
        statement(
            "memcpy(&s, a, 8); memcpy(b, &s, 8);", "#include <string.h>\nchar a[8], b[8];\nstruct { char c; int i; } s;"
        ),
        GANG,
    ),
    "C2CU167": Example(
        "int x;\nvoid k(void) {\n#pragma c2cu declassify x\n    x++;\n}\n", "$ c2cu check k.c --constant-time"
    ),
    "C2CU168": Example(
        "int x[4];\nvoid k(void) {\n    int *p = x + 1;\n#pragma c2cu declassify(p)\n    x[0] = *p;\n}\n",
        "$ c2cu check k.c --constant-time",
    ),
    "C2CU162": Example(
        "#include <string.h>\n" + statement("int *p[2] = {a, a};\n    memset(p, 1, 16);\n    x = *p[0];"), GANG
    ),
    "C2CU082": Example(
        "int a[4];\nvoid f(int *p) { *p = 1; }\nvoid g(int *p) { *p = 2; }\nvoid k(void) {\n"
        "    void (*h)(int *) = a[0] ? f : g;\n    h(a);\n}\n",
        THREAD,
    ),
    "C2CU083": Example(
        statement(
            "switch (x) {\n    case 1:\n        while (x < 9) {\n    case 2:\n            x++;\n        }\n    }"
        ),
        GANG,
    ),
    "C2CU163": Example(statement("switch (x) {\n        x = 3;\n    case 1: x = 2;\n    }"), GANG),
    # what the caller gives beside arrays
    "C2CU041": Example(ADD, command("check k.c --shared w")),
    "C2CU201": Example(
        "void k(float *a, int n) {\n    for (int i = 0; i < n; i++) a[i] *= 2;\n}\n",
        'c2cu.bulk("k.c", {"a": np.ones(64, np.float32), "n": 64})',
    ),
    "C2CU424": Example(ADD, command("explain k.c --backend cpu --math correct --fp fast")),
    "C2CU051": Example(ADD, 'c2cu.compile("k.c", fp="quick")'),
    "C2CU058": Example(ADD, 'c2cu.compile("k.c", defines=3)'),
    "C2CU200": Example("void k(float *a) { a[0] = 1; }\n", 'c2cu.compile("k.c", shapes={"a": 0})'),
    # compilers and devices
    "C2CU060": Example(ADD, 'c2cu.compile("k.c", backend="cpu")', state="no compiler"),
    "C2CU240": Example(ADD, 'c2cu.compile("k.c", backend="cpu")', state="no such $CC"),
    "C2CU241": Example(ADD, state="broken $CC"),
    "C2CU061": Example(ADD, 'c2cu.compile("k.c", backend="cpu")', state="rejecting $CC"),
    "C2CU242": Example(ADD, 'c2cu.compile("k.c", backend="cpu")', state="killed $CC"),
    "C2CU243": Example(ADD, 'c2cu.compile("k.c", backend="cpu")', state="$CC writes no program"),
    "C2CU258": Example(
        "int x;\nvoid k(void) {\n    int v[(x & 3) + 1];\n    v[0] = x;\n    x = v[0] + 1;\n}\n",
        'c2cu.compile("k.c", backend="cpu")',
        state="$CC writes no program",
    ),
    "C2CU250": Example(ADD, 'c2cu.compile("k.c", backend="cpu")', state="silent $CC"),
    "C2CU251": Example(ADD, RUN % "a.npy", error_examples_states.SAVED, "shared cache"),
    "C2CU252": Example(ADD, 'c2cu.compile("k.c", backend="cpu")', state="no /tmp"),
    "C2CU253": Example(
        "int x;\nvoid k(void) { x = 3; }\n", 'c2cu.bulk("k.c", p=1 << 40, backend="cpu")', state="16 GiB"
    ),
    "C2CU255": Example(
        ADD, 'c2cu.bulk("k.c", np.ones((3, 4), np.float32), backend="cpu", verify="strict")', state="a fault"
    ),
    "C2CU257": Example(
        ADD,
        '[c2cu.bulk("k.c", np.ones((3, 4), np.float32), backend="cpu") for call in (1, 2)]',
        state="a late fault",
    ),
    "C2CU254": Example("float a[1l << 60];\nvoid k(void) { a[0]++; }\n"),
    # arrays and options of a call
    "C2CU237": Example(ADD, OUT % "np.lib.stride_tricks.as_strided(np.ones(12, np.float32), (3, 4), (8, 4))"),
    "C2CU238": Example(ADD, 'c2cu.bulk("k.c", np.ma.masked_equal(np.ones((3, 4), np.float32), 0), backend="cpu")'),
    "C2CU239": Example("int x;\nvoid k(void) { x = 3; }\n", 'c2cu.bulk("k.c", p=-1, backend="cpu")'),
    "C2CU040": Example(ADD, 'c2cu.bulk("k.c", {}, p=3, backend="cpu")'.replace(", p=3", "")),
    "C2CU430": Example(
        "float x, gain, y;\nvoid k(void) {\n    y = x;\n    if (x > 1) y = x * gain;\n}\n",
        command("run k.c --in x=x.npy --out y=y.npy --backend cpu"),
        before='np.save("x.npy", np.ones(3, np.float32))',
    ),
    "C2CU042": Example(TWO, 'c2cu.bulk("k.c", np.ones((3, 4), np.float32), backend="cpu")'),
    "C2CU043": Example(ADD, 'c2cu.bulk("k.c", {"a": np.ones((3, 4))}, backend="cpu")'),
    "C2CU044": Example(ADD, 'c2cu.bulk("k.c", {"a": [[1, 2, 3, 4]]}, backend="cpu")'),
    "C2CU045": Example(ADD, 'c2cu.bulk("k.c", {"a": np.ones(4, np.float32)}, backend="cpu")'),
    "C2CU046": Example(ADD, 'c2cu.bulk("k.c", {"a": np.ones((3, 5), np.float32)}, backend="cpu")'),
    "C2CU047": Example(SCALED, 'c2cu.bulk("k.c", {"a": np.ones((3, 4), np.int32), "n": 2**40}, backend="cpu")'),
    "C2CU048": Example(
        TWO, 'c2cu.bulk("k.c", {"a": np.ones((3, 4), np.float32), "b": np.ones((5, 4), np.float32)}, backend="cpu")'
    ),
    "C2CU049": Example("int x;\nvoid k(void) { x = 3; }\n", 'c2cu.bulk("k.c", backend="cpu")'),
    "C2CU050": Example(
        "void k(float *a, float *b, int n) {\n    b[n] = a[n];\n}\n",
        'c2cu.bulk("k.c", {"a": np.ones((3, 4), np.float32), "n": 0}, backend="cpu")',
    ),
    "C2CU400": Example("int f(int a) {\n    return a + 1;\n}\n", 'c2cu.compile("k.c", backend="cpu").state(4)'),
    "C2CU401": Example(
        "int f(int a) {\n    static int sum;\n    sum += a;\n    return sum;\n}\n",
        'c2cu.compile("k.c", backend="cpu").state(4)',
    ),
    "C2CU402": Example(COUNTER, 'c2cu.compile("k.c", backend="cpu").state(4).reset([True, False, True, False])'),
    "C2CU403": Example(
        COUNTER, 'c2cu.compile("k.c", backend="cpu").state(4).step({"n": np.ones(4, np.int32), "a": 1})'
    ),
    "C2CU052": Example(
        "#define N 4\nfloat a[N], b[N];\nvoid k(void) { a[0] += b[0]; }\n",
        'c2cu.bulk("k.c", {"a": np.ones((2, 5), np.float32), "b": np.ones((2, 6), np.float32)}, backend="cpu")',
    ),
    "C2CU236": Example(
        "#define N 4\nfloat D[N][N];\nvoid k(void) { D[0][0] += D[0][1]; }\n",
        'c2cu.bulk("k.c", np.ones((2, 5, 6), np.float32), backend="cpu")',
    ),
    "C2CU202": Example(
        "int a[2], b[2];\nvoid k(void) { a[0] = b[0] = 1; }\n",
        'c2cu.bulk("k.c", p=2, out=np.zeros((2, 2), np.int32), backend="cpu")',
    ),
    "C2CU203": Example(ADD, OUT % "np.broadcast_to(np.float32(0), (3, 4))"),
    "C2CU211": Example(ADD, OUT % "np.zeros((5, 4), np.float32)"),
    "C2CU210": Example(
        "int a[2], b[2];\nvoid k(void) { a[0] = b[0] = 1; }\n",
        '(lambda z: c2cu.bulk("k.c", p=2, out={"a": z, "b": z}, backend="cpu"))(np.zeros((2, 2), np.int32))',
    ),
    "C2CU208": Example(ADD, 'list(c2cu.stream("k.c", np.ones((3, 4), np.float32), devices=[0], backend="cpu"))'),
    "C2CU212": Example(ADD, 'c2cu.stream("k.c", 3, backend="cpu")'),
    "C2CU216": Example(ADD, 'c2cu.stream("k.c", iter([]), memory="2X", backend="cpu")'),
    "C2CU217": Example(ADD, 'c2cu.stream("k.c", iter([]), group=0, backend="cpu")'),
    "C2CU218": Example(ADD, 'c2cu.stream("k.c", iter([]), interval=-1.0, backend="cpu")'),
    "C2CU219": Example(ADD, 'c2cu.stream("k.c", iter([]), group=4, latency_target=0.1, backend="cpu")'),
    "C2CU224": Example(ADD, 'c2cu.bulk("k.c", np.ones((3, 4), np.float32), pack=8, backend="cpu")'),
    "C2CU226": Example("void k(float *a) { a[0] = 1; }\n", command("check k.c --shape a=5,8")),
    "C2CU259": Example(
        "double *u;\ndouble k(int i) { return u[i]; }\n",
        'c2cu.bulk("k.c", {"i": np.array([1], np.int32), "u": np.ones((1, 5))}, backend="cpu")',
    ),
    "C2CU227": Example(ADD, command("check k.c --shape a=5")),
    "C2CU228": Example(ADD, 'c2cu.compile("k.c", backend="cpu", schedule="registers")'),
    "C2CU229": Example(ADD, command("check k.c --shared a=3")),
    "C2CU230": Example(SCALED, command("check k.c --shared n=x")),
    "C2CU231": Example(ADD, command("check k.c --shape a=four")),
    "C2CU232": Example(ADD, command("explain k.c --p 10 --backend cpu --plot k.txt")),
    "C2CU233": Example(IN_MAIN % "    k();\n", command("translate k.c --p 0")),
    "C2CU055": Example(IN_MAIN % "    k();\n", command("translate k.c --p 4 --threads 2000")),
    "C2CU234": Example(IN_MAIN % "    k();\n", 'c2cu.translate("k.c", p=4, group=0)'),
    "C2CU235": Example(IN_MAIN % "    k();\n", 'c2cu.translate("k.c", p=1 << 60)'),
    "C2CU062": Example(ADD, 'c2cu.bulk("k.c", np.ones((3, 4), np.float32), backend="cuda")', state="no CuPy"),
    "C2CU120": Example("", "c2cu.paths.by_middle(np.full((3, 3), 7), 0, 2)"),
    "C2CU122": Example("", "c2cu.paths.path(np.ones((2, 3)), 0, 1)"),
    "C2CU123": Example("", 'c2cu.paths.path(np.zeros((3, 3), int), "a", 1)'),
    "C2CU124": Example("", "c2cu.paths.path(np.zeros((3, 3), int), 0, 9)"),
    "C2CU125": Example("", "c2cu.paths.path(np.full((3, 3), -1), 0, 2)"),
    "C2CU126": Example("", "c2cu.paths.path(np.array([[0, 1, 1], [0, 1, 0], [2, 2, 2]]), 0, 2)"),
    # the verdict, and what C does not define
    "C2CU030": Example(statement("a[x & 3] = 1;"), 'c2cu.compile("k.c", strict=True, backend="cpu")'),
    "C2CU031": Example(statement("a[x & 3] = 1;")),
    "C2CU032": Example(statement("while (x > 1) x /= 2;")),
    "C2CU033": Example(statement("if (x > 1) a[0] = 2;")),
    "C2CU039": Example(statement("x = 100 / x;"), "$ c2cu check --constant-time k.c"),
    "C2CU034": Example("long double x;\nvoid k(void) {\n    x = x * 2;\n}\n"),
    "C2CU035": Example(statement("for (int i = 0; i <= 4; i++) a[i] = 0;")),
    "C2CU036": Example(statement("int y;\n    x = y;")),
    # splitting main
    "C2CU070": Example(ADD, TRANSLATE),
    "C2CU260": Example(IN_MAIN % "    for (int i = 0; i < 3; i++) {\n#pragma kernel\n        k();\n    }\n", TRANSLATE),
    "C2CU073": Example(
        "#include <alloca.h>\n" + IN_MAIN % "    int *p = alloca(4);\n    k();\n    *p = x;\n", TRANSLATE
    ),
    "C2CU261": Example(IN_MAIN % "    int *p = (int[]){1, 2};\n    k();\n    x = *p;\n", TRANSLATE),
    "C2CU075": Example("#include <stdlib.h>\n" + IN_MAIN % "    x = rand();\n    k();\n    x += rand();\n", TRANSLATE),
    "C2CU262": Example(
        '#include <string.h>\nchar s[] = "1 2";\n' + IN_MAIN % '    strtok(s, " ");\n    k();\n    strtok(0, " ");\n',
        TRANSLATE,
    ),
    "C2CU263": Example(
        "#include <setjmp.h>\njmp_buf b;\n" + IN_MAIN % "    setjmp(b);\n    k();\n    longjmp(b, 1);\n", TRANSLATE
    ),
    "C2CU264": Example(
        "#include <stdio.h>\n" + IN_MAIN % "    x = getchar();\n    k();\n    x += getchar();\n", TRANSLATE
    ),
    "C2CU265": Example("#include <stdio.h>\n" + IN_MAIN % "    k();\n    fclose(stdout);\n", TRANSLATE),
    "C2CU266": Example(
        "#include <stdio.h>\nchar b[99];\n" + IN_MAIN % "    setvbuf(stdout, b, _IOFBF, 99);\n    k();\n", TRANSLATE
    ),
    "C2CU267": Example(
        "#include <stdlib.h>\nvoid bye(void) {}\n" + IN_MAIN % "    atexit(bye);\n    k();\n", TRANSLATE + " --fn k"
    ),
    "C2CU268": Example("#include <unistd.h>\n" + IN_MAIN % "    k();\n    if (fork()) return 1;\n", TRANSLATE),
    "C2CU076": Example(IN_MAIN % "    if (x) goto end;\n    k();\nend: ;\n", TRANSLATE),
    "C2CU072": Example(
        "int x;\nvoid k(void) { x++; }\nint main(void) {\n    struct S { int n; };\n    static struct S s;\n    x = s.n++;\n    k();\n"
        "    return 0;\n}\n",
        TRANSLATE,
    ),
    "C2CU077": Example(
        "struct S { char c; };\nint x;\nvoid k(void) { x++; }\nint main(void) {\n    struct S { int x; } s = {1};\n    k();\n    x = s.x;\n    return 0;\n}\n",
        TRANSLATE,
    ),
    "C2CU271": Example(
        "int x, threadIdx;\nvoid k(void) { x++; }\nint main(void) {\n    k();\n    return threadIdx;\n}\n", TRANSLATE
    ),
    "C2CU074": Example(
        "struct s { int v, *q; } x[4];\nvoid k(struct s p[2]) { p[0].v++; }\nint main(void) {\n    k(x + 1);\n    return 0;\n}\n",
        TRANSLATE,
    ),
    "C2CU269": Example(
        "#include <stdlib.h>\nint n;\nvoid k(float *a) { for (int i = 0; i < n; i++) a[i] = i; }\nint main(void) {\n"
        "    n = rand();\n    float *memory = malloc(n * sizeof *memory);\n    k(memory);\n    return 0;\n}\n",
        TRANSLATE,
    ),
    "C2CU274": Example(
        "int x[4];\nvoid k(int *p, int *q) { p[0] = q[1]; }\nint main(void) {\n    k(x, x);\n    return 0;\n}\n",
        TRANSLATE,
    ),
    "C2CU272": Example(
        "void k(int **a) { a[0][0]++; }\nint main(void) {\n    int x[2], *rows[1] = {x};\n#pragma kernel\n    k(rows);\n    return 0;\n}\n",
        command("translate k.c --p 4 --shape a=1,2"),
    ),
    "C2CU089": Example(
        "int n;\nstatic int g(void) { return n; }\nint f(int n, int x) { return g() + n + x; }\n", command("check k.c")
    ),
    "C2CU273": Example(
        "int x[4], i;\nvoid k(int p[static 2]) { p[i]++; }\nint main(void) {\n    k(x);\n    return 0;\n}\n", TRANSLATE
    ),
    "C2CU078": Example(
        "int x;\nvoid k(void) { x++; }\nint main(int n, char **v, char **e) {\n    k();\n    return 0;\n}\n", TRANSLATE
    ),
    # what single schedules cannot take
    "C2CU093": Example(statement("while (x > 1) x /= 2;"), CUDA % "block"),
    "C2CU280": Example(statement("for (int i = 0; i < 5; i++) if (x > i) a[i] = 1;"), CUDA % "block"),
    "C2CU090": Example(
        "struct P { float x, y; } p[20];\nfloat s[20];\nvoid k(void) {\n    for (int i = 0; i < 20; i++) s[i] = p[i].x;\n}\n",
        CUDA % "block",
    ),
    "C2CU281": Example(statement("a[0]++;"), CUDA % "block"),
    "C2CU094": Example(
        "double a[64], t[4000000];\nvoid k(void) {\n    for (int i = 0; i < 64; i++) a[i] += t[i];\n}\n", CUDA % "block"
    ),
    "C2CU095": Example(statement("x = a[x & 3];"), CUDA % "scan"),
    "C2CU290": Example("int a[300];\nvoid k(void) {\n    a[299] = a[0];\n}\n", CUDA % "registers"),
    "C2CU292": Example(
        "int a[500], s;\nvoid k(void) {\n    for (int i = 0; i < 30000; i++) s += a[i % 500];\n}\n", CUDA % "registers"
    ),
    "C2CU293": Example(
        "double a[150], s[50];\nvoid k(void) {\n    for (int i = 0; i < 150; i++) s[i % 50] += a[i] * a[149 - i];\n}\n",
        CUDA % "registers",
    ),
    "C2CU037": Example(statement("a[0]++;"), CUDA % "scan"),
    "C2CU304": Example(statement("a[0]++;"), CUDA % "gep"),
    "C2CU038": Example(
        "float D[8][8];\nvoid k(void) {\n    for (int k = 0; k < 7; k++)\n        for (int i = 0; i < 8; i++)\n"
        "            for (int j = 0; j < 8; j++) D[i][j] += D[k + 1][j];\n}\n",
        CUDA % "gep",
    ),
    "C2CU305": Example(
        "float D[8][8];\nvoid k(void) {\n    for (int k = 0; k < 8; k++)\n        for (int i = 0; i < 8; i++)\n"
        "            for (int j = 0; j < 8; j++)\n                if (D[i][k] + D[k][j] < D[i][j]) D[i][j] = D[i][k] + D[k][j];\n}\n",
        CUDA % "gep:bits",
    ),
    "C2CU312": Example(
        "int first(void *p) { return *(int *)p; }\nint k(int a[4]) { return first(a); }\n", CUDA % "thread"
    ),
    "C2CU315": Example(statement("int t[4] = {0};\n    int *p = x ? a : t;\n    p[1] = 2;"), CUDA % "thread"),
    "C2CU316": Example("struct S { int n; };\nint x;\nvoid k(struct S s) {\n    x = s.n;\n}\n", CUDA % "thread"),
    "C2CU317": Example("struct S { int n; } s = {3};\nvoid k(void) {\n    s.n++;\n}\n", CUDA % "thread"),
    "C2CU318": Example(
        "struct S { int n; };\nint x;\nvoid k(void) {\n    static struct S s;\n    x = s.n++;\n}\n", CUDA % "thread"
    ),
    "C2CU319": Example(
        "int x;\nconst union { int low : 4; int whole; } u = {3};\nvoid k(void) {\n    x += u.whole;\n}\n",
        CUDA % "thread",
    ),
    # files
    "C2CU056": Example(ADD, RUN % "none.npy"),
    "C2CU341": Example(ADD, RUN % "a.npy", before='Path("a.npy").write_bytes(b"junk" * 20)'),
    "C2CU340": Example(
        ADD,
        command("run k.c --in a=a.npz --out b=b.npy --backend cpu"),
        before='np.savez("a.npz", x=np.ones(3), y=np.ones(3))',
    ),
    "C2CU431": Example(
        ADD,
        command("run k.c --in a.npz --out b.npy --backend cpu"),
        before='np.savez("a.npz", a=np.ones((3, 4), np.float32), A=np.ones(3))',
    ),
    "C2CU345": Example(ADD, RUN % "a.bin", before='Path("a.bin").write_bytes(b"abc")'),
    "C2CU346": Example(ADD, RUN % "a.txt", before='Path("a.txt").write_text("1 2 3")'),
    "C2CU057": Example(
        ADD,
        command("run k.c --in a.npy --out none/b.npy --backend cpu"),
        before='np.save("a.npy", np.ones((3, 4), np.float32))',
    ),
    "C2CU356": Example(TWO_OUT, command("run k.c --p 3 --out a=c.npy --out b=./c.npy --backend cpu")),
    "C2CU359": Example(TWO_OUT, command("run k.c --p 3 --out a=c.npy --out a=d.npy --backend cpu")),
    "C2CU361": Example(TWO_OUT, command("run k.c --p 3 --out c.npy --backend cpu")),
    "C2CU357": Example(
        TWO_OUT,
        command("run k.c --p 3 --out a=c.zarr --out b=c.zarr/d.npy --backend cpu"),
        before='Path("c.zarr").mkdir()',
    ),
    "C2CU358": Example(TWO, command("run k.c --in a.npy --in b.npy --out b=c.npy --backend cpu")),
    "C2CU360": Example(
        ADD, command("run k.c --in a.npy --backend cpu"), before='np.save("a.npy", np.ones((3, 4), np.float32))'
    ),
    "C2CU362": Example(IN_MAIN % "    k();\n", command("translate k.c --p 2 -o k.c")),
    "C2CU425": Example(ADD, 'c2cu.stream("k.c", iter([]), depth=10**6, backend="cpu")'),
    "C2CU420": Example(ADD, command("translate k.c --library --target cpu -o k-bulk.c")),
    "C2CU421": Example(ADD, command("translate k.c --library")),
    "C2CU422": Example(
        ADD,
        command("translate k.c --library --cmake -o k_bulk.cu"),
        "open('CMakeLists.txt', 'w').write('project(mine)\\n')",
    ),
    "C2CU423": Example(ADD, command("translate k.c --library --cmake -o k_bulk")),
    "C2CU186": Example(
        "int v, o;\nvoid k(void) {\n    static int *const p = &v;\n    *p += 3;\n    o = *p;\n}\n",
        command("translate k.c --library --target cpu --schedule native -o k_bulk.c"),
    ),
    "C2CU187": Example(
        '#include <string.h>\nchar line[80], o;\nvoid k(void) {\n    o = *strtok(line, " ");\n}\n',
        command("translate k.c --library --target cpu --schedule native -o k_bulk.c"),
    ),
    **error_examples_schedules.EXAMPLES,
}


@dataclass(frozen=True)
class Outcome:
    """``printed``: what the user sees. ``error``: what Python raises; None for a command line."""

    printed: str
    error: c2cu.Error | None = None


@cache
def outcome(example: Example) -> Outcome:
    """Run an example in a folder of its own."""
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as monkeypatch:
        os.chdir(folder)
        try:
            if example.source:
                Path("k.c").write_text(example.source)
            exec(example.before, {"np": np, "Path": Path})
            if example.state:
                STATES[example.state].make(monkeypatch)
            done = _run(example.call)
            return Outcome(re.sub(re.escape(os.path.realpath(folder) + "/"), "", done.printed), done.error)
        finally:
            os.chdir(here)


def _run(call: str) -> Outcome:
    if call.startswith("$ c2cu "):
        done = CliRunner().invoke(main, call.split()[2:])
        if done.exception is not None and not isinstance(done.exception, (SystemExit, click.ClickException)):
            raise done.exception
        return Outcome(done.stderr.rstrip())
    try:
        packages = {"cupy": sys.modules.get("cupy"), "da": sys.modules.get("dask.array")}
        with warnings.catch_warnings(record=True) as warned:
            result = eval(call, {"c2cu": c2cu, "np": np, **packages})
    except c2cu.Error as e:
        return Outcome(f"c2cu.{type(e).__name__}: {e}", e)
    notices = [f"c2cu.{type(w.message).__name__}: {w.message}" for w in warned if isinstance(w.message, Notice)]
    return Outcome("\n".join(notices) or str(result))


# docs/errors.md

HEAD = """\
# Errors

Every message carries a code, such as `[C2CU031]`. This page lists all codes: what each means, an example that causes
it with what c2cu prints, and how to go on. `c2cu check FILE.c` tells most of them before anything runs.

In Python each error is a subclass of `c2cu.Error` with `.code`, `.file`, `.line` and `.column`; the class is named at
each code. (This page is printed by `make errors` from c2cu/base/catalogue.py and tests/error_examples.py.)
"""


def entry(m: catalogue.Message) -> str:
    """The section of one code."""
    kind = m.kind.__name__.replace("InputTypeError", "InputError")
    parts = [f"## {m.code}", f"{m.meaning} (`{kind}`)", *_shown(EXAMPLES[m.code])]
    fix = m.fix or m.hint[:1].upper() + m.hint[1:]
    parts.append(f"Fix: {fix.rstrip('.')}{'' if fix.endswith('?') else '.'}")
    return "\n\n".join(parts) + "\n"


def _shown(example: Example) -> list[str]:
    """The example and what it prints."""
    parts = [f"```c\n{example.source.rstrip()}\n```"] if example.source.strip() else []
    state = f" ({STATES[example.state].told})" if example.state else ""
    before = f">>> {example.before}\n" if example.before else ""
    call = example.call if example.call.startswith("$ ") else f">>> {example.call}"
    return [*parts, f"```\n{before}{call}{state}\n{outcome(example).printed}\n```"]


def document() -> str:
    """docs/errors.md."""
    return "\n".join([HEAD, *(entry(catalogue.CATALOGUE[code]) for code in sorted(catalogue.CATALOGUE))])


if __name__ == "__main__":
    os.environ["C2CU_VERIFY"] = "off"  # on machines that are made up
    print(document(), end="")
