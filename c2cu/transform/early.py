"""Early ends as jumps: what follows a mark in `ENDED` is skipped, as far as that is needed.

`uniform_ends`: an end that no data decides skips all that follows. `lanes_ended`, for lanes that go on beside others: a
lane that has ended may compute what it likes, as its input is done again, but it must touch no address of its own,
divide no integers, and end its loops.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..analysis.uniform import Uniform, uniform
from ..base.ctype import BOOL, INT
from ..base.diagnostics import Loc
from ..ir.fold import cast, truth, unary
from ..ir.nodes import (
    ENDED,
    ZERO,
    Assign,
    Binary,
    Block,
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
from ..ir.walk import expressions, statements, subexpressions

YES, NO = Const(1, BOOL), Const(0, BOOL)


def is_end(s: Stmt) -> bool:
    return isinstance(s, Store) and s.region == ENDED


def has_end(block: Block) -> bool:
    """Whether an input may end early in a block."""
    return any(map(is_end, statements(block)))


def ends_of(kernel: Kernel) -> tuple[Loc, ...]:
    """Where an input may end early, in the order of the text."""
    places = {s.loc for s in statements(kernel.body) if is_end(s)} if ENDED in kernel.regions else ()
    return tuple(sorted(places, key=lambda p: (p.file, p.line, p.column)))


def uniform_ends(kernel: Kernel) -> Kernel:
    """``kernel`` in which an end that all inputs come to skips what follows."""
    if ENDED not in kernel.regions:
        return kernel
    u = uniform(kernel)
    stopped = _flag(u.kernel, "stopped")
    body, ends = _Jumps(stopped, u, lambda s: (Assign(stopped, YES, s.loc), s)).block(u.kernel.body, True)
    return replace(u.kernel, body=(Assign(stopped, NO, kernel.loc), *body)) if ends else kernel


def lanes_ended(kernel: Kernel) -> Kernel:
    """``kernel`` in which a lane whose input has ended does no harm."""
    if ENDED not in kernel.regions:
        return kernel
    u = uniform(kernel)
    if not u.ends_on_data and not _ends_apart_in_loop(u, u.kernel.body):
        return replace(u.kernel, body=_harmless(u, u.kernel.body, False, False))
    ended = _flag(u.kernel, "ended")
    body, _ = _Jumps(ended, None, lambda s: (Assign(ended, YES, s.loc),)).block(u.kernel.body, True)
    last = Store(ENDED, ZERO, cast(Var(ended, kernel.loc), INT), kernel.loc)
    return replace(u.kernel, body=(Assign(ended, NO, kernel.loc), *body, last))


def _flag(kernel: Kernel, name: str) -> Variable:
    last = max((s.var.uid for s in statements(kernel.body) if isinstance(s, Assign)), default=0)
    return Variable(name, BOOL, max(last, 0) + 1, kernel.loc, role="exit")


class _Jumps:
    """Makes jumps of marks: of all, or, with ``u``, of those that no data decides. ``mark``: what becomes of one, which
    sets ``flag``."""

    def __init__(self, flag: Variable, u: Uniform | None, mark: Callable[[Stmt], Block]):
        self.flag, self.u, self.mark = flag, u, mark
        self.last = flag.uid

    def block(self, block: Block, uniform: bool) -> tuple[Block, bool]:
        """The block, and whether it may set the flag. ``uniform``: all inputs come here."""
        out: list[Stmt] = []
        part: list[Stmt] = []
        after = False
        for s in block:
            new, ends = self.statement(s, uniform)
            if after and isinstance(s, Loop):  # it asks for its flags first
                out += (*self.unless(part), *map(self.left_at_once, new))
                part = []
                continue
            part += new
            if ends:
                out += self.unless(part) if after else part
                part, after = [], True
            if ends and is_end(s):
                break
        out += self.unless(part) if after else part
        return tuple(out), after

    def left_at_once(self, s: Stmt) -> Stmt:
        """A loop that is left where the flag is set."""
        assert isinstance(s, Loop)
        return s if self.flag in s.flags else replace(s, flags=(*s.flags, self.flag))

    def unless(self, part: list[Stmt]) -> Block:
        if not part:
            return ()
        loc = part[0].loc
        return (If(unary("!", Var(self.flag, loc), INT, loc), tuple(part), (), False, loc),)

    def statement(self, s: Stmt, uniform: bool) -> tuple[Block, bool]:
        match s:
            case Store() if is_end(s) and (uniform or self.u is None):
                return self.mark(s), True
            case If():
                inner = uniform and not self.varies(s.cond)
                (then, a), (other, b) = self.block(s.then, inner), self.block(s.other, inner)
                return (replace(s, then=then, other=other) if a or b else s,), a or b
            case Loop():
                return self.loop(s, uniform)
        return (s,), False

    def loop(self, s: Loop, uniform: bool) -> tuple[Block, bool]:
        inner = uniform and not (self.u is not None and self.u.is_ended_by_data(s))
        (head, a), (body, b), (step, c) = (self.block(part, inner) for part in (s.head, s.body, s.step))
        if not (a or b or c):
            return (s,), False
        if a:  # then the condition is not to be asked for
            self.last += 1
            go = replace(self.flag, name="go", uid=self.last, role="temporary")
            asked, _ = self.block((*s.head, Assign(go, truth(s.cond), s.loc)), inner)
            s, head = replace(s, cond=Var(go, s.cond.loc)), (Assign(go, NO, s.loc), *asked)
        flags = s.flags if self.flag in s.flags else (*s.flags, self.flag)
        return (replace(s, head=head, body=body, step=step, flags=flags),), True

    def varies(self, e: Expr) -> bool:
        return self.u is not None and self.u.is_varying(e)


def _ends_apart_in_loop(u: Uniform, block: Block) -> bool:
    """Whether all lanes that execute a loop may end in it while others, which do not execute it, have not."""
    apart = (s for s in statements(block) if isinstance(s, If) and u.is_varying(s.cond))
    return any(isinstance(x, Loop) and has_end((x,)) for s in apart for x in statements((s,)))


def _harmless(u: Uniform, block: Block, after: bool, apart: bool) -> Block:
    """A block in which lanes that have ended do nothing harmful. No loop ends on data. ``after``: some may have ended
    before. ``apart``: not all lanes come here, so that those that do may all have ended."""
    out: list[Stmt] = []
    part: list[Stmt] = []

    def close() -> None:
        if part:
            loc = part[0].loc
            going = unary("!", Load(ENDED, ZERO, loc), INT, loc)
            out.append(If(going, tuple(part), (), False, loc))
            part.clear()

    for s in block:
        ends = has_end((s,))
        inner = apart or (isinstance(s, If) and u.is_varying(s.cond))
        if after and _may_harm(u, s, apart):
            # it begins with lanes that have not ended
            part.append(_inside(s, lambda b, inner=inner: _harmless(u, b, False, inner)))
            if ends:
                close()
        else:
            close()
            some = after or (ends and isinstance(s, Loop))  # in an earlier turn
            out.append(_inside(s, lambda b, some=some, inner=inner: _harmless(u, b, some, inner)))
        after = after or ends
    close()
    return tuple(out)


def _inside(s: Stmt, f: Callable[[Block], Block]) -> Stmt:
    match s:
        case If():
            return replace(s, then=f(s.then), other=f(s.other))
        case Loop():
            return replace(s, head=f(s.head), body=f(s.body), step=f(s.step))
    return s


def _may_harm(u: Uniform, s: Stmt, apart: bool) -> bool:
    """Whether a statement by itself may fault on numbers that the program never has, or never end. ``apart``: also on
    numbers that are the same in all lanes."""
    if isinstance(s, Store) and _is_risky(u, s.region, s.index, apart):
        return True
    if isinstance(s, Loop) and apart:
        return True
    return any(_is_harmful(u, x, apart) for e in expressions(s) for x in subexpressions(e))


def _is_harmful(u: Uniform, e: Expr, apart: bool) -> bool:
    match e:
        case Load():
            return _is_risky(u, e.region, e.index, apart)
        case Binary(op="/" | "%") if e.type.is_integer:
            safe = isinstance(e.right, Const) and e.right.value not in (0, -1)
            return not safe and (apart or u.is_varying(e))
    return False


def _is_risky(u: Uniform, region: Region, index: Expr, apart: bool) -> bool:
    """Whether an address may be one that the program never has."""
    if isinstance(index, Const) and 0 <= index.value < region.count:
        return False
    return apart or u.is_varying(index)
