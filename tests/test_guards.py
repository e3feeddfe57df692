"""Accesses that conditions keep in bounds, some of which depend on data and some not: no fault of the program."""

import random
import subprocess
from pathlib import Path

import pytest

from c2cu.frontend.options import options_of
from c2cu.frontend.preprocess import Source
from c2cu.pipeline import understand
from c2cu.trace import diagnosed, run, trace
from tests.programs import share
from tests.sample import sampled
from tests.test_trace import analysed

N = 3
HEAD = "int x[6], a[6], o[6];\nvoid kern(void) {\n    for (int i = 0; i < 6; i++) {\n        "

KEPT_IN = [
    "if (x[i] > 0 && i > 0) o[i] = a[i - 1]; else o[i] = 0;",
    "if (i > 0 && x[i] > 0) o[i] = a[i - 1]; else o[i] = 0;",
    "o[i] = i > 0 && x[i] > 0 ? a[i - 1] : 0;",
    "o[i] = x[i] > 0 && i > 0 ? a[i - 1] : 0;",
    "if (i == 0 || x[i] < 0) o[i] = 1; else o[i] = a[i - 1];",
    "if (x[i] < 0 || i == 0) o[i] = 1; else o[i] = a[i - 1];",
    "if (!(i > 0 && x[i] > 0)) continue; o[i] = a[i - 1];",
    "if (i == 0 || x[i] > 3) continue; if (x[i] < 2) continue; o[i] = a[i - 1];",
    "int inside = i > 0 && x[i] > 0; if (inside) o[i] = a[i - 1];",
    "int inside = 0; if (x[i] > 0 && i > 0) inside = 1; o[i] = inside ? a[i - 1] : 0;",
    "_Bool left = i > 0, some = x[i]; if (left && some) o[i] = a[i - 1];",
    "_Bool left = i > 0, some = x[i]; if ((left & some) != 0 && left) o[i] = a[i - 1];",
    "if ((x[i] > 0 ? i > 0 : i > 1) && x[i] != 7) o[i] = a[i - 1];",
    "if ((i > 0 && x[i]) == 0) o[i] = 0; else if (x[i] > 2) o[i] = a[i - 1];",
    "for (int j = -1; j < 2; j++) if (x[i] > j && i + j >= 0 && i + j < 6) o[i] += a[i + j];",
]
LET_OUT = [
    "if (x[i] > 0 && i >= 0) o[i] = a[i - 1]; else o[i] = 0;",
    "o[i] = i > 0 || x[i] > 0 ? a[i - 1] : 0;",
    "if (i == 0 && x[i] < 0) o[i] = 1; else o[i] = a[i - 1];",
    "if (!(i > 0 || x[i] > 0)) continue; o[i] = a[i - 1];",
    "int inside = i > 0 && x[i] > 0; if (x[i] > 3) inside = 1; if (inside) o[i] = a[i - 1];",
    "int j = i, inside = j > 0 && x[i] > 0; j = 0; if (inside) o[i] = a[j - 1];",
    "int inside = 0; for (int j = 0; j < 2; j++) { if (inside) o[i] = a[i - 1]; if (x[i] > j) inside = 1; }",
    "if ((x[i] > 0 ? i > 0 : i >= 0) && x[i] != 7) o[i] = a[i - 1];",
    "int j = i; if (x[i] > 0 || j > 0) { if (i < 4) j = 1; o[i] += a[j]; } else o[i] = a[i - 1];",
    "int j = i, left = j > 0 && x[i] > 0; if (x[i] > 2) { j = 0; o[i] = a[j]; } else if (left) o[i] = a[i - 2];",
    "o[i] = i > 0 && x[i] > 0 ? a[i - 1] : a[i - 1] + 1;",
]


@pytest.mark.parametrize("body", sampled(KEPT_IN, 1))
def test_no_warning_of_what_cannot_happen(body):
    front = understand(Source("<input>", f"{HEAD}{body}\n    }}\n}}\n"), options_of())
    assert front.trace is not None and front.trace.complete and not diagnosed(front.trace)


@pytest.mark.parametrize("body", KEPT_IN)
def test_no_schedule_relies_on_it(body):
    """One that did the access ahead of the branch would leave the array, unless its subscript never does."""
    traced = understand(Source("<input>", f"{HEAD}{body}\n    }}\n}}\n"), options_of()).trace
    assert traced is not None and [f.kind for f in traced.faults] == ["ahead"] and not traced.faults[0].certain


@pytest.mark.parametrize("body", LET_OUT)
def test_a_warning_of_what_can(body):
    front = understand(Source("<input>", f"{HEAD}{body}\n    }}\n}}\n"), options_of())
    (warning,) = diagnosed(front.trace)
    assert warning.message.startswith("if this branch is taken: element -1 is outside 'a'")


class Writer:
    """A random kernel; ``accesses``: the lines of those that may leave ``a``."""

    def __init__(self, seed: int):
        self.r = random.Random(seed)
        self.lines: list[str] = []
        self.accesses: list[int] = []
        self.counting = False  # in a loop that counts u
        self.line(f"int x0[{N}], x1[{N}], x2[{N}], a[{N}], o[{N}];")
        self.line("void kern(void) {")
        self.line("int b0 = 0, b1 = 0, u = 0;")
        self.line(f"for (int i = 0; i < {N}; i++) {{")
        if self.r.random() < 0.5:
            self.line(f"b0 = {self.condition()};")
        self.statements(3)
        self.line("}")
        self.line("}")

    def line(self, text: str) -> None:
        self.lines.append(text)

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"

    def condition(self, depth: int = 2) -> str:
        r = self.r
        if depth and r.random() < 0.6:
            a, b = self.condition(depth - 1), self.condition(depth - 1)
            return r.choice(
                (f"({a} && {b})", f"({a} || {b})", f"!{a}", f"({a} == 0)", f"({a} != 0)", f"({a} ? {b} : 1)")
            )
        data = f"(x{r.randrange(3)}[i] > 0)"
        known = f"({r.choice('iiu')} {r.choice(('>', '<', '==', '!=', '>='))} {r.randrange(N)})"
        return r.choice((data, known, known, r.choice(("b0", "b1"))))

    def element(self) -> str:
        self.accesses.append(len(self.lines) + 1)
        return f"a[{self.r.choice(('i', 'i', 'u'))} {self.r.choice(('- 1', '- 2', '+ 1', '+ 2'))}]"

    def statements(self, depth: int) -> None:
        for _ in range(self.r.randrange(1, 4)):
            self.statement(depth)

    def statement(self, depth: int) -> None:
        r = self.r
        match r.randrange((8 if self.counting else 10) if depth else 4):
            case 0 | 1:
                self.line(f"o[i] += {self.element()};")
            case 2:
                self.line(f"o[i] += {self.condition()} ? {self.element()} : 1;")
            case 3:
                self.line(f"{r.choice(('b0', 'b1'))} = {self.condition()};")
            case 4 | 5 | 6:
                self.line(f"if ({self.condition()}) {{")
                self.statements(depth - 1)
                if r.random() < 0.5:
                    self.line("} else {")
                    self.statements(depth - 1)
                self.line("}")
            case 7:
                self.line(f"if ({self.condition(1)}) continue;")
            case 8:
                self.line(f"u = {r.choice(('i', 'i + 1', '0', '1'))};")
            case 9:
                self.line(f"for (u = 0; u < {r.randrange(1, N + 1)}; u++) {{")
                self.counting = True
                self.statements(depth - 1)
                self.counting = False
                self.line("}")


def happens(programs: list[Writer], folder: Path) -> list[set[int]]:
    """The lines of each program that leave ``a`` for some data, by trying all."""
    parts = ["#include <stdio.h>", "#include <string.h>", "static int left[1000], nothing;"]
    parts.append(f"static int *at(int line, int e) {{ if (e < 0 || e >= {N}) left[line] = 1; return &nothing; }}")
    names = ("x0", "x1", "x2", "a", "o", "kern")
    for number, p in enumerate(programs):
        parts += [f"#define {n} {n}_{number}" for n in names]
        for line, text in enumerate(p.lines, 1):
            begin = text.find(" a[") + 1
            if line in p.accesses and begin:
                end = text.index("]", begin)
                text = f"{text[:begin]}*at({line}, {text[begin + 2 : end]}){text[end + 1 :]}"
            parts.append(text)
        parts.append(
            f"static void try_{number}(void) {{ memset(left, 0, sizeof left);"
            f" for (int data = 0; data < {1 << 3 * N}; data++) {{"
            f" for (int e = 0; e < {N}; e++) x0[e] = data >> e & 1, x1[e] = data >> ({N} + e) & 1, x2[e] = data >> ({2 * N} + e) & 1;"
            ' kern(); } for (int line = 0; line < 1000; line++) if (left[line]) printf("%d ", line); puts(""); }'
        )
        parts += [f"#undef {n}" for n in names]
    parts.append(f"int main(void) {{ {' '.join(f'try_{k}();' for k in range(len(programs)))} return 0; }}")
    (folder / "all.c").write_text("\n".join(parts))
    subprocess.run(["gcc", "-O1", "-w", str(folder / "all.c"), "-o", str(folder / "all")], check=True)
    told = subprocess.run([str(folder / "all")], check=True, capture_output=True, text=True).stdout
    return [set(map(int, line.split())) for line in told.splitlines()]


@pytest.mark.slow
def test_random_conditions(tmp_path, monkeypatch):
    """All that can happen is told, and little else: where conditions are related, or flags outlive a turn."""
    monkeypatch.setenv("C2CU_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(run, "FLAGS", ("-O0", "-w"))
    programs = [Writer(seed) for seed in range(share(100, 20))]
    oblivious = kept_in = needless = 0
    for p, happening in zip(programs, happens(programs, tmp_path), strict=True):
        u = analysed(p.text)
        assert u is not None
        if not u.oblivious:  # the counter of a loop that not all data goes through
            continue
        traced = trace(u)
        told = {f.loc.line for f in traced.faults if f.kind == "bounds"}
        assert traced.complete and happening <= told, p.text
        oblivious += 1
        kept_in += any(f.kind == "ahead" for f in traced.faults)
        needless += len(told - happening)
    assert oblivious > len(programs) // 2 and kept_in > oblivious // 50 and needless < oblivious // 3, needless
