"""The sizes of the tiles and blocks in which one large matrix is computed, and where its working storage lies."""

from __future__ import annotations

from dataclasses import dataclass

from ...gep import Gep, Part, Range
from ...ir.nodes import Region
from .memory_layout import memory_layout

FULL = ("single", "recursive")


@dataclass(frozen=True)
class GridShape:
    """``tile``: rows and columns of what a block of threads holds; ``rows``/``columns``: of it, in a thread's
    registers; ``depth``: how many k make a block of steps, a divisor of ``tile``; ``chunk``: how many of these k lie in
    shared memory at once, twice. All are powers of two."""

    tile: int
    rows: int
    columns: int
    depth: int
    chunk: int = 8

    @property
    def threads(self) -> int:
        return self.tile // self.rows * (self.tile // self.columns)

    def __post_init__(self) -> None:
        rows = self.depth * self.rows // self.tile  # in a thread's registers, of a tile of ``depth`` rows
        columns = self.depth * self.columns // self.tile
        ok = rows and columns and self.chunk % max(rows, columns) == 0 and self.depth % self.chunk == 0
        if not ok or self.tile % self.depth:
            raise ValueError(f"{self} does not fit together")


def usual(gep: Gep, variant: str, pairs: bool = False) -> GridShape:
    """The shape for a matrix of this size and these element types. Small matrices wait for their pivots: few steps a
    block; large ones for memory: many."""
    n = max(gep.rows, gep.columns)
    if pairs and n >= 1536:
        return GridShape(64, 4, 8, 64) if variant in FULL else GridShape(128, 8, 16, 64)
    everywhere = trivial(gep.update.rows, gep.rows) and trivial(gep.update.columns, gep.columns)
    full = variant in FULL or not everywhere  # blocks of as many steps as a tile has rows
    if n < 512:
        return GridShape(32, 2, 2, 32)
    if n < (3072 if full else 1536) or _words(gep) > 1:
        return GridShape(64, 4, 4, 64 if full else 16)
    if full or n >= 12288:
        return GridShape(128, 8, 8, 128)
    return GridShape(128, 8, 8, 32 if n < 3072 else 64)


def resident(gep: Gep, shape: GridShape) -> int:
    """Blocks of a multiprocessor, so that one computes while another waits, as far as registers allow."""
    few = shape.rows * shape.columns * _words(gep) <= 16
    return max(1, (768 if few else 512) // shape.threads)


def _words(gep: Gep) -> int:
    """Registers of an element."""
    return sum(max(1, r.type.size // 4) for r in in_tiles(gep))


def in_tiles(gep: Gep) -> tuple[Region, ...]:
    """The matrices of which an update reads or writes element (i, j)."""
    accessed = {r for r, _ in gep.update.values} | {p.region for p in gep.update.places if p.where == "ij"}
    return tuple(r for r in gep.regions if r in accessed)


def read_at(gep: Gep, where: str) -> tuple[Region, ...]:
    """The matrices of which an update reads element ``where``."""
    return tuple(r for r in gep.regions if any(p.region == r and p.where == where for p in gep.update.places))


def pivots(part: Part) -> tuple[Region, ...]:
    """The matrices of which a part reads element (k, k)."""
    return tuple(dict.fromkeys(p.region for p in part.places if p.where == "kk"))


@dataclass(frozen=True)
class Storage:
    """Of one matrix, in elements: ``height`` x ``pitch`` is its padded copy; copies of rows and columns k of ``ring``
    blocks are kept. Block ``first`` of steps is the first, ``last`` the one behind the last."""

    height: int
    pitch: int
    ring: int
    first: int
    last: int
    offsets: tuple[tuple[str, int], ...]  # name -> bytes from the start
    zeroed: int  # bytes that start as 0
    bytes: int
    looks: bool = False  # whether a kernel first checks the elements, to choose the product
    pairs: bool = False  # whether products may take two elements at a time, in a word
    low: int = 0  # the first step, and the one behind the last
    high: int = 0

    def at(self, name: str) -> int:
        return dict(self.offsets)[name]


def stored(r: Region, pairs: bool) -> int:
    """Bytes of an element in working storage."""
    return 2 if pairs else r.type.size


def storage_of(
    gep: Gep, shape: GridShape, full: bool, names: dict[Region, str], looks: bool = False, pairs: bool = False
) -> Storage:
    """The working storage of one matrix. ``full``: it has the copies of rows and columns k of all blocks of steps, not
    of the last two. ``names``: of the regions. ``looks``, ``pairs``: see `Storage`."""
    height = -(-gep.rows // shape.tile) * shape.tile
    pitch = -(-gep.columns // shape.tile) * shape.tile
    first, last = gep.k.low // shape.depth, -(-gep.k.high // shape.depth)
    ring = max(1, last - first) if full else 2
    pieces: list[tuple[str, int]] = [("flag", 4), ("unfit", 4), ("counter", 8), ("barrier", 8)]
    pieces.append(("done", 4 * (height // shape.tile) * (pitch // shape.tile)))
    zeroed = len(pieces)  # of these pieces
    for r in gep.regions:
        pieces.append((f"x_{names[r]}", height * pitch * stored(r, pairs)))
        if pairs:
            pieces.append((f"d_{names[r]}", 4 * ring * shape.depth * height))
    for copy, where, length in (("u", "ik", height), ("v", "kj", pitch)):
        pieces += [(f"{copy}_{names[r]}", ring * shape.depth * length * stored(r, pairs)) for r in read_at(gep, where)]
    pieces += [(f"w_{names[r]}", max(2, gep.k.high) * stored(r, pairs)) for r in read_at(gep, "kk")]
    for n, part in enumerate(gep.scale):
        pieces += [(f"p{n}_{names[r]}", gep.k.high * r.type.size) for r in pivots(part)]
    offsets, size = memory_layout(pieces)
    clear = offsets[pieces[zeroed][0]]
    return Storage(
        height, pitch, ring, first, last, tuple(offsets.items()), clear, size, looks, pairs, gep.k.low, gep.k.high
    )


def trivial(span: Range, extent: int) -> bool:
    """Whether a counter takes all values below ``extent``: then the padding may be computed too, without a test."""
    return not span.after and span.low <= 0 and span.high >= extent


def bordered(span: Range, extent: int, shape: GridShape, gep: Gep, steps: tuple[tuple[int, int], ...]) -> bool:
    """Whether some tile that takes some ``steps`` (from block to block) lies only partly in the range of its counter,
    though it holds none of these k alone."""
    if trivial(span, extent):
        return False
    tile = shape.tile
    for a, b in steps:
        low, high = max(gep.k.low, a * shape.depth), min(gep.k.high, b * shape.depth)
        for at in range(0, extent, tile):
            inside = at >= span.start(high - 1) and (at + tile <= span.high or span.high >= extent)
            outside = at >= span.high or at + tile <= span.start(low)
            if not (inside or outside or (a * shape.depth <= at and at + tile <= b * shape.depth)):
                return True
    return False
