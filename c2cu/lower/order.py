"""The order in which the operands of an expression are read, where what one does changes another: gcc's.

C leaves it open. gcc goes from left to right, and from the last argument of a call to the first. It reads a local
variable whose address nobody takes only where it is used, after all operands; and of an operation whose operands may
change places, any variable on the left after what is on the right. What does not make the value (the left of a comma, a
factor of zero, what ``|| 1`` follows) goes before all else; the right side of an assignment that chooses or assigns
goes before the left.
"""

from __future__ import annotations

from collections.abc import Iterator

from pycparser import c_ast as C

from ..base.ctype import CType, Pointer, Scalar
from ..base.diagnostics import Loc
from ..frontend.tree import nodes
from ..ir.nodes import Assign, Expr, Load, Store, Var
from ..ir.walk import statements, subexpressions
from .context import Context
from .zeros import is_integer_zero

EXCHANGED = ("+", "*", "&", "|", "^", "<", "<=", ">", ">=", "==", "!=")


def in_register(cx: Context, node: C.Node) -> bool:
    """Whether an expression is a local variable that gcc keeps in a register."""
    if not isinstance(node, C.ID):
        return False
    symbol = cx.unit.symbol(node)
    local = symbol.kind == "variable" and not symbol.is_global and not symbol.volatile
    return local and isinstance(symbol.type, (Scalar, Pointer)) and symbol not in cx.addressed


def read_last(cx: Context, op: str, left: C.Node) -> bool:
    """Whether gcc reads the left operand of ``op`` after it has evaluated the right one."""
    if in_register(cx, left):
        return True
    variable = isinstance(left, C.ID) and cx.unit.symbol(left).kind == "variable"
    return variable and op in EXCHANGED and not cx.unit.symbol(left).volatile


def right_first(cx: Context, node: C.BinaryOp) -> bool:
    """Whether gcc evaluates the right operand before the left: it makes ``b - a`` of ``-a + b``."""
    if node.op != "+" or not negated(cx, node.left) or negated(cx, node.right):
        return False
    same = cx.unit.value_type(node.left) == cx.unit.value_type(node.right) == cx.unit.type(node)
    return same and has_effects(cx, node.left) and has_effects(cx, node.right)


def negated(cx: Context, node: C.Node) -> bool:
    match node:
        case C.UnaryOp(op="-" | "~"):
            return True
        case C.BinaryOp(op="-", left=left):
            return cx.unit.constant(left) is not None
    return False


def value_first(cx: Context, node: C.Node, t: CType) -> bool:
    """Whether gcc evaluates the right side, with effects, of an assignment to a ``t`` before the left: unless it is a
    call whose value needs no conversion."""
    return not isinstance(node, C.FuncCall) or cx.unit.value_type(node) != t


def without_value(cx: Context, node: C.Node) -> tuple[C.ExprList | C.BinaryOp, ...]:
    """The parts of an arithmetic expression that begin with what does not make its value: comma expressions, and
    products that are zero and truth values that a constant decides, of which gcc keeps the effects."""
    known = cx.without_value.get(id(node))
    if known is None:
        known = cx.without_value[id(node)] = tuple(_without_value(cx, node))
    return known


def _without_value(cx: Context, node: C.Node) -> Iterator[C.ExprList | C.BinaryOp]:
    match node:
        case C.ExprList():
            yield node
        case C.BinaryOp(op="&&" | "||"):
            if is_decided(cx, node) and has_effects(cx, node.left):
                yield node
        case C.BinaryOp(op="*" | "&" | "|" | "^" | "+" | "-" | "<<" | ">>") if is_integer_zero(
            cx, node
        ) and has_effects(cx, node):
            yield node
        case C.BinaryOp():
            yield from without_value(cx, node.left)
            yield from without_value(cx, node.right)
        case C.UnaryOp(op="-" | "+" | "~" | "!") | C.Cast():
            yield from without_value(cx, node.expr)


def is_decided(cx: Context, node: C.BinaryOp) -> bool:
    """Whether it is ``x && 0`` or ``x || 1``."""
    right = cx.unit.constant(node.right) if node.op in ("&&", "||") else None
    return right is not None and bool(right) == (node.op == "||")


def before(cx: Context, e: Expr, mark: int, loc: Loc) -> Expr:
    """``e`` as it was before the statements from ``mark`` on; where they change it, it is computed before them."""
    variables = {x.var for x in subexpressions(e) if isinstance(x, Var)}
    regions = {x.region for x in subexpressions(e) if isinstance(x, Load)}
    for s in statements(tuple(cx.out[mark:])):
        if (isinstance(s, Assign) and s.var in variables) or (isinstance(s, Store) and s.region in regions):
            var = cx.fresh_temporary("operand", e.type, loc)
            cx.insert(mark, Assign(var, e, loc))
            return Var(var, loc)
    return e


def has_effects(cx: Context, node: C.Node) -> bool:
    """Whether evaluating an expression may change a variable."""
    for n in nodes(node):
        match n:
            case C.Assignment() | C.Compound() | C.UnaryOp(op="++" | "--" | "p++" | "p--"):
                return True
            case C.FuncCall(name=C.ID(name=name)) if name not in cx.unit.functions:
                continue
            case C.FuncCall():
                return True
    return False
