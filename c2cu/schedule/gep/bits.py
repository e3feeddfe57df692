"""The variant ``gep:bits``: the transitive closure of one large matrix, or a few, on bits, 32 to a word (CUDA).

The kernel that packs elements also checks them: where one is neither 0 nor 1, the matrix is computed again from the
input, element by element, in the order of the C program. For zeros and ones the result is reachability
(`c2cu.gep.closure`), which does not depend on the order of steps, so no step needs copies of its row and column: each
block of steps closes the square on the diagonal, then the rows and columns of the block, and then all other elements by
a product of bits, which reads tables of eight steps at a time (the method of the Four Russians).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...analysis.uniform import Uniform
from ...base import catalogue
from ...base.ctype import BOOL
from ...base.templates import render
from ...gep import Gep, NotGep
from ...gep.closure import closure
from ..artifact import CudaLaunchesArtifact, Launch
from ..slots import Slot
from .about import noted
from .grid_launches import PACKING
from .grid_shape import Storage
from .grid_text import Layout, in_order
from .memory_layout import memory_layout

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
        entries = 256 * self.words // self.threads  # entries of a table that a thread makes
        multiples = (
            (self.words, 4),
            (self.rows, side),
            (self.threads, self.words),
            (self.threads, self.panel),
            (self.depth, 128),
            (self.depth * self.panel, self.threads),
            (256, max(1, entries)),
        )
        if any(a % b for a, b in multiples) or not entries or self.threads % 32:
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
    reachability = closure(gep)
    if isinstance(reachability, NotGep):
        raise catalogue.NOT_CLOSURE.error(reachability.loc, reason=reachability.message)
    n = gep.rows
    if n > LONGEST:
        raise catalogue.GEP_TOO_LARGE.error(gep.loc, rows=n, columns=n)
    shape = shape or usual(n)
    filled = in_order(u, gep, slots, layout, fp)
    checks = reachability.type != BOOL  # which others may hold numbers beside 0 and 1
    lines = _rounded(n, math.lcm(shape.rows, shape.depth))
    words = _rounded(-(-n // 32), math.lcm(shape.words, shape.depth // 32, shape.panel))
    text = render(
        "cuda/gep_bits.cu.j2",
        name=u.kernel.name,
        slots=slots,
        n=n,
        m=filled["matrices"][0],
        shape=shape,
        checks=checks,
        lines=lines,
        words=words,
        blocks=-(-n // shape.depth),
        storage=_storage(lines, words, gep, reachability.type.size),
        entry_bits=(256 * shape.words // shape.threads).bit_length() - 1,
        **filled,
    )
    return CudaLaunchesArtifact(
        "gep:bits",
        text,
        slots,
        threads=shape.threads,
        launches=noted(_launches(shape, lines, words, n, checks), gep),
    )


def _rounded(n: int, unit: int) -> int:
    return -(-n // unit) * unit


def _storage(lines: int, words: int, gep: Gep, size: int) -> Storage:
    """The bits of a matrix, and what computing it again needs: the address of the output, and column k and row k, each
    before and after its step."""
    stride = gep.strides[0][1]
    pieces = [("flag", 4), ("barrier", 8), ("out", 8), ("bits", 4 * lines * words)]
    pieces += [("u", 2 * gep.rows * size), ("v", 2 * stride * size), ("w", 2 * size)]
    offsets, total = memory_layout(pieces)
    return Storage(lines, words, 1, 0, 0, tuple(offsets.items()), offsets["out"], total)


def _launches(shape: BitShape, lines: int, words: int, n: int, checks: bool) -> tuple[Launch, ...]:
    """Two a block of steps, one after the other: its rows and columns; all others, and the next square on the diagonal,
    which the first block of threads closes."""
    packing = min(PACKING, -(-lines * words // shape.threads))
    panels = max(words // shape.panel, -(-lines // shape.threads)), 2
    rest = words // shape.words, lines // shape.rows + 1
    launches = [*[Launch("c2cu_clear")] * checks, Launch("c2cu_pack", (packing, 1))]
    first = f"The first square on the diagonal: rows and columns 0 to {min(n, shape.depth) - 1}."
    launches.append(Launch("c2cu_pivot", shared_bytes=shape.lines, note=first))
    for b in range(-(-n // shape.depth)):
        steps = f"k = {b * shape.depth}, ..., {min(n, (b + 1) * shape.depth) - 1}"
        note = f"{steps}: the rest of these rows and columns."
        launches.append(Launch("c2cu_panels", panels, (b,), shared_bytes=shape.lines, note=note))
        note = "Then all other elements, and the next square on the diagonal."
        launches.append(Launch("c2cu_rest", rest, (b,), shared_bytes=shape.tables, note=note))
    return (*launches, *[Launch("c2cu_again", (0, 1))] * checks, Launch("c2cu_unpack", (packing, 1)))
