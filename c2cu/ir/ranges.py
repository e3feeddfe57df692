"""Value ranges: the least and the greatest value that an integer expression can have."""

from __future__ import annotations

from collections.abc import Callable

from ..base.ctype import Scalar
from .evaluate import COMPARISONS
from .nodes import Assign, Binary, Block, Cast, Const, Expr, Extremum, Select, Unary, Var, Variable
from .walk import statements

Range = tuple[int, int]
RangeOf = Callable[[Variable], Range]  # of what a variable holds

_TRUTH = (0, 1)


def range_of_type(t: Scalar) -> Range:
    """All values of an integer type."""
    if t.kind == "b":
        return _TRUTH
    return (-(1 << (t.bits - 1)), (1 << (t.bits - 1)) - 1) if t.kind == "i" else (0, (1 << t.bits) - 1)


def range_of_variable(v: Variable) -> Range:
    """What is known where nothing is said of a variable: its type."""
    return range_of_type(v.type)


def fits(r: Range, t: Scalar) -> bool:
    """Whether all values of ``r`` are values of ``t``."""
    low, high = range_of_type(t)
    return low <= r[0] and r[1] <= high


def product(a: Range, b: Range) -> Range:
    """The range of a product before it wraps around."""
    corners = [x * y for x in a for y in b]
    return min(corners), max(corners)


def conjunction(a: Range, b: Range) -> Range | None:
    """The range of ``&``; None where both may be negative."""
    return (0, min(high for low, high in (a, b) if low >= 0)) if a[0] >= 0 or b[0] >= 0 else None


def disjunction(a: Range, b: Range) -> Range | None:
    """The range of ``|`` and of ``^``; None where one may be negative."""
    return (0, (1 << max(a[1], b[1]).bit_length()) - 1) if a[0] >= 0 and b[0] >= 0 else None


class Ranges:
    """The ranges of expressions over variables with the ranges that ``of_variable`` gives. Each expression is looked at
    once."""

    def __init__(self, of_variable: RangeOf = range_of_variable):
        self.of_variable = of_variable
        self._known: dict[int, tuple[Expr, Range]] = {}  # by id; the expression is kept, so that its id stays its own

    def __call__(self, e: Expr) -> Range:
        """The range of an integer expression."""
        if id(e) not in self._known:
            self._known[id(e)] = (e, self._bounded(e))
        return self._known[id(e)][1]

    def exact(self, e: Binary) -> Range:
        """The range of ``+``, ``-`` or ``*`` before it wraps around."""
        (a, b), (c, d) = self(e.left), self(e.right)
        if e.op == "+":
            return a + c, b + d
        if e.op == "-":
            return a - d, b - c
        return product((a, b), (c, d))

    def wraps(self, e: Binary) -> bool:
        """Whether ``+``, ``-`` or ``*`` may leave its type."""
        return not fits(self.exact(e), e.type)

    def _bounded(self, e: Expr) -> Range:
        r = self._range(e)
        return r if r is not None and fits(r, e.type) else range_of_type(e.type)

    def _range(self, e: Expr) -> Range | None:
        """The range before the result wraps around; None where nothing is known but the type."""
        match e:
            case Const(value=v):
                return int(v), int(v)
            case Var(var=v):
                return self.of_variable(v)
            case Cast(operand=x) if x.type.is_integer and e.type.kind != "b":
                return self(x)
            case Select(yes=a, no=b):
                (low, high), (least, greatest) = self(a), self(b)
                return min(low, least), max(high, greatest)
            case Extremum(op=op, left=a, right=b) if e.type.is_integer:
                (low, high), (least, greatest) = self(a), self(b)
                nearer = min if op == "min" else max
                return nearer(low, least), nearer(high, greatest)
            case Unary(op="!"):
                return _TRUTH
            case Unary(op=op, operand=x):
                low, high = self(x)
                return (-high, -low) if op == "-" else (~high, ~low)
            case Binary(op="+" | "-" | "*"):
                return self.exact(e)
            case Binary(op=op) if op in COMPARISONS or op in ("&&", "||"):
                return _TRUTH
            case Binary():
                return self._of_bits(e)
        return None

    def _of_bits(self, e: Binary) -> Range | None:
        """Of shifts, division, and what is done bit by bit."""
        (a, b), (c, d) = self(e.left), self(e.right)
        match e.op:
            case "&":
                return conjunction((a, b), (c, d))
            case "|" | "^":
                return disjunction((a, b), (c, d))
            case ">>" if c == d and 0 <= c < e.type.bits:
                return a >> c, b >> c
            case "<<" if c == d and 0 <= c < e.type.bits:
                return a << c, b << c
            case "/" if a >= 0 and c > 0:
                return a // d, b // c
            case "%" if a >= 0 and c > 0:
                return 0, min(b, d - 1)
        return None


def ranges_of_variables(block: Block) -> RangeOf:
    """What variables hold by all that a block assigns to them."""
    values: dict[Variable, list[Expr]] = {}
    for s in statements(block):
        if isinstance(s, Assign):
            values.setdefault(s.var, []).append(s.value)
    known: dict[Variable, Range] = {}

    def of_variable(v: Variable) -> Range:
        if v not in known:
            known[v] = range_of_type(v.type)  # where it depends on itself
            parts = [ranges(e) if e.type.is_integer else known[v] for e in values.get(v, ())]
            if parts:
                r = min(low for low, _ in parts), max(high for _, high in parts)
                known[v] = r if fits(r, v.type) else known[v]
        return known[v]

    ranges = Ranges(of_variable)
    return of_variable
