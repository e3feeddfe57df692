"""The text of the schedule ``scan``: sweeps, tile by tile, among what the schedule ``registers`` prints."""

from __future__ import annotations

from ...codegen.cuda import element_name, region_name
from ...ir.nodes import Block, Const, Expr, Region
from ...ir.walk import statements
from ..registers.text import Layout, Placed, RegistersText
from ..slots import Slot
from .streaming_loop import Sweep, Window

UNROLLED = 1024  # statements of a tile's turns that are written out


class ScanText(RegistersText):
    """Prints a placed kernel and its sweeps. ``base``: the element that a window's constants count from."""

    def __init__(
        self, placed: Placed, slots: tuple[Slot, ...], layout: Layout, threads: int, sweeps: tuple[Sweep, ...]
    ):
        super().__init__(placed, slots, layout, threads)
        self.sweeps = sweeps
        self.swept = frozenset(w.slot for s in sweeps for w in s.windows)
        self.tile_bytes = max(32 * s.pitch for s in sweeps)
        self.single = frozenset()  # statements of a sweep have a scope of their own
        self.sweep = sweeps[0]
        self.base = 0
        self.long = {w.region for s in sweeps for w in s.windows}

    def body(self) -> None:
        for s in self.sweeps:
            self.line("{")
            self.depth += 1
            self.one(s)
            self.close()

    def one(self, s: Sweep) -> None:
        """A sweep: the first tile, then each while the next is under way."""
        self.sweep, self.base = s, 0
        for w in s.windows:
            t, name = element_name(w.region.type), region_name(w.region)
            self.line(f"{t} *const {name} = ({t} *)(tile + lane * {s.pitch} + {w.place});")
            if w.loaded:
                self.line(f"c2cu_tile<{t}, {s.tile}> {name}_next;")
        self.line("__syncwarp();")
        self.bring("0")
        self.history()
        self.spread()
        self.block(s.before)
        self.open(f"for (int at = 0;; at += {s.tile})")
        if s.end > s.tile:
            if any(w.loaded for w in s.windows):
                self.open(f"if (at < {s.end - s.tile})")
                self.bring(f"at + {s.tile}")
                self.close()
        self.turns(s)
        self.line(f"if (at == {s.end - s.tile}) break;")
        self.take("at")
        self.line("__syncwarp();")
        self.carry()
        self.spread()
        self.close()
        self.line(f"{self.variable(s.walk.counter)} = {s.walk.last};")
        self.base = s.end - s.tile
        self.block(s.after)
        self.take(str(s.end - s.tile))
        self.line("__syncwarp();")

    def turns(self, s: Sweep) -> None:
        """The turns of a tile: all of them, or those that the loop has."""
        first, last = s.walk.first, s.walk.last
        body, i = s.walk.loop.body, self.variable(s.walk.counter)
        count = max(1, sum(1 for _ in statements(body)))
        times = next(n for n in (s.tile, 32, 16, 8, 4, 2, 1) if n <= s.tile and (n * count <= UNROLLED or n == 1))
        some = first > 0 or last < s.end
        if last - first >= s.tile:
            if some:
                low = f"at >= {first} && " if first else ""
                self.open(f"if ({low}at + {s.tile} <= {last})")
            self.line(f"#pragma unroll {times}")
            self.open(f"for (int j = 0; j < {s.tile}; j++)")
            self.turn(body, i)
            self.close()
            if some:
                self.close("} else {")
                self.depth += 1
        if some:
            self.line("#pragma unroll 1")
            self.open(f"for (int j = max(0, {first} - at); j < min({s.tile}, {last} - at); j++)")
            self.turn(body, i)
            self.close()
            if last - first >= s.tile:
                self.close()

    def turn(self, body: Block, i: str) -> None:
        self.line(f"{i} = at + j;")
        self.block(body)

    # tiles

    def words(self) -> str:
        return f"unsigned {'long long' if self.sweep.pitch % 8 == 0 else 'int'}, {self.sweep.pitch}"

    def bring(self, at: str) -> None:
        for w in self.sweep.windows:
            if w.loaded:
                slot = f"slot[{w.slot}]"
                args = f"{slot}.in, {slot}.in_stride, first, rows, {_sum(at, w.ahead)}, {w.region.count}"
                self.line(f"{region_name(w.region)}_next.load({args});")

    def start(self, w: Window) -> str:
        """Where a window's elements from the next tile begin."""
        return f"tile + {w.place + (w.ahead - w.low) * w.region.type.size}"

    def spread(self) -> None:
        for w in self.sweep.windows:
            if w.loaded:
                self.line(f"{region_name(w.region)}_next.spread<{self.words()}>({self.start(w)});")
        self.line("__syncwarp();")

    def take(self, at: str) -> None:
        if any(w.stored for w in self.sweep.windows):
            self.line("__syncwarp();")
        for w in self.sweep.windows:
            if w.stored:
                s, t = f"slot[{w.slot}]", element_name(w.region.type)
                start = w.place + (w.behind - w.low) * w.region.type.size
                args = f"tile + {start}, {s}.out, {s}.out_stride, first, rows, {_sum(at, w.behind)}, {w.region.count}"
                self.line(f"if ({s}.out) c2cu_tile<{t}, {self.sweep.tile}>::store<{self.words()}>({args});")

    def history(self) -> None:
        """What windows hold before the first tile: elements that no tile brings."""
        for w in self.sweep.windows:
            if w.loaded and w.ahead > max(0, w.low):
                for e in range(max(0, w.low), min(w.ahead, w.region.count)):
                    self.line(f"{region_name(w.region)}[{e - w.low}] = {self.direct(w.region, e)};")

    def carry(self) -> None:
        """What windows keep from the tile before."""
        for w in self.sweep.windows:
            if w.ahead > w.low:
                name, n = region_name(w.region), w.ahead - w.low
                self.line("#pragma unroll")
                self.line(f"for (int k = 0; k < {n}; k++) {name}[k] = {name}[k + {self.sweep.tile}];")
        if any(w.ahead > w.low for w in self.sweep.windows):
            self.line("__syncwarp();")  # other lanes write behind it next

    # elements

    def element(self, r: Region, index: Expr) -> str:
        if r not in self.long:
            return super().element(r, index)
        w = next((w for w in self.sweep.windows if w.region == r), None)
        offset = self.sweep.walk.offset(index)
        if w is not None and offset is not None:
            return f"{region_name(r)}[{_sum('j', offset - w.low)}]"
        assert isinstance(index, Const)
        if w is not None and (w.stored or not w.loaded):
            return f"{region_name(r)}[{int(index.value) - self.base - w.low}]"
        return self.direct(r, int(index.value))

    def direct(self, r: Region, element: int) -> str:
        """An element where it lies in memory, as it came in."""
        k, t = self.layout[r.name][0], element_name(r.type)
        text = f"((const {t} *)((const char *)slot[{k}].in + own * slot[{k}].in_stride))[{element}]"
        return text if self.slots[k].required else f"(slot[{k}].in ? {text} : ({t})0)"


def _sum(a: str, b: int) -> str:
    return f"{a} + {b}" if b else a
