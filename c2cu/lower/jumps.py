"""``goto``: a flag says that control is on its way to a label; what lies between is skipped where it is set.

A label further on in the same list of statements, or in one around it, ends the way. A label further back begins a loop
that goes on to the last statement that leads back to it. A jump into a block that it is not in is an error, unless the
block ends in a return: what is done from the label on then stands at the jump once more (`tail_of`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pycparser import c_ast as C

from ..base.ctype import BOOL
from ..frontend.parse import loc_of
from ..frontend.tree import nodes
from ..ir.nodes import Assign, Const, Loop, Var
from .context import NONE, Context, Flags, Label
from .loops import fixpoint, skipped


@dataclass(frozen=True)
class Item:
    """A statement, the labels before it, and those that it may jump to."""

    labels: tuple[str, ...]
    statement: C.Node
    leads_to: frozenset[str]


def labelled(cx: Context, statements: list[C.Node]) -> Flags:
    """A list of statements with labels in it; the flags it may have set."""
    return _list(cx, [_item(s) for s in statements])


def _item(node: C.Node) -> Item:
    labels: list[str] = []
    while isinstance(node, C.Label):
        labels.append(node.name)
        node = node.stmt
    return Item(tuple(labels), node, frozenset(n.name for n in nodes(node) if isinstance(n, C.Goto)))


def _list(cx: Context, items: list[Item]) -> Flags:
    labels = cx.frames[-1].labels
    outer = dict(labels)
    parts = list(_parts(items))
    for part, _ in parts:
        loc = loc_of(part[0].statement)
        for name in part[0].labels:
            labels[name] = Label(cx.exit_flag(f"to_{name}", loc))
            cx.assign(labels[name].flag, Const(0, BOOL), loc)
    flags: Flags = NONE
    for part, repeats in parts:
        for name in part[0].labels:
            here = labels.pop(name)
            flags -= {here.flag}
            cx.meet(here.paths)
        if not cx.env.reached:
            continue
        if repeats:
            flags |= skipped(cx, flags, lambda part=part: _backward(cx, part))
        else:
            flags |= skipped(cx, flags, lambda part=part: cx.statements([x.statement for x in part]))
    labels.clear()
    labels.update(outer)
    return flags


def _parts(items: list[Item]):
    """A list cut at its labels: (statements, whether something in them leads back to the labels they begin with)."""
    k = 0
    while k < len(items):
        last = _last(items, k)
        if last is not None:
            yield items[k : last + 1], True
            k = last + 1
            continue
        end = next((j for j in range(k + 1, len(items)) if items[j].labels), len(items))
        yield items[k:end], False
        k = end


def _last(items: list[Item], first: int) -> int | None:
    """Where a loop ends that begins at ``first``: whatever leads back into it is in it. None where nothing does."""
    if not any(x.leads_to & set(items[first].labels) for x in items[first:]):
        return None
    last = first
    while True:
        inside = {name for x in items[first : last + 1] for name in x.labels}
        farther = max(j for j in range(first, len(items)) if j <= last or items[j].leads_to & inside)
        if farther == last:
            return last
        last = farther


def _backward(cx: Context, part: list[Item]) -> Flags:
    """Statements with jumps back to their beginning: a loop that a jump repeats."""
    first, loc = part[0], loc_of(part[0].statement)
    labels = cx.frames[-1].labels
    back = Label(cx.exit_flag(f"back_to_{first.labels[0]}", loc))
    again = cx.fresh_temporary("again", BOOL, loc)
    cx.assign(again, Const(1, BOOL), loc)
    outer = dict(labels)
    labels.update((name, back) for name in first.labels)
    flags: Flags = NONE

    def turn() -> None:
        nonlocal flags
        back.paths.clear()
        cx.assign(back.flag, Const(0, BOOL), loc)
        flags = _list(cx, [replace(first, labels=()), *part[1:]])

    def body() -> None:
        turn()
        left.append(cx.env)
        cx.env = replace(cx.env.copy(), reached=False)
        cx.meet(back.paths)

    left: list = []
    with cx.block(sometimes=True) as inner:
        fixpoint(cx, first.statement, [x.statement for x in part], body)
    labels.clear()
    labels.update(outer)
    cx.env = left[-1]
    flags -= {back.flag}
    exits = tuple(sorted(flags, key=lambda f: f.uid))
    cx.emit(Loop(Var(again, loc), tuple(inner), (Assign(again, Var(back.flag, loc), loc),), (), exits, loc))
    return flags


def tail_of(body: C.Node, jump: C.Goto) -> list[C.Node] | None:
    """What stands from a jump's label to the end of the label's block, if that is a return, and no other jump leads
    out of it, nor does the jump skip a declaration; else None."""
    for block in (n for n in nodes(body) if isinstance(n, (C.Compound, C.Case, C.Default))):
        items = (block.block_items if isinstance(block, C.Compound) else block.stmts) or []
        for k, item in enumerate(items):
            if isinstance(item, C.Label) and item.name == jump.name:
                rest = [item.stmt, *items[k + 1 :]]
                others = (C.Break, C.Continue, C.Label, C.Case, C.Default)
                alone = not any(isinstance(n, others) for s in rest for n in nodes(s))
                return rest if isinstance(rest[-1], C.Return) and alone and not _declares(body, item, jump) else None
    return None


def _declares(body: C.Node, label: C.Label, jump: C.Goto) -> bool:
    """Whether what is declared between a jump and a label is in scope at the label."""
    around = [n for n in nodes(body) if any(x is label for x in nodes(n))]
    children = [d for n in around for d in (getattr(n, "block_items", None) or getattr(n, "stmts", None) or [])]
    children += [d for n in around if isinstance(n, C.For) for d in getattr(n.init, "decls", [])]
    declared = (d for d in children if isinstance(d, C.Decl))
    return any(_before(jump, d) and _before(d, label) for d in declared)


def _before(a: C.Node, b: C.Node) -> bool:
    x, y = loc_of(a), loc_of(b)
    return x.file != y.file or (x.line, x.column) < (y.line, y.column)
