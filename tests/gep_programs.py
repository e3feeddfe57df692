"""Random loops that are almost of Gaussian-elimination type: many are, many are not, some look as if they were."""

from __future__ import annotations

import random
from dataclasses import dataclass

TYPES = {
    "float": "float32",
    "double": "float64",
    "int": "int32",
    "unsigned": "uint32",
    "short": "int16",
    "unsigned char": "uint8",
    "signed char": "int8",
    "long": "int64",
    "_Bool": "bool",
}


@dataclass(frozen=True)
class Random:
    """``arrays``: name -> (C type, rows, columns)."""

    text: str
    arrays: dict[str, tuple[str, int, int]]


def program(seed: int) -> Random:
    return _Writer(random.Random(seed)).program()


class _Writer:
    def __init__(self, r: random.Random):
        self.r = r
        self.n = r.choice((2, 2, 3, 3, 4, 5, 6))
        kind = r.choice(("float", "int", "mixed"))
        floats, ints = ("float", "double"), [t for t in TYPES if t not in ("float", "double")]
        pool = floats if kind == "float" else ints if kind == "int" else [*floats, *ints]
        self.arrays = {
            name: (r.choice(pool), self.n, self.n + r.choice((0, 0, 0, 1, 3)))
            for name in "ABC"[: r.choice((1, 1, 2, 3))]
        }
        self.flat = r.random() < 0.25
        self.rows_outside = r.random() < 0.7
        self.temps: list[tuple[str, bool]] = []  # variables in scope: name, is it floating
        self.count = 0
        self.odd = r.random() < 0.35  # may do what is seldom of the type

    def chance(self, p: float) -> bool:
        return self.r.random() < p

    def at(self, name: str, row: str, column: str) -> str:
        if self.flat:
            return f"{name}[({row}) * {self.arrays[name][2]} + {column}]"
        return f"{name}[{row}][{column}]"

    # expressions

    def value(self, floating: bool, wheres: tuple[str, ...], depth: int = 2) -> str:
        r = self.r
        if depth == 0 or self.chance(0.2):
            return self.leaf(floating, wheres)
        a, b = self.value(floating, wheres, depth - 1), self.value(floating, wheres, depth - 1)
        if self.chance(0.25):
            c, d = self.value(floating, wheres, depth - 1), self.leaf(floating, wheres)
            return f"({c} {r.choice(('<', '<=', '>', '==', '!='))} {d} ? {a} : {b})"
        if floating:
            return f"({a} {r.choice('+-*/')} {b})"
        op = r.choice(("+", "-", "*", "&", "|", "^", "&&", "||"))
        return f"({a} {op} {b})" if self.chance(0.9) else f"({a} % 7)"

    def leaf(self, floating: bool, wheres: tuple[str, ...]) -> str:
        r = self.r
        if self.temps and self.chance(0.3):
            name, is_float = r.choice(self.temps)
            if floating or not is_float:
                return name
        if self.chance(0.08):
            return r.choice(("1", "2", "3", "k"))
        names = [n for n, (t, _, _) in self.arrays.items() if floating or t not in ("float", "double")]
        if not names or not wheres:
            return r.choice(("1", "2", "5"))
        return self.element(r.choice(names), r.choice(wheres))

    def element(self, name: str, where: str) -> str:
        row, column = {"ij": "ij", "ik": "ik", "kj": "kj", "kk": "kk", "ji": "ji", "ki": "ki", "jk": "jk"}[where]
        return self.at(name, row, column)

    # statements

    def program(self) -> Random:
        r, n = self.r, self.n
        lines = [
            f"{t} {name}[{rows * columns}];" if self.flat else f"{t} {name}[{rows}][{columns}];"
            for name, (t, rows, columns) in self.arrays.items()
        ]
        counter = r.choice(("int", "int", "long", "unsigned"))
        lines += ["void f(void) {", f"  {counter} i = 0, j = 0, k = 0;"]
        if self.chance(0.2):
            lines.append(f"  int z = {r.randrange(3)};")
            self.temps.append(("z", False))
        lines += self.loop("k", str(r.choice((0, 0, 0, 1))), str(n - r.choice((0, 0, 0, 1))), self.step(), 1)
        lines.append("}")
        return Random("\n".join(lines) + "\n", self.arrays)

    def loop(self, c: str, first: str, last: str, body: list[str], depth: int) -> list[str]:
        pad = "  " * depth
        inside = ["  " * (depth + 1) + s for s in body]
        match self.r.randrange(8):
            case 0 if not any("continue" in s for s in body):
                return [
                    f"{pad}{c} = {first};",
                    f"{pad}while ({c} < {last}) {{",
                    *inside,
                    f"{pad}  {c} += 1;",
                    f"{pad}}}",
                ]
            case 1:
                return [f"{pad}for ({c} = {first}; {last} > {c}; {c} = {c} + 1) {{", *inside, f"{pad}}}"]
            case 2:
                return [f"{pad}for ({c} = {first}; {c} <= {last} - 1; ++{c}) {{", *inside, f"{pad}}}"]
        return [f"{pad}for ({c} = {first}; {c} < {last}; {c}++) {{", *inside, f"{pad}}}"]

    def span(self) -> tuple[str, str]:
        r = self.r
        low = r.choice(("0", "0", "0", "k", "k + 1", "k + 1", "1"))
        return low, str(self.n - (self.chance(0.15)))

    def temp(self, wheres: tuple[str, ...]) -> list[str]:
        """A new variable."""
        self.count += 1
        floating = self.chance(0.5) and any(t in ("float", "double") for t, _, _ in self.arrays.values())
        wide = any(
            t == "double" for t, _, _ in self.arrays.values()
        )  # gcc 12 -O2 errs on float variables among doubles
        t = ("double" if wide else "float") if floating else self.r.choice(("int", "long"))
        text = f"{t} t{self.count} = {self.value(floating, wheres, self.r.choice((0, 1)))};"
        self.temps.append((f"t{self.count}", floating))
        return [text]

    def carry(self, wheres: tuple[str, ...]) -> list[str]:
        """A change of a variable that an outer block has."""
        if not self.temps or not self.odd or self.chance(0.6):
            return []
        name, floating = self.r.choice(self.temps)
        return [f"{name} = {self.value(floating, wheres, 1)};"]

    def store(self, where: str, wheres: tuple[str, ...]) -> list[str]:
        name = self.r.choice(list(self.arrays))
        floating = self.arrays[name][0] in ("float", "double")
        target = self.element(name, where)
        value = self.value(floating, wheres, 2)
        cond = self.value(self.chance(0.3) and floating, wheres, 1)
        match self.r.randrange(5):
            case 0:
                return [f"if ({cond} < {self.leaf(False, wheres)}) {target} = {value};"]
            case 1:
                return [f"{target} {self.r.choice(('+=', '-='))} {value};"]
            case 2:
                return [f"{target} = {target} < {value} ? {target} : {value};"]
        return [f"{target} = {value};"]

    def step(self) -> list[str]:
        body: list[str] = []
        if self.chance(0.3):
            body += self.temp(("kk",))
        for _ in range(self.r.choice((0, 0, 0, 1, 1, 2))):
            body += self.one_line()
            if self.chance(0.3):
                body += self.temp(("kk",))
        body += self.carry(("kk",))
        temps = list(self.temps)
        body += self.nest()
        self.temps = temps
        return body

    def one_line(self) -> list[str]:
        where = self.r.choice(("kj", "ik"))
        c = where.replace("k", "") if self.chance(0.7) else "ji"[where == "kj"]
        name = {("kj", "j"): "kj", ("kj", "i"): "ki", ("ik", "i"): "ik", ("ik", "j"): "jk"}[where, c]
        wheres = (name, name, *(("kk",) if self.chance(0.4) else ()), *(("ik",) if self.odd and c == "i" else ()))
        temps = list(self.temps)
        inside = self.temp(wheres) if self.chance(0.3) else []
        inside += self.store(name, wheres)
        inside += self.carry(wheres)
        self.temps = temps
        low, high = self.span()
        if self.chance(0.5):
            low = "k + 1"
        return [s.removeprefix("  ") for s in self.loop(c, low, high, inside, 1)]

    def nest(self) -> list[str]:
        outer, inner, hoisted = ("i", "j", "ik") if self.rows_outside else ("j", "i", "kj")
        body: list[str] = []
        if self.chance(0.25):
            body.append(f"if ({outer} == k) continue;")
        if self.chance(0.15):
            body.append(f"if ({self.value(False, (hoisted,), 1)} == 0) continue;")
        if self.chance(0.4):
            body += self.temp((hoisted, hoisted, "kk"))
        if self.chance(0.3):
            body += self.store(hoisted, (hoisted, "kk"))
            if self.chance(0.4):
                body += self.temp((hoisted,))
        body += self.carry((hoisted, "kk"))
        temps = list(self.temps)
        inside: list[str] = []
        wheres = ("ij", "ij", "ik", "kj", *(("kk",) if self.chance(0.2) else ()))
        if self.odd and self.chance(0.15):
            inside.append(f"if ({inner} == k) continue;")
        if self.chance(0.4):
            inside += self.temp(wheres)
        for _ in range(self.r.choice((1, 1, 1, 1, 2, 3))):
            inside += self.store("ij", wheres)
        if self.odd and self.chance(0.05):
            inside += self.store(self.r.choice(("ik", "kj")), wheres)
        inside += self.carry(wheres)
        self.temps = temps
        body += [s.removeprefix("  ") for s in self.loop(inner, *self.span(), inside, 1)]
        return [s.removeprefix("  ") for s in self.loop(outer, *self.span(), body, 1)]
