"""CUDA text of the schedule `tiles`: the values of its template."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...codegen.cuda import CudaText, element_name, literal
from ...gep import Gep
from ...gep.nonnegative import chooses, nonnegative
from ...gep.semiring import Proof, Test, never_met, proof
from ...ir.nodes import Expr, Kernel, Region
from ..slots import Layout, Slot
from .about import about
from .extrema import extrema
from .names import matrix_name
from .sequential_text import SequentialText
from .tiles_shape import Sides, TileShape, bounds
from .tiles_steps import Cells, Steps, compared, register_type


def values(
    kernel: Kernel, g: Gep, sides: Sides, s: TileShape, slots: tuple[Slot, ...], layout: Layout, fast: bool
) -> dict[str, Any]:
    """The template's values."""
    moves = g.row_moves or g.column_moves
    proven = proof(g) if moves else None
    compares = moves and proven is None
    written = tuple(r for r in g.regions if any(r in dict(p.values) for p in (*g.scale, g.update)))
    minima = not fast and chooses(g) and bool(nonnegative(g))
    frame = _Frame(g, s, slots, layout, proven, compares, written, minima, -(-g.k.high // s.band))
    steps_lines = Steps(g, sides, s, fast, compares, minima).lines()
    return {
        "about": about(kernel.name, g),
        "unit": s.unit,
        "tile_rows": s.rows,
        "tile_columns": s.columns,
        "down": s.down,
        "across": s.across,
        "rows": g.rows,
        "columns": g.columns,
        "all_rows": g.rows == s.band * s.bands,
        "all_columns": g.columns == s.width,
        "bands": s.bands,
        "threads": s.threads,
        "inputs": s.inputs,
        "bounds": bounds(s, g, sides),
        "warp": s.warp,
        "bytes": s.shared_bytes(sides),
        "scratch": frame.scratch if frame.keeps else 0,
        "pivots": frame.pivots,
        "passed": {"rows": [matrix_name(r) for r in sides.rows], "columns": [matrix_name(r) for r in sides.columns]},
        "matrices": [matrix_name(r) for r in g.regions],
        "tables": frame.tables(),
        "pointers": frame.pointers(g.regions) if s.bands == 1 else [],
        "tiles": frame.tiles(sides),
        "bring": frame.bring() if s.bands == 1 else [],
        "minima": minima,
        "extrema": extrema("\n".join(steps_lines)) or "minima",
        "monotone": frame.monotone(),
        "monotone_test": frame.monotone_test(),
        "nonnegativity": frame.nonnegativity() if minima else [],
        "compared": sorted({register_type(r.type) for r in compared(g)}) if compares else [],
        "change": frame.change(),
        "first": _bound(g.k.low // s.unit * s.unit, "max", "pivot", s),
        "last": _bound(-(-g.k.high // s.unit) * s.unit, "min", "(pivot + 1)", s),
        "steps": steps_lines,
        "checks": frame.checks,
        "unsafe": frame.unsafe,
        "both": frame.proof is not None and frame.proof.both is not None,
        "compares": compares,
        "reason": frame.reason() if frame.checks else "",
        "after": frame.after(),
        "finish": frame.finish(),
        "outputs": frame.outputs(),
        "again": frame.again(kernel),
        "take": frame.take(),
    }


def _bound(n: int, function: str, pivot: str, s: TileShape) -> str:
    """The first step of a sweep, or the one behind its last."""
    if s.bands == 1:
        return str(n)
    steps = f"{pivot} * (R * TY)"
    return steps if n % s.band == 0 else f"{function}({n}, {steps})"


class _InPlace(SequentialText):
    """Prints the sequential kernel, on the outputs ``written`` and the inputs."""

    def __init__(self, g: Gep, kernel: Kernel, written: tuple[Region, ...]):
        super().__init__(g, kernel, 0)
        self.written = written

    def element(self, r: Region, index: Expr) -> str:
        return f"{'out' if r in self.written else 'in'}_{matrix_name(r)}[{self.text(self.index(index))}]"


class _Frame:
    """Prints what precedes and follows the steps: bringing tiles in, tests, and storing the results. ``minima``:
    whether a kernel chooses by the elements that come in whether choices are computed as minima. ``pivots``: bands that
    hold rows k."""

    def __init__(
        self,
        g: Gep,
        s: TileShape,
        slots: tuple[Slot, ...],
        layout: Layout,
        proven: Proof | None,
        compares: bool,
        written: tuple[Region, ...],
        minima: bool,
        pivots: int,
    ):
        self.gep, self.shape, self.slots, self.layout = g, s, slots, layout
        self.proof, self.compares, self.written = proven, compares, written
        self.minima, self.pivots = minima, pivots
        self.strides = dict(g.strides)
        self.place = {r: at for r, at in self.offsets()}

    @property
    def checks(self) -> bool:
        """Whether it may turn out that an input has to be computed again."""
        return self.compares or (self.proof is not None and self.proof != Proof(self.proof.region))

    @property
    def unsafe(self) -> str:
        """The condition of a template's branch for what the tests find: minima are taken only where nothing is below 0,
        which leaves tests of what is below 0 nothing to find."""
        return "!MINIMA" if self.minima and self.proof is not None and never_met(self.gep, self.proof) else ""

    @property
    def warp(self) -> bool:
        return self.shape.warp

    @property
    def direct(self) -> bool:
        """Whether the test of an input is complete before the last band takes its steps, so that bands can be stored as
        they finish."""
        first = self.proof is not None and (self.proof.elements or self.proof.both)
        return not self.checks or (not self.compares and (self.pivots > 1 or not first))

    @property
    def keeps(self) -> bool:
        """Whether bands wait in working memory for further steps."""
        return self.shape.bands > 1 and (self.pivots > 1 or not self.direct)

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
                name = f"c2cu_initial_{matrix_name(r)}"
                out.append(f"__device__ const {element_name(r.type)} {name}[{r.count}] = {{{elements}}};")
        return out

    def initial(self, r: Region) -> bool:
        return r.name not in self.layout or not self.slots[self.layout[r.name][0]].required

    # pointers, computed as late as possible, since each takes registers

    def pointers(self, regions: Iterable[Region]) -> list[str]:
        """To the inputs."""
        out = []
        for r in regions:
            name, t = matrix_name(r), element_name(r.type)
            source = f"c2cu_initial_{name}"
            if r.name in self.layout:
                slot = f"slot[{self.layout[r.name][0]}]"
                input_ = f"(const {t} *)((const char *){slot}.in + id * {slot}.in_stride)"
                source = f"{slot}.in ? {input_} : {source}" if self.initial(r) else input_
            out += [f"const {t} *const in_{name} = {source};", f"IN_GLOBAL_MEMORY(in_{name});"]
        return out

    def kept(self) -> list[str]:
        """To the copies in which bands wait for their next steps."""
        out = []
        number = "((long long)blockIdx.x * INPUTS + place)" if self.warp else "id"
        for r in self.written:
            name, t = matrix_name(r), element_name(r.type)
            at = f"{number} * {self.scratch}" + (f" + {self.place[r]}" if self.place[r] else "")
            out.append(f"{t} *const kept_{name} = ({t} *)((char *)memory + {at});")
        return out

    def outputs(self) -> list[str]:
        out = []
        for r in self.written:
            name, t, slot = matrix_name(r), element_name(r.type), f"slot[{self.layout[r.name][0]}]"
            out.append(f"{t} *const out_{name} = ({t} *)((char *){slot}.out + id * {slot}.out_stride);")
            out.append(f"IN_GLOBAL_MEMORY(out_{name});")
        return out

    def tiles(self, sides: Sides) -> list[str]:
        """Declare a thread's elements, and what points to row k and column k in shared memory."""
        out, at = [], 0
        s = self.shape
        for r in self.gep.regions:
            out.append(f"{register_type(r.type)} x_{matrix_name(r)}[R][C];")
        buffered = s.band if s.bands > 1 else 2
        for side, regions, count in (("rows", sides.rows, buffered * s.width), ("columns", sides.columns, 2 * s.band)):
            for r in regions:
                t = element_name(r.type)
                place = f"(shared + {at})" if at else "shared"
                out.append(f"{t} *const {side}_{matrix_name(r)} = ({t} *){place};")
                at += -(-count * r.type.size // 16) * 16
        return out

    # between a tile and an input, an output, or working memory

    def load(self, r: Region) -> str:
        return f"c2cu_load_tile<{self.strides[r]}>(x_{matrix_name(r)}, in_{matrix_name(r)}, row0, column0);"

    def store(self, r: Region) -> str:
        return f"c2cu_store_tile<{self.strides[r]}>(x_{matrix_name(r)}, out_{matrix_name(r)}, row0, column0);"

    def save(self, r: Region) -> str:
        return f"c2cu_store_tile<C * TX>(x_{matrix_name(r)}, kept_{matrix_name(r)}, row0, column0);"

    def restore(self, r: Region) -> str:
        name = matrix_name(r)
        return f"c2cu_load_tile<C * TX>(x_{name}, (const {element_name(r.type)} *)kept_{name}, row0, column0);"

    def bring(self) -> list[str]:
        return [self.load(r) for r in self.gep.regions] + self.tests_at_first()

    def nonnegativity(self) -> list[str]:
        """Compute the greatest bits of all elements that this thread has, or that are its part of a band's."""
        o = Cells(self.gep, 0)
        regions = nonnegative(self.gep)
        if self.shape.bands > 1:
            o.lines += self.pointers(regions)
        for r in regions:
            name = matrix_name(r)
            if self.shape.bands == 1:
                o.open_loops("r < R", "c < C")
                o.line(f"largest = max(largest, __float_as_uint(x_{name}[r][c]));")
                o.close_loops(2)
            else:
                o.line(f"largest = c2cu_largest<{r.count}>(largest, in_{name}, tid);")
        return o.lines

    # whether an input has to be computed again

    def reason(self) -> str:
        """The event that the kernel looks for."""
        if self.proof is None:
            return "a step k has changed row k or column k itself"
        out, p = [], self.proof
        corner, some = (self.gep.element(p.region, where) for where in ("kk", "ij"))
        if p.diagonal is not None:
            out.append(f"some {corner} {_test('is', p.diagonal)} after its step k")
        if p.elements is not None:
            out.append(f"some {some} {_test('is', p.elements)} at first")
        if p.both is not None:
            out.append(f"at first some {corner} {_test('is', p.both[0])} and some {some} {_test('is', p.both[1])}")
        return ", or ".join(out)

    @property
    def diagonal(self) -> Test | None:
        """What is tested of the diagonal at the end."""
        return self.proof.diagonal if self.checks and self.proof is not None else None

    def monotone(self) -> str:
        """What all elements do, so that testing the diagonal at the end is enough (`c2cu.gep.semiring`)."""
        return "" if self.diagonal is None else "fall" if self.diagonal.op == "<" else "rise"

    def monotone_test(self) -> str:
        return "" if self.diagonal is None else _test("", self.diagonal).strip()

    def tests_at_first(self) -> list[str]:
        if self.proof is None:
            return []
        o, name = Cells(self.gep, 0), matrix_name(self.proof.region)
        if self.proof.elements or self.proof.both:
            o.open_loops("r < R", "c < C")
            if self.proof.elements:
                o.line(f"again |= {_test(f'x_{name}[r][c]', self.proof.elements)};")
            if self.proof.both:
                o.line(f"seen |= {_test(f'x_{name}[r][c]', self.proof.both[1])} ? ELSEWHERE : 0;")
            o.close_loops(2)
        if self.proof.both:
            o.lines += self.on_diagonal(self.proof.both[0], "seen |= ON_DIAGONAL")
        return o.lines

    def on_diagonal(self, test: Test, then: str) -> list[str]:
        """Test the elements [k][k] that a thread has; do ``then`` where one is met."""
        assert self.proof is not None
        o, g = Cells(self.gep, 0), self.gep
        o.line("/* Elements (k, k), where this thread holds some. */")
        o.open_loops("g < R, UNIT", "h < C, UNIT")
        o.open("if (ROW(g) == COLUMN(h))")
        o.open_loops("e < UNIT")
        condition = _test(f"x_{matrix_name(self.proof.region)}[g + e][h + e]", test)
        low = [f"ROW(g) + e >= {g.k.low}"] * bool(g.k.low)
        high = [f"ROW(g) + e < {g.k.high}"] * (g.k.high < self.shape.band * self.shape.bands)
        o.line(f"if ({' && '.join([*low, *high, condition])}) {then};")
        o.close_loops(4)
        return o.lines

    def decided(self) -> str:
        """All threads of a matrix learn what one of them has found."""
        if self.compares:
            return "const bool again = c2cu_any_of(moved != 0);"
        assert self.proof is not None
        flags = ["c2cu_any_of(again)"] if self.proof.diagonal or self.proof.elements else []
        if self.proof.both:
            both = "c2cu_any_of(seen & ON_DIAGONAL) & c2cu_any_of(seen & ELSEWHERE)"
            flags.append(f"({both})" if flags else both)
        return f"again = {' | '.join(flags)};"

    def after(self) -> list[str]:
        """Tests that follow the steps of the band that holds the rows k."""
        if self.shape.bands == 1 or self.proof is None:
            return []
        inner = self.on_diagonal(self.proof.diagonal, "again = true") if self.proof.diagonal else []
        if self.checks and self.direct:
            inner.append(f"if (pivot == {self.pivots - 1}) {self.decided()}" if self.pivots > 1 else self.decided())
        return inner

    def change(self) -> list[str]:
        """Store the band that is in the registers, and load the next."""
        if self.shape.bands == 1:
            return []
        o = CudaText()
        o.depth = 0
        o.lines += self.pointers(self.gep.regions)
        o.lines += self.kept() if self.keeps else []
        o.lines += self.outputs() if self.direct else []
        o.open("if (band >= 0 && stores)" if self.warp else "if (band >= 0)")
        last = f"if (pivot < {self.pivots - 1}) " if self.direct and self.keeps else ""
        unless = "if (!again) " if self.checks else ""
        if last:
            o.line("/* It comes back, but in the last sweep, where its elements are results. */")
        for r in self.written:
            if self.keeps:
                o.line(f"{last}{self.save(r)}")
            if self.direct:
                o.line(f"{'else ' * self.keeps}{unless}{self.store(r)}")
        o.close()
        o.line("band = wanted, row0 = band * (R * TY) + ty * UNIT;")
        for r in self.gep.regions:
            if r in self.written and self.pivots > 1:
                o.line(f"if (sweep < BANDS) {self.load(r)}")
                o.line(f"else {'if (stores) ' * self.warp}{self.restore(r)}")
            else:
                o.line(self.load(r))
        tests = self.tests_at_first()
        if tests:
            o.open(f"if ({' && '.join([*[self.unsafe] * bool(self.unsafe), 'sweep < BANDS'])})")
            o.lines += [f"    {x}" for x in tests]
            o.close()
        return o.lines

    def finish(self) -> list[str]:
        """What follows the last step."""
        out: list[str] = []
        if self.shape.bands == 1 and self.proof is not None and self.proof.diagonal:
            out += self.on_diagonal(self.proof.diagonal, "again = true")
        if self.checks and (self.shape.bands == 1 or not self.direct):
            out.append(self.decided())
        return out

    def again(self, kernel: Kernel) -> list[str]:
        """The sequential kernel, for one thread."""
        if not self.checks:
            return []
        o = _InPlace(self.gep, kernel, self.written)
        for line in self.pointers(self.gep.regions):  # anew: no register keeps them until then
            o.line(line)
        for r in self.written:
            name = matrix_name(r)
            o.line(f"for (int e = 0; e < {r.count}; e++) out_{name}[e] = in_{name}[e];")
        return o.whole()

    def take(self) -> list[str]:
        """Store what is in the registers, or in bands that wait; and what no step touches."""
        out = []
        stores = [self.store(r) for r in self.written]
        if self.shape.bands > 1 and not self.direct:
            out += [*self.kept(), *(self.save(r) for r in self.written)]
            out.append("for (band = 0; band < BANDS; band++) {")
            out.append("    row0 = band * (R * TY) + ty * UNIT;")
            for r, stored in zip(self.written, stores):
                out.append(f"    {self.restore(r)}")
                out.append(f"    {stored}")
            out.append("}")
        else:
            out += stores
        g, strides = self.gep, self.strides
        whole = [r for r in self.written if strides[r] > g.columns or r.count > strides[r] * g.rows]
        if self.shape.bands > 1:
            out += self.pointers(whole)
        for r in whole:
            stride, name = self.strides[r], matrix_name(r)
            out.append(f"for (int e = tid; e < {r.count}; e += THREADS) /* what no step touches */")
            out.append(f"    if (e / {stride} >= ROWS || e % {stride} >= COLUMNS) out_{name}[e] = in_{name}[e];")
        return out


def _test(x: str, t: Test) -> str:
    return f"{x} {t.op} {literal(t.value.value, t.value.type)}"
