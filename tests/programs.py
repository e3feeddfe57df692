"""Random C programs without undefined behaviour: what the differential tests feed to every schedule.

A program is a text with a kernel ``kern`` and globals; ``variables`` lists those that go in and out. Signed overflow
may happen (the oracle compiles with -fwrapv); subscripts are masked or loop-bounded, divisors and shifts made safe.
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass, field

import numpy as np

INTS = [
    "signed char",
    "unsigned char",
    "short",
    "unsigned short",
    "int",
    "unsigned int",
    "long",
    "unsigned long",
    "long long",
    "unsigned long long",
    "_Bool",
]
FLOATS = ["float", "double"]
NUMPY = {
    "signed char": "int8",
    "unsigned char": "uint8",
    "short": "int16",
    "unsigned short": "uint16",
    "int": "int32",
    "unsigned int": "uint32",
    "long": "int64",
    "unsigned long": "uint64",
    "long long": "int64",
    "unsigned long long": "uint64",
    "_Bool": "bool",
    "float": "float32",
    "double": "float64",
}
COUNT = int(os.environ.get("C2CU_PROGRAMS", "10"))  # programs for each CPU schedule; other tests take a share
SEED = int(os.environ.get("C2CU_SEED", "0"))
SIZE = 8  # elements of each array: subscripts are masked with SIZE - 1


def share(part: int, least: int) -> int:
    """How many random programs a test takes that is slower: one for each ``part`` of those for the CPU schedules."""
    return max(least, COUNT // part)


@dataclass
class RandomProgram:
    text: str
    variables: list[tuple]  # (name, dtype, shape)
    oblivious: bool

    def inputs(self, p: int, seed: int) -> dict[str, np.ndarray]:
        rng = np.random.default_rng(seed)
        return {n: _random(rng, np.dtype(d), (p, *s)) for n, d, s in self.variables}


def _random(rng: np.random.Generator, dtype: np.dtype, shape: tuple) -> np.ndarray:
    if dtype.names:
        out = np.zeros(shape, dtype)
        for n in dtype.names:
            out[n] = _random(rng, dtype[n].base, (*shape, *dtype[n].shape))
        return out
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind == "f":
        a = rng.normal(scale=10, size=shape).astype(dtype)
        special = np.array([0.0, -0.0, 1.0, np.inf, -np.inf, 0.5], dtype)
        pick = rng.random(shape) < 0.2
        return np.where(pick, special[rng.integers(0, len(special), shape)], a).astype(dtype)
    info = np.iinfo(dtype)
    a = rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    small = rng.integers(0, 9, shape).astype(dtype)
    return np.where(rng.random(shape) < 0.5, small, a)


@dataclass
class _Writer:
    """Draws one program. ``scope``: readable scalars (name, type); ``indices``: uniform int variables in 0..SIZE-1."""

    random: random.Random
    oblivious: bool
    lines: list[str] = field(default_factory=list)
    scope: list[tuple[str, str]] = field(default_factory=list)
    fixed: list[str] = field(default_factory=list)  # loop counters: readable, not assignable
    arrays: list[tuple[str, str, int]] = field(default_factory=list)  # name, element type, rank
    tables: list[str] = field(default_factory=list)
    structs: list[str] = field(default_factory=list)
    pointers: list[tuple[str, str]] = field(default_factory=list)  # int-like pointers with SIZE elements behind them
    counter: int = 0
    depth: int = 0
    helpers: bool = False

    def below(self, n: int) -> int:
        return self.random.randrange(n)

    def pick(self, items):
        items = list(items)
        return items[self.below(len(items))]

    def chance(self, percent: int) -> bool:
        return self.below(100) < percent

    def fresh(self, stem: str) -> str:
        self.counter += 1
        return f"{stem}{self.counter}"

    # expressions

    def index(self) -> str:
        """A subscript in 0..SIZE-1 that does not depend on data, or may in the other flavour."""
        choices = [str(self.below(SIZE))]
        choices += [f"({c} & {SIZE - 1})" for c in self.fixed] * 2
        choices += [f"(({c} ^ {self.below(8)}) & {SIZE - 1})" for c in self.fixed]
        if not self.oblivious:
            choices += [f"((int)({n}) & {SIZE - 1})" for n, t in self.scope if t in INTS][:3]
        return self.pick(choices)

    def element(self) -> tuple[str, str]:
        """An lvalue in memory and its type."""
        choices = []
        for name, t, rank in self.arrays:
            choices.append(
                (name + "".join(f"[{self.index()}]" if k == 0 else f"[{self.index()} & 1]" for k in range(rank)), t)
            )
        for s in self.structs:
            choices += [(f"{s}.x", "int"), (f"{s}.y[{self.index()} & 1]", "float"), (f"{s}.z", "unsigned short")]
        for name, t in self.pointers:
            choices.append((self.pick([f"{name}[{self.index()}]", f"*{name}"]), t))
        return self.pick(choices)

    def leaf(self) -> tuple[str, str]:
        kind = self.below(10)
        if kind < 3 and self.scope:
            return self.pick(self.scope)
        if kind < 6:
            return self.element()
        if kind < 7 and self.fixed:
            return self.pick(self.fixed), "int"
        if kind < 8 and self.tables:
            return f"{self.pick(self.tables)}[{self.index()}]", "int"
        return self.pick(
            [
                ("3", "int"),
                ("-7", "int"),
                ("0x80000000", "unsigned int"),
                ("255u", "unsigned int"),
                ("1.5f", "float"),
                ("0.25", "double"),
                ("'a'", "int"),
                ("5000000000", "long"),
                ("1ul", "unsigned long"),
            ]
        )

    def integer(self, depth: int) -> str:
        """An expression of integer type."""
        text, t = self.expression(depth)
        return text if t != "float" else f"((int)(({text}) > 0) + 2)"

    def expression(self, depth: int) -> tuple[str, str]:
        """(text, "int" or "float" for the kind of value)."""
        if depth <= 0:
            text, t = self.leaf()
            return text, "float" if t in FLOATS else "int"
        kind = self.below(16)
        if kind < 5:
            a, ta = self.expression(depth - 1)
            b, tb = self.expression(depth - 1)
            return f"({a} {self.pick('+-*')} {b})", "float" if "float" in (ta, tb) else "int"
        if kind == 5:
            return f"({self.integer(depth - 1)} {self.pick('&|^')} {self.integer(depth - 1)})", "int"
        if kind == 6:
            shift = f"(({self.integer(depth - 1)}) & 7)"
            return (
                f"(({self.pick(['int', 'unsigned int', 'long'])})({self.integer(depth - 1)}) {self.pick(['<<', '>>'])} {shift})",
                "int",
            )
        if kind == 7:
            return (
                f"((unsigned)({self.integer(depth - 1)}) {self.pick('/%')} ((unsigned)({self.integer(depth - 1)}) | 1))",
                "int",
            )
        if kind == 8:
            a, _ = self.expression(depth - 1)
            b, _ = self.expression(depth - 1)
            return f"({a} {self.pick(['<', '<=', '>', '>=', '==', '!='])} {b})", "int"
        if kind == 9:
            a, ta = self.expression(depth - 1)
            b, tb = self.expression(depth - 1)
            return f"({self.condition(depth - 1)} ? {a} : {b})", "float" if "float" in (ta, tb) else "int"
        if kind == 10:
            return f"(({self.pick(INTS)})({self.integer(depth - 1)}))", "int"
        if kind == 11:
            return f"(({self.pick(FLOATS)})({self.integer(depth - 1)}))", "float"
        if kind == 12:
            return f"({self.pick(['-', '~', '!'])}({self.integer(depth - 1)}))", "int"
        if kind == 13:
            a, _ = self.expression(depth - 1)
            return self.pick([f"sqrt(fabs((double)({a})))", f"fabsf((float)({a}))", f"floor((double)({a}))"]), "float"
        if kind == 14 and self.helpers:
            return self.call(depth - 1)
        return f"({self.condition(depth - 1)})", "int"

    def call(self, depth: int) -> tuple[str, str]:
        a, _ = self.expression(depth)
        ints = [n for n, t, r in self.arrays if t == "int" and r == 1]
        options = [f"mix({a}, {self.integer(depth)})", f"early({self.integer(depth)})"]
        if ints:
            n = self.pick(ints)
            options += [f"total({n} + {self.below(4)}, 4)", f"total(&{n}[{self.index()} & 3], 3)"]
        if self.structs:
            options.append(f"by_value({self.pick(self.structs)})")
        return self.pick(options), "int"

    def condition(self, depth: int) -> str:
        a, _ = self.expression(depth)
        kind = self.below(5)
        if kind == 0:
            b, _ = self.expression(depth)
            return f"{a} {self.pick(['&&', '||'])} {b}"
        b, _ = self.leaf()
        return f"{a} {self.pick(['<', '>', '==', '!='])} {b}"

    # statements

    def line(self, text: str) -> None:
        self.lines.append("    " * (self.depth + 1) + text)

    def target(self) -> tuple[str, str]:
        assignable = [s for s in self.scope if not s[0].startswith("k")]
        return self.pick(assignable) if assignable and self.chance(40) else self.element()

    def convert(self, text: str, kind: str, t: str) -> str:
        """A value that is safe to store in ``t``: float to integer only where it is in range."""
        if kind == "float" and t in INTS and t != "_Bool":
            return f"clampi({text})"
        if t == "_Bool":
            return f"({text}) != 0"
        return text

    def assignment(self) -> None:
        target, t = self.target()
        text, kind = self.expression(self.below(4))
        if self.chance(30) and t != "_Bool" and not (kind == "float" and t in INTS):
            op = self.pick(
                ["+=", "-=", "*="] if t in FLOATS or kind == "float" else ["+=", "-=", "*=", "^=", "|=", "&="]
            )
            self.line(f"{target} {op} {text};")
        elif self.chance(10) and t in INTS and t != "_Bool":
            self.line(f"{self.pick([f'{target}++', f'--{target}'])};")
        else:
            self.line(f"{target} = {self.convert(text, kind, t)};")

    def block(self, statements: int, loops: list[str]) -> None:
        scope, pointers = list(self.scope), list(self.pointers)
        self.depth += 1
        for _ in range(statements):
            self.statement(loops)
        self.depth -= 1
        self.scope, self.pointers = scope, pointers

    def statement(self, loops: list[str]) -> None:
        kind = self.below(20)
        deep = self.depth >= 3
        if kind < 8 or deep:
            self.assignment()
        elif kind == 8:
            t = self.pick(INTS[:10] + FLOATS)
            text, k = self.expression(2)
            name = self.fresh("v")
            self.line(f"{t} {name} = {self.convert(text, k, t)};")
            self.scope.append((name, t))
        elif kind < 12:
            self.line(f"if ({self.condition(2)}) {{")
            self.block(1 + self.below(3), loops)
            if self.chance(40):
                self.line("} else {")
                self.block(1 + self.below(2), loops)
            self.line("}")
        elif kind < 15:
            self.loop(loops)
        elif kind == 15 and loops and not self.oblivious:
            self.line(f"if ({self.condition(1)}) {self.pick(['break', 'continue'])};")
        elif kind == 15 and loops and self.fixed:
            self.line(f"if ({self.fixed[-1]} == {self.below(6)}) {self.pick(['break', 'continue'])};")
        elif kind == 16:
            self.switch(loops)
        elif kind == 17:
            self.pointer()
        elif kind == 18 and self.structs and len(self.structs) > 1:
            self.line(f"{self.structs[0]} = {self.structs[1]};")
        elif kind == 19 and self.helpers:
            name = self.fresh("v")
            if self.structs and self.chance(50):  # not inside expressions: C leaves open when its writes happen
                self.line(f"int {name} = by_pointer(&{self.pick(self.structs)}, {self.integer(1)});")
            else:
                self.line(f"int {name} = 1; out(&{name}, {self.integer(1)});")
            self.scope.append((name, "int"))
        else:
            self.assignment()

    def loop(self, loops: list[str]) -> None:
        c = self.fresh("k")
        turns = 1 + self.below(SIZE)
        style = self.below(4)
        if style < 2:
            self.line(f"for (int {c} = 0; {c} < {turns}; {c}++) {{")
            self.fixed.append(c)
            self.block(1 + self.below(3), [*loops, c])
            self.fixed.remove(c)
            self.line("}")
        elif style == 2 and not self.oblivious:
            self.line(f"for (int {c} = 0; {c} < {turns} && ({self.condition(1)}); {c}++) {{")
            self.fixed.append(c)
            self.block(1 + self.below(2), [*loops, c])
            self.fixed.remove(c)
            self.line("}")
        else:
            self.line(f"int {c} = {turns};")
            self.line("do {")
            self.fixed.append(c)
            self.block(1 + self.below(2), [])
            self.fixed.remove(c)
            self.line(f"}} while (--{c} > 0);")

    def switch(self, loops: list[str]) -> None:
        self.line(f"switch (({self.integer(1)}) & 3) {{")
        for label in ("case 0:", "case 1: case 2:", "default:"):
            self.line(label)
            self.depth += 1
            self.assignment()
            if self.chance(60):
                self.line("break;")
            self.depth -= 1
        self.line("}")

    def further(self) -> None:
        """Pointers in memory, buffers swapped, jumps, and objects seen as other types."""
        n = self.fresh("x")
        x, y = self.integer(1), self.integer(1)
        i, j = self.index(), self.index()
        data = self.condition(1) if not self.oblivious else self.pick(["1", "0"])
        turns, step = 1 + self.below(5), 1 + self.below(7)
        kind = self.below(9 + 8)
        if kind > 8:
            self.walk(n, x, y, i, j, kind - 9)
        elif kind == 0:
            self.line(f"struct I {n} = {{a, {{a + {self.below(3)}, 0}}, 3}};")
            self.line(f"{n}.p[{n}.n] ^= {x}; *{n}.q[0]++ += {y}; {n}.q[1] = {n}.q[0] + {self.below(3)};")
            self.line(f"if ({data}) {n}.p = {n}.q[1]; {n}.p[{self.below(3)}] -= {n}.q[1][0];")
        elif kind == 1:
            self.line(f"int {n}u[8], {n}v[8], *{n} = {n}u, *{n}w = {n}v;")
            self.line(f"for (int k = 0; k < 8; k++) {{ {n}u[k] = a[k]; {n}v[k] = k; }}")
            self.line(f"for (int t = 0; t < {turns}; t++) {{")
            self.line(f"    for (int k = 0; k < 8; k++) {n}w[k] = {n}[k] + 3 * {n}[(k + {step}) & 7];")
            self.line(f"    int *{n}s = {n}; {n} = {n}w; {n}w = {n}s;")
            self.line(f"}} a[{i}] ^= {n}[{j}];")
        elif kind == 2:
            self.line(
                f"if ({self.condition(1)}) goto {n}; a[{i}] += {x}; if (a[{j}] > 3) goto {n}; a[{j}] ^= {y}; {n}: ;"
            )
        elif kind == 3:
            self.line(f"int {n} = 0; {n}l: a[{n} & 7] ^= {x}; if (++{n} < {turns}) goto {n}l; a[{i}] += {n};")
        elif kind == 4:
            self.line(
                f"unsigned char {n}[16]; memcpy({n}, a + {self.below(5)}, 16); {n}[{i}] ^= {x}; {n}[{j} + 3] += {y};"
            )
            self.line(f"memcpy((char *)a + {self.below(17)}, {n} + {self.below(4)}, {1 + self.below(12)});")
        elif kind == 5:
            self.line(f"((unsigned short *)a)[{i}] += {x}; ((unsigned char *)a)[4 * {j} + {self.below(4)}] ^= {y};")
            self.line(
                f"unsigned long {n}; memcpy(&{n}, a + {self.below(7)}, 8); a[{i}] -= (int)({n} >> {self.below(40)});"
            )
        elif kind == 6:
            self.line(f"int {n}t[8] = {{1, 2, 3}}; int *{n}[3] = {{a, {n}t, a + 1}}; {n}[{i} % 3][{j} & 3] += {x};")
            self.line(f"int *{n}s = {n}[0]; {n}[0] = {n}[1]; {n}[1] = {n}s; a[{j}] ^= {n}[0][{i}] + {n}[{j} % 3][2];")
        elif kind == 7:
            self.line(
                f"int *{n} = 0; if ({data}) {n} = a + {self.below(4)}; if ({n}) {n}[2] ^= {x}; a[{i}] += {n} != 0;"
            )
        else:
            self.line(
                f"union {{ unsigned u; unsigned char b[4]; short h[2]; }} {n}; {n}.u = {x}; {n}.b[{i} & 3] += {y};"
            )
            self.line(f"a[{i}] += {n}.u; {n}.h[1] ^= {y}; a[{j}] ^= {n}.b[{self.below(4)}] + {n}.h[0];")

    def walk(self, n: str, x: str, y: str, i: str, j: str, kind: int) -> None:
        """Pointers that walk over structs, copies between types, and elements that are set a part at a time."""
        step, first, second = 1 + self.below(3), self.below(3), self.below(3)
        if kind == 0:
            self.line(f"struct W {n}[3] = {{{{1, 2}}, {{.v = {x}, .in[1].l = {{3, {y}}}}}}};")
            self.line(f"for (struct W *p = {n}; p < {n} + 3; p += {step}) {{ p->v ^= a[p - {n}]; p->b[1] += {x};")
            self.line(f"    for (long *q = p->in[{first & 1}].l, *e = q + 2; q != e; ) *q++ += p->h - {y}; }}")
            self.line(
                f"{n}[{first}] = {n}[{second}]; a[{i}] += {n}[{first}].v + {n}[{step - 1}].in[1].l[1] + {n}[0].b[1];"
            )
        elif kind == 1:
            self.line(f"struct W {n}[2]; unsigned char {n}b[2 * sizeof(struct W)]; memset({n}, {first}, sizeof {n});")
            self.line(f"{n}[1].in[1].k = {x}; {n}[0].h = {y}; memcpy({n}b, {n}, sizeof {n}); {n}b[{4 + first}] ^= {x};")
            self.line(f"memcpy(&{n}[{second & 1}], {n}b + {first & 1} * sizeof *{n}, sizeof *{n});")
            self.line(f"a[{i}] ^= {n}[{second & 1}].v + {n}[1].in[1].k; a[{j}] += {n}[0].h;")
        elif kind == 2:
            self.line(f"union {{ struct {{ short a, b; int c; }} s; long l; unsigned char b[8]; }} {n}, {n}v;")
            self.line(f"{n}.l = {x}; {n}.s.b ^= {y}; {n}v = {n}; {n}v.b[{i}] += {y}; {n}v.s.c -= {x};")
            self.line(f"a[{i}] += {n}.s.a + {n}v.s.c; a[{j}] ^= (int)({n}v.l >> {8 * first}) + {n}.b[{2 + first}];")
        elif kind == 3:
            self.line(f"unsigned {n}[3]; unsigned char *{n}p = (unsigned char *){n};")
            self.line(f"for (int k = 0; k < 12; k++) {n}p[k] = a[k & 7] >> {first}; a[{i}] ^= {n}[{second}];")
            self.line(
                f"long {n}w[3]; memcpy((char *){n}w + {first * 3 + 1}, a, 12); memcpy({n}w, &{n}[1], {first * 3 + 1});"
            )
            self.line(f"a[{j}] += ((char *){n}w)[{second * 4}] + ((unsigned short *){n}w)[{second}];")
        elif kind == 4:
            self.line(f"struct N {n}[4] = {{{{{x}}}, {{{y}}}, {{3}}, {{a[{i}]}}}}, *{n}h = &{n}[{first}];")
            self.line(
                f"for (int k = 0; k < 3; k++) {n}[({first} + k * {step | 1}) & 3].next = &{n}[({first} + (k + 1) * {step | 1}) & 3];"
            )
            self.line(f"for (struct N *p = {n}h, *q = 0; p; p = p->next) {{ if (q) p->v += 3 * q->v; q = p; }}")
            self.line(f"a[{j}] ^= {n}[{second}].v + ({n}h->next ? {n}h->next->next->v : 0);")
        elif kind == 5:
            self.line(f"struct S {n}[2][3] = {{{{{{{x}}}}}}}, (*{n}r)[3] = {n}; {n}r++; {n}r[-1][{first}].z = {y};")
            self.line(
                f"(*{n}r)[{second}] = {n}[0][{first}]; {n}r[0]->x += 5; int *{n}x = &{n}[1][{second}].x; *{n}x ^= {y};"
            )
            self.line(f"struct S *{n}c = (struct S *)((char *)&{n}[1][{second}].z - (long)&((struct S *)0)->z);")
            self.line(f"{n}c->y[1] = 2; a[{i}] += {n}c->x + {n}[1][0].x + {n}[1][{second}].z + ({n}c - {n}[1]);")
        elif kind == 6:
            self.line(
                f"struct S {n} = ({x}) > 3 ? (struct S){{.x = {y}}} : (struct S){{1, {{2}}, 3}}, {n}t[3] = {{{n}, {{4}}}};"
            )
            self.line(
                f"struct S *{n}p = &{n}t[{first}]; struct S **{n}pp = &{n}p; (*{n}pp)->x -= {x}; *{n}p = *&{n}t[{second}];"
            )
            self.line(f"(**{n}pp).z += {step}; a[{i}] ^= by_value({n}t[{first}]) + by_pointer({n}p, {y}) + {n}p->z;")
        else:
            self.line(f"struct W {n} = {{{x}, {y}}}; short {n}s[12]; memcpy({n}s, &{n}, 24); {n}s[{first}] += 3;")
            self.line(
                f"memcpy((char *)&{n} + 4, {n}s + {first + 1}, {4 + second}); a[{i}] += {n}.v + {n}s[{2 + second}];"
            )
            self.line(f"unsigned char *{n}p = (unsigned char *)&{n}.v; {n}p[{first}] ^= {y}; a[{j}] ^= {n}.v;")

    def pointer(self) -> None:
        ints = [n for n, t, r in self.arrays if t == "int" and r == 1]
        if not ints:
            return
        name = self.fresh("q")
        self.line(f"int *{name} = {self.pick(ints)} + {self.below(4)};")
        self.line(f"*{name}++ ^= {self.integer(1)};")
        self.line(f"{name}[1] += *{name};")


HELPERS = """
static int clampi(double d) { return d > 100 ? 100 : d < -100 ? -100 : d == d ? (int)d : 0; }
static int mix(double a, int b) { if (a > b) return b ^ 3; return clampi(a) + b; }
static int early(int n) { for (int i = 0; i < 4; i++) { if (i == 2) return n + i; n = n * 3 + 1; } return n; }
static int total(const int *a, int n) { int s = 0; while (n-- > 0) s += *a++; return s; }
static void out(int *r, int v) { *r += v; }
static int by_value(struct S s) { s.x += 1; s.z ^= 5; return s.x + s.z + clampi(s.y[1]); }
static int by_pointer(struct S *s, int v) { s->x ^= v; s->y[v & 0] += 1; return s->x; }
static const int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
"""


def write(seed: int, further: bool = False) -> RandomProgram:
    """The program of a seed. ``further``: with statements that schedules which print C anew may refuse."""
    rng = random.Random(seed)
    flavour = rng.random() < 0.5
    w = _Writer(rng, flavour)
    variables: list[tuple] = []
    head = ["#include <math.h>", "#include <string.h>", "struct S { int x; float y[2]; unsigned short z; };"]
    head.append("struct I { int *p, *q[2]; int n; };")
    head.append("struct W { short h, g; int v; unsigned char b[8]; struct { int k, m; long l[2]; } in[2]; };")
    head.append("struct N { int v; struct N *next; };")
    for k in range(1 + w.below(3)):
        t, rank = w.pick(INTS + FLOATS), 1 + w.below(2)
        w.arrays.append((f"g{k}", t, rank))
        variables.append((f"g{k}", NUMPY[t], (SIZE,) if rank == 1 else (SIZE, 2)))
        head.append(f"{t} g{k}[{SIZE}]{'[2]' if rank == 2 else ''};")
    w.arrays.append(("a", "int", 1))
    variables.append(("a", "int32", (SIZE,)))
    head.append(f"int a[{SIZE}];")
    t = w.pick(INTS + FLOATS)
    w.scope.append(("gs", t))
    variables.append(("gs", NUMPY[t], ()))
    head.append(f"{t} gs;")
    if w.chance(50):
        struct = np.dtype(
            {"names": ["x", "y", "z"], "formats": ["i4", ("f4", (2,)), "u2"], "offsets": [0, 4, 12], "itemsize": 16}
        )
        w.structs += ["s", "u"]
        variables += [("s", struct, ()), ("u", struct, ())]
        head.append("struct S s, u;")
    w.tables.append("table")
    w.helpers = True
    if w.chance(50):
        w.line("int local[8] = {1, 2, 3};")
        w.arrays.append(("local", "int", 1))
    if w.chance(50):
        w.line("memset(a + 2, 0, 3 * sizeof(int));")
    for _ in range(2 + w.below(6)):
        w.statement([])
    w.random = random.Random(seed + 1)
    for _ in range(w.below(4) if further else 0):
        w.further()
    text = "\n".join([*head, HELPERS, "void kern(void) {", *w.lines, "}", ""])
    return RandomProgram(text, variables, flavour)
