"""Loops: what is known at the head of a loop is what holds before it and after each of its turns.

A turn is lowered from what holds before the loop. Where less holds after it, it is given up and lowered again from what
both have in common, until that is the same: a fixpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pycparser import c_ast as C

from ..base import catalogue
from ..base.ctype import BOOL, INT, Pointer
from ..base.diagnostics import Loc, UnsupportedError
from ..frontend.parse import jumps_out, loc_of
from ..frontend.tree import nodes
from ..ir.fold import binary, unary
from ..ir.nodes import Const, Expr, If, Loop, Stmt, Var
from .context import NONE, Context, Flags, Jump
from .environment import Environment, Known
from .objects import PointerCell, Ref, Single, View

ROUNDS = 12  # turns that are given up, at most
#: Codes of errors that may vanish once it is known which turn it is: an object is its own, an offset is constant; and
#: that of a null pointer, which comes with no element at all: no turn follows it.
ONE_BY_ONE = frozenset(
    m.code
    for m in (
        catalogue.ALLOCATION,
        catalogue.VARIABLE_EXTENT,
        catalogue.OTHER_TYPE,
        catalogue.MEMORY_OF_STRUCT,
        catalogue.NULL_FOLLOWED,
        catalogue.SEVERAL_TARGETS,
    )
)
TURNS = 256  # that are written one by one, at most
JUMPING = 64  # of these, each of which stands in a branch of the one before,
WRITTEN = 4_000  # and statements of all of them
VAIN = 200  # loops of which that did not help, at most: nested ones are tried twice at each level
MOST_TURNS = 16_384  # of all loops
#: What ends a turn; of a loop that is left there, it returns what is known then.
Step = Callable[[], Environment | None]


@dataclass
class Turn:
    """One turn of a loop. ``left``: what is known where it is left."""

    head: list[Stmt]
    cond: Expr
    body: list[Stmt]
    step: list[Stmt]
    left: Environment
    flags: Flags
    jump: Jump


def loop(cx: Context, node: C.For | C.While) -> Flags:
    loc = loc_of(node)
    if isinstance(node, C.For) and node.init is not None:
        cx.effect(node.init)
    step = node.next if isinstance(node, C.For) else None

    def test() -> Expr:
        return cx.condition(node.cond) if node.cond is not None else Const(1, BOOL, loc)

    def next_turn() -> None:
        if step is not None:
            cx.effect(step)

    before = _Before(cx)
    try:
        return repeat(cx, node, test, next_turn, loc)
    except UnsupportedError as e:
        if e.code not in ONE_BY_ONE or cx.vain >= VAIN:
            raise
        before.back()
        try:
            return (jumping if jumps_out(node.stmt) else one_by_one)(cx, node.stmt, test, next_turn, e)
        except UnsupportedError:
            cx.vain += 1
            raise


def one_by_one(
    cx: Context, body: C.Node, test: Callable[[], Expr], step: Callable[[], None], e: UnsupportedError
) -> Flags:
    """The turns of a loop, one after the other. Raises ``e`` where it is not known how many there are."""
    turns = 0
    while goes_on(cx, test, turns < TURNS, e):
        cx.statements([body])
        step()
        turns += 1
    return NONE


def jumping(
    cx: Context, body: C.Node, test: Callable[[], Expr], step: Callable[[], None], e: UnsupportedError
) -> Flags:
    """The same of turns that ``break``, ``continue`` and ``return`` end, each in what the one before has not left."""
    if any(isinstance(n, (C.Goto, C.Label)) for n in nodes(body)):
        raise e
    loc, broken, before = loc_of(body), [], cx.size

    def turn(k: int) -> Flags:
        if not goes_on(cx, test, k < JUMPING and cx.size - before < WRITTEN, e):
            return NONE
        jump = new_jump(cx, loc)
        assert jump.proceed is not None
        cx.assign(jump.leave, Const(0, BOOL), loc)
        cx.assign(jump.proceed, Const(0, BOOL), loc)
        cx.jumps.append(jump)
        flags = cx.statements([body]) - {jump.proceed}
        cx.jumps.pop()
        cx.meet(jump.repeats)
        broken.extend(jump.exits)

        def rest() -> Flags:
            step()
            return turn(k + 1)

        more = skipped(cx, flags, rest) if cx.env.reached else NONE
        return (flags | more) - {jump.leave}

    flags = turn(0)
    cx.meet(broken)
    return flags


def goes_on(cx: Context, test: Callable[[], Expr], room: bool, e: UnsupportedError) -> bool:
    """Whether there is another turn. Raises ``e`` where that is not known, or there is no ``room`` for one."""
    cond = test()
    if not isinstance(cond, Const):
        raise e
    if cond.value:
        cx.turns += 1
        if cx.turns > MOST_TURNS or not room:
            raise e
    return bool(cond.value)


def skipped(cx: Context, flags: Flags, lowered: Callable[[], Flags]) -> Flags:
    """What ``lowered()`` emits, skipped where a flag is set."""
    if not flags:
        return lowered()
    with cx.block(sometimes=True) as inner:
        more = lowered()
    if inner:
        cx.emit(If(none_of(flags, inner[0].loc), tuple(inner), (), False, inner[0].loc))
    return more


def none_of(flags: Flags, loc: Loc) -> Expr:
    """True where no flag is set."""
    test: Expr | None = None
    for f in sorted(flags, key=lambda v: v.uid):
        one = unary("!", Var(f, loc), INT, loc)
        test = one if test is None else binary("&&", test, one, INT, loc)
    assert test is not None
    return test


def do_while(cx: Context, node: C.DoWhile) -> Flags:
    loc = loc_of(node.cond)
    if cx.unit.constant(node.cond) == 0:
        return once(cx, node.stmt, loc)
    go = cx.fresh_temporary("again", BOOL, loc)
    cx.assign(go, Const(1, BOOL), loc)

    def test() -> Environment:
        again = cx.condition(node.cond)
        cx.assign(go, again, loc)
        end = cx.env.copy()
        if isinstance(again, Const):
            (end if again.value else cx.env).reached = False
        return end

    return repeat(cx, node, lambda: Var(go, loc), test, loc)


def once(cx: Context, body: C.Node, loc: Loc) -> Flags:
    """``do body while (0)``, as macros have it: no loop."""
    jump = new_jump(cx, loc)
    assert jump.proceed is not None
    cx.assign(jump.leave, Const(0, BOOL), loc)
    cx.assign(jump.proceed, Const(0, BOOL), loc)
    cx.jumps.append(jump)
    flags = cx.statements([body])
    cx.jumps.pop()
    cx.meet([*jump.repeats, *jump.exits])
    return flags - {jump.leave, jump.proceed}


def new_jump(cx: Context, loc: Loc) -> Jump:
    return Jump(cx.exit_flag("left", loc), cx.exit_flag("skipped", loc))


def repeat(cx: Context, node: C.For | C.While | C.DoWhile, test: Callable[[], Expr], step: Step, loc: Loc) -> Flags:
    """The loop itself."""
    turns: list[Turn] = []
    fixpoint(cx, node, [node], lambda: turns.append(one_turn(cx, node.stmt, test, step, loc)))
    return finish(cx, turns[-1], loc)


def fixpoint(cx: Context, node: C.Node, inside: list[C.Node], turn: Callable[[], None]) -> None:
    """Lower one turn of a loop by ``turn``, until what is known before it still is after it. ``node`` stands for the
    loop, ``inside`` are the statements of its turns."""
    forget(cx, node, inside)
    older, mark, start, out = cx.objects, _Mark(cx), cx.env, len(cx.out)
    for round_ in range(ROUNDS + 1):
        cx.env = start.copy()
        turn()
        changed = common(cx, start, cx.env, older)
        if changed is None:
            return
        if round_ == ROUNDS:
            raise catalogue.SEVERAL_TARGETS.error(loc_of(node), name=changed[1])
        start = changed[0] if round_ < 4 else without_numbers(cx, changed[0])
        remember(cx, node, start)
        mark.back()
        del cx.out[out:]


def one_turn(cx: Context, body: C.Node, test: Callable[[], Expr], step: Step, loc: Loc) -> Turn:
    with cx.block() as head:
        cond = test()
    left = cx.env
    jump = new_jump(cx, loc)
    assert jump.proceed is not None
    cx.env = left.copy()
    if isinstance(cond, Const):
        (left if cond.value else cx.env).reached = False
    cx.jumps.append(jump)
    with cx.block(sometimes=True) as inner:
        cx.assign(jump.proceed, Const(0, BOOL), loc)
        flags = cx.statements([body])
    cx.jumps.pop()
    cx.meet(jump.repeats)
    with cx.block() as last:
        if cx.env.reached:
            left = step() or left
        elif isinstance(cond, Var):
            left = cx.env  # it ends behind its turns, none of which comes that far
    return Turn(head, cond, inner, last, left, flags, jump)


def finish(cx: Context, turn: Turn, loc: Loc) -> Flags:
    """Emit a loop whose turns all are as ``turn``."""
    jump, flags = turn.jump, frozenset(f for f in turn.flags if f is not turn.jump.proceed)
    cx.env = turn.left
    cx.meet(jump.exits)
    if isinstance(turn.cond, Const) and not turn.cond.value:
        cx.out += turn.head
        return frozenset()
    exits = tuple(sorted(flags, key=lambda f: (f is not jump.leave, f.uid)))
    if jump.leave in flags:
        cx.assign(jump.leave, Const(0, BOOL), loc)
    cx.emit(Loop(turn.cond, tuple(turn.body), tuple(turn.step), tuple(turn.head), exits, loc))
    return flags - {jump.leave}


class _Before:
    """A place to go back to after an error."""

    def __init__(self, cx: Context):
        self.cx, self.env, self.mark, self.out, self.statements = cx, cx.env.copy(), _Mark(cx), cx.out, len(cx.out)
        self.frames, self.jumps, self.bindings = [*cx.frames], [*cx.jumps], dict(cx.bindings)

    def back(self) -> None:
        cx = self.cx
        self.mark.back()
        cx.env, cx.out, cx.frames, cx.jumps, cx.bindings = self.env, self.out, self.frames, self.jumps, self.bindings
        del cx.out[self.statements :]


class _Mark:
    """A place to go back to."""

    def __init__(self, cx: Context):
        self.cx, self.size = cx, cx.size
        lists: list[list] = [cx.unset, *(f.exits for f in cx.frames[-1:])]
        lists += [x for j in cx.jumps for x in (j.exits, j.repeats)]
        lists += [label.paths for label in cx.frames[-1].labels.values()]
        self.lengths = [(x, len(x)) for x in lists]

    def back(self) -> None:
        """Forget the statements since then, and the jumps out of them."""
        self.cx.size = self.size
        for x, n in self.lengths:
            del x[n:]


def common(cx: Context, start: Environment, after: Environment, older: int) -> tuple[Environment, str] | None:
    """What holds both before a turn and after it, and what differs; None if all that holds before holds after it.
    ``older``: the number of objects there were before; what the turn makes for itself ends with it."""
    if not after.reached:
        return None
    out, name = start.copy(), ""
    for cell, now in after.places.items():
        if now is start.places.get(cell) or cell.of.born > older and not cell.of.lasting:
            continue
        before = start.places.get(cell) or cx.start.places.get(cell) or frozenset()
        for t in now - before:
            if isinstance(t, (Ref, View)) and t.object.allocated and t.object.born > older:
                raise catalogue.ALLOCATION.error(t.object.loc, name="malloc")  # the next turn's is another one
        lasting = frozenset(t for t in now if not _ends(t, older))
        if not lasting <= before:
            out.places[cell], name = before | lasting, cell.of.name
    known = start.known
    changed = [key for key, now in after.known.items() if key not in known or now is not known[key]]
    for key in (*changed, *(k for k in known if k not in after.known)):
        at_start = cx.start.known.get(key)
        before, now = known.get(key, at_start), after.known.get(key, at_start)
        if before is not None and now != before:
            out.known[key], name = None, _key(key)[0]
    return (out, name) if name else None


def _ends(t: Single, older: int) -> bool:
    return isinstance(t, (Ref, View)) and t.object.born > older and t.object.storage == "local" and not t.object.lasting


def _key(k: Known) -> tuple[str, Loc]:
    return (k.of.name, k.of.loc) if isinstance(k, PointerCell) else (k.name, k.loc)


def remember(cx: Context, node: C.Node, start: Environment) -> None:
    """Which integers the turns of a loop change, for the next time that it is lowered."""
    changed = cx.changing.setdefault(id(node), set())
    changed |= {_key(k) for k, value in start.known.items() if value is None}


def without_numbers(cx: Context, env: Environment) -> Environment:
    """With no integer known."""
    return Environment(env.places, {k: None for k in (*cx.start.known, *env.known)}, env.reached)


def forget(cx: Context, node: C.Node, inside: list[C.Node]) -> None:
    """What the turns of a loop are seen to change is not known in it."""
    names, members = set(), set()
    for target in (t for statement in inside for t in assigned(cx, statement)):
        if isinstance(target, C.ID):
            names.add(target.name)
        elif isinstance(target, C.StructRef):
            members.add(target.field.name)
    changed = cx.changing.get(id(node), set())
    for k in {**cx.start.known, **cx.env.known}:
        name = k.of.name if isinstance(k, PointerCell) else k.spelling or k.name
        if "." in name:
            number = name.removesuffix(".real").removesuffix(".imag")  # of the part of a complex one
            fields = {x.rpartition(".")[2] for x in (name, number)}
            assigns = not ({name, number}.isdisjoint(names) and fields.isdisjoint(members))
        else:
            assigns = name in names or name in members  # most names
        if assigns or (changed and _key(k) in changed):
            cx.env.known[k] = None


def assigned(cx: Context, node: C.Node) -> Iterator[C.Node]:
    """The lvalues that a loop assigns to; of a pointer that it sets, the index may stay the same."""
    for n in nodes(node):
        match n:
            case C.UnaryOp(op="++" | "--" | "p++" | "p--"):
                yield n.expr
            case C.Assignment() if n.op != "=" or not isinstance(cx.unit.types.get(id(n.lvalue)), Pointer):
                yield n.lvalue
