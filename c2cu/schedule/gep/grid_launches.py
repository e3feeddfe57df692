"""The launches for one matrix, or for a few at once, in order: one function for each variant of `grid`.

``c2cu_pivot(block)`` does a block of steps on the tile that holds these k in rows and columns. ``c2cu_panels(block,
side, from)`` then does the tiles of its rows (side 0) and of its columns (side 1), the tile at ``from`` first.
``c2cu_rest(first, last, i, j, done, mode, t)`` takes tiles from (i, j) on through the steps of blocks ``first`` <= b <
``last``; the rows and columns of block ``done`` stay as they are (`NONE`: of no block). Mode `ONLY`: tile row t and
tile column t only; mode `BUT`: all but these.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..artifact import Launch
from .grid_shape import GridShape, Storage

PACKING = 1024  # blocks that copy a matrix, at most
BLOCKS = 8  # a multiprocessor, at least as many as it holds
ALL, ONLY, BUT = MODES = range(3)
ROWS_FIRST, COLUMNS_ONLY = SIDES = range(2)
NONE = -1  # no block of steps
WORDS = {  # kernel -> by an argument's position, what text calls its values
    "panels": {1: dict(zip(SIDES, ("ROWS_FIRST", "COLUMNS_ONLY")))},
    "rest": {4: {NONE: "NONE"}, 5: dict(zip(MODES, ("ALL", "ONLY", "BUT")))},
}


@dataclass
class _LaunchSequence:
    """The launches so far. ``rows``, ``columns``: of the matrix, in tiles. ``headings``: comments that the next launch
    has before its own."""

    shape: GridShape
    storage: Storage
    launches: list[Launch] = field(default_factory=list)
    headings: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rows = self.storage.height // self.shape.tile
        self.columns = self.storage.pitch // self.shape.tile
        self.lines = max(self.storage.height, self.storage.pitch) // self.shape.depth
        self.packing = min(PACKING, -(-self.storage.height * self.storage.pitch // (8 * self.shape.threads)))

    def add(
        self,
        kernel: str,
        grid: tuple[int, int],
        *arguments: int,
        stream: int = 0,
        after: tuple[int, ...] = (),
        note: str = "",
    ) -> int:
        notes = "\n".join([*self.headings, *[note] * bool(note)])
        named = WORDS.get(kernel, {})
        words = tuple(named.get(n, {}).get(a, str(a)) for n, a in enumerate(arguments))
        self.launches.append(Launch(f"c2cu_{kernel}", grid, arguments, stream, after, note=notes, words=words))
        self.headings = []
        return len(self.launches) - 1

    def pack(self) -> None:
        self.add("pack", (self.packing, 1))
        if self.storage.looks:
            self.add("look", (self.packing, 1))

    def unpack(self) -> None:
        self.add("again", (0, 1))
        self.add("unpack", (self.packing, 1))

    def steps(self, first: int, last: int) -> str:
        """The steps of blocks ``first`` <= b < ``last``."""
        s, depth = self.storage, self.shape.depth
        return f"k = {max(s.low, first * depth)}, ..., {min(s.high, last * depth) - 1}"

    def span(self, tiles: tuple[int, int]) -> str:
        """The rows or columns of tiles as large as a block of steps."""
        return f"{tiles[0] * self.shape.depth} to {tiles[1] * self.shape.depth - 1}"

    def lines_in(self, first: int, last: int) -> str:
        span = self.span((first, last))
        return f"rows k in columns {span}, columns k in rows {span}"

    def panels(self, block: int, first: int, last: int, indent: str = "") -> None:
        if first < last:
            note = f"{indent}{self.steps(block, block + 1)}: {self.lines_in(first, last)}."
            self.add("panels", (last - first, 2), block, ROWS_FIRST, first, note=note)

    def product(self, ks: tuple[int, int], rows: tuple[int, int], columns: tuple[int, int], indent: str = "") -> None:
        if rows[0] < rows[1] and columns[0] < columns[1]:
            grid = columns[1] - columns[0], rows[1] - rows[0]
            note = f"{indent}{self.steps(*ks)}: rows {self.span(rows)}, columns {self.span(columns)}."
            self.add("rest", grid, *ks, rows[0], columns[0], NONE, ALL, 0, note=note)


def staged(shape: GridShape, storage: Storage) -> tuple[Launch, ...]:
    """Three launches a block of steps, one after the other."""
    s = _LaunchSequence(shape, storage)
    s.pack()
    for b in range(storage.first, storage.last):
        s.add("pivot", (1, 1), b, note=f"{s.steps(b, b + 1)}: first the tile of these rows and columns.")
        s.add(
            "panels", (s.lines, 2), b, ROWS_FIRST, 0, note="Then the other tiles of these rows, and of these columns."
        )
        s.add("rest", (s.columns, s.rows), b, b + 1, 0, 0, b, ALL, 0, note="Then all others.")
    s.unpack()
    return tuple(s.launches)


def streams(shape: GridShape, storage: Storage) -> tuple[Launch, ...]:
    """The two panels at once; what the next block's pivot and panels need goes ahead of the rest, and they beside it.

    Stream 0 is the critical path, 1 does the panels of columns, 2 the rest. Copies of rows and columns k of two blocks
    suffice: the rest of block b - 1 precedes what goes ahead in block b, and so the pivot of block b + 1.
    """
    s = _LaunchSequence(shape, storage)
    s.pack()
    remaining: tuple[int, ...] = ()
    for b in range(storage.first, storage.last):
        pivot = s.add("pivot", (1, 1), b)
        row = s.add("panels", (s.lines, 1), b, ROWS_FIRST, 0)
        column = s.add("panels", (s.lines, 1), b, COLUMNS_ONLY, 0, stream=1, after=(pivot,))
        if b + 1 == storage.last:
            s.add("rest", (s.columns, s.rows), b, b + 1, 0, 0, b, ALL, 0, after=(column, *remaining))
            break
        ahead = (b + 1) * shape.depth // shape.tile
        s.add("rest", (max(s.rows, s.columns), 2), b, b + 1, 0, 0, b, ONLY, ahead, after=(column, *remaining))
        remaining = (s.add("rest", (s.columns, s.rows), b, b + 1, 0, 0, b, BUT, ahead, stream=2, after=(row, column)),)
    s.unpack()
    return tuple(s.launches)


def single(shape: GridShape, storage: Storage) -> tuple[Launch, ...]:
    """One kernel whose blocks take tiles in topological order (thesis, 3.2.3), of all matrices in turn (3.3)."""
    s = _LaunchSequence(shape, storage)
    s.pack()
    s.add("all", (0, BLOCKS))
    s.unpack()
    return tuple(s.launches)


def recursive(shape: GridShape, storage: Storage) -> tuple[Launch, ...]:
    """The k are halved again and again (Buluc, Gilbert, Budak 2009): most of the work is in products of great depth."""
    assert shape.tile == shape.depth
    s = _LaunchSequence(shape, storage)
    first, last = storage.first, storage.last
    s.pack()
    _solve(s, first, last)
    _panels(s, first, last, 0, first)
    _panels(s, first, last, last, s.lines)
    for rows in ((0, first), (last, s.rows)):
        for columns in ((0, first), (last, s.columns)):
            s.product((first, last), rows, columns)
    s.unpack()
    return tuple(s.launches)


def _solve(s: _LaunchSequence, a: int, b: int, indent: str = "") -> None:
    """Steps of blocks a <= k < b on the tiles in their rows and columns."""
    if b - a < 1:
        return
    depth = s.shape.depth
    steps = f"{indent}solve({max(s.storage.low, a * depth)}, {min(s.storage.high, b * depth)})"
    if b - a == 1:
        s.add("pivot", (1, 1), a, note=f"{steps}: the tile of these rows and columns.")
        return
    s.headings.append(f"{steps}:")
    m = (a + b) // 2
    for low, high, x, y in ((a, m, m, b), (m, b, a, m)):
        _solve(s, low, high, f"{indent}  ")
        _panels(s, low, high, x, y, f"{indent}  ")
        s.product((low, high), (x, y), (x, y), f"{indent}  ")


def _panels(s: _LaunchSequence, a: int, b: int, first: int, last: int, indent: str = "") -> None:
    """Steps of blocks a <= k < b on the tiles in their rows or columns, and in columns or rows first <= x < last."""
    if first >= last or a >= b:
        return
    if b - a == 1:
        s.panels(a, first, last, indent)
        return
    s.headings.append(f"{indent}{s.steps(a, b)}: {s.lines_in(first, last)}, by halves:")
    m = (a + b) // 2
    for low, high, x, y in ((a, m, m, b), (m, b, a, m)):
        _panels(s, low, high, first, last, f"{indent}  ")
        s.product((low, high), (x, y), (first, min(last, s.columns)), f"{indent}  ")
        s.product((low, high), (first, min(last, s.rows)), (x, y), f"{indent}  ")


def without_again(launches: tuple[Launch, ...]) -> tuple[Launch, ...]:
    """The launches of a program whose row k and column k never move in their own step. No other waits for that one."""
    return tuple(x for x in launches if x.kernel != "c2cu_again")


def products(launches: tuple[Launch, ...]) -> tuple[tuple[int, int], ...]:
    """The (first, last) blocks of steps of all products, without repetitions."""
    return tuple(dict.fromkeys((x.arguments[0], x.arguments[1]) for x in launches if x.kernel == "c2cu_rest"))
