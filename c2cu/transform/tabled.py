"""Calls of math.h that no input decides become tables.

Textbooks call ``cos((2 * x + 1) * u * PI / 16)`` in the innermost loop, for each input again. Where counters of loops
alone decide an argument, there are as many values as turns, and they are the same for all inputs: they are computed
here, by this machine's library, and the call becomes a load.

A compiler that writes such a loop out computes the calls itself, and rounds correctly, as the library need not. Where
all loops are so short that GCC may, only what comes out the same either way is taken.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

from ..base.ctype import LONG
from ..base.host_math import CHEAP, called, folded
from ..base.libm import FUNCTIONS
from ..ir.canonical import counted
from ..ir.evaluate import Leaf, Value, evaluate
from ..ir.fold import add, cast, multiply
from ..ir.nodes import (
    Assign,
    Block,
    Call,
    Cast,
    Const,
    Expr,
    If,
    Kernel,
    Load,
    Loop,
    Region,
    Stmt,
    Store,
    Var,
    Variable,
)
from ..ir.walk import expressions, mapped, statements, subexpressions, unless_same, with_body

LARGEST = 1 << 12  # elements of a table
MOST = 1 << 14  # elements of all of them
SHORT = 64  # nodes of what a variable is known to be
WRITTEN_OUT = 16  # turns of a loop that GCC writes out, at most (max-completely-peel-times)

_SLOW = re.compile(rf"\b(?:__builtin_)?(?:{'|'.join(sorted(FUNCTIONS.keys() - CHEAP))})\b")

Counters = Mapping[Variable, range]  # of the loops around, and the values that they have in these
Known = dict[Variable, Expr]  # variables, and what they are in terms of counters alone
Done = dict[str, dict[tuple[int | float, ...], int | float]]  # by name and arguments, what calls return


def tabled(kernel: Kernel, text: str) -> Kernel:
    """``kernel`` with tables in place of calls whose arguments only counters of loops decide. ``text``: the program's,
    most of which have no such call, as is seen at once."""
    if not _SLOW.search(text) or not any(
        _is_slow(x) for s in statements(kernel.body) for e in expressions(s) for x in subexpressions(e)
    ):
        return kernel
    tables = _Tables(kernel)
    new = with_body(kernel, tables.block(kernel.body, {}, {}))
    return replace(new, regions=(*kernel.regions, *tables.regions.values())) if tables.regions else kernel


class _Tables:
    def __init__(self, kernel: Kernel):
        self.names = {r.name for r in kernel.regions}
        self.regions: dict[tuple[Expr, tuple[tuple[Variable, range], ...]], Region] = {}
        self.left = MOST

    def block(self, block: Block, counters: Counters, known: Known) -> Block:
        """``known`` becomes what is known behind the block."""
        out: list[Stmt] = []
        for s in block:
            out.append(self.statement(s, counters, known))
            told = _told(s.value, counters, known) if isinstance(s, Assign) else None
            for inner in statements((s,)):
                if isinstance(inner, Assign):
                    known.pop(inner.var, None)
            if isinstance(s, Assign) and told is not None and _is_plain(told):
                known[s.var] = told
        return unless_same(block, out)

    def statement(self, s: Stmt, counters: Counters, known: Known) -> Stmt:
        def expression(e: Expr) -> Expr:
            return self.expression(e, counters, known)

        match s:
            case Assign():
                value = expression(s.value)
                return s if value is s.value else replace(s, value=value)
            case Store():
                index, value = expression(s.index), expression(s.value)
                return s if index is s.index and value is s.value else replace(s, index=index, value=value)
            case If():
                cond = expression(s.cond)
                then, other = (self.block(b, counters, dict(known)) for b in (s.then, s.other))
                same = cond is s.cond and then is s.then and other is s.other
                return s if same else replace(s, cond=cond, then=then, other=other)
            case Loop():
                return self.loop(s, counters, known)

    def loop(self, s: Loop, counters: Counters, known: Known) -> Loop:
        inside = {x.var for x in statements((s,)) if isinstance(x, Assign)}
        stays = {v: e for v, e in known.items() if v not in inside}
        head = self.block(s.head, counters, stays)  # where the counter may be at its limit
        c = counted(s)
        if c is not None and c.counter in known:
            limit = known.get(c.limit.var, c.limit) if isinstance(c.limit, Var) else c.limit
            if values := _range(c.counter, known[c.counter], c.by, c.op, limit):
                counters = {**counters, c.counter: values}
        body = self.block(s.body, counters, stays)
        return s if head is s.head and body is s.body else replace(s, head=head, body=body)

    def expression(self, e: Expr, counters: Counters, known: Known) -> Expr:
        if not any(map(_is_slow, subexpressions(e))):
            return e
        if isinstance(e, Call) and _is_slow(e):
            table = self.table(e, counters, known)
            if table is not None:
                return table
        return mapped(e, lambda x: self.expression(x, counters, known))

    def table(self, call: Call, counters: Counters, known: Known) -> Expr | None:
        """The load that a call becomes; None where its arguments do not vary with counters alone."""
        told = _told(call, counters, known)
        occurring = {x.var for x in subexpressions(told) if isinstance(x, Var)} if told is not None else set()
        used = tuple((v, counters[v]) for v in sorted(occurring, key=lambda v: v.uid))
        size = math.prod(_span(values) for _, values in used)
        if told is None or not used or size > min(LARGEST, self.left):
            return None
        region = self.regions.get((told, used))
        if region is None:
            elements = _elements(told, used)
            if elements is None:
                return None
            name = next(n for k in itertools.count() if (n := f"{call.name}_{k}") not in self.names)
            self.names.add(name)
            self.left -= size
            region = Region(name, call.type, (size,), "shared", elements, call.loc)
            self.regions[told, used] = region
        index: Expr = Const(0, LONG)
        for v, values in used:
            place = add(cast(Var(v, call.loc), LONG), Const(-min(values), LONG))
            index = add(multiply(index, _span(values)), place)
        return Load(region, index, call.loc)


def _told(e: Expr, counters: Counters, known: Known) -> Expr | None:
    """``e`` in terms of counters; None where something else decides it."""
    failed = False

    def inner(x: Expr) -> Expr:
        nonlocal failed
        if isinstance(x, Var) and x.var not in counters:
            if x.var in known:
                return known[x.var]
            failed = True
        if isinstance(x, Load) or (isinstance(x, Cast) and x.type.is_integer and x.operand.type.is_float):
            failed = True  # the latter may be one that C does not say the value of
        return x if failed else mapped(x, inner)

    told = inner(e)
    return None if failed else told


def _elements(e: Expr, used: tuple[tuple[Variable, range], ...]) -> tuple[int | float, ...] | None:
    """A table of what an expression is for all values of these counters; None where one is not known."""
    size = math.prod(_span(values) for _, values in used)
    out: list[int | float] = [0.0] * size
    done: Done = defaultdict(dict)
    for at in itertools.product(*(values for _, values in used)):
        place = 0
        for k, (_, values) in zip(at, used):
            place = place * _span(values) + k - min(values)
        value = _value(e, {v: k for (v, _), k in zip(used, at)}, done)
        if value is None:
            return None
        out[place] = value
    if all(len(values) <= WRITTEN_OUT for _, values in used):
        for name, calls in done.items():
            if folded(name, [*calls]) != [*calls.values()]:
                return None
    return tuple(out)


def _value(e: Expr, now: Mapping[Variable, int], done: Done) -> int | float | None:
    """Of an expression, where its variables have these values; None where it is not known. ``done`` gets its calls."""

    def leaf(x: Leaf) -> Value:
        match x:
            case Const():
                return x.value
            case Var():
                return now[x.var]
            case Call():
                arguments = tuple(evaluate(a, leaf) for a in x.args)
                value = called(x.name, arguments)
                if value is not None:
                    done[x.name][arguments] = value
                    return value
        raise LookupError

    try:
        return evaluate(e, leaf)
    except (LookupError, ArithmeticError, ValueError):
        return None


def _range(counter: Variable, first: Expr, by: int, op: str, limit: Expr | None) -> range | None:
    """The values that a counter has inside its loop, where they are known and not too many."""
    if not (isinstance(first, Const) and isinstance(limit, Const)):
        return None
    start, end = int(first.value), int(limit.value)
    match op:
        case "<" | ">":
            values = range(start, end, by)
        case "<=" | ">=":
            values = range(start, end + (1 if by > 0 else -1), by)
        case "!=" if (end - start) % by == 0:
            values = range(start, end, by)
        case _:
            return None
    rises = op in ("<", "<=") or (op == "!=" and by > 0)
    if not values or (by > 0) != rises or _span(values) > LARGEST:
        return None
    return values if all(counter.type.wrap(k) == k for k in (values[0], values[-1])) else None


def _span(values: range) -> int:
    return max(values) - min(values) + 1


def _is_plain(e: Expr) -> bool:
    """Whether an expression is to stand where its variable does: it is short, and calls nothing."""
    nodes = list(itertools.islice(subexpressions(e), SHORT + 1))
    return len(nodes) <= SHORT and not any(isinstance(x, Call) for x in nodes)


def _is_slow(e: Expr) -> bool:
    return isinstance(e, Call) and e.name in FUNCTIONS and e.name not in CHEAP
