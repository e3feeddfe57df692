"""Minima and maxima: a branch on data that stores the smaller or the larger of what it compares becomes selects.

``if (a[i] > a[l]) { t = a[i]; a[i] = a[l]; a[l] = t; }`` is two selects, and with its operands in the right order each
is one instruction with C's own meaning for NaN and signed zeros. All other branches stay as they are.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

from ...analysis.uniform import Uniform, uniform
from ...base.ctype import BOOL, Scalar
from ...base.diagnostics import Loc
from ...codegen.simd import boolean, is_instruction
from ...ir.canonical import chosen_extremum, extremum
from ...ir.nodes import (
    Assign,
    Binary,
    Block,
    Call,
    Const,
    Expr,
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
from ...ir.simplify import join
from ...ir.walk import expressions, rewrite, rewritten, statements, subexpressions, used, with_body
from ...transform.early import is_end
from ...transform.in_bounds import in_bounds, touched_by

SMALL = 6  # statements of a varying `if` that is cheaper to execute than to jump over
STORES = 2  # of them, to what its condition does not read: each then takes a load and a choice more
QUOTIENTS = 1  # of floats, in all of them: some lane wants it more often than not
LARGEST = 50  # nodes of a value that is worth computing in every lane

Place = Var | Load
Values = dict[Place, Expr]  # what an arm leaves where, in terms of what was there before the branch


class _MayAlias(Exception):
    pass


def selects(kernel: Kernel) -> Kernel:
    """``kernel`` with its minima and maxima as such, and what else their branches store as selects."""
    if not any(map(_chooses, statements(kernel.body))):
        return kernel
    u = uniform(kernel)
    body = rewritten(u.kernel.body, _extremum)
    return with_body(u.kernel, _Selects(u, body).joined(body))


def _chooses(s: Stmt) -> bool:
    return isinstance(s, If) or any(isinstance(x, Select) for e in expressions(s) for x in subexpressions(e))


class _Selects:
    def __init__(self, u: Uniform, body: Block):
        self.u = u
        self.inside = in_bounds(body)
        self.uses = used(u.kernel.body)
        values: dict[Variable, bool] = {}
        for s in statements(u.kernel.body):
            if isinstance(s, Assign):
                values[s.var] = values.get(s.var, True) and boolean(s.value)
        self.flags = frozenset(v for v, only in values.items() if only)  # variables that are 0 or 1
        self.fresh = max((s.var.uid for s in statements(u.kernel.body) if isinstance(s, Assign)), default=0)

    def joined(self, block: Block) -> Block:
        return join(self.block(block), self.keeps)

    def block(self, block: Block) -> Block:
        return tuple(new for s in block for new in self.statement(s))

    def keeps(self, s: If) -> bool:
        """Whether a branch that all lanes take alike leaves its condition as it is."""
        changed = {x.var for x in statements((s,)) if isinstance(x, Assign)}
        return not self.u.is_varying(s.cond) and not accesses(s.cond) and not changed & _variables(s.cond)

    def statement(self, s: Stmt) -> Block:
        match s:
            case If() if self.u.is_varying(s.cond):
                return self.branch(s) or (replace(s, then=self.block(s.then), other=self.block(s.other)),)
            case If():
                return (replace(s, then=self.block(s.then), other=self.block(s.other)),)
            case Loop():
                return (replace(s, head=self.joined(s.head), body=self.joined(s.body), step=self.joined(s.step)),)
        return (s,)

    def branch(self, s: If) -> Block | None:
        """What a branch on data becomes, or None where it is to stay."""
        cond, holds = condition(s.cond)
        if (
            isinstance(cond, Binary)
            and cond.op in ("==", "!=")
            and self.is_flag(cond.left)
            and self.is_flag(cond.right)
        ):
            return self.unswitched(s, cond, holds)
        then, other = (s.then, s.other) if holds else (s.other, s.then)
        inside = self.inside.get(id(s), frozenset())
        arms = (then, other)
        if any(isinstance(x, If) for arm in arms for x in arm):
            return None
        if not all(is_small(self.u, arm, accesses(cond), inside) for arm in arms):
            return None
        try:
            return self.selected(s, cond, self.values(then), self.values(other))
        except _MayAlias:
            return None

    def is_flag(self, e: Expr) -> bool:
        return boolean(e) or (isinstance(e, Var) and e.var in self.flags)

    def unswitched(self, s: If, cond: Binary, holds: bool) -> Block | None:
        """``if (c == u)`` with ``u`` the same in all lanes: both branches, and a jump to one of them."""
        for fixed, varying in ((cond.left, cond.right), (cond.right, cond.left)):
            if self.u.is_varying(fixed):
                continue
            straight = self.branch(replace(s, cond=varying))
            turned = self.branch(replace(s, cond=Unary("!", varying, cond.type, cond.loc)))
            if straight is None or turned is None:
                return None
            same = holds == (cond.op == "==")
            return (If(fixed, straight if same else turned, turned if same else straight, False, s.loc),)
        return None

    def values(self, arm: Block) -> Values:
        """What an arm leaves, in the order of the last writes."""
        values: Values = {}

        def before(e: Expr) -> Expr:
            new = rewrite(e, leaf)
            if sum(1 for _ in subexpressions(new)) > LARGEST:
                raise _MayAlias
            return new

        def leaf(x: Expr) -> Expr:
            if isinstance(x, Load) and any(x != y and not _apart(x, y) for y in values):
                raise _MayAlias
            return values.get(x, x) if isinstance(x, (Var, Load)) else x

        for s in arm:
            match s:
                case Assign():
                    place, value = Var(s.var, s.loc), before(s.value)
                case Store():
                    place, value = Load(s.region, before(s.index), s.loc), before(s.value)
                case _:
                    raise AssertionError(s)
            values.pop(place, None)
            values[place] = value
        return values

    def selected(self, s: If, cond: Expr, yes: Values, no: Values) -> Block | None:
        written = {**yes, **no}
        read = (cond, *yes.values(), *no.values(), *(x for x in written if isinstance(x, Load)))
        places = [x for x in written if not self.is_private(x, s, read)]
        if any(isinstance(x, Var) and (x.var not in self.u.varying or x.type == BOOL) for x in places):
            return None
        if yes and no and any(not _apart(x, y) for x in places for y in places if x != y):
            return None  # what one arm leaves alone, the other may write under another name
        news = [_choice(cond, yes.get(x, x), no.get(x, x), s.loc) for x in places]
        if not any(map(is_instruction, news)):
            return None
        saved: dict[Expr, Variable] = {}
        first: list[Stmt] = []

        def save(x: Expr) -> Expr:
            changes = x in places if isinstance(x, Var) else any(not _apart(x, y) for y in places)
            if not isinstance(x, (Var, Load)) or not changes:
                return x
            if x not in saved:
                saved[x] = self.variable("old", x.type)
                first.append(Assign(saved[x], x, s.loc))
            return Var(saved[x], x.loc)

        if len(places) > 1:
            news = [rewrite(x, save) for x in news]
        if not all(map(is_instruction, news)):
            chosen = self.variable("chosen", BOOL)
            first.append(Assign(chosen, rewrite(cond, save) if len(places) > 1 else cond, s.loc))
            news = [replace(x, cond=Var(chosen, s.loc)) if isinstance(x, Select) else x for x in news]
        return (*first, *(_write(x, new) for x, new in zip(places, news)))

    def variable(self, name: str, t: Scalar) -> Variable:
        self.fresh += 1
        return Variable(name, t, self.fresh)

    def is_private(self, x: Place, s: If, read: tuple[Expr, ...]) -> bool:
        """Whether a variable means nothing before and after a branch."""
        if not isinstance(x, Var) or any(x in subexpressions(e) for e in read):
            return False
        return self.uses[x.var] == used((s,))[x.var]


def _extremum(e: Expr) -> Expr:
    """A choice of numbers as a minimum or maximum, if it is one."""
    return extremum(e) or e if isinstance(e, Select) and e.type != BOOL else e


def _choice(cond: Expr, yes: Expr, no: Expr, loc: Loc) -> Expr:
    """``cond ? yes : no`` as one instruction if it is one."""
    least = chosen_extremum(cond, yes, no, loc)
    return least if least is not None and is_instruction(least) else Select(cond, yes, no, yes.type, loc)


def condition(e: Expr) -> tuple[Expr, bool]:
    """A condition without the negations around it, and whether it must hold or not."""
    match e:
        case Unary(op="!", operand=x):
            inner, holds = condition(x)
            return inner, not holds
        case Binary(op="==" | "!=", left=x, right=Const(value=0 | 1 as v)) if boolean(x):
            inner, holds = condition(x)
            return inner, holds == ((e.op == "==") == bool(v))
    return e, True


def is_small(
    u: Uniform, arm: Block, known: frozenset[tuple[Region, Expr]], inside: frozenset[tuple[Region, Expr]] = frozenset()
) -> bool:
    """Whether to execute an arm without asking if any lane takes it: cheap, often taken, and touches only what is
    touched anyway (``known``) or is certainly in bounds, as what is ``inside`` is when it begins."""
    every = list(islice(statements(arm), SMALL + 1))
    if len(every) > SMALL or any(isinstance(s, Loop) or is_end(s) for s in every):
        return False
    if any(isinstance(s, If) and not u.is_varying(s.cond) for s in every):
        return False
    new = quotients = 0
    for s in every:
        touched = set(touched_by(s))
        new += isinstance(s, Store) and (s.region, s.index) not in known
        if any(not _is_harmless(u, r, i, known | inside) for r, i in touched):
            return False
        nodes = [x for e in expressions(s) for x in subexpressions(e)]
        quotients += sum(map(_is_quotient, nodes))
        if quotients > QUOTIENTS or any(not (cheap(x) or _is_quotient(x)) for x in nodes):
            return False
        known = known | touched
        if isinstance(s, Assign):
            known, inside = _unless_of(s.var, known), _unless_of(s.var, inside)
    return new <= STORES


def _unless_of(v: Variable, places: frozenset[tuple[Region, Expr]]) -> frozenset[tuple[Region, Expr]]:
    """Without those whose index changes with a variable."""
    return frozenset((r, i) for r, i in places if v not in _variables(i))


def _is_harmless(u: Uniform, r: Region, index: Expr, known: frozenset[tuple[Region, Expr]]) -> bool:
    if isinstance(index, Const):
        return 0 <= index.value < r.count
    return u.is_varying(index) is False and (r, index) in known


def _is_quotient(e: Expr) -> bool:
    """Whether it divides floats, which no lane can trap in."""
    return isinstance(e, Binary) and e.op == "/" and e.type.is_float


def cheap(e: Expr) -> bool:
    """Not worth a jump to avoid."""
    if isinstance(e, Call):
        return e.name in ("fabs", "fabsf")
    return not (isinstance(e, Binary) and e.op in ("/", "%"))


def accesses(e: Expr) -> frozenset[tuple[Region, Expr]]:
    return frozenset((x.region, x.index) for x in subexpressions(e) if isinstance(x, Load))


def _variables(e: Expr) -> set[Variable]:
    return {x.var for x in subexpressions(e) if isinstance(x, Var)}


def _apart(x: Expr, y: Expr) -> bool:
    """Whether two places are certainly not the same."""
    if not (isinstance(x, Load) and isinstance(y, Load) and x.region == y.region):
        return x != y
    return isinstance(x.index, Const) and isinstance(y.index, Const) and x.index.value != y.index.value


def _write(place: Place, value: Expr) -> Stmt:
    if isinstance(place, Var):
        return Assign(place.var, value, place.loc)
    return Store(place.region, place.index, value, place.loc)
