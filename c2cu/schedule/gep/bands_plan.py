"""The plan for a matrix in bands: how large they are, and the tasks of each device with the tasks that they wait for.

Bands are dealt out over the devices in turn. Where all of a device's bands fit, they stay there (``Sizes.streamed`` is
false). Else each comes for every band of steps and goes again: one band is in the room where kernels work, the next
arrives in a buffer of its own, the last leaves from another.

The owner of the next steps' band does that band first, so that these steps' rows k are on their way to the other
devices while these are still at the steps before; a single device that has its bands come and go does it last, and
keeps it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from ..artifact import Bands
from .memory_layout import memory_layout

MOST = 512  # rows of a band that stays: more would make devices wait for each other longer
EACH = 8  # bands that each device should have if they stay, so that work is even
IN, RUN, OUT = "in", "run", "out"  # streams of a device; to another device there is "to 1" and so on


@dataclass(frozen=True)
class Sizes:
    """``band``: rows, a multiple of a tile's; ``rooms``: bands that are on a device at once; ``ring``: blocks of steps
    whose rows k are kept there."""

    devices: int
    band: int
    rooms: int
    ring: int
    streamed: bool

    def bands(self, b: Bands) -> int:
        """How many bands the matrix has."""
        return -(-b.height // self.band)

    def per(self, b: Bands) -> int:
        """Blocks of steps in a band."""
        return self.band // b.depth

    def blocks(self, b: Bands, band: int) -> range:
        """The blocks of steps whose k are rows of ``band``, without those before the first and after the last step."""
        return range(max(b.first, band * self.per(b)), min(b.last, (band + 1) * self.per(b)))

    def rows(self, b: Bands, band: int) -> range:
        """The matrix' rows in ``band``."""
        return range(band * self.band, min(b.rows, (band + 1) * self.band))

    def offsets(self, b: Bands) -> tuple[dict[str, int], int]:
        """The offset in bytes of each buffer (``x_D``) in a device's memory, and the bytes of all."""
        pieces = {"flag": 4}
        for m in b.matrices:
            pieces[f"x_{m.name}"] = self.rooms * self.band * b.pitch * m.size
            pieces[f"in_{m.name}"] = self.band * b.columns * m.size
            if m.written:
                pieces[f"out_{m.name}"] = self.band * b.columns * m.size
            for copy in m.copies:
                count = {"u": self.ring * b.depth * self.rooms * self.band, "v": self.ring * b.depth * b.pitch}
                pieces[f"{copy}_{m.name}"] = count.get(copy, b.high) * m.size
        return memory_layout(pieces.items())

    def defines(self, b: Bands, unfit: bool = True) -> str:
        """The macros that the CUDA text lacks. ``unfit``: whether some element of the matrices ``b.looked`` is above
        ``b.most``, so that the faster product is not exact."""
        offsets, size = self.offsets(b)
        lines = [f"#define BAND {self.band}", f"#define ROOMS {self.rooms}", f"#define RING {self.ring}"]
        lines.append(f"#define UNFIT {int(unfit)}")
        lines += [f"#define MEMORY {size}ull", *(f"#define AT_{name} {at}ll" for name, at in offsets.items())]
        return "\n".join(lines) + "\n"


def sizes(b: Bands, devices: int, limit: int) -> Sizes | None:
    """The sizes for that many devices of ``limit`` bytes each; None if not even the smallest bands fit."""
    resident = [s for s in _resident(b, devices) if s.offsets(b)[1] <= limit]
    if resident:
        return next((s for s in resident if s.bands(b) >= EACH * devices), resident[-1])
    fitting = [s for s in _streamed(b, devices) if s.offsets(b)[1] <= limit]
    return max(fitting, key=lambda s: (min(s.bands(b), 2 * devices), s.band), default=None)


def _resident(b: Bands, devices: int) -> Iterator[Sizes]:
    """Sizes with all bands on their devices for the whole run, larger bands first."""
    band = max(MOST, b.tile)
    while band >= b.tile:
        bands = -(-b.height // band)
        rooms = -(-bands // devices)
        yield Sizes(devices, band, rooms, min(2, rooms * devices) * (band // b.depth), False)
        band //= 2


def _streamed(b: Bands, devices: int) -> Iterator[Sizes]:
    """Sizes with bands that come and go. There are few different ones, as each has to be compiled."""
    tiles = sorted({m << e for m in range(4, 8) for e in range(24)} | {1, 2, 3})
    for band in (n * b.tile for n in tiles if n * b.tile < 2 * b.height):
        yield Sizes(devices, band, 1, (1 if devices == 1 else 2) * (band // b.depth), True)


@dataclass(frozen=True)
class Task:
    """``kind``, on ``stream`` of ``device``, after what precedes it there and the tasks that ``after`` lists:

    in, out: band ``band`` from the host and to it; ``fresh``: it comes from the input. pack, unpack: between buffer and
    ``room``. own: the steps of ``step`` on that band itself. others: these steps on ``count`` bands from ``band`` on,
    each ``devices`` behind the last, without ``but`` <= band < ``until``. send: rows k of ``step`` to device ``to``.
    """

    kind: str
    device: int
    stream: str
    band: int = 0
    room: int = 0
    step: int = 0
    count: int = 1
    but: int = 0
    until: int = 0
    to: int = 0
    fresh: bool = False
    after: tuple[int, ...] = ()


def tasks(b: Bands, s: Sizes) -> tuple[Task, ...]:
    """All tasks of one input, in an order that satisfies their dependences."""
    return _streaming(b, s) if s.streamed else _staying(b, s)


def steps_write(b: Bands, s: Sizes, band: int, step: int) -> bool:
    """Whether the steps whose k are rows of band ``step`` write any row of ``band``."""
    rows, blocks = s.rows(b, band), s.blocks(b, step)
    k = max(b.low, blocks.start * b.depth)
    return any(rows.start < end and (k if after else 0) + low < rows.stop for low, end, after in b.spans)


@dataclass
class _TaskSequence:
    """The tasks so far. Each waits for the last tasks that wrote what it reads, or used what it writes."""

    b: Bands
    s: Sizes
    tasks: list[Task] = field(default_factory=list)
    _wrote: dict[tuple, int] = field(default_factory=dict)
    _read: dict[tuple, list[int]] = field(default_factory=dict)
    _written_back: set[int] = field(default_factory=set)  # bands that the host's output has

    def add(self, task: Task, reads: list[tuple], writes: list[tuple]) -> None:
        before = {self._wrote[x] for x in (*reads, *writes) if x in self._wrote}
        before |= {n for x in writes for n in self._read.get(x, ())}
        latest: dict[tuple[int, str], int] = {}
        for n in sorted(before):
            latest[self.tasks[n].device, self.tasks[n].stream] = n
        latest.pop((task.device, task.stream), None)
        number = len(self.tasks)
        self.tasks.append(replace(task, after=tuple(sorted(latest.values()))))
        for x in reads:
            self._read.setdefault(x, []).append(number)
        for x in writes:
            self._wrote[x], self._read[x] = number, []

    def room(self, band: int) -> int:
        return 0 if self.s.streamed else band // self.s.devices

    def device(self, band: int) -> int:
        return band % self.s.devices

    def arrive(self, band: int) -> None:
        d = self.device(band)
        fresh = band not in self._written_back
        self.add(Task("in", d, IN, band, fresh=fresh), [("host", band)], [("in", d)])

    def pack(self, band: int) -> None:
        d, room = self.device(band), self.room(band)
        self.add(Task("pack", d, RUN, band, room), [("in", d)], [("x", d, room)])

    def leave(self, band: int) -> None:
        d, room = self.device(band), self.room(band)
        self.add(Task("unpack", d, RUN, band, room), [("x", d, room)], [("out", d)])
        self.add(Task("out", d, OUT, band), [("out", d)], [("host", band)])
        self._written_back.add(band)

    def own_rows(self, step: int) -> None:
        """The steps of a band on its own rows, and their rows k to all other devices."""
        d, room = self.device(step), self.room(step)
        self.add(Task("own", d, RUN, step, room, step), [], [("x", d, room), ("v", d, self._slot(step))])
        for to in range(self.s.devices):
            if to != d:
                reads, writes = [("v", d, self._slot(step))], [("v", to, self._slot(step))]
                self.add(Task("send", d, f"to {to}", step=step, to=to), reads, writes)

    def others(self, step: int, band: int, count: int = 1, but: range = range(0)) -> None:
        d, room = self.device(band), self.room(band)
        touched = [("x", d, room + n) for n in range(count)]
        task = Task("others", d, RUN, band, room, step, count, but.start, but.stop)
        self.add(task, [("v", d, self._slot(step))], touched)

    def _slot(self, step: int) -> int:
        return step * self.s.per(self.b) % self.s.ring


def _steps(b: Bands, s: Sizes) -> list[int]:
    return [step for step in range(s.bands(b)) if s.blocks(b, step)]


def _staying(b: Bands, s: Sizes) -> tuple[Task, ...]:
    """Each device holds all its bands."""
    q = _TaskSequence(b, s)
    steps = _steps(b, s)
    bands = range(s.bands(b))
    for band in (steps[0], *(x for x in bands if x != steps[0])):
        q.arrive(band)
        q.pack(band)
        if band == steps[0]:
            q.own_rows(band)
    for step in steps:
        later = step + 1
        if later in steps:
            if steps_write(b, s, later, step):
                q.others(step, later)
            q.own_rows(later)
        finished = range(step, later + (later in steps))
        for d in range(s.devices):
            pending = [x for x in bands if q.device(x) == d and x not in finished and steps_write(b, s, x, step)]
            if pending:
                q.others(step, pending[0], (pending[-1] - pending[0]) // s.devices + 1, finished)
    for band in bands:
        q.leave(band)
    return tuple(q.tasks)


@dataclass(frozen=True)
class _Visit:
    """A band on its device: these steps, and then its own, if it has ``own_steps``."""

    band: int
    steps: tuple[int, ...]
    own_steps: bool = False


def _visits(b: Bands, s: Sizes) -> Iterator[_Visit]:
    steps = _steps(b, s)
    yield _Visit(steps[0], (), True)
    for step in steps:
        later = step + 1
        finished, ahead = range(step, later + (later in steps)), []
        later_visits = [
            _Visit(x, (step,)) for x in range(s.bands(b)) if x not in finished and steps_write(b, s, x, step)
        ]
        if later in steps:
            ahead = [_Visit(later, (step,) if steps_write(b, s, later, step) else (), True)]
        yield from (*later_visits, *ahead) if s.devices == 1 else (*ahead, *later_visits)


def _streaming(b: Bands, s: Sizes) -> tuple[Task, ...]:
    """Bands come and go. The next of a device is on its way while one is worked at."""
    q = _TaskSequence(b, s)
    visits = list(_visits(b, s))
    following: list[_Visit | None] = [None] * len(visits)
    previous: dict[int, int] = {}
    for n, v in enumerate(visits):
        d = q.device(v.band)
        if d in previous:
            following[previous[d]] = v
        previous[d] = n
    resident: dict[int, int] = {}  # the band in a device's room
    coming: set[int] = set()
    for v, after in zip(visits, following):
        d = q.device(v.band)
        if resident.get(d) != v.band:
            if v.band not in coming:
                q.arrive(v.band)
            coming.discard(v.band)
            q.pack(v.band)
            resident[d] = v.band
        if after is not None and after.band != v.band:
            q.arrive(after.band)
            coming.add(after.band)
        for step in v.steps:
            q.others(step, v.band)
        if v.own_steps:
            q.own_rows(v.band)
        if after is None or after.band != v.band:
            q.leave(v.band)
    return tuple(q.tasks)


@dataclass(frozen=True)
class Traffic:
    """Bytes that all devices together copy from the host, to the host, and to one another."""

    come: int
    go: int
    sent: int


def traffic(b: Bands, s: Sizes) -> Traffic:
    """The traffic of one input."""
    nbytes = {"in": 0, "out": 0, "send": 0}
    row = {k: b.columns * sum(m.size for m in b.matrices if m.written or k == "in") for k in ("in", "out")}
    for t in tasks(b, s):
        if t.kind in row:
            nbytes[t.kind] += len(s.rows(b, t.band)) * row[t.kind]
        elif t.kind == "send":
            nbytes["send"] += sum(n for _, n in copies(b, s, t.step))
    return Traffic(nbytes["in"], nbytes["out"], nbytes["send"])


@dataclass(frozen=True)
class KernelLaunch:
    """A launch: blocks along x, y and z, and the ints that follow the memory's address."""

    name: str
    grid: tuple[int, int, int]
    arguments: tuple[int, ...]


PACKING = 2048  # blocks that copy a band, at most


def kernels(b: Bands, s: Sizes, t: Task) -> Iterator[KernelLaunch]:
    """The launches of a task of stream ``run``, in order."""
    at = t.room, t.band
    wide, across = b.pitch // b.depth, b.pitch // b.tile
    tiles, lines = s.band // b.tile, s.band // b.depth
    match t.kind:
        case "pack" | "unpack":
            blocks = min(PACKING, -(-s.band * b.pitch // 1024))
            yield KernelLaunch(f"c2cu_{t.kind}", (blocks, 1, 1), (*at, len(s.rows(b, t.band))))
        case "own":
            for block in s.blocks(b, t.step):
                yield KernelLaunch("c2cu_pivot", (1, 1, 1), (*at, block))
                for side, count in ((0, wide), (1, lines)):
                    yield KernelLaunch("c2cu_panels", (count, 1, 1), (*at, s.devices, 0, 0, block, side))
                yield KernelLaunch("c2cu_rest", (across, tiles, 1), (*at, s.devices, 0, 0, block))
        case "others":
            for block in s.blocks(b, t.step):
                yield KernelLaunch("c2cu_panels", (lines, 1, t.count), (*at, s.devices, t.but, t.until, block, 1))
                yield KernelLaunch("c2cu_rest", (across, tiles, t.count), (*at, s.devices, t.but, t.until, block))
        case _:
            raise AssertionError(t)


def copies(b: Bands, s: Sizes, step: int) -> Iterator[tuple[int, int]]:
    """(offset, bytes) in a device's memory of the copies of rows k and of elements (k, k) that the steps of a band
    leave."""
    offsets, _ = s.offsets(b)
    blocks = s.blocks(b, step)
    first, last = max(b.low, blocks.start * b.depth), min(b.high, blocks.stop * b.depth)
    for m in b.matrices:
        for copy in m.copies:
            at = offsets[f"{copy}_{m.name}"]
            if copy == "v":
                row = b.depth * b.pitch * m.size
                yield at + blocks.start % s.ring * row, len(blocks) * row
            elif copy != "u":
                yield at + first * m.size, (last - first) * m.size
