"""The flat IR as CUDA C++, exact: for NVRTC and nvcc with --std=c++17 --fmad=false, on 64-bit hosts.

Signed arithmetic that may overflow is done in unsigned types, so that it wraps. A product of widened 32-bit values
stays one of two casts, which the compiler makes a wide multiply of. A schedule derives a class from `CudaText` and says
how variables and elements of regions are spelled; whatever statement it treats in its own way it takes out before the
rest.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable
from fractions import Fraction

from ..base import catalogue
from ..base.ctype import BOOL, CHAR, INT, LONG, UINT, ULONG, Scalar, unsigned_of
from ..base.libm import COMPLEX_PARTS
from ..ir.evaluate import COMPARISONS
from ..ir.indices import simplified
from ..ir.nodes import (
    NOWHERE,
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
from ..ir.ranges import RangeOf, Ranges, range_of_variable
from ..ir.walk import variables
from ..transform.pairs import both
from .contraction import plain_products
from .math_calls import is_ours, math_call
from .positions import mark
from .precedence import NAME, PREFIX, PRODUCT, SUM, WHOLE, enclosed, infix

_NAMES = {BOOL: "bool", CHAR: "signed char", LONG: "long long", ULONG: "unsigned long long"}
_TO_FLOAT = {("i", 4): "__int_as_float", ("u", 4): "__uint_as_float", 8: "__longlong_as_double"}
_SUFFIX = {("i", 8): "ll", ("u", 8): "ull", ("u", 4): "u"}
_WIDTH = 88  # of what stands in one line of many
ARITHMETIC = ("+", "-", "*")  # what may overflow


def type_name(t: Scalar) -> str:
    """A C type in CUDA C++: of the same size and signedness on every host."""
    return _NAMES.get(t, t.name)


def element_name(t: Scalar) -> str:
    """The type of a region's elements in memory: a _Bool is a byte there."""
    return "unsigned char" if t == BOOL else type_name(t)


def variable_name(v: Variable) -> str:
    return f"{v.name}_{v.uid}" if v.uid >= 0 else f"{v.name}_u{-v.uid}"


def region_name(r: Region) -> str:
    """A region's name, which no variable has. It holds the places of the dots: field ``b`` of ``a`` is not ``a_b``."""
    dots = [str(k) for k, c in enumerate(r.name) if c == "."]
    return f"{r.name.replace('.', '_')}_at{'x'.join(dots)}"


_SHORT = 12  # characters of a number that is easily read


def literal(value: int | float, t: Scalar) -> str:
    """A constant, exact."""
    if t.is_float:
        return _floating(float(value), t)
    suffix = _SUFFIX.get((t.kind, t.size), "")
    value = int(value)
    if t.kind == "i" and t.size >= 4 and value == -(2 ** (t.bits - 1)):
        return f"({value + 1}{suffix} - 1)"
    return f"({value}{suffix})" if value < 0 else f"{value}{suffix}"


def _floating(value: float, t: Scalar) -> str:
    single = t.size == 4
    if math.isnan(value):
        return "__int_as_float(0x7fc00000)" if single else "__longlong_as_double(0x7ff8000000000000ll)"
    if math.isinf(value):  # what a function gives is no constant, which one of the device may start with
        text = "(1.0f / 0.0f)" if single else "(1.0 / 0.0)"
        return f"(-{text})" if value < 0 else text
    decimal = repr(value)  # as a person writes it, where that is the number itself and not one beside it
    exact = len(decimal) <= _SHORT and Fraction(decimal) == Fraction(value)
    text = (decimal if exact else value.hex()) + ("f" if single else "")
    return f"({text})" if text[0] == "-" else text


def listed(texts: Iterable[str]) -> list[str]:
    """Texts with commas between them, in lines of moderate length."""
    whole = (x.replace(" ", "\0") for x in texts)
    lines = textwrap.wrap(", ".join(whole), _WIDTH, break_long_words=False, break_on_hyphens=False)
    return [x.replace("\0", " ") for x in lines]


class CudaText:
    """Prints statements to ``lines``. ``of_variable``: the range of what a variable holds: arithmetic that cannot
    overflow is printed plainly."""

    def __init__(self, of_variable: RangeOf = range_of_variable):
        self.fused = plain_products()
        self.of_variable, self.ranges = of_variable, Ranges(of_variable)
        self.lines: list[str] = []
        self.depth = 1
        self.origin = NOWHERE  # where what the next line says begins

    # what a schedule decides

    def variable(self, v: Variable) -> str:
        """How a scalar variable is spelled."""
        return variable_name(v)

    def element(self, r: Region, index: Expr) -> str:
        """How an element of a region is spelled, as an lvalue."""
        return f"{region_name(r)}[{self.text(self.index(index))}]"

    def index(self, e: Expr) -> Expr:
        """A subscript as it is printed."""
        return simplified(e, self.of_variable)

    def load(self, e: Load) -> str:
        """The value of an element."""
        text = self.element(e.region, e.index)
        return f"({text} != 0)" if e.type == BOOL else text

    def store(self, s: Store) -> None:
        """Print a store."""
        self.line(f"{self.element(s.region, s.index)} = {self.text(s.value)};")

    # lines

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)
        mark(self.lines, len(self.lines) - 1, self.origin)
        self.origin = NOWHERE

    def open(self, text: str) -> None:
        self.line(f"{text} {{")
        self.depth += 1

    def close(self, text: str = "}") -> None:
        self.depth -= 1
        self.line(text)

    # statements

    def declare(self, block: Block, but: Iterable[Variable] = ()) -> None:
        """Declare every variable of ``block``, as 0, but those that the schedule declares itself."""
        left_out = frozenset(but)
        by_type: dict[str, list[str]] = {}
        for v in variables(block):
            if v not in left_out:
                by_type.setdefault(type_name(v.type), []).append(f"{self.variable(v)} = 0")
        for t, names in by_type.items():
            for some in listed(names):
                self.line(f"{t} {some.rstrip(',')};")

    def block(self, block: Block) -> None:
        k = 0
        while k < len(block):
            k += self.together(block, k) or self.alone(block[k])

    def alone(self, s: Stmt) -> int:
        """Print one statement."""
        self.statement(s)
        return 1

    def together(self, block: Block, k: int) -> int:
        """Print two functions of a pair from ``k`` on by one that does both, if there is one of ours: how many
        statements that are."""
        beside = block[k : k + 2]
        name = both(*beside) if len(beside) == 2 else ""
        if not is_ours(name):
            return 0
        values = [s.value for s in beside if isinstance(s, Assign) and isinstance(s.value, Call)]
        results = [self.result(s.var) for s in beside if isinstance(s, Assign)]
        self.line(f"{math_call(name)}({', '.join([self.text(values[0].args[0]), *results])});")
        return 2

    def result(self, v: Variable) -> str:
        """A variable that a call stores into."""
        return self.variable(v)

    def statement(self, s: Stmt) -> None:
        self.origin = s.loc
        match s:
            case Assign():
                self.line(f"{self.variable(s.var)} = {self.text(s.value)};")
            case Store():
                self.store(s)
            case If():
                self.branch(s)
            case Loop():
                self.loop(s)

    def branch(self, s: If) -> None:
        self.open(f"if ({self.text(s.cond)})" if s.then else f"if (!{self.expr(s.cond)})")
        self.block(s.then or s.other)
        if s.then and s.other:
            self.close("} else {")
            self.depth += 1
            self.block(s.other)
        self.close()

    def loop(self, s: Loop) -> None:
        """Leave if a flag is set; head; leave unless cond; body; leave if a flag is set; step."""
        flags = " || ".join(self.variable(f) for f in s.flags)
        if s.head:
            self.open("for (;;)")
            if flags:
                self.line(f"if ({flags}) break;")
            self.block(s.head)
            self.line(f"if (!{self.expr(s.cond)}) break;")
        else:
            self.open(f"while (!({flags}) && {self.expr(s.cond)})" if flags else f"while ({self.text(s.cond)})")
        self.block(s.body)
        if flags and s.step:
            self.line(f"if ({flags}) break;")
        self.block(s.step)
        self.close()

    # expressions

    def text(self, e: Expr, level: int = WHOLE) -> str:
        """The value of ``e``, in parentheses where it binds less tightly than ``level``."""
        return enclosed(self.printed(e), level)

    def expr(self, e: Expr) -> str:
        """The value of ``e`` as an operand of any operator."""
        return self.text(e, PREFIX)

    def printed(self, e: Expr) -> tuple[str, int]:
        """The value of ``e``, and how tightly its text binds."""
        self.origin = self.origin if self.origin.line else e.loc
        match e:
            case Const():
                return literal(e.value, e.type), NAME
            case Var(var=v):
                return self.variable(v), NAME
            case Load():
                return self.load(e), NAME
            case Unary():
                return self.unary(e)
            case Binary():
                return self.binary(e)
            case Cast():
                return self.cast(e)
            case Bitcast():
                return self.bitcast(e)
            case Select():
                return f"{self.expr(e.cond)} ? {self.text(e.yes, SUM)} : {self.text(e.no, SUM)}", WHOLE
            case Extremum():
                return self.extremum(e)
            case Call(name=name) if name in COMPLEX_PARTS:
                raise catalogue.LIBRARY_FUNCTION.error(e.loc, name=name.split("_")[0])
            case Call():
                return f"{math_call(e.name)}({', '.join(map(self.text, e.args))})", NAME
        raise AssertionError(e)

    def truth(self, e: Expr) -> tuple[str, int]:
        """``e`` as a bool."""
        boolean = e.type == BOOL or (isinstance(e, Binary) and e.op in (*COMPARISONS, "&&", "||"))
        if boolean or (isinstance(e, Unary) and e.op == "!"):
            return self.printed(e)
        return f"{self.text(e, SUM)} != 0", WHOLE

    def unary(self, e: Unary) -> tuple[str, int]:
        t = e.type
        if e.op == "-" and t.kind == "i":
            return f"({type_name(t)})(0 - {self.unsigned(e.operand, PRODUCT)})", PREFIX
        text = f"{e.op}{self.text(e.operand, NAME)}"
        return (text if e.op == "!" or t.is_float or t.size >= 4 else f"({type_name(t)}){text}"), PREFIX

    def unsigned(self, e: Expr, level: int) -> str:
        """An integer's bits in the unsigned type that its arithmetic is done in."""
        u = unsigned_of(e.type) if e.type.size >= 4 else UINT
        if isinstance(e, Const):
            return literal(u.wrap(e.value), u)
        wraps = isinstance(e, Binary) and e.type.kind == "i" and e.op in ARITHMETIC and self.ranges.wraps(e)
        if isinstance(e, Binary) and e.type.size >= 4 and wraps:
            return enclosed(infix(e, self.unsigned), level)
        return self.text(e, level) if u == e.type else f"({type_name(u)}){self.expr(e)}"

    def binary(self, e: Binary) -> tuple[str, int]:
        op, t = e.op, e.type
        if op in ("&&", "||"):  # both sides are safe to evaluate: no jump
            return f" {op[0]} ".join(enclosed(self.truth(side), PREFIX) for side in (e.left, e.right)), WHOLE
        if op == "*" and t.is_float and not self.fused:
            return f"__{'f' if t.size == 4 else 'd'}mul_rn({self.text(e.left)}, {self.text(e.right)})", NAME
        if op in ARITHMETIC and t.is_integer and (t.kind == "i" or t.size < 4) and self.ranges.wraps(e):
            return f"({type_name(t)}){enclosed(infix(e, self.unsigned), PREFIX)}", PREFIX
        if op == "<<" and t.kind == "i":
            return f"({type_name(t)})({self.unsigned(e.left, PREFIX)} << {self.expr(e.right)})", PREFIX
        plain = infix(e, self.text)
        return plain if t.size >= 4 else (f"({type_name(t)}){enclosed(plain, PREFIX)}", PREFIX)

    def cast(self, e: Cast) -> tuple[str, int]:
        if e.type == BOOL:
            return self.truth(e.operand)
        if e.operand.type.is_float and e.type.is_integer:
            return f"c2cu_integer<{type_name(e.type)}>({self.text(e.operand)})", NAME
        return f"({type_name(e.type)}){self.expr(e.operand)}", PREFIX

    def bitcast(self, e: Bitcast) -> tuple[str, int]:
        a, b = e.operand.type, e.type
        if a.is_float and b.is_float or not (a.is_float or b.is_float):
            return f"({type_name(b)}){self.expr(e.operand)}", PREFIX
        if b.is_float and b.size == 4:
            return f"{_TO_FLOAT[(a.kind, 4)]}({self.text(e.operand)})", NAME
        if b.is_float:
            return f"{_TO_FLOAT[8]}((long long){self.expr(e.operand)})", NAME
        if b.size == 4:
            return f"__float_as_{'int' if b.kind == 'i' else 'uint'}({self.text(e.operand)})", NAME
        return f"({type_name(b)})__double_as_longlong({self.text(e.operand)})", PREFIX

    def extremum(self, e: Extremum) -> tuple[str, int]:
        """``min`` or ``max`` of integers, `fminf` or its kin of floats where that is the rule, else a choice."""
        if e.rule == "number":
            return f"{e.function}({self.text(e.left)}, {self.text(e.right)})", NAME
        if e.type.is_float:
            return self.printed(e.choice)
        wide = INT if e.type.size < 4 else e.type
        text = f"{e.op}({', '.join(f'({type_name(wide)}){self.expr(a)}' for a in (e.left, e.right))})"
        return (text, NAME) if wide == e.type else (f"({type_name(e.type)}){text}", PREFIX)
