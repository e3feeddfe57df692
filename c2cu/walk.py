"""Children, rewriting and iteration over the flat IR: the only file that knows every field of every node."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

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
    """``e`` with ``f`` applied to every node, children first."""
    match e:
        case Const() | Var():
            new: Expr = e
        case Load(index=i):
            new = replace(e, index=rewrite(i, f), rows=tuple((rewrite(k, f), n) for k, n in e.rows))
        case Unary(operand=x) | Cast(operand=x) | Bitcast(operand=x):
            new = replace(e, operand=rewrite(x, f))
        case Binary(left=a, right=b):
            new = replace(e, left=rewrite(a, f), right=rewrite(b, f))
        case Select(cond=c, yes=a, no=b):
            new = replace(e, cond=rewrite(c, f), yes=rewrite(a, f), no=rewrite(b, f))
        case Call(args=args):
            new = replace(e, args=tuple(rewrite(a, f) for a in args))
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
