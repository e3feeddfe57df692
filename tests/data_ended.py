"""Random programs whose one outermost loop ends on data: what lanes that refill are compared with gcc on.

Each turn counts down, by what the data says, a number of turns that goes in, so that every loop ends; between that
stand arithmetic, branches, small arrays, loops inside that end on data too, and several ways to leave.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np

TYPES = {
    "double": "float64",
    "float": "float32",
    "int": "int32",
    "unsigned": "uint32",
    "long": "int64",
    "short": "int16",
}
SIZE = 3  # elements of each array


@dataclass
class DataEnded:
    """``variables``: (name, dtype, shape) of the globals that go in and out."""

    text: str
    variables: list[tuple]

    def inputs(self, p: int, seed: int, longest: int = 40) -> dict[str, np.ndarray]:
        """One input in seven has no turn, one of all has ``longest`` times twenty."""
        rng = np.random.default_rng(seed)
        out = {}
        for name, dtype, shape in self.variables:
            if np.dtype(dtype).kind == "f":
                special = np.array([0.0, -0.0, np.inf, np.nan, 1e-310], dtype)
                a = rng.normal(scale=3, size=(p, *shape)).astype(dtype)
                out[name] = np.where(rng.random(a.shape) < 0.1, special[rng.integers(0, len(special), a.shape)], a)
            else:
                out[name] = rng.integers(-20 if dtype[0] == "i" else 0, 20, (p, *shape)).astype(dtype)
        turns = np.where(rng.random(p) < 1 / 7, 0, rng.integers(1, longest, p))
        turns[rng.integers(p)] = 20 * longest
        out["turns"] = turns.astype("int32")
        return out


@dataclass
class _Writer:
    random: random.Random
    wide: bool
    by_data: bool = False
    divides: bool = False
    scalars: list[tuple[str, str]] = field(default_factory=list)
    arrays: list[tuple[str, str]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    depth: int = 1
    fresh: int = 0

    def pick(self, items):
        return items[self.random.randrange(len(items))]

    def type(self) -> str:
        return self.pick(
            ["double", "float", "int", "unsigned", "long", "short"]
            if self.wide
            else ["float", "int", "unsigned", "short"]
        )

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def element(self) -> tuple[str, str]:
        name, t = self.pick(self.arrays)
        if self.by_data and self.random.random() < 0.2:
            return f"{name}[(unsigned)(left * 7 + step) % {SIZE}]", t
        return f"{name}[{self.random.randrange(SIZE)}]", t

    def leaf(self) -> tuple[str, str]:
        if self.random.random() < 0.6:
            return self.pick(self.scalars)
        if self.random.random() < 0.6:
            return self.element()
        return self.pick([("1.5f", "float"), ("3", "int"), ("-2", "int"), ("7u", "unsigned"), ("step", "int")])

    def value(self, depth: int) -> tuple[str, str]:
        if depth == 0:
            return self.leaf()
        (a, s), (b, t) = self.value(depth - 1), self.value(depth - 1)
        kind = self.random.randrange(8)
        is_float = {s, t} & {"double", "float"}
        result = "double" if is_float else "int"
        if kind == 0:
            return f"({self.condition()} ? {a} : {b})", result
        if kind == 1 and not is_float:
            return f"({a} {self.pick(['/', '%'])} ((int){b} & 7 | 1))", "int"
        if kind == 2:
            return f"fabs({a} - {b})", "double"
        if kind == 3 and self.wide:
            return f"sqrt(fabs((double){a}))", "double"
        if kind == 4 and not is_float:
            return f"(({a}) ^ ({b}) >> 1)", "int"
        if kind == 5 and self.divides:
            return f"((double){a} / {self.pick([b, '3.0', '-0.7', '1e300', '10.0', '0.25'])})", "double"
        if kind == 5:
            return f"sinf((float){a})", "float"
        return f"({a} {self.pick('+-*')} {b})", result

    def condition(self) -> str:
        (a, _), (b, _) = self.leaf(), self.leaf()
        return f"{a} {self.pick(['<', '<=', '>', '>=', '==', '!='])} {b}"

    def assignment(self, target: tuple[str, str] | None = None) -> None:
        name, t = target or (self.pick(self.scalars) if self.random.random() < 0.6 else self.element())
        text, kind = self.value(self.random.randrange(3))
        if kind in ("double", "float") and t not in ("double", "float"):
            text = f"bounded({text})"
        self.line(f"{name} = {text};")

    def block(self, statements: int, inside: bool) -> None:
        self.depth += 1
        scalars = list(self.scalars)
        for _ in range(statements):
            self.statement(inside)
        self.scalars = scalars
        self.depth -= 1

    def statement(self, inside: bool) -> None:
        """``inside``: in the loop, which it may leave."""
        kind = self.random.randrange(12)
        if kind < 6 or self.depth > 4:
            self.assignment()
        elif kind == 6:
            t = self.type()
            self.fresh += 1
            self.scalars.append((f"v{self.fresh}", t))
            self.line(f"{t} v{self.fresh} = 0;")
            self.assignment(self.scalars[-1])
        elif kind < 9:
            self.line(f"if ({self.condition()}) {{")
            self.block(1 + self.random.randrange(2), inside)
            if self.random.random() < 0.4:
                self.line("} else {")
                self.block(1, inside)
            self.line("}")
        elif kind == 9 and inside:
            self.line(f"if ({self.condition()}) {self.pick(['break', 'continue', 'left = left / 2'])};")
        elif kind == 10:
            self.fresh += 1
            self.line(f"for (int k{self.fresh} = 0; k{self.fresh} < {SIZE}; k{self.fresh}++) {{")
            name, t = self.pick(self.arrays)
            self.depth += 1
            self.assignment((f"{name}[k{self.fresh}]", t))
            self.depth -= 1
            self.line("}")
        else:
            self.fresh += 1
            self.line(f"int n{self.fresh} = left & 3;")
            self.line(f"while (n{self.fresh}-- > 0 && {self.condition()}) {{")
            self.block(1 + self.random.randrange(2), False)
            self.line("}")


def write(seed: int, by_data: bool = False, divides: bool = False) -> DataEnded:
    """``by_data``: data decides some subscripts; ``divides``: doubles are divided, instead of a function called."""
    w = _Writer(random.Random(seed), random.Random(seed + 1).random() < 0.6, by_data, divides)
    variables: list[tuple] = [("turns", "int32", ())]
    head = ["#include <math.h>", "int turns;"]
    head.append("static int bounded(double x) { return x > 100 ? 100 : x > -100 ? (int)x : -100; }")
    for k in range(2 + w.random.randrange(3)):
        t = w.type()
        w.scalars.append((f"s{k}", t))
        variables.append((f"s{k}", TYPES[t], ()))
        head.append(f"{t} s{k};")
    for k in range(1 + w.random.randrange(2)):
        t = w.type()
        w.arrays.append((f"a{k}", t))
        variables.append((f"a{k}", TYPES[t], (SIZE,)))
        head.append(f"{t} a{k}[{SIZE}];")
    if w.random.random() < 0.5:
        t = w.type()
        w.arrays.append(("local", t))
        w.line(f"{t} local[{SIZE}] = {{1, 2, 3}};")
    w.line("int left = turns, step = 0;")
    for _ in range(w.random.randrange(3)):
        w.statement(False)
    if w.random.random() < 0.3:
        w.line(f"if ({w.condition()}) return;")
    style = w.random.randrange(3)
    w.line(
        {0: "while (left-- > 0) {", 1: f"for (; left > 0 && !({w.condition()} && step > 9); left--) {{", 2: "do {"}[
            style
        ]
    )
    w.depth += 1
    w.line("step++;")
    w.depth -= 1
    w.block(1 + w.random.randrange(6), True)
    w.line("} while (left-- > 0);" if style == 2 else "}")
    for _ in range(w.random.randrange(3)):
        w.statement(False)
    w.line("turns = step;")
    return DataEnded("\n".join([*head, "void kern(void) {", *w.lines, "}", ""]), variables)
