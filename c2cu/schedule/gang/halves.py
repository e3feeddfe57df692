"""Whether lanes of 16 bits are enough: twice as many inputs go side by side then.

A lane holds a whole number modulo 2^16. That is enough for what depends on the lower bits alone: sums, products,
logical operations, conversions to fewer bits. Where the whole value decides (comparisons, minima, shifts to the right,
results of 32 bits) it has to fit. To see that, the kernel runs on intervals, of each variable and of each array as a
whole; its loops take the turns that they take, as no data decides those. The program that does it is Python, made from
the kernel.
"""

from __future__ import annotations

from ...analysis.uniform import Uniform
from ...base.ctype import BOOL, Scalar
from ...ir.evaluate import COMPARISONS, binary_value
from ...ir.nodes import (
    Assign,
    Binary,
    Bitcast,
    Block,
    Call,
    Cast,
    Const,
    Expr,
    Extremum,
    If,
    Load,
    Loop,
    Region,
    Select,
    Stmt,
    Store,
    Unary,
    Var,
    Variable,
)
from ...ir.ranges import conjunction, disjunction, fits, product, range_of_type
from ...ir.walk import expressions, operands, statements

LEAST, MOST = -(1 << 15), (1 << 15) - 1
STATEMENTS = 2500  # of a kernel that is looked at
EXECUTED = 200_000  # statements, all in all
ELEMENTS = 1 << 16  # of a table that is the same for all inputs
PIECE = 100  # lines


class _TooWide(Exception):
    """Something does not fit, or nobody knows whether it does."""


def halves(u: Uniform) -> bool:
    """Whether everything that varies is computed right in lanes of 16 bits."""
    if u.ends_on_data or not all(_is_narrow(r.type) for r in u.varying_regions):
        return False
    body = list(statements(u.kernel.body))
    if len(body) > STATEMENTS or any(isinstance(s, Store) and u.is_varying(s.index) for s in body):
        return False
    if not all(_is_possible(u, e) for s in body for e in (*expressions(s), *_target(u, s))):
        return False
    try:
        _Intervals(u).run()
    except (_TooWide, SyntaxError, ZeroDivisionError, IndexError, RecursionError):  # Python nests loops 20 deep
        return False
    return True


def _is_narrow(t: Scalar) -> bool:
    return t.is_integer and t.size <= 4


def _target(u: Uniform, s: Stmt) -> tuple[Expr, ...]:
    """A variable that an assignment makes vary."""
    return (Var(s.var),) if isinstance(s, Assign) and s.var in u.varying else ()


def _is_possible(u: Uniform, e: Expr) -> bool:
    """Whether lanes of 16 bits have all that varies in an expression, whatever its values."""
    possible = True

    def varies(e: Expr) -> bool:
        nonlocal possible
        inner = [varies(x) for x in operands(e)]
        if not (any(inner) or u.is_leaf(e)):
            return False
        match e:
            case Load() if inner[0]:
                possible = False
            case Call() | Bitcast() | Binary(op="/" | "%"):
                possible = False
            case Binary(op="<<" | ">>") if inner[1]:
                possible = False
        possible = possible and _is_narrow(e.type)
        return True

    varies(e)
    return possible


def _less(a: int, b: int, c: int, d: int) -> tuple[int, int]:
    return int(b < c), int(a < d)


def _same(a: int, b: int, c: int, d: int) -> tuple[int, int]:
    return int(a == b == c == d), int(a <= d and c <= b)


def _shifted(a: int, b: int, n: int, left: bool) -> tuple[int, int]:
    if not 0 <= n <= 31:
        raise _TooWide
    return (a << n, b << n) if left else (a >> n, b >> n)


def _stop() -> None:
    raise _TooWide


_NAMES = {
    "AND": conjunction, "OR": disjunction, "PRODUCT": product, "LESS": _less, "SAME": _same,
    "SHIFTED": _shifted, "VALUE": binary_value, "STOP": _stop,
}  # fmt: skip


class _Intervals:
    """The kernel on intervals, as Python that is written and executed piece by piece: of most kernels the first piece
    shows what does not fit. A value is a pair of names, or of numbers: the least and the greatest."""

    def __init__(self, u: Uniform):
        self.u = u
        self.lines: list[str] = []
        self.depth = 0
        self.names = 0
        self.masked = False
        self.variables: dict[Variable, tuple[str, str]] = {}
        self.regions: dict[Region, tuple[str, str]] = {}
        self.types: dict[str, Scalar] = {}
        self.begun = 0  # of the variables
        self.state: dict[str, object] = {**_NAMES, "executed": 0}

    def run(self) -> None:
        """Raises _TooWide where something does not fit."""
        for k, r in enumerate(self.u.kernel.regions):
            names = self.regions[r] = f"r{k}", f"q{k}"
            if not r.type.is_integer:
                continue  # whatever names it is refused
            least, most = range_of_type(r.type)
            if self.is_known(r) and r.count > ELEMENTS:
                raise _TooWide
            if r.storage == "shared" and r.init is not None:
                self.line(f"{names[0]} = {names[1]} = {[int(x) for x in r.init]}")
            elif self.is_known(r):
                self.line(f"{names[0]} = {names[1]} = [0] * {r.count}")
            elif r.storage == "local":  # nothing is read of it that was not written
                self.line(f"{names[0]} = {names[1]} = 0")
            else:
                self.line(f"{names[0]}, {names[1]} = {least}, {most}")
        for s in self.u.kernel.body:
            self.statement(s)
            if len(self.lines) > PIECE:
                self.execute()
        self.execute()

    def execute(self) -> None:
        """What has been written since the last time."""
        pairs = (*self.variables.values(), *self.regions.values())
        lasting = ", ".join(["executed", *(name for pair in pairs for name in pair)])
        self.state.update(self.types)
        self.state.update((name, 0) for pair in list(self.variables.values())[self.begun :] for name in pair)
        exec("\n    ".join(["def piece():", f"global {lasting}", *self.lines]), self.state)
        self.state["piece"]()  # type: ignore[operator]
        self.begun, self.lines = len(self.variables), []

    def is_known(self, r: Region) -> bool:
        """Whether the elements are the same for all inputs, each known by itself."""
        return r not in self.u.varying_regions and (r.init is not None or r.storage == "local")

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def variable(self, v: Variable) -> tuple[str, str]:
        if v not in self.variables:
            self.variables[v] = f"v{len(self.variables)}", f"w{len(self.variables)}"
        return self.variables[v]

    def pair(self, text: str) -> tuple[str, str]:
        self.names += 1
        names = f"a{self.names}", f"b{self.names}"
        self.line(f"{names[0]}, {names[1]} = {text}")
        return names

    def within(self, pair: tuple[str, str], t: Scalar) -> tuple[str, str]:
        """A result that wraps around where it does not fit its type."""
        least, most = range_of_type(t)
        self.line(f"if {pair[0]} < {least} or {pair[1]} > {most}: {pair[0]}, {pair[1]} = {least}, {most}")
        return pair

    def whole(self, e: Expr, other: Expr | None = None) -> tuple[str, str]:
        """The value of an expression all of whose bits count. ``other``: what it meets in a lane, if that varies."""
        pair = self.value(e)
        if self.u.is_varying(e) or (other is not None and self.u.is_varying(other)):
            self.require(pair)
        return pair

    def require(self, pair: tuple[str, str]) -> None:
        """It fits."""
        self.line(f"if {pair[0]} < {LEAST} or {pair[1]} > {MOST}: STOP()")

    def single(self, e: Expr) -> str:
        """A value that is known."""
        pair = self.value(e)
        if not isinstance(e, Const):
            self.line(f"if {pair[0]} != {pair[1]}: STOP()")
        return pair[0]

    def index(self, e: Expr) -> str:
        """A subscript: known, and none from the end."""
        index = self.single(e)
        self.line(f"if {index} < 0: STOP()")
        return index

    def value(self, e: Expr) -> tuple[str, str]:
        if not e.type.is_integer:
            raise _TooWide
        match e:
            case Const():
                return str(int(e.value)), str(int(e.value))
            case Var(var=v):
                return self.variable(v)
            case Load(region=r):
                low, high = self.regions[r]
                index = self.index(e.index)
                return self.pair(f"{low}[{index}], {high}[{index}]") if self.is_known(r) else (low, high)
            case Cast() if e.type == BOOL:
                low, high = self.whole(e.operand)
                return self.pair(f"int({low} > 0 or {high} < 0), int({low} != 0 or {high} != 0)")
            case Cast():
                pair = self.value(e.operand)
                if fits(range_of_type(e.operand.type), e.type):
                    return pair
                return self.within(self.pair(", ".join(pair)), e.type)
            case Unary(op="!"):
                low, high = self.whole(e.operand)
                return self.pair(f"int({low} == 0 and {high} == 0), int({low} <= 0 <= {high})")
            case Unary(op=op):
                low, high = self.value(e.operand)
                return self.within(self.pair(f"{op}{high}, {op}{low}"), e.type)
            case Select():
                a, b = self.whole(e.cond)
                (c, d), (f, g) = self.value(e.yes), self.value(e.no)
                hull = f"(min({c}, {f}), max({d}, {g}))"
                return self.pair(f"({c}, {d}) if {a} > 0 or {b} < 0 else ({f}, {g}) if {a} == {b} else {hull}")
            case Extremum(op=op):
                (a, b), (c, d) = self.whole(e.left, e.right), self.whole(e.right, e.left)
                return self.pair(f"{op}({a}, {c}), {op}({b}, {d})")
            case Binary():
                return self.binary(e)
        raise _TooWide

    def binary(self, e: Binary) -> tuple[str, str]:
        if e.op in COMPARISONS or e.op in ("&&", "||", "/", "%"):
            (a, b), (c, d) = self.whole(e.left, e.right), self.whole(e.right, e.left)
        else:
            (a, b), (c, d) = (self.whole if e.op == ">>" else self.value)(e.left), self.value(e.right)
        least, most = range_of_type(e.type)
        match e.op:
            case "<" | ">=":
                low, high = self.pair(f"LESS({a}, {b}, {c}, {d})")
            case ">" | "<=":
                low, high = self.pair(f"LESS({c}, {d}, {a}, {b})")
            case "==" | "!=":
                low, high = self.pair(f"SAME({a}, {b}, {c}, {d})")
            case "&&" | "||":
                some = [f"int({x} != 0 or {y} != 0)" for x, y in ((a, b), (c, d))]
                sure = [f"int({x} > 0 or {y} < 0)" for x, y in ((a, b), (c, d))]
                word = "and" if e.op == "&&" else "or"
                return self.pair(f"{sure[0]} {word} {sure[1]}, {some[0]} {word} {some[1]}")
            case "+":
                return self.within(self.pair(f"{a} + {c}, {b} + {d}"), e.type)
            case "-":
                return self.within(self.pair(f"{a} - {d}, {b} - {c}"), e.type)
            case "*":
                return self.within(self.pair(f"PRODUCT(({a}, {b}), ({c}, {d}))"), e.type)
            case "<<" | ">>":
                self.line(f"if {c} != {d}: STOP()")
                return self.within(self.pair(f"SHIFTED({a}, {b}, {c}, {e.op == '<<'})"), e.type)
            case "&" | "|" | "^":
                name = "AND" if e.op == "&" else "OR"
                exact = self.exact(e, a, c)
                return self.pair(
                    f"{exact} if {a} == {b} and {c} == {d} else {name}(({a}, {b}), ({c}, {d})) or ({least}, {most})"
                )
            case _:  # of what is the same for all inputs
                self.line(f"if {a} != {b} or {c} != {d}: STOP()")
                return self.pair(self.exact(e, a, c))
        return (low, high) if e.op in ("<", ">", "==") else self.pair(f"1 - {high}, 1 - {low}")

    def exact(self, e: Binary, a: str, b: str) -> str:
        """The value of an operation on two numbers."""
        name = f"TYPE_{e.type.name.replace(' ', '_')}"
        self.types[name] = e.type
        return f"(VALUE({e.op!r}, {a}, {b}, {name}),) * 2"

    # statements

    def block(self, block: Block) -> None:
        if not block:
            self.line("pass")
        for s in block:
            self.statement(s)

    def inner(self, block: Block) -> None:
        self.depth += 1
        self.block(block)
        self.depth -= 1

    def statement(self, s: Stmt) -> None:
        match s:
            case Assign():
                self.store(self.variable(s.var), self.value(s.value), not self.masked)
            case Store() if s.region in self.u.varying_regions:
                self.index(s.index)
                wide = s.region.storage == "bulk" and s.region.type.size == 4
                value = self.value(s.value)
                if wide:
                    self.require(value)
                if wide and self.masked:  # other lanes keep what is there
                    self.require(self.regions[s.region])
                self.store(self.regions[s.region], value, s.region.count == 1 and not self.masked)
            case Store():
                index, (low, high) = self.index(s.index), self.value(s.value)
                self.line(f"if {low} != {high}: STOP()")
                self.line(f"{self.regions[s.region][0]}[{index}] = {low}")
            case If() if self.u.is_varying(s.cond):
                self.whole(s.cond)
                outer, self.masked = self.masked, True
                self.block(s.then)
                self.block(s.other)
                self.masked = outer
            case If():
                self.line(f"if {self.single(s.cond)}:")
                self.inner(s.then)
                self.line("else:")
                self.inner(s.other)
            case Loop():
                self.loop(s)

    def store(self, to: tuple[str, str], value: tuple[str, str], whole: bool) -> None:
        if whole:
            self.line(f"{to[0]}, {to[1]} = {value[0]}, {value[1]}")
            return
        self.line(f"if {value[0]} < {to[0]}: {to[0]} = {value[0]}")
        self.line(f"if {value[1]} > {to[1]}: {to[1]} = {value[1]}")

    def loop(self, s: Loop) -> None:
        flags = " or ".join(self.variable(f)[0] for f in s.flags)
        self.line("while True:")
        self.depth += 1
        self.line(f"executed += {1 + sum(1 for _ in statements((*s.head, *s.body, *s.step)))}")
        self.line(f"if executed > {EXECUTED}: STOP()")
        if flags:
            self.line(f"if {flags}: break")
        self.block(s.head)
        self.line(f"if not {self.single(s.cond)}: break")
        self.block(s.body)
        if flags and s.step:
            self.line(f"if {flags}: break")
        self.block(s.step)
        self.depth -= 1
