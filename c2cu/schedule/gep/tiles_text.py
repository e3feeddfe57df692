"""CUDA text of the schedule `tiles`: what its template is filled with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...base.ctype import Leaf
from ...codegen.cuda import CudaText, element_name, literal, region_name
from ...gep import Gep
from ...gep.nonnegative import LARGEST_BITS, chooses, nonnegative
from ...gep.semiring import Proof, Test, proof
from ...ir.nodes import Kernel, Region
from ..slots import Slot
from .shape import Sides, TileShape, bounds
from .tiles_steps import UNROLL, Cells, Steps, held

Layout = Mapping[str, tuple[int, Leaf]]  # region name -> its slot's number, and where it lies in the slot's bytes


def values(
    kernel: Kernel, g: Gep, sides: Sides, s: TileShape, slots: tuple[Slot, ...], layout: Layout, fast: bool
) -> dict[str, Any]:
    """What the template is filled with."""
    moves = g.row_moves or g.column_moves
    known = proof(g) if moves else None
    compares = moves and known is None
    written = [r for r in g.regions if any(r in dict(p.values) for p in (*g.scale, g.update))]
    pivots = -(-g.k.high // s.band)
    frame = _Frame(g, s, slots, layout, known, compares, tuple(written))
    return {
        "name": kernel.name,
        "unit": s.unit,
        "tile_rows": s.rows,
        "tile_columns": s.columns,
        "down": s.down,
        "across": s.across,
        "rows": g.rows,
        "columns": g.columns,
        "bands": s.bands,
        "threads": s.threads,
        "inputs": s.inputs,
        "block": s.block,
        "bounds": bounds(s, g, sides),
        "warp": s.warp,
        "bytes": s.shared_bytes(sides),
        "scratch": frame.scratch if s.bands > 1 else 0,
        "pivots": pivots,
        "tables": frame.tables(),
        "pointers": frame.pointers() if s.bands == 1 else [],
        "tiles": frame.tiles(sides),
        "bring": frame.bring() if s.bands == 1 else [],
        "seen": frame.seen(fast),
        "change": frame.change(pivots),
        "first": _bound(g.k.low // s.unit, "max", "pivot", s),
        "last": _bound(-(-g.k.high // s.unit), "min", "(pivot + 1)", s),
        "steps": Steps(g, sides, s, fast, compares).lines(),
        "minima": Steps(g, sides, s, True, compares).lines() if frame.seen(fast) else [],
        "after": frame.after(pivots),
        "finish": frame.finish(pivots),
        "again": frame.again(kernel),
        "take": frame.take(pivots),
    }


def _bound(n: int, which: str, pivot: str, s: TileShape) -> str:
    return f"{which}({n}, {pivot} * (R * TY / UNIT))" if s.bands > 1 else str(n)


class _Frame:
    """What comes before and after the steps."""

    def __init__(
        self,
        g: Gep,
        s: TileShape,
        slots: tuple[Slot, ...],
        layout: Layout,
        known: Proof | None,
        compares: bool,
        written: tuple[Region, ...],
    ):
        self.g, self.s, self.slots, self.layout = g, s, slots, layout
        self.known, self.compares, self.written = known, compares, written
        self.strides = dict(g.strides)
        self.place = {r: at for r, at in self.offsets()}

    @property
    def checks(self) -> bool:
        return self.compares or (self.known is not None and self.known != Proof(self.known.region))

    def direct(self, pivots: int) -> bool:
        """Whether it is known before the first band is done that no input need be done again."""
        first = self.known is not None and (self.known.elements or self.known.both)
        return not self.checks or (not self.compares and (pivots > 1 or not first))

    def offsets(self) -> Iterable[tuple[Region, int]]:
        """Where each region's copy lies in an input's working memory."""
        at = 0
        for r in self.written:
            yield r, at
            at += -(-self.g.rows * self.s.width * r.type.size // 256) * 256
        self.scratch = at

    def tables(self) -> list[str]:
        """What arrays hold that are not given."""
        out = []
        for r in self.g.regions:
            if self.initial(r):
                given = ", ".join(literal(v, r.type) for v in r.init or ())
                name = f"c2cu_initial_{region_name(r)}"
                out.append(f"__device__ const {element_name(r.type)} {name}[{r.count}] = {{{given}}};")
        return out

    def initial(self, r: Region) -> bool:
        return r.name not in self.layout or not self.slots[self.layout[r.name][0]].required

    def pointers(self) -> list[str]:
        out = []
        for r in self.g.regions:
            name, t = region_name(r), element_name(r.type)
            given = f"c2cu_initial_{name}"
            if r.name in self.layout:
                slot = f"slot[{self.layout[r.name][0]}]"
                there = f"(const {t} *)((const char *){slot}.in + id * {slot}.in_stride)"
                given = f"{slot}.in ? {there} : {given}" if self.initial(r) else there
            out += [f"const {t} *const in_{name} = {given};", f"__builtin_assume(__isGlobal(in_{name}));"]
            if r in self.written and self.s.bands > 1:
                at = f"((long long)blockIdx.x * INPUTS + which) * {self.scratch} + {self.place[r]}"
                out.append(f"{t} *const kept_{name} = ({t} *)((char *)memory + {at});")
        return out

    def outputs(self) -> list[str]:
        """Where results go: found out as late as can be, since a register is wanted for each."""
        out = []
        for r in self.written:
            name, t, slot = region_name(r), element_name(r.type), f"slot[{self.layout[r.name][0]}]"
            out.append(f"{t} *const out_{name} = ({t} *)((char *){slot}.out + id * {slot}.out_stride);")
            out.append(f"__builtin_assume(__isGlobal(out_{name}));")
        return out

    def tiles(self, sides: Sides) -> list[str]:
        out, at = [], 0
        s = self.s
        for r in self.g.regions:
            out.append(f"{held(r.type)} x_{region_name(r)}[R][C];")
        kept = s.band if s.bands > 1 else 2
        for side, regions, count in (("rows", sides.rows, kept * s.width), ("columns", sides.columns, 2 * s.band)):
            for r in regions:
                t = element_name(r.type)
                out.append(f"{t} *const {side}_{region_name(r)} = ({t} *)(shared + {at});")
                at += -(-count * r.type.size // 16) * 16
        return out

    # between a tile and what came in, what goes out, or working memory

    def brought(self, r: Region) -> str:
        return f"c2cu_bring<{self.strides[r]}>(x_{region_name(r)}, in_{region_name(r)}, row0, column0);"

    def taken(self, r: Region) -> str:
        return f"c2cu_take<{self.strides[r]}>(x_{region_name(r)}, out_{region_name(r)}, row0, column0);"

    def kept(self, r: Region) -> str:
        return f"c2cu_take<C * TX>(x_{region_name(r)}, kept_{region_name(r)}, row0, column0);"

    def recalled(self, r: Region) -> str:
        name = region_name(r)
        return f"c2cu_bring<C * TX>(x_{name}, (const {element_name(r.type)} *)kept_{name}, row0, column0);"

    def bring(self) -> list[str]:
        return [self.brought(r) for r in self.g.regions] + self.tests_at_first()

    def seen(self, fast: bool) -> list[str]:
        """Whether all elements are at least 0, of all inputs that go in step."""
        found = nonnegative(self.g) if not fast and chooses(self.g) else ()
        if not found:
            return []
        o = Cells(self.g, 0)
        o.line("unsigned int largest = 0;")
        for r in found:
            name = region_name(r)
            if self.s.bands == 1:
                o.each("r < R", "c < C")
                o.line(f"largest = max(largest, __float_as_uint(x_{name}[r][c]));")
                o.end(2)
            else:
                o.line(f"largest = c2cu_largest<{r.count}>(largest, in_{name}, tid);")
        o.line(f"least = TOGETHER(largest <= {LARGEST_BITS:#x}u);")
        pointers = self.pointers() if self.s.bands > 1 else []
        return ["bool least; /* whether minima are the choices that the C makes */", "{", *pointers, *o.lines, "}"]

    def tests_at_first(self) -> list[str]:
        if self.known is None:
            return []
        o, name = Cells(self.g, 0), region_name(self.known.region)
        if self.known.elements or self.known.both:
            o.each("r < R", "c < C")
            if self.known.elements:
                o.line(f"flags |= {_test(f'x_{name}[r][c]', self.known.elements)} ? 1 : 0;")
            if self.known.both:
                o.line(f"flags |= {_test(f'x_{name}[r][c]', self.known.both[1])} ? 4 : 0;")
            o.end(2)
        if self.known.both:
            o.lines += self.on_diagonal(self.known.both[0], 2)
        return o.lines

    def on_diagonal(self, test: Test, bit: int) -> list[str]:
        """Test the elements [k][k] that a thread has."""
        assert self.known is not None
        o, g = Cells(self.g, 0), self.g
        o.each("g < R, UNIT", "h < C, UNIT")
        o.open("if (ROW(g) == COLUMN(h))")
        o.each("e < UNIT")
        there = [f"ROW(g) + e >= {g.k.low}"] * bool(g.k.low) + [f"ROW(g) + e < {g.k.high}"]
        value = f"x_{region_name(self.known.region)}[g + e][h + e]"
        o.line(f"if ({' && '.join([*there, _test(value, test)])}) flags |= {bit};")
        o.end(4)
        return o.lines

    def after(self, pivots: int) -> list[str]:
        """After a sweep over the rows k themselves."""
        if self.s.bands == 1:
            return []
        inner = self.on_diagonal(self.known.diagonal, 1) if self.known and self.known.diagonal else []
        if self.checks and self.direct(pivots):
            inner.append(f"if (pivot == {pivots - 1}) flags = c2cu_together(flags);")
        return ["if (turn == 0) {", *(f"    {x}" if x != UNROLL else x for x in inner), "}"] if inner else []

    def change(self, pivots: int) -> list[str]:
        """Another band of rows comes to the registers."""
        if self.s.bands == 1:
            return []
        out = ["if (fresh || wanted != band) {", "    if (!fresh && real) {"]
        for r in self.written:
            put = self.kept(r)
            if self.direct(pivots):
                final = self.taken(r)
                out.append(f"        if (pivot < {pivots - 1}) {put}")
                out.append(f"        else if (!(flags & 1)) {final}")
            else:
                out.append(f"        {put}")
        out[1:1] = [f"    {x}" for x in (*self.pointers(), *(self.outputs() if self.direct(pivots) else ()))]
        out += ["    }", "    fresh = false, band = wanted, row0 = band * (R * TY) + ty * UNIT;"]
        for r in self.g.regions:
            bring = self.brought(r)
            if r in self.written:
                out.append(f"    if (sweep < BANDS) {bring}")
                out.append(f"    else if (real) {self.recalled(r)}")
            else:
                out.append(f"    {bring}")
        tests = self.tests_at_first()
        if tests:
            out += ["    if (sweep < BANDS) {", *(f"        {x}" if x != UNROLL else x for x in tests), "    }"]
        return [*out, "}"]

    def finish(self, pivots: int) -> list[str]:
        out = self.pointers() if self.s.bands > 1 else []
        if self.s.bands == 1 and self.known is not None and self.known.diagonal:
            out += self.on_diagonal(self.known.diagonal, 1)
        if self.s.bands > 1 and not self.direct(pivots):
            for r in self.written:
                out.append(f"if (real) {self.kept(r)}")
        if self.checks and (self.s.bands == 1 or not self.direct(pivots)):
            out.append("flags = c2cu_together(flags | (moved ? 1 : 0));")
        return out + self.outputs()

    def again(self, kernel: Kernel) -> list[str]:
        """The kernel as it was, for one thread."""
        if not self.checks:
            return []
        o = CudaText()
        o.depth = 2
        for line in self.pointers():  # anew: no register keeps them until then
            o.line(line)
        for r in self.g.regions:
            name, t = region_name(r), element_name(r.type)
            if r in self.written:
                o.line(f"{t} *const {name} = out_{name};")
                o.line(f"for (int e = 0; e < {r.count}; e++) {name}[e] = in_{name}[e];")
            else:
                o.line(f"const {t} *const {name} = in_{name};")
        o.declare(kernel.body)
        o.block(kernel.body)
        return o.lines

    def take(self, pivots: int) -> list[str]:
        out = []
        last = [self.taken(r) for r in self.written]
        if self.s.bands > 1 and not self.direct(pivots):
            out.append("for (band = 0; band < BANDS; band++) {")
            out.append("    row0 = band * (R * TY) + ty * UNIT;")
            for r, put in zip(self.written, last):
                name = region_name(r)
                out.append(f"    {self.recalled(r)}")
                out.append(f"    {put}")
            out.append("}")
        else:
            out += last
        for r in self.written:
            stride, name = self.strides[r], region_name(r)
            if stride > self.g.columns or r.count > stride * self.g.rows:
                out.append(f"for (int e = tid; e < {r.count}; e += THREADS) /* what no step touches */")
                out.append(f"    if (e / {stride} >= ROWS || e % {stride} >= COLUMNS) out_{name}[e] = in_{name}[e];")
        return out


def _test(x: str, t: Test) -> str:
    return f"{x} {t.op} {literal(t.value.value, t.value.type)}"
