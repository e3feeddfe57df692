"""Random kernels on bytes and shorts, which lanes of 16 bits may or may not be enough for."""

from __future__ import annotations

import random

import numpy as np

ELEMENTS = {
    "unsigned char": np.uint8, "signed char": np.int8, "short": np.int16, "unsigned short": np.uint16, "int": np.int32,
    "_Bool": np.bool_,
}  # fmt: skip
SMALL = ("unsigned char", "signed char", "signed char", "unsigned char", "short", "_Bool")
N = 6


class Writer:
    def __init__(self, seed: int):
        self.r = random.Random(seed)
        self.arrays = {f"a{k}": self.r.choice(SMALL) for k in range(2)}
        self.arrays["b"] = self.r.choice(("unsigned char", "signed char", "short", "unsigned short", "int"))
        self.scratch = self.r.choice(("signed char", "short", "int", "int", "unsigned short", "unsigned"))
        self.locals = [
            self.r.choice(("int", "int", "short", "unsigned char", "signed char", "unsigned")) for _ in range(3)
        ]

    def index(self) -> str:
        return self.r.choice(("i", f"(i + {self.r.randrange(N)}) % {N}", str(self.r.randrange(N)), "j"))

    def leaf(self) -> str:
        r = self.r
        return r.choice((
            f"x{r.randrange(3)}", f"a{r.randrange(2)}[{self.index()}]", f"t[{self.index()}]", str(r.choice((0, 1, 2, 3, 7, 255))),
            "i", f"a{r.randrange(2)}[{self.index()}]", f"x{r.randrange(3)}",
        ))  # fmt: skip

    def value(self, depth: int) -> str:
        r = self.r
        if depth == 0:
            return self.leaf()
        a, b = self.value(depth - 1), self.value(r.randrange(depth))
        return r.choice((
            f"({a} + {b})", f"({a} - {b})", f"({a} & {b})", f"({a} | {b})", f"({a} ^ {b})", f"(~{a})", f"(-{a})",
            f"({a} * {r.choice((2, 3, -1, 5))})", f"({a} >> {r.randrange(4)})", f"({a} << {r.randrange(3)})",
            f"({a} < {b})", f"({a} == {b})", f"({a} < {b} ? {a} : {b})", f"({a} > {b} ? {a} : {b})", f"(!{a})",
            f"({a} && {b})", f"(({a} & {r.choice((15, 255, 1023))}) + {b})", f"((unsigned char){a})", f"((signed char){a})",
            f"((short){a})", f"({a} % 2 ? {b} : {a})" if r.random() < 0.05 else f"({a} - {b} > 3 ? {b} : {a})",
        ))  # fmt: skip

    def statement(self, depth: int) -> str:
        r = self.r
        target = r.choice(
            (*(f"x{k}" for k in range(3)), f"t[{self.index()}]", f"b[{self.index()}]", f"t[{self.index()}]")
        )
        pick = r.random()
        if pick < 0.2 and depth:
            return f"if ({self.value(1)}) {{ {self.statement(depth - 1)} }} else {{ {self.statement(depth - 1)} }}"
        if pick < 0.3 and depth:
            return f"if ({self.value(1)}) {{ {self.statement(depth - 1)} }}"
        return f"{target} {r.choice(('=', '=', '=', '+=', '^='))} {self.value(r.randrange(1, 3))};"

    def text(self) -> str:
        body = " ".join(self.statement(2) for _ in range(self.r.randrange(2, 6)))
        heads = "".join(f"{t} {n}[{N}];\n" for n, t in self.arrays.items())
        variables = "".join(f"    {t} x{k} = {k};\n" for k, t in enumerate(self.locals))
        out = f"    for (int i = 0; i < {N}; i++) b[i] += t[i] & 127;\n" if self.r.random() < 0.5 else ""
        return (
            f"{heads}void k(void) {{\n    {self.scratch} t[{N}] = {{0}};\n    int j = {self.r.randrange(N)};\n{variables}"
            f"    for (int i = 0; i < {self.r.randrange(1, N + 1)}; i++) {{ {body} }}\n{out}"
            f"    b[0] = (x0 & 15) + (x1 & 15);\n}}\n"
        )

    def inputs(self, p: int) -> dict[str, np.ndarray]:
        rng = np.random.default_rng(self.r.randrange(1 << 30))
        out = {}
        for n, t in self.arrays.items():
            d = np.dtype(ELEMENTS[t])
            if d.kind == "b":
                out[n] = rng.integers(0, 2, (p, N)).astype(bool)
            else:
                full = np.iinfo(d)
                values = rng.integers(full.min, full.max, (p, N), endpoint=True)
                edge = rng.choice([full.min, full.max, 0, 1], (p, N))
                out[n] = np.where(rng.random((p, N)) < 0.3, edge, values).astype(d)
        return out
