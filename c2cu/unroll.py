"""Unrolling: loops whose every turn is known are written out, so that subscripts become constants.

Uniform control is executed symbolically. A loop is unrolled if all of it fits in what is left of the budget, else its
inner loops are tried.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from .effects import fold_known
from .ir import Assign, Block, Const, If, Kernel, Loop, Stmt, Store, Variable
from .simplify import simplify
from .walk import statements

BUDGET = 2000  # statements: what a compiler still digests in a few seconds

Known = dict[Variable, Const]


class _TooLong(Exception):
    pass


class _Unknown(_TooLong):
    """Whether there is another turn is not known."""


def unroll(kernel: Kernel, budget: int = BUDGET, whole: bool = False) -> Kernel:
    """``kernel`` with its short loops written out, as long as they are ``budget`` statements. ``whole``: a loop only
    together with the loops inside it whose turns are known, so that a nest's subscripts all become constants or none.
    """
    unroller = _Unroller(whole)
    body = simplify(tuple(unroller.block(kernel.body, {}, budget)))
    return replace(kernel, body=body)


class _Unroller:
    def __init__(self, whole: bool) -> None:
        self.whole = whole
        self.trying = 0  # loops being unrolled: only inside them is there a limit

    def count(self, block: Iterable[Stmt]) -> int:
        """What a block takes of the budget."""
        return sum(1 for _ in block) if self.whole else size(block)

    def block(self, block: Block, known: Known, room: int) -> list[Stmt]:
        """The statements of ``block``; ``known`` is updated. Raises _TooLong beyond ``room`` statements."""
        out: list[Stmt] = []
        for s in block:
            new = self.statement(s, known, room)
            room -= self.count(new)
            if self.trying and room < 0:
                raise _TooLong
            out += new
        return out

    def statement(self, s: Stmt, known: Known, room: int) -> list[Stmt]:
        match s:
            case Assign():
                value = fold_known(s.value, known)
                known.pop(s.var, None)
                if isinstance(value, Const):
                    known[s.var] = value
                return [replace(s, value=value)]
            case Store():
                return [replace(s, index=fold_known(s.index, known), value=fold_known(s.value, known))]
            case If():
                return self.branch(s, known, room)
            case Loop():
                return self.loop(s, known, room)
        raise AssertionError(s)

    def branch(self, s: If, known: Known, room: int) -> list[Stmt]:
        cond = fold_known(s.cond, known)
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
        turns = self.attempt(s, trial, room)
        if turns is not None:
            known.clear()
            known.update(trial)
            return turns
        _forget(s, known)
        inner = dict(known)
        head = tuple(self.block(s.head, inner, room))
        cond = fold_known(s.cond, inner)
        body = tuple(self.block(s.body, inner, room))
        step = tuple(self.block(s.step, inner, room))
        return [replace(s, head=head, cond=cond, body=body, step=step)]

    def attempt(self, s: Loop, known: Known, room: int) -> list[Stmt] | None:
        """All turns of a loop, or None where they are too many or not known."""
        self.trying += 1
        try:
            return self.turns(s, known, room)
        except _Unknown:
            return None
        except _TooLong:
            if self.whole and self.trying > 1:
                raise
            return None
        finally:
            self.trying -= 1

    def turns(self, s: Loop, known: Known, room: int) -> list[Stmt]:
        """All turns of a loop, one after the other. Raises _TooLong where the next one is not known."""
        out: list[Stmt] = []
        turns, budget = 0, room

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
            turns += 1
            if turns > budget:
                raise _TooLong  # of turns that do nothing
        return out

    @staticmethod
    def flagged(s: Loop, known: Known) -> bool:
        for f in s.flags:
            if f not in known:
                raise _Unknown
            if known[f].value:
                return True
        return False


def size(block: Iterable[Stmt]) -> int:
    """Statements that will be left of a block: assignments of constants vanish."""
    return sum(1 for s in statements(tuple(block)) if not (isinstance(s, Assign) and isinstance(s.value, Const)))


def _forget(s: Stmt, known: Known) -> None:
    for inner in statements((s,)):
        if isinstance(inner, Assign):
            known.pop(inner.var, None)
