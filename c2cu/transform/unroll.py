"""Unrolling: loops whose every turn is known are written out, so that subscripts become constants.

Uniform control is executed symbolically. A loop is unrolled if all of it fits in what is left of the budget, else its
inner loops are tried.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..analysis.effects import fold_known
from ..ir.fold import binary
from ..ir.nodes import Assign, Binary, Block, Call, Const, Expr, If, Kernel, Load, Loop, Stmt, Store, Var, Variable
from ..ir.simplify import join, simplify
from ..ir.walk import expressions, statements, subexpressions, used
from .aligned import fold_aligned

UNIT = 8  # turns in one, of a loop that is too long and whose branches depend on its counter's low bits
SHARE = 8  # such a loop may take this part of what is left of the budget
SHORT = 16  # nodes of a function of the counter that is spelled out where it is used
WORK = 40  # budgets of statements that may be tried, also in vain
LANEWISE = 16  # statements that a call counts for, which SIMD code makes lane by lane
VECTOR = ("fabs", "fabsf", "sqrt", "sqrtf")  # calls that are one instruction
BUDGET = 2000  # statements: what a compiler still digests in a few seconds

Known = dict[Variable, Expr]  # constants; in a loop that is unrolled in part also what depends on its counter only


class _TooLong(Exception):
    pass


class _Unknown(_TooLong):
    """Whether there is another turn is not known."""


def unroll(kernel: Kernel, budget: int = BUDGET, whole: bool = False, kept: tuple[Loop, ...] = ()) -> Kernel:
    """``kernel`` with its short loops written out, as long as they are ``budget`` statements. ``whole``: a loop only
    together with the loops inside it whose turns are known, so that a nest's subscripts all become constants or none.
    ``kept``: loops that stay loops, themselves.
    """
    unroller = _Unroller(kernel.body, whole, kept, WORK * budget)
    body = simplify(tuple(unroller.block(kernel.body, {}, budget)))
    return replace(kernel, body=body)


class _Unroller:
    def __init__(self, body: Block, whole: bool, kept: tuple[Loop, ...], work: int) -> None:
        self.uses = used(body)
        self.whole, self.kept = whole, kept
        self.work = work  # statements that may still be tried
        self.failed: dict[int, tuple[int, int]] = {}  # of loops (by identity) that did not fit: their turns, the room
        self.trying = 0  # loops being unrolled: only inside them is there a limit
        self.counter: Variable | None = None  # of the loop being unrolled in part: a multiple of UNIT

    def fold(self, e: Expr, known: Known) -> Expr:
        new = fold_known(e, known)
        return new if self.counter is None else fold_aligned(new, self.counter, UNIT)

    def is_known(self, e: Expr) -> bool:
        return isinstance(e, Const) or (self.counter is not None and depends_only_on(e, self.counter))

    def count(self, block: Iterable[Stmt]) -> int:
        """What a block takes of the budget."""
        return sum(1 for _ in block) if self.whole else size(block)

    def block(self, block: Block, known: Known, room: int) -> list[Stmt]:
        """The statements of ``block``; ``known`` is updated. Raises _TooLong beyond ``room`` statements."""
        out: list[Stmt] = []
        for s in block:
            self.work -= 1
            if self.trying and self.work < 0:
                raise _TooLong
            new = self.statement(s, known, room)
            room -= self.count(new)
            if self.trying and room < 0:
                raise _TooLong
            out += new
        return out

    def statement(self, s: Stmt, known: Known, room: int) -> list[Stmt]:
        match s:
            case Assign():
                value = self.fold(s.value, known)
                known.pop(s.var, None)
                if self.is_known(value):
                    known[s.var] = value
                return [replace(s, value=value)]
            case Store():
                return [replace(s, index=self.fold(s.index, known), value=self.fold(s.value, known))]
            case If():
                return self.branch(s, known, room)
            case Loop():
                return self.loop(s, known, room)
        raise AssertionError(s)

    def branch(self, s: If, known: Known, room: int) -> list[Stmt]:
        cond = self.fold(s.cond, known)
        if isinstance(cond, Const):
            return self.block(s.then if cond.value else s.other, known, room)
        yes, no = dict(known), dict(known)
        new = replace(
            s, cond=cond, then=tuple(self.block(s.then, yes, room)), other=tuple(self.block(s.other, no, room))
        )
        known.clear()
        known.update((v, c) for v, c in yes.items() if no.get(v) == c)
        return [new]

    def loop(self, s: Loop, known: Known, room: int) -> list[Stmt]:
        trial = dict(known)
        turns = None if any(s is k for k in self.kept) else self.attempt(s, trial, room)
        if turns is not None:
            known.clear()
            known.update(trial)
            return turns
        start = known.get(s.step[0].var) if s.step and isinstance(s.step[0], Assign) else None
        _forget(s, known)
        partly = self.partly(s, start, known, room) if isinstance(start, Const) and not self.whole else None
        if partly is not None:
            return [partly]
        inner = dict(known)
        head = tuple(self.block(s.head, inner, room))
        cond = fold_known(s.cond, inner)
        body = tuple(self.block(s.body, inner, room))
        step = tuple(self.block(s.step, inner, room))
        return [replace(s, head=head, cond=cond, body=body, step=step)]

    def partly(self, s: Loop, start: Const, known: Known, room: int) -> Loop | None:
        """A loop with UNIT turns in one, if that settles branches. ``start``: of its counter."""
        match s:
            case Loop(
                cond=Binary(op="<", left=Var(var=v), right=bound),
                step=(Assign(value=Binary(op="+", left=Var(var=w), right=Const(value=1))) as step,),
                head=(),
                flags=(),
            ) if v == w == step.var and v.type.is_integer and v.type.size >= 4:
                end = fold_known(bound, known)
            case _:
                return None
        body, inside = list(statements(s.body)), used(s.body)
        if any(isinstance(x, Loop) or (isinstance(x, Assign) and x.var == v) for x in body) or self.counter is not None:
            return None
        if any(isinstance(x, Assign) and self.uses[x.var] > inside[x.var] for x in body):
            return None  # it is wanted elsewhere
        if not isinstance(end, Const) or start.value < 0 or start.value % UNIT or end.value % UNIT:
            return None
        out: list[Stmt] = []
        inner = dict(known)
        self.counter = v
        self.trying += 1
        try:
            for k in range(UNIT):
                inner[v] = binary("+", Var(v, s.loc), Const(k, v.type), v.type)
                out += self.block(s.body, inner, room // SHARE - size(out))
        except _TooLong:
            return None
        finally:
            self.counter = None
            self.trying -= 1
        turns = join(simplify(tuple(out)), lambda branch: depends_only_on(branch.cond, v))
        tests = [x for x in statements(turns) if isinstance(x, If)]
        if 4 * len(tests) > 3 * UNIT * sum(isinstance(x, If) for x in body):
            return None
        assert isinstance(step.value, Binary)
        by = replace(step, value=replace(step.value, right=Const(UNIT, v.type)))
        return replace(s, cond=replace(s.cond, right=end), body=turns, step=(by,))

    def attempt(self, s: Loop, known: Known, room: int) -> list[Stmt] | None:
        """All turns of a loop, or None where they are too many or not known."""
        expected = 0 if self.whole else turns_of(s, known)
        few, large = self.failed.get(id(s), (expected + 1, room))
        if few <= expected and room <= large:
            return None
        self.trying += 1
        try:
            return self.turns(s, known, room, expected)
        except _Unknown:
            return None
        except _TooLong:
            if self.whole and self.trying > 1:
                raise
            if expected:
                self.failed[id(s)] = expected, room
            return None
        finally:
            self.trying -= 1

    def turns(self, s: Loop, known: Known, room: int, expected: int) -> list[Stmt]:
        """All turns of a loop, one after the other. ``expected``: how many, 0 if that is not known. Raises _TooLong
        where the next one is not known."""
        out: list[Stmt] = []
        done, all_room = 0, room

        def add(block: Block) -> None:
            nonlocal room
            new = self.block(block, known, room)
            room -= self.count(new)
            out.extend(new)

        while not self.flagged(s, known):
            add(s.head)
            cond = fold_known(s.cond, known)
            if not isinstance(cond, Const):
                raise _Unknown
            if not cond.value:
                break
            add(s.body)
            if self.flagged(s, known):
                break
            add(s.step)
            done += 1
            if done > all_room:
                raise _TooLong  # of turns that do nothing
            if done == UNIT and (all_room - room) * expected > 2 * UNIT * all_room:
                raise _TooLong  # at this rate
        return out

    @staticmethod
    def flagged(s: Loop, known: Known) -> bool:
        for f in s.flags:
            value = known.get(f)
            if not isinstance(value, Const):
                raise _Unknown
            if value.value:
                return True
        return False


def turns_of(s: Loop, known: Known) -> int:
    """How many turns a loop takes that counts up to a known bound, 0 for others."""
    match s:
        case Loop(
            cond=Binary(op="<", left=Var(var=v), right=bound),
            step=(Assign(value=Binary(op="+", left=Var(var=w), right=Const(value=1))) as step,),
        ) if v == w == step.var:
            start, end = known.get(v), fold_known(bound, known)
            if isinstance(start, Const) and isinstance(end, Const):
                return max(0, int(end.value - start.value))
    return 0


def size(block: Iterable[Stmt]) -> int:
    """Statements that will be left of a block: assignments of constants vanish, calls are made for each lane."""
    left = [s for s in statements(tuple(block)) if not (isinstance(s, Assign) and isinstance(s.value, Const))]
    found = (x for s in left for e in expressions(s) for x in subexpressions(e))
    return len(left) + LANEWISE * sum(isinstance(x, Call) and x.name not in VECTOR for x in found)


def depends_only_on(e: Expr, v: Variable) -> bool:
    """Whether ``e`` is a function of one variable."""
    nodes = list(subexpressions(e))
    only = all(x.var == v if isinstance(x, Var) else not isinstance(x, (Load, Call)) for x in nodes)
    return only and e.type.is_integer and len(nodes) <= SHORT


def _forget(s: Stmt, known: Known) -> None:
    for inner in statements((s,)):
        if isinstance(inner, Assign):
            known.pop(inner.var, None)
