"""The flat IR: one kernel for one input, with no calls, no pointers and no structs left.

Lowering inlines every call and splits every object into *regions*: flat arrays of one scalar type, one for each
scalar field of the C object. A pointer has become a region and an index into it. What is left is small enough
that every later stage can match on all of it:

* expressions have no side effects, and C's promotions and conversions are explicit casts;
* the order of side effects is the order of statements;
* ``break``, ``continue``, ``return`` and ``switch`` have become `If`, and flags that a `Loop` lists.

Every node has a ``loc``; equality ignores it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Union

from ..base.ctype import INT, Scalar
from ..base.diagnostics import Loc

NOWHERE = Loc()


def _loc() -> Loc:
    return field(default=NOWHERE, compare=False, repr=False)  # type: ignore[return-value]


@dataclass(frozen=True)
class Variable:
    """A scalar of the kernel. ``uid`` tells apart variables of one name; a `BOOL` one holds 0 or 1. ``spelling``: what
    C calls it ("s.y"), where that is not its name. ``role``: "" for a variable of the C program; of those that lowering
    adds, "exit" for a flag that ``break``, ``continue`` or ``return`` sets, ALONE for that of `gang.two_steps`,
    "temporary" for all others."""

    name: str
    type: Scalar
    uid: int = 0
    loc: Loc = _loc()
    spelling: str = field(default="", compare=False, repr=False)
    role: str = field(default="", compare=False, repr=False)

    def __hash__(self) -> int:
        return hash((self.name, self.uid))


@dataclass(frozen=True)
class Region:
    """A flat array of ``count`` scalars, in the order of C's subscripts.

    ``extents``: of each array that the C object has around the scalar, outermost first; () of a scalar, 0 of one that
    only the arrays given will tell. ``storage``: ``bulk`` (one copy per input, visible outside), ``local`` (one copy
    per input, scratch, undefined at first) or ``shared`` (one copy for all inputs, never written). ``init``: the
    initial elements of a bulk or shared region, None for all zero (bulk) or given at run time (shared). ``spelling``:
    as in `Variable`.
    """

    name: str  # the C variable, with the field's path: "D", "s.y"
    type: Scalar
    extents: tuple[int, ...]
    storage: str
    init: tuple[int | float, ...] | None = field(default=None, compare=False, repr=False)
    loc: Loc = _loc()
    spelling: str = field(default="", compare=False, repr=False)

    @property
    def count(self) -> int:
        return math.prod(self.extents)

    @property
    def begins_otherwise(self) -> bool:
        """Whether it begins with other bytes than zeros: -0.0 has some."""
        return any(x or (isinstance(x, float) and math.copysign(1, x) < 0) for x in self.init or ())

    @property
    def variable(self) -> str:
        """The C variable's name."""
        return self.name.split(".")[0]

    @property
    def said(self) -> str:
        """The same as the user has it, of what lowering has made too."""
        return (self.spelling or self.name).split(".")[0]

    def __hash__(self) -> int:
        return hash(self.name)


# Expressions. ``type`` is the C type of the value.


@dataclass(frozen=True)
class Const:
    """Equal to another if every computation with it is: 0.0 is not equal to -0.0, but NaN is to NaN."""

    value: int | float
    type: Scalar
    loc: Loc = _loc()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Const) and self.type == other.type and repr(self.value) == repr(other.value)

    def __hash__(self) -> int:
        return hash((repr(self.value), self.type))


@dataclass(frozen=True)
class Var:
    var: Variable
    loc: Loc = _loc()

    @property
    def type(self) -> Scalar:
        return self.var.type


@dataclass(frozen=True)
class Load:
    region: Region
    index: Expr  # of type int or long, counted in elements
    loc: Loc = _loc()  # of the access; ``index.loc`` is the subscript's
    rows: Rows = field(default=(), compare=False, repr=False)

    @property
    def type(self) -> Scalar:
        return self.region.type


@dataclass(frozen=True)
class Unary:
    op: str  # - ~ !
    operand: Expr
    type: Scalar
    loc: Loc = _loc()


@dataclass(frozen=True)
class Binary:
    """``+ - * / % & | ^`` have operands of ``type``; ``<< >>`` a left operand of it; comparisons
    (``< <= > >= == !=``) have operands of one type and give int. ``&&`` and ``||`` take any scalars and give int;
    their right side is safe to evaluate always (lowering makes an `If` of any that is not)."""

    op: str
    left: Expr
    right: Expr
    type: Scalar
    loc: Loc = _loc()


@dataclass(frozen=True)
class Cast:
    operand: Expr
    type: Scalar
    loc: Loc = _loc()


@dataclass(frozen=True)
class Bitcast:
    """The same bits as another type of the same size."""

    operand: Expr
    type: Scalar
    loc: Loc = _loc()


@dataclass(frozen=True)
class Select:
    """``cond ? yes : no``; both arms are safe to evaluate always."""

    cond: Expr
    yes: Expr
    no: Expr
    type: Scalar
    loc: Loc = _loc()


@dataclass(frozen=True)
class Extremum:
    """The lesser (``op`` "min") or the greater ("max") of two values of ``type``. ``rule`` says which of them that is
    where neither is less:

    ========  =================================  ==========================  ===========
    rule      as C                               equal, or 0.0 and -0.0       one is NaN
    ========  =================================  ==========================  ===========
    "strict"  ``left < right ? left : right``    ``right``                   ``right``
    "weak"    ``left <= right ? left : right``   ``left``                    ``right``
    "number"  ``fmin(left, right)``, `fminf`     either                      the other
    ========  =================================  ==========================  ===========

    With "max" they are ``>``, ``>=``, `fmax` and `fmaxf`. Equal integers have equal bits: their rule is "strict".
    """

    op: str
    left: Expr
    right: Expr
    rule: str
    type: Scalar
    loc: Loc = _loc()

    @property
    def function(self) -> str:
        """What libm calls it, of floating-point numbers: "fminf"."""
        return f"f{self.op}{'f' if self.type.size == 4 else ''}"

    @property
    def comparison(self) -> Binary:
        """By which it is ``left``; by rule "number", where neither is NaN."""
        op = ("<" if self.op == "min" else ">") + ("=" if self.rule == "weak" else "")
        return Binary(op, self.left, self.right, INT, self.loc)

    @property
    def choice(self) -> Select:
        """As a comparison and a choice, unless the rule is "number"."""
        return Select(self.comparison, self.left, self.right, self.type, self.loc)


@dataclass(frozen=True)
class Call:
    """A libm function or another pure library function."""

    name: str
    args: tuple[Expr, ...]
    type: Scalar
    loc: Loc = _loc()


Expr = Union[Const, Var, Load, Unary, Binary, Cast, Bitcast, Select, Extremum, Call]
#: What C bounds beside the whole index: subscripts of arrays within arrays, each with the array's extent.
Rows = tuple[tuple[Expr, int], ...]


# Statements


@dataclass(frozen=True)
class Assign:
    var: Variable
    value: Expr
    loc: Loc = _loc()


@dataclass(frozen=True)
class Store:
    region: Region
    index: Expr
    value: Expr
    loc: Loc = _loc()
    rows: Rows = field(default=(), compare=False, repr=False)


@dataclass(frozen=True)
class If:
    """``branch``: written by the user as if, switch, ``?:``, ``&&`` or ``||``; False for tests of a flag."""

    cond: Expr
    then: Block
    other: Block = ()
    branch: bool = True
    loc: Loc = _loc()


@dataclass(frozen=True)
class Loop:
    """Repeats: leave if a flag is set; ``head``; leave unless ``cond``; ``body``; leave if a flag is set; ``step``.

    ``flags`` are `BOOL` variables that ``break`` or ``return`` in the body sets to 1. They are 0 at entry, but for that
    of an early end (`transform.early`).
    """

    cond: Expr
    body: Block
    step: Block = ()
    head: Block = ()
    flags: tuple[Variable, ...] = ()
    loc: Loc = _loc()


Stmt = Union[Assign, Store, If, Loop]
Block = tuple[Stmt, ...]


#: The region in which a store of 1 says that the input ends early (`exit`, `abort`, a failed `assert`). It is a mark,
#: and no jump: what follows has no meaning for this input, but may be executed. `transform.early` makes jumps of marks.
ENDED = Region("c2cu_ended", INT, (), "bulk")
#: In a program that is judged: the function that gives its argument, which is no secret from there on, and how the
#: name of a region begins in which a store marks that those of another, whose name follows, are none from there on.
MADE_PUBLIC, PUBLIC_FROM = "c2cu_public", "c2cu_public_from "
ALONE = "alone"
#: Where inputs run in lanes: the function that says whether its argument, a condition, holds in some lane, which all of
#: them know. It is all that an assignment assigns.
SOME_LANE = "c2cu_some_lane"


@dataclass(frozen=True)
class Kernel:
    """What the kernel function does for one input. ``regions`` in order of first appearance in the C file.

    A scalar that goes in or out (a global, a parameter, the returned value) is a bulk region of count 1: loaded
    into a variable at the start, stored at the end. ``begun``: bulk variables, by name, that begin as the C says, and
    that nothing of the kernel asks for any more (`transform.filled`).
    """

    name: str
    regions: tuple[Region, ...]
    body: Block
    loc: Loc = _loc()
    begun: tuple[str, ...] = ()


TRUE = Const(1, INT)
ZERO = Const(0, INT)
