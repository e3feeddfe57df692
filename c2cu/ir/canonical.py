"""What recognisers match: the functions that say whether a loop is counted, whether a choice is a minimum, and which
subscripts an index was computed from.

A counted loop stays a `Loop`, of which `counted` gives a view: a node of its own would be one more case in every
analysis and every printer, which treat it as any other loop, and a pass that unrolls or splits one would have to
decide anew what is left of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..base.ctype import INT, Scalar
from ..base.diagnostics import Loc
from .affine import linear
from .fold import MIRRORED, cast
from .indices import sum_of
from .nodes import (
    NOWHERE,
    ZERO,
    Assign,
    Binary,
    Block,
    Call,
    Cast,
    Const,
    Expr,
    Extremum,
    If,
    Kernel,
    Load,
    Loop,
    Region,
    Rows,
    Select,
    Stmt,
    Store,
    Var,
    Variable,
)
from .walk import statements, subexpressions


@dataclass(frozen=True)
class CountedLoop:
    """A loop that adds ``by`` to an integer ``counter`` at the end of each turn, and changes it nowhere else.

    Its condition is ``counter op limit``, where the loop does not change ``limit`` (it stores nothing that ``limit``
    reads); for any other condition ``op`` is "" and ``limit`` None. A cast of the counter to an integer type of at
    least 32 bits is looked through: who uses the view makes sure that such a cast keeps the counter's values.
    """

    loop: Loop
    counter: Variable
    by: int
    op: str = ""
    limit: Expr | None = None

    @property
    def may_end_early(self) -> bool:
        """Whether ``break`` or ``return`` may leave the loop, or code runs before its condition."""
        return bool(self.loop.flags or self.loop.head)

    def turns(self, first: int, limit: int) -> int:
        """How often the condition holds for a counter that starts at ``first``. Raises ValueError if it always does."""
        distance = limit - first
        match self.op:
            case "<" | ">":
                count = -(-distance // self.by)
                holds = distance > 0 if self.op == "<" else distance < 0
            case "<=" | ">=":
                count = distance // self.by + 1
                holds = distance >= 0 if self.op == "<=" else distance <= 0
            case "!=":
                count, rest = divmod(distance, self.by)
                holds = distance != 0
                if rest:
                    raise ValueError("the counter steps over the limit")
            case _:
                raise ValueError("the condition compares the counter with no limit")
        if not holds:
            return 0
        if count <= 0:
            raise ValueError("the counter moves away from the limit")
        return count


def counted(loop: Loop) -> CountedLoop | None:
    """``loop`` as a counted loop, or None."""
    match loop.step:
        case (Assign(var=v, value=value),) if v.type.is_integer:
            by = _added(value, v)
        case _:
            return None
    inside = [*statements(loop.head), *statements(loop.body)]
    if not by or any(isinstance(s, Assign) and s.var == v for s in inside):
        return None
    op, limit = _compared(loop.cond, v)
    if limit is None or _is_changed(limit, [*inside, *loop.step]):
        return CountedLoop(loop, v, by)
    return CountedLoop(loop, v, by, op, limit)


def canonical(kernel: Kernel) -> Kernel:
    """``kernel`` with its counted loops in one form: ``counter op limit`` is the condition, ``counter + constant`` the
    step, which a ``while`` has at the end of its body."""
    return replace(kernel, body=_canonical(kernel.body))


def _canonical(block: Block) -> Block:
    return tuple(map(_statement, block))


def _statement(s: Stmt) -> Stmt:
    match s:
        case If():
            return replace(s, then=_canonical(s.then), other=_canonical(s.other))
        case Loop():
            s = replace(s, head=_canonical(s.head), body=_canonical(s.body), step=_canonical(s.step))
            return _for(s)
    return s


def _for(s: Loop) -> Loop:
    if not s.step and not s.flags and s.body:
        c = counted(replace(s, body=s.body[:-1], step=s.body[-1:]))
        if c is None or not c.op:
            return s  # of another loop, who reads it finds the body as it was written
    else:
        c = counted(s)
        if c is None:
            return s
    (step,) = c.loop.step
    assert isinstance(step, Assign)
    v = c.counter
    if not isinstance(step.value, Cast):
        added = Binary("+", Var(v, step.loc), Const(c.by, v.type, step.loc), v.type, step.value.loc)
        step = replace(step, value=added)
    cond = c.loop.cond
    if isinstance(cond, Binary) and c.limit is not None and cond.right != c.limit:
        cond = Binary(c.op, cond.right, c.limit, cond.type, cond.loc)
    return replace(c.loop, cond=cond, step=(step,))


def _added(e: Expr, v: Variable) -> int | None:
    """k where ``e`` is v + k."""
    match e:
        case Cast(operand=x, type=t) if t.is_integer and t.size >= 4:
            return _added(x, v)
        case Binary(op="+" | "-" as op, left=x, right=Const(value=int() as k)) if _is_counter(x, v):
            return k if op == "+" else -k
        case Binary(op="+", left=Const(value=int() as k), right=x) if _is_counter(x, v):
            return k
    return None


def _compared(cond: Expr, v: Variable) -> tuple[str, Expr | None]:
    """(op, limit) where ``cond`` is ``v op limit``, in either order."""
    match cond:
        case Binary(op="<" | "<=" | ">" | ">=" | "!=" as op, left=x, right=limit) if _is_counter(x, v):
            return op, limit
        case Binary(op="<" | "<=" | ">" | ">=" | "!=" as op, left=limit, right=x) if _is_counter(x, v):
            return MIRRORED.get(op, op), limit
    return "", None


def _is_counter(e: Expr, v: Variable) -> bool:
    while isinstance(e, Cast) and e.type.is_integer and e.type.size >= 4:
        e = e.operand
    return isinstance(e, Var) and e.var == v


def _is_changed(e: Expr, inside: list[Stmt]) -> bool:
    changed = {s.var for s in inside if isinstance(s, Assign)}
    stored = {s.region for s in inside if isinstance(s, Store)}
    nodes = list(subexpressions(e))
    return any(isinstance(x, Var) and x.var in changed for x in nodes) or any(
        isinstance(x, Load) and x.region in stored for x in nodes
    )


def chosen_extremum(cond: Expr, yes: Expr, no: Expr, loc: Loc = NOWHERE) -> Extremum | None:
    """``cond ? yes : no`` as a minimum or maximum, where ``cond`` compares just these two; casts that keep values and
    their order may stand around any of the four."""
    if not isinstance(cond, Binary) or cond.op not in MIRRORED:
        return None
    operands, arms = (unwidened(cond.left), unwidened(cond.right)), (unwidened(yes), unwidened(no))
    if arms not in (operands, operands[::-1]):
        return None
    least = (arms == operands) == (cond.op[0] == "<")
    rule = "strict" if yes.type.is_integer or len(cond.op) == 1 else "weak"
    return Extremum("min" if least else "max", yes, no, rule, yes.type, loc)


def extremum(e: Expr) -> Extremum | None:
    """``e`` as a minimum or maximum, or None."""
    match e:
        case Extremum():
            return e
        case Select():
            return chosen_extremum(e.cond, e.yes, e.no, e.loc)
        case Call(name="fmin" | "fminf" | "fmax" | "fmaxf", args=(a, b)):
            return Extremum(e.name[1:4], a, b, "number", e.type, e.loc)
    return None


def unwidened(e: Expr) -> Expr:
    """``e`` without casts that keep every value and their order."""
    while isinstance(e, Cast) and _keeps(e.operand.type, e.type):
        e = e.operand
    if isinstance(e, Const):
        return replace(e, type=INT if e.type.is_integer else e.type)  # only its value matters
    return e


def _keeps(a: Scalar, b: Scalar) -> bool:
    if a.is_float or b.is_float:
        return a.is_float and b.is_float and b.size >= a.size
    return b.size > a.size and (a.kind in "ub" or b.kind == "i") or (a.size, a.kind) == (b.size, b.kind)


def subscripts(region: Region, index: Expr, rows: Rows = ()) -> tuple[Expr, ...] | None:
    """The subscripts of an access, one for each of the region's extents; None where they cannot be told apart.

    ``rows``: of the `Load` or `Store`. A subscript of an inner dimension is one of them, which C bounds, or a constant
    within its extent.
    """
    if not region.extents:
        return () if index == Const(0, index.type) else None
    rest, bounded, inner = linear(index), list(rows), []
    for extent in reversed(region.extents[1:]):
        if extent == 0:
            return None
        if bounded and bounded[-1][1] == extent:
            outside, column = rest.plus(linear(bounded[-1][0]), -1).divided(extent)
            if column == linear(ZERO):
                rest = outside
                inner.append(bounded.pop()[0])
                continue
        rest, column = rest.divided(extent)
        if column.terms:
            return None
        inner.append(Const(column.constant, index.type))
    if not inner:
        return (index,)
    terms = [(c, cast(x, index.type)) for x, c in rest.terms.items()]
    return (sum_of(terms, rest.constant, index.type), *reversed(inner))
