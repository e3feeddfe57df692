"""Random loop nests over small arrays: subscripts of every kind, branches on data, scalars and arrays of their own."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

SIZE = 12
HEAD = f"""
int a[{SIZE}], b[{SIZE}], c[3][4], s;
static const int table[8] = {{3, 1, 4, 0, 5, 2, 7, 6}};
static const int twice[8] = {{3, 1, 4, 1, 5, 2, 3, 6}};
"""
DATA = {"a": SIZE, "b": SIZE, "c": SIZE, "s": 1}


def nests(seed: int, wild: int = 2) -> str:
    """A program of a few loop nests. ``wild``: percent of subscripts that may leave their array."""
    w = _Writer(random.Random(seed), wild)
    for _ in range(3):
        w.nest()
    return HEAD + "void kern(void) {\n    int p[4], x = 0, y;\n" + "\n".join(w.lines) + "\n}\n"


@dataclass
class _Writer:
    random: random.Random
    wild: int
    lines: list[str] = field(default_factory=list)
    counters: list[tuple[str, int]] = field(default_factory=list)  # with its bound
    scalars: list[str] = field(default_factory=lambda: ["x", "s"])
    arrays: list[str] = field(default_factory=list)  # private
    named: int = 0
    depth: int = 1
    arms: int = 0

    def below(self, n: int) -> int:
        return self.random.randrange(n)

    def pick(self, items):
        return items[self.below(len(items))]

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def fresh(self, stem: str) -> str:
        self.named += 1
        return f"{stem}{self.named}"

    def index(self, size: int) -> str:
        if not self.counters or self.below(10) == 0:
            return str(self.below(size))
        i, n = self.pick(self.counters)
        j, _ = self.pick(self.counters)
        k = self.below(4)
        text, most = self.pick(
            [
                (i, n - 1),
                (i, n - 1),
                (f"{i} + {k}", n - 1 + k),
                (f"({i} ^ {k})", max(x ^ k for x in range(n))),
                (f"{i} * 2", 2 * n - 2),
                (f"{i} / 2", (n - 1) // 2),
                (f"table[{i} & 7]", 7),
                (f"twice[{i} & 7]", 7),
                (f"({i} ^ {j})", 7),
                (f"({i} + {j})", 99),
                (f"{i} * {self.pick([2, 4])} + {j}", 99),
                (f"{n} - 1 - {i}", n - 1),
            ]
        )
        if most < size or self.below(100) < self.wild:
            return text
        return f"({text}) % {size}"

    def element(self) -> str:
        kind = self.below(8 if self.arrays else 6)
        if kind == 0:
            return f"c[{self.index(3)}][{self.index(4)}]"
        if kind > 5:
            return f"{self.pick(self.arrays)}[{self.index(4)}]"
        return f"{self.pick('ab')}[{self.index(SIZE)}]"

    def leaf(self) -> str:
        kind = self.below(8)
        if kind < 2:
            return self.pick(self.scalars)
        if kind == 2 and self.counters:
            return self.pick(self.counters)[0]
        return self.element()

    def value(self) -> str:
        kind = self.below(8)
        if kind == 0 and self.counters:
            i, n = self.pick(self.counters)
            return f"({i} < {self.below(n + 1)} ? {self.leaf()} : {self.leaf()})"
        if kind == 1:
            return f"({self.leaf()} > {self.leaf()} && {self.leaf()} < {self.leaf()})"
        return f"{self.leaf()} {self.pick('+-^')} {self.leaf()}" if kind < 6 else self.leaf()

    def statement(self) -> None:
        kind = self.below(16)
        if kind < 7 or self.depth > 6:
            self.line(f"{self.element()} {self.pick(['=', '=', '=', '+=', '^='])} {self.value()};")
        elif kind < 9:
            self.line(f"{self.pick(self.scalars)} {self.pick(['=', '=', '+='])} {self.value()};")
        elif kind < 11:
            name = self.fresh("v")
            self.line(f"int {name} = {self.value()};")
            self.scalars.append(name)
        elif kind == 11:
            name = self.fresh("t")
            self.line(f"int {name}[4]{self.pick(['', ' = {0}', ' = {1, 2}'])};")
            if self.below(2):
                self.line(f"for (int z = 0; z < 4; z++) {name}[z] = {self.leaf()};")
            self.arrays.append(name)
        elif kind < 15:
            self.branch()
        elif self.counters:
            i, n = self.counters[-1]
            self.line(f"if ({i} == {self.below(n)}) {self.pick(['continue', 'break'])};")

    def branch(self) -> None:
        if self.counters and self.below(3) == 0:
            i, n = self.pick(self.counters)
            cond = self.pick([f"{i} < {self.below(n + 1)}", f"{i} & 1", f"{i} == {self.below(n)}"])
        else:
            cond = f"{self.leaf()} > {self.leaf()}"
        self.line(f"if ({cond}) {{")
        same = self.element()
        self.block(1 + self.below(2), same)
        if self.below(2):
            self.line("} else {")
            self.block(1 + self.below(2), same)
        self.line("}")

    def block(self, n: int, also: str = "") -> None:
        scalars, arrays = list(self.scalars), list(self.arrays)
        self.depth += 1
        if also and self.below(2):
            self.line(f"{also} = {self.leaf()};")
        for _ in range(n):
            self.statement()
        self.depth -= 1
        self.scalars, self.arrays = scalars, arrays

    def nest(self) -> None:
        i, n = self.fresh("i"), 2 + self.below(4)
        kind = self.below(6)
        if kind < 4 or not self.counters:
            self.line(f"for (int {i} = 0; {i} < {n}; {i}++) {{")
        elif kind == 4:
            self.line(f"for (int {i} = 0; {i} < {self.counters[-1][0]}; {i}++) {{")
            n = self.counters[-1][1]
        else:
            n = 5
            self.line(f"for (int {i} = 1; {i} < 5; {i} *= 2) {{")
        self.counters.append((i, n))
        if len(self.counters) < 3 and self.below(3):
            self.depth += 1
            if self.below(2):
                self.statement_here()
            self.nest()
            if self.below(2):
                self.statement_here()
            self.depth -= 1
        else:
            self.block(1 + self.below(3))
        self.counters.pop()
        self.line("}")

    def statement_here(self) -> None:
        scalars, arrays = list(self.scalars), list(self.arrays)
        self.line(f"{self.element()} = {self.value()};")
        self.scalars, self.arrays = scalars, arrays
