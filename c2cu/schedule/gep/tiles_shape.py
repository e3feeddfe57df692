"""How a matrix is distributed over threads: the shapes that `tiles` considers, and the estimated cost of each."""

from __future__ import annotations

from dataclasses import dataclass

from ...gep import Gep
from ...gep.nonnegative import nonnegative
from ...ir.nodes import Const, Expr, Extremum, Load, Region, Var
from ...ir.walk import subexpressions
from ...transform.minmax import minima
from ..estimate import room

REGISTERS, ALL = 255, 1 << 16  # 32-bit registers of a thread, of a multiprocessor
SPARE, PLACES = 20, 6  # registers beside elements, and for each matrix
AHEAD = 4  # of so many elements one is in a second register, while another is computed
RESIDENT = 2048  # threads of a multiprocessor
BLOCKS = 32
BLOCK = 128  # threads that are worth a block
MOST = 1024  # threads of one
USUAL = 16  # elements of a tile, where steps cost nothing beside what memory moves
WIDEST = 16  # bytes that a thread moves at a time
TILES = ((8, 8), (4, 8), (8, 4), (4, 4), (8, 16), (16, 8), (4, 2), (2, 4), (2, 2), (4, 16), (16, 16), (16, 4))
EACH = 1.3  # cycles that an operation of an update takes of a scheduler
BRANCHES = 1.13  # times that, in large tiles some of whose elements are left out
OVERHEAD, TURN = 5, 5  # instructions a step beside the updates, and those that find out whose turn it is
STEP, DEPENDENT = 30, 0.3  # cycles of a step, and of each instruction, in which no other of its warp can run
BYTES = 16  # that memory moves a cycle, of a multiprocessor's share
GROUPS = 2  # texts of steps
LARGE = 64  # registers for elements
APART = 16  # bytes that could have been moved as well, wherever the next are elsewhere


@dataclass(frozen=True)
class Sides:
    """The regions whose row k is passed on, and those whose column k is."""

    rows: tuple[Region, ...]
    columns: tuple[Region, ...]


@dataclass(frozen=True)
class TileShape:
    """``rows`` x ``columns`` elements a thread, ``unit`` side by side; ``down`` x ``across`` threads an input, which
    holds ``bands`` times as many rows, one band at a time."""

    unit: int
    rows: int
    columns: int
    down: int
    across: int
    bands: int = 1

    @property
    def threads(self) -> int:
        return self.down * self.across

    @property
    def warp(self) -> bool:
        """Whether an input's threads lie in one warp."""
        return self.threads <= 32

    @property
    def block(self) -> int:
        """Threads of a block."""
        return BLOCK if self.warp else self.threads * max(1, BLOCK // 2 // self.threads)

    @property
    def inputs(self) -> int:
        """Inputs of a block."""
        return BLOCK // 32 * (32 // self.threads) if self.warp else self.block // self.threads

    @property
    def places(self) -> int:
        """Inputs that a block has shared memory for: lanes that are left over have some, too."""
        return BLOCK // 32 * -(-32 // self.threads) if self.warp else self.inputs

    @property
    def band(self) -> int:
        """Rows of a band."""
        return self.rows * self.down

    @property
    def width(self) -> int:
        return self.columns * self.across

    @property
    def diagonal(self) -> bool:
        """Whether the threads that hold row k and column k are known by k alone, so that the steps of each group of
        them have a text of their own; no more groups than the instruction cache likes."""
        square = (self.rows, self.down) == (self.columns, self.across)
        return square and self.bands == 1 and self.rows // self.unit <= GROUPS

    def shared_bytes(self, sides: Sides) -> int:
        """Shared memory of an input."""
        buffered = self.band if self.bands > 1 else 2
        rows = sum(_whole(buffered * self.width * r.type.size) for r in sides.rows)
        return rows + sum(_whole(2 * self.band * r.type.size) for r in sides.columns)


def _whole(size: int) -> int:
    return -(-size // 16) * 16


def words(regions: tuple[Region, ...]) -> int:
    """Registers that an element of each takes."""
    return sum(max(1, r.type.size // 4) for r in regions)


def registers(s: TileShape, g: Gep, sides: Sides) -> int:
    """Registers of a thread, about."""
    passed = words(sides.columns) * s.rows + words(sides.rows) * s.columns
    elements = words(g.regions) * s.rows * s.columns
    return elements + elements // AHEAD + passed + SPARE + PLACES * len(g.regions)


def granted(s: TileShape) -> int:
    """Registers that a thread may have, as a block must fit."""
    return min(REGISTERS, ALL // (-(-s.block // 32) * 32) // 8 * 8)


def bounds(s: TileShape, g: Gep, sides: Sides) -> str:
    """What __launch_bounds__ says: how many blocks are to fit where elements take most of the registers; else the
    compiler does better without."""
    large = words(g.regions) * s.rows * s.columns >= LARGE
    return f"{s.block}, {resident(s, g, sides)}" if large else str(s.block)


def resident(s: TileShape, g: Gep, sides: Sides) -> int:
    """Blocks that a multiprocessor holds at once."""
    block_registers = -(-registers(s, g, sides) // 8) * 8 * -(-s.block // 32) * 32
    memory = max(1, s.places * s.shared_bytes(sides))
    return max(1, min(ALL // block_registers, RESIDENT // s.block, BLOCKS, room() // memory))


def shapes(g: Gep, sides: Sides, threads: int = 0) -> list[TileShape]:
    """Shapes that fit, the cheapest first. ``threads``: of an input, 0 for any."""
    size = max(r.type.size for r in g.regions)
    fitting: list[TileShape] = []
    for rows, columns in TILES:
        unit = min(rows, columns, 4, max(1, WIDEST // size))
        across = -(-g.columns // columns)
        most = MOST // across  # threads in a column
        if not most:
            continue
        bands = -(-g.rows // (rows * most))
        for count in range(bands, bands + 8):
            down = -(-g.rows // (rows * count))
            s = TileShape(unit, rows, columns, down, across, count)
            fits = registers(s, g, sides) <= granted(s) and s.places * s.shared_bytes(sides) <= room()
            if s.threads <= MOST and fits:
                if threads in (0, s.threads):
                    fitting.append(s)
                break
    return sorted(dict.fromkeys(fitting), key=lambda s: (cycles(s, g, sides), abs(s.rows * s.columns - USUAL)))


def cycles(s: TileShape, g: Gep, sides: Sides) -> float:
    """Of a multiprocessor for an input, roughly: its steps, or what memory moves."""
    through = sum(r.count * r.type.size for r in g.regions)
    together = min(s.across * s.unit, g.columns) * min(r.type.size for r in g.regions)
    return max(_steps(s, g, sides), 2 * through / BYTES * (1 + APART / together))


def _steps(s: TileShape, g: Gep, sides: Sides) -> float:
    """Cycles of the instructions of all steps, and of what latency the other inputs there do not hide. The constants
    are those that choose best among 170 shapes that were measured on an H200 (12 sizes, 7 programs)."""
    update = EACH * operations(g) * max(1, max(r.type.size for r in g.regions) // 4)
    if g.scale and words(g.regions) * s.rows * s.columns >= LARGE:
        update *= BRANCHES
    passed = (words(sides.columns) * s.rows + words(sides.rows) * s.columns) / 2
    instructions = s.rows * s.columns * update + passed + OVERHEAD + TURN * (not s.diagonal)
    warps = 1 / (32 // s.threads) if s.warp else -(-s.threads // 32)
    inputs = resident(s, g, sides) * s.inputs
    step = instructions * warps / 4 + (STEP + DEPENDENT * instructions) / inputs
    swept = sum(r.type.size for r in g.regions) * s.band * s.width * s.bands * s.bands if s.bands > 1 else 0
    return (g.k.high - g.k.low) * step * s.bands + 2 * swept / BYTES


def operations(g: Gep) -> int:
    """Of an update of one element, with minima for choices where they may be."""
    values = [minima(v, bool(nonnegative(g))) for _, v in g.update.values]
    return sum(map(_instructions, (x for v in values for x in set(subexpressions(v)))))


def _instructions(x: Expr) -> int:
    """A minimum that is a comparison and a choice is two."""
    if isinstance(x, Extremum) and x.type.is_float and x.rule != "number":
        return 2
    return int(not isinstance(x, (Const, Var, Load)))
