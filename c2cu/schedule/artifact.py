"""What a schedule hands to the runtime: a text to compile and how to call it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..base.diagnostics import Loc


@dataclass(frozen=True)
class Slot:
    """A parameter of the kernel as memory: of a C global, a C parameter or the returned value.

    ``dtype``: a NumPy dtype string, or the ``descr`` dictionary of a struct (names, formats, offsets, itemsize).
    ``shape``: extents of one input, () for a scalar. ``reads``/``writes``: goes in / comes out.
    ``required``: must be given (proved to be read before it is written, with no initialiser).
    ``shared``: one copy for all inputs. ``most``: the largest integer that may come in, none being below 0.
    """

    name: str
    dtype: Any
    shape: tuple[int, ...]
    nbytes: int  # of one input
    reads: bool
    writes: bool
    required: bool = False
    shared: bool = False
    loc: Loc = field(default=Loc(), compare=False)
    most: int | None = None


def bytes_moved(slots: tuple[Slot, ...]) -> int:
    """Bytes in and out an input; all extents are known."""
    return sum(s.nbytes * (s.reads + s.writes) for s in slots if not s.shared)


def piece(layout: str, first: int, last: int) -> Any:
    """The subscript of inputs first <= id < last of an array in a layout: the p axis is the first, or the last."""
    return slice(first, last) if layout == "row" else (..., slice(first, last))


def shape_of(slot: Slot, n: int, layout: str) -> tuple[int, ...]:
    """The shape of n inputs' arrays, as the user sees them."""
    return (n, *slot.shape) if layout == "row" else (*slot.shape, n)


@dataclass(frozen=True)
class Launch:
    """A kernel's launch, for all inputs at once. ``grid``: blocks along x and y, with an input on each z; (0, n):
    n blocks a multiprocessor, for all inputs. ``arguments``: ints that follow the usual ones. It starts when what
    precedes it on its ``stream`` is complete, and the launches whose numbers ``after`` lists. ``shared_bytes``: dynamic
    shared memory of a block."""

    kernel: str
    grid: tuple[int, int] = (1, 1)
    arguments: tuple[int, ...] = ()
    stream: int = 0
    after: tuple[int, ...] = ()
    shared_bytes: int = 0


@dataclass(frozen=True)
class BandMatrix:
    """A matrix of `Bands`. ``slot``: its number; ``stride``: elements from a row to the next, of ``count`` in C;
    ``kept``: of which elements there are copies: u (column k), v (row k), w (element (k, k)), p0, p1, ... (the same for
    what scales a row or column)."""

    name: str
    slot: int
    size: int
    stride: int
    count: int
    written: bool
    kept: tuple[str, ...]


@dataclass(frozen=True)
class Bands:
    """A loop of Gaussian-elimination type whose matrices are worked at in bands of rows. ``rows``, ``columns``: what it
    touches; ``height``, ``pitch``: the same in whole tiles. Blocks ``first`` <= b < ``last`` of ``depth`` steps make up
    steps ``low`` <= k < ``high``. ``spans``: (first, end, whether it is k + first) of the rows that a step k writes.
    ``looked``: matrices of which products are faster if no element has bits above ``most``."""

    tile: int
    depth: int
    rows: int
    columns: int
    height: int
    pitch: int
    low: int
    high: int
    matrices: tuple[BandMatrix, ...]
    spans: tuple[tuple[int, int, bool], ...]
    looked: tuple[str, ...] = ()
    most: int = 0

    @property
    def first(self) -> int:
        return self.low // self.depth

    @property
    def last(self) -> int:
        return -(-self.high // self.depth)


@dataclass(frozen=True)
class Artifact:
    """Generated text and its ABI.

    ``target`` cpu: the text exports ``void c2cu_run(const struct c2cu_slot *slot, long begin, long end)``, which does
    inputs begin <= id < end and may be called for disjoint ranges at once. ``slot[k]`` belongs to ``slots[k]``::

        struct c2cu_slot {
            const void *in;   long in_stride;    /* of input 0; bytes to the next input, 0 if shared; in may be NULL: */
            void       *out;  long out_stride;   /* the initialiser or zero. out may be NULL: not wanted. */
        };

    Arrays are batch-first: input id's copy is ``nbytes`` contiguous bytes at ``in + id * in_stride``. ``in`` and
    ``out`` of a slot may be the same memory. With ``team``, an input is done by ``void *c2cu_begin(slot, id)``, NULL
    where there is no memory for it; then ``void c2cu_work(void *)`` by any number of threads; then
    ``void c2cu_end(void *)``.

    ``target`` cuda: see runtime/cuda.py, which documents the entry points of each schedule.
    """

    schedule: str
    target: str
    text: str
    slots: tuple[Slot, ...]
    lanes: int = 1  # cpu: inputs a gang; cuda: inputs a block
    flags: tuple[str, ...] = ()  # extra compiler flags; of one option the last counts
    threads: int = 0  # cuda: threads a block; 0: one an input
    shared_bytes: int = 0  # cuda: dynamic shared memory a block, at most
    spills: int | None = None  # cuda: bytes of local memory a thread, at most, with which it is worth running
    cycles: float = 0.0  # cuda: of a multiprocessor, for an input, by the schedule's own estimate; 0: it has none
    team: bool = False  # cpu: several threads may do one input
    launches: tuple[Launch, ...] = ()  # cuda: what is launched, in order; none: pack, run and unpack
    graph: bool = False  # cuda: whether the launches are to be captured as a graph, which is then launched once
    bands: Bands | None = None  # cuda: what the text, which lacks sizes, is made for
    otherwise: Artifact | None = None  # cpu: for inputs that this one finds it cannot do
