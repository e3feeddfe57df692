"""Artifacts: what a schedule hands to the runtime, a text to compile and how to call it. One class a way of calling."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ..base.diagnostics import Loc
from .slots import Slot

UNASKED = 48 << 10  # bytes of shared memory that a block gets without asking
STACK = 64  # bytes of local memory that a thread's calls may take where registers are to suffice
BUSY = 1024  # threads that keep a multiprocessor busy,
IN_A_ROW = 8  # and inputs that each does one after the other if there are enough, where blocks share them out
DEEP = 65535  # blocks along z, at most
_KERNEL = r"__global__ void (?:__launch_bounds__\([\d, ]+\) )?"


@dataclass(frozen=True)
class Artifact:
    """Generated text. ``schedule``: its name, with the variant if that was chosen. ``slots``: what goes in and out, in
    the order of the table that the text is called with. ``flags``: for the compiler, beside the usual ones; of one
    option the last counts. ``functions``: those of math.h that are ours, with the bits of this machine's library."""

    schedule: str
    text: str
    slots: tuple[Slot, ...]
    flags: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Refilled:
    """That a lane, or a thread, whose input has ended the loop at ``loc`` takes the next one; ``gangs`` of lanes go in
    turn."""

    loc: Loc
    gangs: int = 1


@dataclass(frozen=True, kw_only=True)
class CpuArtifact(Artifact):
    """C whose inputs are done in any order by any number of threads: it exports ``int c2cu_run(const struct c2cu_slot
    *slot, long begin, long end)``, which does inputs begin <= id < end and may be called for disjoint ranges at once.
    It returns 0 where there is no memory for a working copy of ``lanes`` inputs, else 1.
    The text also defines what programs and libraries of `translate` call instead: ``c2cu_copy``, the type of a working
    copy, ``void c2cu_inputs(c2cu_copy *, slot, begin, end)``, and the macro ``W``, the number of inputs side by side.
    ``lanes``: inputs side by side, of which a range had best be a multiple. ``refill``: how they take inputs, where
    they do not all at once. ``slot[k]`` belongs to ``slots[k]``::

        struct c2cu_slot {
            const void *in;   long in_stride;    /* of input 0; bytes to the next input, 0 if shared; in may be NULL: */
            void       *out;  long out_stride;   /* the initialiser or zero. out may be NULL: not wanted. */
        };

    Arrays are batch-first: input id's copy is ``nbytes`` contiguous bytes at ``in + id * in_stride``. ``in`` and
    ``out`` of a slot may be the same memory.

    ``ended``: an input may end early. c2cu_run and c2cu_inputs then have a last parameter ``unsigned char *ended``:
    they write nothing for an input that ends early, but 1 to ``ended[id]``, and 0 for the others. ``again``: does
    such inputs, and those that fault, with the same table; None where there are none. The working copy's member
    ``at_work`` is the first of the inputs that are done at the moment; ``at_work`` here is how many these are, None:
    all that are left. If as many as there are lanes, none of them was stored yet. ``alike``: the numbers that inputs
    are sorted by. ``alone``: functions of math.h that go lane by lane, where ``functions`` go side by side.
    ``copy_bytes``: of a working copy, about.
    """

    lanes: int = 1
    refill: Refilled | None = None
    alike: tuple[str, ...] = ()
    at_work: int | None = None
    alone: tuple[str, ...] = ()
    ended: bool = False
    copy_bytes: int = 0
    again: CpuNativeArtifact | None = None


@dataclass(frozen=True, kw_only=True)
class CpuNativeArtifact(Artifact):
    """Preprocessed C, compiled as it stands. ``text`` is the user's, with functions appended; ``units``: the user's
    other texts; ``support``: a text of ours that is linked with them, and exports what `runtime.native` calls.
    ``pointers``: the slots that are what a pointer parameter points to, each input's own; ``only_read``: the globals
    that the kernel does not write. ``calls``: functions and
    variables that no text defines, and where the kernel names them. ``stdio``: "discard", or "" to refuse output.
    ``guessed``: variables that come out, of which nobody knows whether the kernel writes them. ``replaced``: functions
    of math.h that ``replacing``, another text of ours, stands in for.
    """

    support: str
    pointers: frozenset[str]
    only_read: frozenset[str] = frozenset()
    calls: tuple[tuple[str, Loc], ...] = ()
    units: tuple[str, ...] = ()
    stdio: str = ""
    guessed: frozenset[str] = frozenset()
    replaced: tuple[str, ...] = ()
    replacing: str = ""


@dataclass(frozen=True, kw_only=True)
class CpuTeamArtifact(Artifact):
    """C that has several threads do one input. It exports ``void *c2cu_begin(slot, id)``, with the table of
    `CpuArtifact`, which returns NULL where there is no memory; then ``void c2cu_work(void *)`` is called by any number
    of threads, and ``void c2cu_end(void *)`` after the last. ``void c2cu_stop(void *)`` makes the threads return
    early."""


@dataclass(frozen=True, kw_only=True)
class CudaArtifact(Artifact):
    """CUDA whose blocks do ``inputs`` inputs each, with ``threads`` threads. It defines ::

        extern "C" __device__ const unsigned long long c2cu_bytes;      memory that a block needs, may be 0
        extern "C" __global__ void c2cu_run(const struct c2cu_slots slot, long long p, void *memory);
        c2cu_pack, c2cu_unpack    likewise, if the schedule has them: arrays to memory before, and back after

    with ``slot[k]`` as in `CpuArtifact`. Each is launched with ceil(p / inputs) blocks, and ``shared_bytes`` of dynamic
    shared memory each. ``spills``: bytes of local memory a thread, at most, with which it is worth running; None: any.
    ``cycles``: of a multiprocessor for an input, by the schedule's own estimate; 0: it has none. ``refill``: where
    threads take inputs, if they do: blocks then share out the inputs, however many there are, and had best be no more
    than run at once.
    """

    inputs: int
    threads: int
    shared_bytes: int = 0
    spills: int | None = None
    cycles: float = 0.0
    refill: Refilled | None = None

    @property
    def kernels(self) -> tuple[str, ...]:
        """Names, in the order of their launches."""
        names = ("c2cu_pack", "c2cu_run", "c2cu_unpack")
        return tuple(n for n in names if re.search(rf"{_KERNEL}{n}\(", self.text))


@dataclass(frozen=True)
class Launch:
    """A kernel's launch, for all inputs at once. ``grid``: blocks along x and y, with an input on each z; (0, n):
    n blocks a multiprocessor, for all inputs. ``arguments``: ints that follow the usual ones. It starts when what
    precedes it on its ``stream`` is complete, and the launches whose numbers ``after`` lists. ``shared_bytes``: dynamic
    shared memory of a block. ``note``: what it is for, as comments say it, one a line. ``words``: the arguments as text
    shows them, if not as numbers."""

    kernel: str
    grid: tuple[int, int] = (1, 1)
    arguments: tuple[int, ...] = ()
    stream: int = 0
    after: tuple[int, ...] = ()
    shared_bytes: int = 0
    note: str = field(default="", compare=False)
    words: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class BandMatrix:
    """A matrix of `Bands`. ``slot``: its number; ``stride``: elements from a row to the next, of ``count`` in C;
    ``copies``: the elements that are copied at each step: u (column k), v (row k), w (element (k, k)), p0, p1, ...
    (element (k, k), for the statements that scale a row or a column)."""

    name: str
    slot: int
    size: int
    stride: int
    count: int
    written: bool
    copies: tuple[str, ...]


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


@dataclass(frozen=True, kw_only=True)
class CudaLaunchesArtifact(Artifact):
    """CUDA whose ``launches``, in blocks of ``threads``, have the whole device work at each input. Kernels take the
    slot table, p, the working storage of ``c2cu_bytes`` for each input, and then the ints that a launch lists; block z
    does input z. ``graph``: the launches are to be captured as a graph, which is then launched once. ``one_stream``:
    fewer launches that do the same, for text that has all of them go to one stream; () where that is not so."""

    threads: int
    launches: tuple[Launch, ...]
    graph: bool = False
    one_stream: tuple[Launch, ...] = ()

    @property
    def inputs(self) -> int:
        """Of a block."""
        return 1

    @property
    def kernels(self) -> tuple[str, ...]:
        """Names, in the order of their first launches."""
        return tuple(dict.fromkeys(x.kernel for x in self.launches))

    @property
    def shared_bytes(self) -> int:
        """Dynamic shared memory of a block, at most."""
        return max((x.shared_bytes for x in self.launches), default=0)


@dataclass(frozen=True, kw_only=True)
class CudaBandsArtifact(Artifact):
    """CUDA without sizes, in blocks of ``threads``: how many rows a band of the matrices has depends on the devices'
    memory, and what is launched when follows from ``bands`` (`gep.bands_plan`). ``otherwise``: does the inputs that
    this one finds it cannot do; None where there is nothing that could."""

    threads: int
    bands: Bands
    otherwise: CpuTeamArtifact | None = None
