"""Powers of one base: their logarithm, half of the work, is computed once.

``for (k = 0; k < n; k++) y[k] = pow(x, a[k])`` becomes ``h = pow_high(x); l = pow_low(x);`` before a loop of
``y[k] = pow_by(x, a[k], h, l)``: see c2cu/math/pow_logs.c.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import count

from ..base.libm import LOGARITHMS, POWER
from ..ir.nodes import Assign, Binary, Block, Call, Const, Expr, If, Kernel, Load, Loop, Stmt, Store, Var, Variable
from ..ir.walk import expressions, mapped, places, rewritten, statements, subexpressions, with_body, with_expressions
from .common import joined_everywhere, new_uids

(_HIGH, _LOW), _BY = LOGARITHMS["pow_logs"], POWER


def powers(kernel: Kernel, is_taken: Callable[[Call], bool]) -> Kernel:
    """``kernel`` with one logarithm for calls of pow whose base is the same, or does not change in a loop.
    ``is_taken``: which calls lanes do side by side, with bases that differ; the others stay."""

    def apart(e: Expr) -> Expr:
        if not isinstance(e, Call) or e.name != "pow" or not is_taken(e):
            return e
        return Call(_BY, (*e.args, *(Call(n, e.args[:1], e.type, e.loc) for n in (_HIGH, _LOW))), e.type, e.loc)

    every = (x for s in statements(kernel.body) for e in expressions(s) for x in subexpressions(e))
    if all(apart(x) is x for x in every):
        return kernel
    split = joined_everywhere(with_body(kernel, rewritten(kernel.body, apart)), _is_logarithm)
    hoisted = with_body(split, _hoisted(split.body, new_uids(split)))
    return with_body(hoisted, rewritten(hoisted.body, _together))


def _is_logarithm(e: Expr) -> bool:
    return isinstance(e, Call) and e.name in (_HIGH, _LOW)


def _together(e: Expr) -> Expr:
    """A power whose logarithm no other one has, as it was."""
    match e:
        case Call(name, (x, y, high, _)) if name == _BY and _is_logarithm(high):
            return Call("pow", (x, y), e.type, e.loc)
    return e


def _hoisted(block: Block, uids: count[int]) -> Block:
    """``block`` with each logarithm before the outermost loop that does not change it. It is taken there even if the
    loop has no turns; not out of a branch, where it would cost too much."""
    out: list[Stmt] = []
    for s in block:
        if isinstance(s, If):
            s = replace(s, then=_hoisted(s.then, uids), other=_hoisted(s.other, uids))
        elif isinstance(s, Loop):
            inside = tuple(statements((s,)))
            changed = {x.var if isinstance(x, Assign) else x.region for x in inside if isinstance(x, Assign | Store)}
            always = (x for t in _unbranched(s) for e in expressions(t) for x in subexpressions(e) if _is_logarithm(x))
            still = (x for x in always if isinstance(x, Call) and not places(x) & changed)
            bases = {x.args[0]: x for x in still if _is_harmless(x.args[0])}
            names: dict[Expr, Variable] = {}
            for base, call in bases.items():
                for name in (_HIGH, _LOW):
                    e = Call(name, (base,), call.type, call.loc)
                    names[e] = Variable(name, call.type, next(uids), role="temporary")
                    out.append(Assign(names[e], e, call.loc))
            parts = {k: with_expressions(getattr(s, k), partial(_named, names=names)) for k in ("head", "body", "step")}
            blocks = {k: _hoisted(part, uids) for k, part in parts.items()}
            s = replace(s, cond=_named(s.cond, names), **blocks)
        out.append(s)
    return tuple(out)


def _is_harmless(e: Expr) -> bool:
    """Whether it can be computed where the program does not: it loads nothing from outside, and no division traps."""
    for x in subexpressions(e):
        match x:
            case Load(region, Const(value)) if 0 <= value < region.count:
                continue
            case Load():
                return False
            case Binary(op) if op in ("/", "%") and x.type.is_integer:
                return False
    return True


def _unbranched(s: Stmt) -> list[Stmt]:
    """The statements that each turn of a loop executes."""
    if not isinstance(s, Loop):
        return [s]
    return [s, *(x for block in (s.head, s.body, s.step) for t in block for x in _unbranched(t))]


def _named(e: Expr, names: dict[Expr, Variable]) -> Expr:
    if e in names:
        return Var(names[e], e.loc)
    return mapped(e, partial(_named, names=names))
