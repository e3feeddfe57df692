"""Sweeps: top-level loops that go through long arrays an element after the other, and the window of each array.

A sweep is done tile by tile. While the tile of turns ``at`` .. ``at + tile - 1`` is computed, an array's window holds
its elements ``at + low`` .. ``at + tile + ahead - 1``; those before ``at + ahead`` are left from the tile before. Then
elements ``at + behind`` .. ``at + tile + behind - 1`` are final and go out. All three are multiples of 16 bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...analysis.effects import fold_known
from ...analysis.facts import CERTAIN, INPUT, Trace
from ...base import catalogue
from ...base.ctype import Leaf
from ...base.diagnostics import Loc
from ...ir.affine import affine
from ...ir.canonical import counted
from ...ir.nodes import Assign, Block, Const, Expr, Load, Loop, Region, Stmt, Store, Variable
from ...ir.walk import expressions, statements, subexpressions
from ..slots import Slot
from ..warp_pack import offsets

Layout = Mapping[str, tuple[int, Leaf]]  # region name -> its slot's number, and where it lies in the slot's bytes
REACH = 64  # how far from the counter a subscript may be
TURNS = 1 << 30
UNIT = 16  # bytes that go at once
ROW = 128  # bytes of the widest array in a tile


@dataclass(frozen=True)
class ArrayWalk:
    """A loop at top level ``for (counter = first; counter < last; counter++)``."""

    loop: Loop
    counter: Variable
    first: int
    last: int

    def offset(self, e: Expr) -> int | None:
        """k where ``e`` is counter + k. Arithmetic may wrap at 32 bits or more: what is in bounds is the same."""
        a = affine(e)
        return a.constant if a is not None and a.terms == {self.counter: 1} else None


@dataclass(frozen=True)
class StreamedAccess:
    """``offset``: from the counter of the sweep that it stands in; None for a subscript that is a constant."""

    region: Region
    index: Expr
    store: bool
    loc: Loc
    sweep: int | None  # the number of the sweep that it stands in
    group: int  # how many sweeps began before it
    offset: int | None


@dataclass(frozen=True)
class Window:
    """``slot``: -1 for what neither goes in nor out; ``loaded``/``stored``: whether it comes from memory and goes
    there; ``place``: bytes from the start of a row of the tile."""

    region: Region
    slot: int
    low: int
    ahead: int
    behind: int
    loaded: bool
    stored: bool
    place: int = 0

    def elements(self, tile: int) -> int:
        return tile + self.ahead - self.low


@dataclass(frozen=True)
class Sweep:
    """``before`` is executed at the first tile, ``after`` at the last; ``end``: turns of all tiles."""

    walk: ArrayWalk
    windows: tuple[Window, ...]
    before: Block
    after: Block
    tile: int
    end: int

    @property
    def row(self) -> int:
        return sum(w.elements(self.tile) * w.region.type.size for w in self.windows)

    @property
    def pitch(self) -> int:
        """Bytes from a lane's row to the next: an odd number of words, or of double words where elements are so wide,
        so that lanes that read one place of their rows do not conflict on banks."""
        return self.row + (8 if any(w.region.type.size == 8 for w in self.windows) else 4)


def walks(body: Block) -> Iterator[ArrayWalk]:
    """The loops at top level that count up by one between bounds that are known."""
    known: dict[Variable, Const] = {}
    for s in body:
        if isinstance(s, Loop):
            walk = _walk(s, known)
            if walk is not None:
                yield walk
        value = fold_known(s.value, known) if isinstance(s, Assign) else None
        for inner in statements((s,)):
            if isinstance(inner, Assign):
                known.pop(inner.var, None)
        if isinstance(s, Assign) and isinstance(value, Const):
            known[s.var] = value


def _walk(s: Loop, known: Mapping[Variable, Const]) -> ArrayWalk | None:
    c = counted(s)
    if c is None or c.limit is None or c.may_end_early or c.by != 1 or c.op not in ("<", "<=", "!="):
        return None
    limit = fold_known(c.limit, known)
    if c.counter not in known or c.counter.type.size < 4 or not isinstance(limit, Const) or limit.type.is_float:
        return None
    first, last = int(known[c.counter].value), int(limit.value) + (c.op == "<=")
    return ArrayWalk(s, c.counter, first, last) if 0 <= first < last <= TURNS else None


def accesses(body: Block, loops: tuple[ArrayWalk, ...]) -> Iterator[StreamedAccess]:
    """Every access to an element."""
    group = 0
    for s in body:
        number = next((k for k, x in enumerate(loops) if x.loop is s), None)
        inside = loops[number] if number is not None else None
        for inner in statements((s,)):
            for r, index, store, loc in _touched(inner):
                offset = inside.offset(index) if inside is not None else None
                yield StreamedAccess(r, index, store, loc, number, group, offset)
        group += inside is not None


def _touched(s: Stmt) -> Iterator[tuple[Region, Expr, bool, Loc]]:
    for e in expressions(s):
        for x in subexpressions(e):
            if isinstance(x, Load):
                yield x.region, x.index, False, x.loc
    if isinstance(s, Store):
        yield s.region, s.index, True, s.loc


def sweeps(
    body: Block, arrays: tuple[Region, ...], slots: tuple[Slot, ...], layout: Layout, trace: Trace
) -> tuple[Sweep, ...]:
    """The sweeps of ``body``, of whose regions ``arrays`` are not in variables. Raises UnsupportedError for an array
    that a sweep uses in another way too."""
    loops = tuple(walks(body))
    in_memory = [a for a in accesses(body, loops) if a.region in arrays]
    swept = {a.region for a in in_memory if a.offset is not None}
    streamed = [a for a in in_memory if a.region in swept]
    for a in streamed:
        _refuse_access(a)
    used = {k: [a for a in streamed if a.sweep == k] for k in range(len(loops))}
    loops_used = [k for k in used if used[k]]
    written = {a.region: a.sweep for a in streamed if a.store and a.sweep is not None}
    for a in streamed:
        _refuse_order(a, written, streamed)
    widest = max((r.type.size for r in swept), default=1)
    tile = ROW // widest
    by_name = {f.region.name: f.elements for f in trace.regions}
    out: list[Sweep] = []
    blocks = _between(body, loops, loops_used, written)
    for n, k in enumerate(loops_used):
        windows, place = [], 0
        for r in arrays:
            inside = [a for a in used[k] if a.region == r and a.offset is not None]
            if inside:
                w = _window(r, inside, slots, layout, by_name.get(r.name, b"\x08"), place)
                place += w.elements(tile) * r.type.size
                windows.append(w)
        whole = [w.region.count - w.behind for w in windows if w.stored]
        end = -(-max([loops[k].last, *whole]) // tile) * tile
        sweep = Sweep(loops[k], tuple(windows), blocks[n][0], blocks[n][1], tile, end)
        _refuse_far(sweep, swept)
        out.append(sweep)
    return tuple(out)


def _refuse_access(a: StreamedAccess) -> None:
    if a.offset is None and not isinstance(a.index, Const):
        raise catalogue.SCAN_SUBSCRIPT.error(a.loc, name=a.region.name)
    if a.offset is not None and abs(a.offset) > REACH:
        raise catalogue.SCAN_FAR.error(a.loc, name=a.region.name, distance=abs(a.offset), most=REACH)


def _refuse_order(a: StreamedAccess, written: Mapping[Region, int], streamed: list[StreamedAccess]) -> None:
    """Elements that are written are those of one sweep: its tiles are not read again."""
    r = a.region
    if r not in written:
        if any(x.store for x in streamed if x.region == r):
            raise catalogue.SCAN_WRITTEN_OUTSIDE.error(a.loc, name=r.name)
        if r.storage != "bulk":
            raise catalogue.SCAN_UNWRITTEN.error(a.loc, name=r.name)
        return
    if a.sweep is not None and a.offset is None:
        raise catalogue.SCAN_FIXED_ELEMENT.error(a.loc, name=r.name)
    if r.storage == "bulk" and not a.store and a.group < written[r]:
        return  # still what came in
    if a.sweep not in (None, written[r]):
        raise catalogue.SCAN_TWO_LOOPS.error(a.loc, name=r.name)
    if a.sweep is None and a.group not in (written[r], written[r] + 1):
        raise catalogue.SCAN_TWO_LOOPS.error(a.loc, name=r.name)


def _between(
    body: Block, loops: tuple[ArrayWalk, ...], chosen: list[int], written: Mapping[Region, int]
) -> list[tuple[Block, Block]]:
    """What is executed at the first and last tile of each sweep: statements between two of them belong to the second
    from where none uses the first's windows any more."""
    groups: list[list[Stmt]] = [[]]
    streaming = [loops[k].loop for k in chosen]
    for s in body:
        if any(s is x for x in streaming):
            groups.append([])
        else:
            groups[-1].append(s)
    out: list[tuple[Block, Block]] = []
    before: Block = tuple(groups[0])
    for n in range(len(chosen)):
        rest = groups[n + 1]
        first = {r for r, k in written.items() if k == chosen[n]}
        uses = [k for k, s in enumerate(rest) if any(r in first for x in statements((s,)) for r, *_ in _touched(x))]
        cut = len(rest) if n == len(chosen) - 1 else uses[-1] + 1 if uses else 0
        out.append((before, tuple(rest[:cut])))
        before = tuple(rest[cut:])
    return out


def _window(
    r: Region, inside: list[StreamedAccess], slots: tuple[Slot, ...], layout: Layout, elements: bytes, place: int
) -> Window:
    size = r.type.size
    step = UNIT // size
    places = [a.offset for a in inside if a.offset is not None]
    stores = [a.offset for a in inside if a.store and a.offset is not None]
    ahead = -(-max(places) // step) * step
    behind = min(0, min(stores) // step * step) if stores else ahead
    low = min(min(places) // step * step, behind)
    if r.storage != "bulk":
        return Window(r, -1, low, ahead, behind, False, False, place)
    k, leaf = layout[r.name]
    slot = slots[k]
    if slot.nbytes != r.count * size or list(offsets(leaf)) != list(range(0, slot.nbytes, size)):
        raise catalogue.SCAN_NOT_NUMBERS.error(r.loc, name=r.name)
    loaded = not stores or not all(e & CERTAIN and not e & INPUT for e in elements)
    if loaded and r.begins_otherwise and not slot.required:
        raise catalogue.SCAN_INITIAL.error(r.loc, name=r.name)
    return Window(r, k, low, ahead, behind, loaded, slot.writes and bool(stores), place)


def _refuse_far(s: Sweep, swept: set[Region]) -> None:
    """Raise UnsupportedError for a constant subscript, of what the sweep writes, outside of its first or last tile."""
    windows = {w.region: w for w in s.windows if w.stored or not w.loaded}
    for block, at, where in ((s.before, 0, "before"), (s.after, s.end - s.tile, "after")):
        for x in statements(block):
            for r, index, store, loc in _touched(x):
                w = windows.get(r)
                if w is None and store and r in swept:
                    raise catalogue.SCAN_WRITTEN_OUTSIDE.error(loc, name=r.name)
                if w is None or not isinstance(index, Const):
                    continue
                low = at + (w.behind if store and at else w.low)
                if not low <= index.value < at + s.tile + w.ahead:
                    raise catalogue.SCAN_FAR_OUTSIDE.error(loc, name=r.name, index=index.value, where=where)
