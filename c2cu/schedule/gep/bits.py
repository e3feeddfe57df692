"""The variant ``gep:bits``: the transitive closure of one large matrix, or a few, on bits, 32 to a word (CUDA).

Elements are packed, and looked at: where one is neither 0 nor 1, the matrix is computed again on its elements, from the
input, in the order of the C program. Of zeros and ones the result is what can be reached (`c2cu.gep.closure`), so
nothing is copied as a step finds it: blocks of steps close the square on the diagonal, its rows and columns, and then
all others by a product of bits, which tables make eight steps at a time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...analysis.uniform import Uniform
from ...base import catalogue
from ...base.templates import render
from ...gep import Gep, NotGep
from ...gep.closure import closure
from ..artifact import CudaLaunchesArtifact, Launch
from ..slots import Slot
from .arena import arena
from .grid_launches import PACKING
from .grid_shape import Storage
from .grid_text import Layout, in_order

LONGEST = 1 << 20  # rows
LARGE = 8192  # rows from which on larger tiles, of more steps, find work for every multiprocessor


@dataclass(frozen=True)
class BitShape:
    """``rows``/``words``: of the tile that a block of ``threads`` holds in registers; ``resident``: such blocks of a
    multiprocessor; ``depth``: steps of a block; ``panel``: words of a block's rows that are done by themselves."""

    rows: int
    words: int = 32
    threads: int = 256
    resident: int = 2
    depth: int = 128
    panel: int = 8

    def __post_init__(self) -> None:
        side = self.threads // max(1, self.words // 4)  # rows that the threads do at once
        own = 256 * self.words // self.threads  # entries of a table that a thread makes
        whole = (
            (self.words, 4),
            (self.rows, side),
            (self.threads, self.words),
            (self.threads, self.panel),
            (self.depth, 128),
            (self.depth * self.panel, self.threads),
            (256, max(1, own)),
        )
        if any(a % b for a, b in whole) or not own or self.threads % 32:
            raise ValueError(f"{self} does not fit together")

    @property
    def tables(self) -> int:
        """Bytes of shared memory of a tile, two tables and the tile's rows in the columns of a block of steps, or of
        a square on the diagonal."""
        return max(2 * 256 * 4 * self.words + self.rows * self.depth // 8, self.depth * self.depth // 8)

    @property
    def lines(self) -> int:
        """Bytes of shared memory of a part of a block's rows, and of the square on the diagonal."""
        return self.depth * (self.depth // 8 + 4 * self.panel)


def usual(n: int) -> BitShape:
    """The shape for a matrix of n rows."""
    return BitShape(512, depth=256) if n >= LARGE else BitShape(128)


def bits(
    u: Uniform, gep: Gep, slots: tuple[Slot, ...], layout: Layout, fp: str, shape: BitShape | None = None
) -> CudaLaunchesArtifact:
    """CUDA text and launches. Raises UnsupportedError for what is no transitive closure."""
    found = closure(gep)
    if isinstance(found, NotGep):
        raise catalogue.NOT_CLOSURE.error(found.loc, reason=found.message)
    n = gep.rows
    if n > LONGEST:
        raise catalogue.GEP_TOO_LARGE.error(gep.loc, rows=n, columns=n)
    shape = shape or usual(n)
    filled = in_order(u, gep, slots, layout, fp)
    lines = _rounded(n, math.lcm(shape.rows, shape.depth))
    words = _rounded(-(-n // 32), math.lcm(shape.words, shape.depth // 32, shape.panel))
    text = render(
        "cuda/gep_bits.cu.j2",
        name=u.kernel.name,
        slots=slots,
        n=n,
        m=filled["matrices"][0],
        shape=shape,
        lines=lines,
        words=words,
        blocks=-(-n // shape.depth),
        storage=_storage(lines, words, gep, found.type.size),
        own=(256 * shape.words // shape.threads).bit_length() - 1,
        shared_bytes=max(shape.tables, shape.lines),
        **filled,
    )
    return CudaLaunchesArtifact(
        "gep:bits",
        text,
        slots,
        threads=shape.threads,
        launches=_launches(shape, lines, words, -(-n // shape.depth)),
    )


def _rounded(n: int, unit: int) -> int:
    return -(-n // unit) * unit


def _storage(lines: int, words: int, gep: Gep, size: int) -> Storage:
    """Where the bits are, and what doing it again takes: the address of the output, and the column and the row k as a
    step finds and as it leaves them."""
    stride = gep.strides[0][1]
    wanted = [("flag", 4), ("barrier", 8), ("out", 8), ("bits", 4 * lines * words)]
    wanted += [("u", 2 * gep.rows * size), ("v", 2 * stride * size), ("w", 2 * size)]
    offsets, total = arena(wanted)
    return Storage(lines, words, 1, 0, 0, tuple(offsets.items()), offsets["out"], total)


def _launches(shape: BitShape, lines: int, words: int, blocks: int) -> tuple[Launch, ...]:
    """Two a block of steps, one after the other: its rows and columns; all others, and the next square on the diagonal,
    which the first block of threads closes."""
    packing = min(PACKING, -(-lines * words // shape.threads))
    panels = max(words // shape.panel, -(-lines // shape.threads)), 2
    rest = words // shape.words, lines // shape.rows + 1
    found = [Launch("c2cu_clear"), Launch("c2cu_pack", (packing, 1))]
    found.append(Launch("c2cu_pivot", shared_bytes=shape.lines))
    for b in range(blocks):
        found.append(Launch("c2cu_panels", panels, (b,), shared_bytes=shape.lines))
        found.append(Launch("c2cu_rest", rest, (b,), shared_bytes=shape.tables))
    return (*found, Launch("c2cu_again", (0, 1)), Launch("c2cu_unpack", (packing, 1)))
