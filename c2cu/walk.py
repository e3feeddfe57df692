"""Children, rewriting and iteration over the flat IR: the only file that knows every field of every node."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .ir import Assign, Binary, Bitcast, Block, Call, Cast, Const, Expr, If, Load, Loop, Select, Stmt, Store, Unary, Var


def operands(e: Expr) -> tuple[Expr, ...]:
    """The direct subexpressions, in order of evaluation."""
    match e:
        case Const() | Var():
            return ()
        case Load(index=i):
            return (i,)
        case Unary(operand=x) | Cast(operand=x) | Bitcast(operand=x):
            return (x,)
        case Binary(left=a, right=b):
            return (a, b)
        case Select(cond=c, yes=a, no=b):
            return (c, a, b)
        case Call(args=args):
            return args
    raise AssertionError(e)


def subexpressions(e: Expr) -> Iterator[Expr]:
    """``e`` and everything below it, parents first."""
    yield e
    for x in operands(e):
        yield from subexpressions(x)


def rewrite(e: Expr, f: Callable[[Expr], Expr]) -> Expr:
    """``e`` with ``f`` applied to every node, children first. What does not change is not copied."""
    match e:
        case Const() | Var():
            new: Expr = e
        case Load(index=i):
            x = rewrite(i, f)
            new = e if x is i else Load(e.region, x, e.loc, tuple((rewrite(k, f), n) for k, n in e.rows))
        case Unary(operand=a):
            x = rewrite(a, f)
            new = e if x is a else Unary(e.op, x, e.type, e.loc)
        case Cast(operand=a):
            x = rewrite(a, f)
            new = e if x is a else Cast(x, e.type, e.loc)
        case Bitcast(operand=a):
            x = rewrite(a, f)
            new = e if x is a else Bitcast(x, e.type, e.loc)
        case Binary(left=a, right=b):
            x, y = rewrite(a, f), rewrite(b, f)
            new = e if x is a and y is b else Binary(e.op, x, y, e.type, e.loc)
        case Select(cond=c, yes=a, no=b):
            x, y, z = rewrite(c, f), rewrite(a, f), rewrite(b, f)
            new = e if x is c and y is a and z is b else Select(x, y, z, e.type, e.loc)
        case Call(args=args):
            new = Call(e.name, tuple(rewrite(a, f) for a in args), e.type, e.loc)
        case _:
            raise AssertionError(e)
    return f(new)


def expressions(s: Stmt) -> tuple[Expr, ...]:
    """The expressions a statement evaluates itself (not those of the statements inside it)."""
    match s:
        case Assign(value=v):
            return (v,)
        case Store(index=i, value=v):
            return (i, v)
        case If(cond=c) | Loop(cond=c):
            return (c,)
    raise AssertionError(s)


def blocks(s: Stmt) -> tuple[Block, ...]:
    """The blocks inside a statement, in order of execution."""
    match s:
        case If(then=a, other=b):
            return (a, b)
        case Loop(head=h, body=b, step=t):
            return (h, b, t)
    return ()


def statements(block: Block) -> Iterator[Stmt]:
    """Every statement of a block and below, in textual order."""
    for s in block:
        yield s
        for inner in blocks(s):
            yield from statements(inner)
