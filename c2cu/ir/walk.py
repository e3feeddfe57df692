"""Children, rewriting and iteration over the flat IR: the only file that knows every field of every node."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from operator import is_

from .nodes import (
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
    Kernel,
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

#: Of each kind of expression: a dictionary is several times as fast as patterns, and every pass asks for each node.
_OPERANDS: dict[type, Callable[..., tuple[Expr, ...]]] = {
    Const: lambda e: (),
    Var: lambda e: (),
    Binary: lambda e: (e.left, e.right),
    Extremum: lambda e: (e.left, e.right),
    Load: lambda e: (e.index,),
    Unary: lambda e: (e.operand,),
    Cast: lambda e: (e.operand,),
    Bitcast: lambda e: (e.operand,),
    Select: lambda e: (e.cond, e.yes, e.no),
    Call: lambda e: e.args,
}


def operands(e: Expr) -> tuple[Expr, ...]:
    """The direct subexpressions, in order of evaluation."""
    return _OPERANDS[type(e)](e)


def subexpressions(e: Expr) -> Iterator[Expr]:
    """``e`` and everything below it, parents first."""
    pending = [e]  # no recursion: expressions may be deep, and each would pass on what all below it yield
    while pending:
        e = pending.pop()
        yield e
        kind = type(e)
        if kind is not Var and kind is not Const:  # which half of all are
            pending += _OPERANDS[kind](e)[::-1]


def mapped(e: Expr, f: Callable[[Expr], Expr]) -> Expr:
    """``e`` with ``f`` applied to its direct subexpressions. What does not change is not copied."""
    old = operands(e)
    new = tuple(map(f, old))
    return e if all(map(is_, new, old)) else _rebuilt(e, new, f)


def rewrite(e: Expr, f: Callable[[Expr], Expr]) -> Expr:
    """``e`` with ``f`` applied to every node, children first. What does not change is not copied."""
    old = _OPERANDS[type(e)](e)
    if not old:
        return f(e)
    new: list[Expr] = []
    for x in old:  # not by `mapped`, which would take twice the stack: expressions may be deep
        new.append(rewrite(x, f))
    return f(e if all(map(is_, new, old)) else _rebuilt(e, tuple(new), lambda k: rewrite(k, f)))


def unless_same(old: Block, new: Iterable[Stmt]) -> Block:
    """``new``, or ``old`` where that has the very same statements: what stays the same can be seen to."""
    new = tuple(new)
    return old if len(new) == len(old) and all(map(is_, new, old)) else new


def with_body(kernel: Kernel, body: Iterable[Stmt]) -> Kernel:
    """``kernel`` with another body; itself, where that has the very same statements."""
    new = unless_same(kernel.body, body)
    return kernel if new is kernel.body else replace(kernel, body=new)


def _rebuilt(e: Expr, new: tuple[Expr, ...], row: Callable[[Expr], Expr]) -> Expr:
    """``e`` with other operands. ``row``: what becomes of the rows of a load."""
    match e:
        case Binary():
            return Binary(e.op, new[0], new[1], e.type, e.loc)
        case Load():
            return Load(e.region, new[0], e.loc, tuple((row(k), n) for k, n in e.rows))
        case Unary():
            return Unary(e.op, new[0], e.type, e.loc)
        case Cast():
            return Cast(new[0], e.type, e.loc)
        case Bitcast():
            return Bitcast(new[0], e.type, e.loc)
        case Select():
            return Select(new[0], new[1], new[2], e.type, e.loc)
        case Extremum():
            return Extremum(e.op, new[0], new[1], e.rule, e.type, e.loc)
        case Call():
            return Call(e.name, new, e.type, e.loc)
    raise AssertionError(e)


def rewritten(
    block: Block,
    f: Callable[[Expr], Expr],
    region: Callable[[Region], Region] = lambda r: r,
    index: Callable[[Expr, Region], Expr] = lambda e, r: e,
) -> Block:
    """A block with ``f`` applied to every node of its expressions, children first, ``region`` to where it stores, and
    ``index`` to the subscripts there. Assignments and stores that do not change are not copied."""
    return with_expressions(block, lambda e: rewrite(e, f), region, index)


def with_expressions(
    block: Block,
    f: Callable[[Expr], Expr],
    region: Callable[[Region], Region] = lambda r: r,
    index: Callable[[Expr, Region], Expr] = lambda e, r: e,
) -> Block:
    """The same with ``f`` applied to each expression as a whole."""

    def inner(b: Block) -> Block:
        return with_expressions(b, f, region, index)

    def statement(s: Stmt) -> Stmt:
        match s:
            case Assign(value=v):
                value = f(v)
                return s if value is v else replace(s, value=value)
            case Store():
                rows = tuple((f(k), n) for k, n in s.rows)
                place, value = region(s.region), f(s.value)
                at = index(f(s.index), place)
                same = place is s.region and at is s.index and value is s.value
                if same and all(k is old for (k, _), (old, _) in zip(rows, s.rows)):
                    return s
                return replace(s, region=place, index=at, value=value, rows=rows)
            case If():
                return replace(s, cond=f(s.cond), then=inner(s.then), other=inner(s.other))
            case Loop():
                return replace(s, cond=f(s.cond), head=inner(s.head), body=inner(s.body), step=inner(s.step))
        raise AssertionError(s)

    return unless_same(block, map(statement, block))


_EXPRESSIONS: dict[type, Callable[..., tuple[Expr, ...]]] = {
    Assign: lambda s: (s.value,),
    Store: lambda s: (s.index, s.value),
    If: lambda s: (s.cond,),
    Loop: lambda s: (s.cond,),
}
_BLOCKS: dict[type, Callable[..., tuple[Block, ...]]] = {
    Assign: lambda s: (),
    Store: lambda s: (),
    If: lambda s: (s.then, s.other),
    Loop: lambda s: (s.head, s.body, s.step),
}


def expressions(s: Stmt) -> tuple[Expr, ...]:
    """The expressions a statement evaluates itself (not those of the statements inside it)."""
    return _EXPRESSIONS[type(s)](s)


def blocks(s: Stmt) -> tuple[Block, ...]:
    """The blocks inside a statement, in order of execution."""
    return _BLOCKS[type(s)](s)


def places(e: Expr) -> set[Variable | Region]:
    """The variables and regions that ``e`` reads."""
    return {x.var if isinstance(x, Var) else x.region for x in subexpressions(e) if isinstance(x, (Var, Load))}


def loads_in(e: Expr) -> Iterator[Load]:
    """Every load of an expression, inner ones first."""
    pending: list[tuple[Expr, bool]] = [(e, False)]
    while pending:
        e, done = pending.pop()
        if done:
            assert isinstance(e, Load)
            yield e
            continue
        if isinstance(e, Load):
            pending.append((e, True))
        pending += [(x, False) for x in reversed(operands(e))]


def variables(block: Block) -> tuple[Variable, ...]:
    """Every variable that occurs in ``block``, in order of first appearance."""
    occurring: dict[Variable, None] = {}
    for s in statements(block):
        if isinstance(s, Assign):
            occurring[s.var] = None
        if isinstance(s, Loop):
            occurring.update(dict.fromkeys(s.flags))
        for e in expressions(s):
            occurring.update((x.var, None) for x in subexpressions(e) if isinstance(x, Var))
    return tuple(occurring)


def in_rows(block: Block, joined: Callable[[list[Stmt]], list[Stmt]]) -> Block:
    """``block`` with each row of assignments and stores, and the branch behind it if there is one, as ``joined`` makes
    it; those inside of branches and loops first."""
    out: list[Stmt] = []
    row: list[Stmt] = []
    for s in block:
        match s:
            case Assign() | Store():
                row.append(s)
                continue
            case If():
                row.append(replace(s, then=in_rows(s.then, joined), other=in_rows(s.other, joined)))
                out += joined(row)
            case Loop():
                inner = {name: in_rows(getattr(s, name), joined) for name in ("head", "body", "step")}
                out += [*joined(row), replace(s, **inner)]
        row = []
    return (*out, *joined(row))


def used(block: Block) -> Counter[Variable]:
    """How often each variable is read."""
    return Counter(_reads(block))


def _reads(block: Block) -> Iterator[Variable]:
    for s in statements(block):
        if isinstance(s, Loop):
            yield from s.flags
        for e in expressions(s):
            for x in subexpressions(e):
                if type(x) is Var:
                    yield x.var


def touched(block: Block) -> Counter[Region]:
    """How many loads and stores of each region a block has."""
    return Counter(_accesses(block))


def _accesses(block: Block) -> Iterator[Region]:
    for s in statements(block):
        if isinstance(s, Store):
            yield s.region
        for e in expressions(s):
            for x in subexpressions(e):
                if type(x) is Load:
                    yield x.region


def statements(block: Block) -> Iterator[Stmt]:
    """Every statement of a block and below, in textual order."""
    pending = list(reversed(block))
    while pending:
        s = pending.pop()
        yield s
        if type(s) is not Assign:  # which most are
            for inner in reversed(blocks(s)):
                pending += reversed(inner)


class Order:
    """Where a block's variables are read and assigned, in the order of the text: what is asked of each of many nested
    statements, all that is in it need not be gone through again for."""

    def __init__(self, block: Block):
        self._begin: dict[int, int] = {}
        self._end: dict[int, int] = {}
        self._read: dict[Variable, list[int]] = {}
        self._assigned: dict[Variable, list[int]] = {}
        self._number(block)

    def _number(self, block: Block) -> None:
        for s in block:
            assert id(s) not in self._begin, "a statement stands in two places"
            at = self._begin[id(s)] = len(self._begin)
            if type(s) is Assign:
                self._assigned.setdefault(s.var, []).append(at)
            elif type(s) is Loop:
                for f in s.flags:
                    self._read.setdefault(f, []).append(at)
            for e in expressions(s):
                for x in subexpressions(e):
                    if type(x) is Var:
                        self._read.setdefault(x.var, []).append(at)
            for b in blocks(s):
                self._number(b)
            self._end[id(s)] = len(self._begin)

    def times_read(self, v: Variable, block: Block | None = None) -> int:
        """How often a variable is read in one of the blocks, or in all of it."""
        return self._times(self._read.get(v, ()), block)

    def times_assigned(self, v: Variable, block: Block | None = None) -> int:
        return self._times(self._assigned.get(v, ()), block)

    def _times(self, places: Sequence[int], block: Block | None) -> int:
        if block is None:
            return len(places)
        if not places or not block:
            return 0
        return bisect_left(places, self._end[id(block[-1])]) - bisect_left(places, self._begin[id(block[0])])
