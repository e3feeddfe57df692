"""CUDA text of the schedule `tiles`: the values of its template."""

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
from .tiles_shape import Sides, TileShape, bounds
from .tiles_steps import UNROLL, Cells, Steps, register_type

Layout = Mapping[str, tuple[int, Leaf]]  # region name -> its slot's number, and where it lies in the slot's bytes


def values(
    kernel: Kernel, g: Gep, sides: Sides, s: TileShape, slots: tuple[Slot, ...], layout: Layout, fast: bool
) -> dict[str, Any]:
    """The template's values."""
    moves = g.row_moves or g.column_moves
    proven = proof(g) if moves else None
    compares = moves and proven is None
    written = [r for r in g.regions if any(r in dict(p.values) for p in (*g.scale, g.update))]
    pivots = -(-g.k.high // s.band)
    frame = _Frame(g, s, slots, layout, proven, compares, tuple(written))
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
        "nonnegativity": frame.nonnegativity(fast),
        "change": frame.change(pivots),
        "first": _bound(g.k.low // s.unit, "max", "pivot", s),
        "last": _bound(-(-g.k.high // s.unit), "min", "(pivot + 1)", s),
        "steps": Steps(g, sides, s, fast, compares).lines(),
        "minima": Steps(g, sides, s, True, compares).lines() if frame.nonnegativity(fast) else [],
        "after": frame.after(pivots),
        "finish": frame.finish(pivots),
        "again": frame.again(kernel),
        "take": frame.take(pivots),
    }


def _bound(n: int, function: str, pivot: str, s: TileShape) -> str:
    return f"{function}({n}, {pivot} * (R * TY / UNIT))" if s.bands > 1 else str(n)


class _Frame:
    """Prints what precedes and follows the steps: bringing tiles in, tests, and storing the results."""

    def __init__(
        self,
        g: Gep,
        s: TileShape,
        slots: tuple[Slot, ...],
        layout: Layout,
        proven: Proof | None,
        compares: bool,
        written: tuple[Region, ...],
    ):
        self.gep, self.shape, self.slots, self.layout = g, s, slots, layout
        self.proof, self.compares, self.written = proven, compares, written
        self.strides = dict(g.strides)
        self.place = {r: at for r, at in self.offsets()}

    @property
    def checks(self) -> bool:
        return self.compares or (self.proof is not None and self.proof != Proof(self.proof.region))

    def direct(self, pivots: int) -> bool:
        """Whether the test of an input is complete before the last band takes its steps, so that bands can be stored as
        they finish."""
        first = self.proof is not None and (self.proof.elements or self.proof.both)
        return not self.checks or (not self.compares and (pivots > 1 or not first))

    def offsets(self) -> Iterable[tuple[Region, int]]:
        """Where each region's copy lies in an input's working memory."""
        at = 0
        for r in self.written:
            yield r, at
            at += -(-self.gep.rows * self.shape.width * r.type.size // 256) * 256
        self.scratch = at

    def tables(self) -> list[str]:
        """The initial values of arrays that the user may leave out."""
        out = []
        for r in self.gep.regions:
            if self.initial(r):
                elements = ", ".join(literal(v, r.type) for v in r.init or ())
                name = f"c2cu_initial_{region_name(r)}"
                out.append(f"__device__ const {element_name(r.type)} {name}[{r.count}] = {{{elements}}};")
        return out

    def initial(self, r: Region) -> bool:
        return r.name not in self.layout or not self.slots[self.layout[r.name][0]].required

    def pointers(self) -> list[str]:
        out = []
        for r in self.gep.regions:
            name, t = region_name(r), element_name(r.type)
            source = f"c2cu_initial_{name}"
            if r.name in self.layout:
                slot = f"slot[{self.layout[r.name][0]}]"
                input_ = f"(const {t} *)((const char *){slot}.in + id * {slot}.in_stride)"
                source = f"{slot}.in ? {input_} : {source}" if self.initial(r) else input_
            out += [f"const {t} *const in_{name} = {source};", f"__builtin_assume(__isGlobal(in_{name}));"]
            if r in self.written and self.shape.bands > 1:
                at = f"((long long)blockIdx.x * INPUTS + which) * {self.scratch} + {self.place[r]}"
                out.append(f"{t} *const kept_{name} = ({t} *)((char *)memory + {at});")
        return out

    def outputs(self) -> list[str]:
        """Pointers to the outputs, computed as late as possible, since each takes registers."""
        out = []
        for r in self.written:
            name, t, slot = region_name(r), element_name(r.type), f"slot[{self.layout[r.name][0]}]"
            out.append(f"{t} *const out_{name} = ({t} *)((char *){slot}.out + id * {slot}.out_stride);")
            out.append(f"__builtin_assume(__isGlobal(out_{name}));")
        return out

    def tiles(self, sides: Sides) -> list[str]:
        out, at = [], 0
        s = self.shape
        for r in self.gep.regions:
            out.append(f"{register_type(r.type)} x_{region_name(r)}[R][C];")
        buffered = s.band if s.bands > 1 else 2
        for side, regions, count in (("rows", sides.rows, buffered * s.width), ("columns", sides.columns, 2 * s.band)):
            for r in regions:
                t = element_name(r.type)
                out.append(f"{t} *const {side}_{region_name(r)} = ({t} *)(shared + {at});")
                at += -(-count * r.type.size // 16) * 16
        return out

    # between a tile and an input, an output, or working memory

    def load(self, r: Region) -> str:
        return f"c2cu_bring<{self.strides[r]}>(x_{region_name(r)}, in_{region_name(r)}, row0, column0);"

    def store(self, r: Region) -> str:
        return f"c2cu_take<{self.strides[r]}>(x_{region_name(r)}, out_{region_name(r)}, row0, column0);"

    def save(self, r: Region) -> str:
        return f"c2cu_take<C * TX>(x_{region_name(r)}, kept_{region_name(r)}, row0, column0);"

    def restore(self, r: Region) -> str:
        name = region_name(r)
        return f"c2cu_bring<C * TX>(x_{name}, (const {element_name(r.type)} *)kept_{name}, row0, column0);"

    def bring(self) -> list[str]:
        return [self.load(r) for r in self.gep.regions] + self.tests_at_first()

    def nonnegativity(self, fast: bool) -> list[str]:
        """Compute whether all elements of all inputs in this warp or block are at least 0."""
        regions = nonnegative(self.gep) if not fast and chooses(self.gep) else ()
        if not regions:
            return []
        o = Cells(self.gep, 0)
        o.line("unsigned int largest = 0;")
        for r in regions:
            name = region_name(r)
            if self.shape.bands == 1:
                o.open_loops("r < R", "c < C")
                o.line(f"largest = max(largest, __float_as_uint(x_{name}[r][c]));")
                o.close_loops(2)
            else:
                o.line(f"largest = c2cu_largest<{r.count}>(largest, in_{name}, tid);")
        o.line(f"least = TOGETHER(largest <= {LARGEST_BITS:#x}u);")
        pointers = self.pointers() if self.shape.bands > 1 else []
        return ["bool least; /* whether minima are the choices that the C makes */", "{", *pointers, *o.lines, "}"]

    def tests_at_first(self) -> list[str]:
        if self.proof is None:
            return []
        o, name = Cells(self.gep, 0), region_name(self.proof.region)
        if self.proof.elements or self.proof.both:
            o.open_loops("r < R", "c < C")
            if self.proof.elements:
                o.line(f"flags |= {_test(f'x_{name}[r][c]', self.proof.elements)} ? 1 : 0;")
            if self.proof.both:
                o.line(f"flags |= {_test(f'x_{name}[r][c]', self.proof.both[1])} ? 4 : 0;")
            o.close_loops(2)
        if self.proof.both:
            o.lines += self.on_diagonal(self.proof.both[0], 2)
        return o.lines

    def on_diagonal(self, test: Test, bit: int) -> list[str]:
        """Test the elements [k][k] that a thread has."""
        assert self.proof is not None
        o, g = Cells(self.gep, 0), self.gep
        o.open_loops("g < R, UNIT", "h < C, UNIT")
        o.open("if (ROW(g) == COLUMN(h))")
        o.open_loops("e < UNIT")
        conditions = [f"ROW(g) + e >= {g.k.low}"] * bool(g.k.low) + [f"ROW(g) + e < {g.k.high}"]
        value = f"x_{region_name(self.proof.region)}[g + e][h + e]"
        o.line(f"if ({' && '.join([*conditions, _test(value, test)])}) flags |= {bit};")
        o.close_loops(4)
        return o.lines

    def after(self, pivots: int) -> list[str]:
        """Tests that follow the steps of the band that holds the rows k."""
        if self.shape.bands == 1:
            return []
        inner = self.on_diagonal(self.proof.diagonal, 1) if self.proof and self.proof.diagonal else []
        if self.checks and self.direct(pivots):
            inner.append(f"if (pivot == {pivots - 1}) flags = c2cu_together(flags);")
        return ["if (turn == 0) {", *(f"    {x}" if x != UNROLL else x for x in inner), "}"] if inner else []

    def change(self, pivots: int) -> list[str]:
        """Store the band that is in the registers, and load the next."""
        if self.shape.bands == 1:
            return []
        out = ["if (fresh || wanted != band) {", "    if (!fresh && real) {"]
        for r in self.written:
            saved = self.save(r)
            if self.direct(pivots):
                stored = self.store(r)
                out.append(f"        if (pivot < {pivots - 1}) {saved}")
                out.append(f"        else if (!(flags & 1)) {stored}")
            else:
                out.append(f"        {saved}")
        out[1:1] = [f"    {x}" for x in (*self.pointers(), *(self.outputs() if self.direct(pivots) else ()))]
        out += ["    }", "    fresh = false, band = wanted, row0 = band * (R * TY) + ty * UNIT;"]
        for r in self.gep.regions:
            loaded = self.load(r)
            if r in self.written:
                out.append(f"    if (sweep < BANDS) {loaded}")
                out.append(f"    else if (real) {self.restore(r)}")
            else:
                out.append(f"    {loaded}")
        tests = self.tests_at_first()
        if tests:
            out += ["    if (sweep < BANDS) {", *(f"        {x}" if x != UNROLL else x for x in tests), "    }"]
        return [*out, "}"]

    def finish(self, pivots: int) -> list[str]:
        out = self.pointers() if self.shape.bands > 1 else []
        if self.shape.bands == 1 and self.proof is not None and self.proof.diagonal:
            out += self.on_diagonal(self.proof.diagonal, 1)
        if self.shape.bands > 1 and not self.direct(pivots):
            for r in self.written:
                out.append(f"if (real) {self.save(r)}")
        if self.checks and (self.shape.bands == 1 or not self.direct(pivots)):
            out.append("flags = c2cu_together(flags | (moved ? 1 : 0));")
        return out + self.outputs()

    def again(self, kernel: Kernel) -> list[str]:
        """The sequential kernel, for one thread."""
        if not self.checks:
            return []
        o = CudaText()
        o.depth = 2
        for line in self.pointers():  # anew: no register keeps them until then
            o.line(line)
        for r in self.gep.regions:
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
        stores = [self.store(r) for r in self.written]
        if self.shape.bands > 1 and not self.direct(pivots):
            out.append("for (band = 0; band < BANDS; band++) {")
            out.append("    row0 = band * (R * TY) + ty * UNIT;")
            for r, stored in zip(self.written, stores):
                name = region_name(r)
                out.append(f"    {self.restore(r)}")
                out.append(f"    {stored}")
            out.append("}")
        else:
            out += stores
        for r in self.written:
            stride, name = self.strides[r], region_name(r)
            if stride > self.gep.columns or r.count > stride * self.gep.rows:
                out.append(f"for (int e = tid; e < {r.count}; e += THREADS) /* what no step touches */")
                out.append(f"    if (e / {stride} >= ROWS || e % {stride} >= COLUMNS) out_{name}[e] = in_{name}[e];")
        return out


def _test(x: str, t: Test) -> str:
    return f"{x} {t.op} {literal(t.value.value, t.value.type)}"
