"""C text of the schedule ``gep`` for the CPU: the values of its template."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...analysis.uniform import Uniform
from ...base.ctype import BOOL, Leaf, Scalar
from ...codegen.positions import mark
from ...codegen.simd import Printer, literal, mask_of, member
from ...gep import Gep, Part, Range
from ...gep.cell import reads, replaced
from ...ir.nodes import Binary, Call, Expr, Extremum, Kernel, Region, Variable
from ...ir.walk import subexpressions
from ..gang.text import c_name
from ..slots import Slot

_SCALAR = {"f32": "float", "f64": "double", "i32": "int", "u32": "unsigned int", "i64": "long", "u64": "unsigned long"}


class GepText:
    """``wide``: lanes are of 8 bytes; ``registers``: how many vector registers the CPU has. Elements of working copies
    are as wide as a lane."""

    def __init__(
        self,
        g: Gep,
        slots: tuple[Slot, ...],
        layout: Mapping[str, tuple[int, Leaf]],
        lanes: int,
        block: int,
        wide: bool,
        registers: int,
    ):
        self.gep, self.slots, self.layout, self.lanes = g, slots, layout, lanes
        self.k, self.i, self.j = g.counters
        kernel = Kernel("", g.regions, ())
        varying = frozenset(self.name(w, r) for r in g.regions for w in ("ij", "kj")) | {self.j}
        self.printer = Printer(Uniform(kernel, varying, frozenset(), ()), wide=wide)
        self.uniform_printer = Printer(Uniform(kernel, frozenset(), frozenset(), ()))
        self.written = dict(g.update.values)
        self.used = {v for value in self.written.values() for v in reads(value)}
        read_at = {w: [r for r in g.regions if any((p.region, p.where) == (r, w) for p in g.update.places)] for w in
                 ("ij", "ik", "kj", "kk")}  # fmt: skip
        self.tiles = [r for r in g.regions if r in self.written or r in read_at["ij"]]
        scaled = [
            r for part in g.scale if part.where == "ik" for r in (*dict(part.values), *(x.region for x in part.places))
        ]
        self.copied = [r for r in g.regions if r in self.tiles or r in read_at["ik"] or r in scaled]
        self.watched = [r for r in read_at["ik"] if g.column_moves and r in self.written]
        self.from_column, self.from_row, self.from_corner = read_at["ik"], read_at["kj"], read_at["kk"]
        moving = read_at["kj"] + [r for r in read_at["kk"] if r not in read_at["kj"]]
        self.row_copies = moving if g.row_moves else read_at["kj"]
        self.stages = len(g.scale) + 1
        size = 4 if registers == 32 else 2
        values = [v for part in (*g.scale, g.update) for _, v in part.values]
        self.heavy = any(_is_heavy(x) for v in values for x in subexpressions(v))
        self.deep, self.wide = size, max(1, min(4 // max(1, len(self.tiles)), block // lanes))
        if self.heavy:
            self.deep = self.wide = 1

    def values(self) -> dict[str, Any]:
        g, update = self.gep, self.gep.update
        columns_scaled = any(part.where == "ik" for part in g.scale)
        return {
            "rows": g.rows,
            "columns": g.columns,
            "first": g.k.low,
            "last": g.k.high,
            "deep": self.deep,
            "wide": self.wide,
            "stages": self.stages,
            "tall": 1 if self.heavy else min(self.lanes, 8 if len(self.copied) == 1 and not columns_scaled else 4),
            "unrolled": 1 if self.heavy else self.lanes,
            "narrow": 1 if self.heavy else "STRIP",
            "inlined": "noinline" if self.heavy else "always_inline",
            "iota": ", ".join(map(str, range(self.lanes))),
            "members": [f"{self.stored(r)} *{a}_{member(r)}" for r in g.regions for a in "xuvk"],
            "arrays": list(self.arrays()),
            "tables": list(self.tables()),
            "cell": self.cell(),
            "scale": [self.scale(n, part) for n, part in enumerate(g.scale)],
            "keep": {
                "rows": [f"{self.at('v', r, 'q * B + j')} = {self.at('x', r, 'q * B + j')};" for r in self.row_copies],
                "columns": [f"u_{n}[i * B + q] = x_{n}[i * B + q];" for n in map(member, self.from_column)],
                "corner": self.corners(self.from_corner, self.stages - 1),
            },
            "update": {
                "row_start": _start(update.rows),
                "row_end": f"{update.rows.high}L",
                "column_start": _start(update.columns),
                "column_end": f"{update.columns.high}L",
                "all_rows": _all(update.rows, g.rows),
                "all_columns": _all(update.columns, g.columns),
                "lines": list(self.update()),
            },
            "pointers": list(self.pointers()),
            "row_check": list(self.row_check()) if g.row_moves else [],
            "column_check": list(self.column_check()) if g.column_moves else [],
            "strip": {
                "enter": list(self.strip_enter()),
                "step": list(self.strip_step()),
                "leave": list(self.strip_leave()),
            },
            "product": {"enter": list(self.enter()), "step": list(self.step()), "leave": list(self.leave())},
            "inside": self.inside(),
            "pack": [line for r in g.regions for line in self.pack(r)],
            "unpack": [line for r in g.regions for line in self.unpack(r)],
        }

    # names and types

    def name(self, where: str, r: Region) -> Variable:
        return Variable(f"{where}_{member(r)}", r.type)

    def var(self, where: str, r: Region) -> str:
        return self.printer.var(self.name(where, r))

    def stored(self, r: Region) -> str:
        """The C type of a working copy's elements."""
        return _SCALAR[self.printer.register(r.type)]

    def at(self, array: str, r: Region, index: str) -> str:
        """The vector at an element of a tile (x), or of its copies (u, v, k)."""
        return f"*({self.printer.register(r.type)} *)&{array}_{member(r)}[{index}]"

    def pointers(self) -> Iterator[str]:
        for r in self.gep.regions:
            n, t = member(r), self.stored(r)
            yield f"{t} *const x_{n} = X({n}, I, J), *const u_{n} = U({n}, D, I), *const v_{n} = V({n}, D, J);"
            yield f"{t} *const k_{n} = K({n}, D);"
            yield f"(void)x_{n}, (void)u_{n}, (void)v_{n}, (void)k_{n};"

    def renamed(self, part: Part, value: Expr) -> Expr:
        return replaced(value, {p.variable: self.name(p.where, p.region) for p in part.places})

    def printed(self, value: Expr, t: Scalar) -> str:
        return self.printer.truth(value) if t == BOOL else self.printer.vector(value)

    def scalar(self, r: Region, text: str) -> str:
        """A working copy's element as a value of the program's type."""
        return f"({text} != 0)" if r.type == BOOL else text

    def arrays(self) -> Iterator[dict[str, object]]:
        tile = "B * B"
        for r in self.gep.regions:
            name = member(r)
            yield {"name": f"s->x_{name}", "count": f"LARGER(TILES_I * TILES_J * {tile}, {r.count}L)"}
            if r in self.from_column:
                yield {"name": f"s->u_{name}", "count": f"RING * TILES_I * {tile}"}
            if r in self.row_copies:
                yield {"name": f"s->v_{name}", "count": f"RING * TILES_J * {tile}"}
            yield {"name": f"s->k_{name}", "count": f"RING * B * {self.stages}"}

    def tables(self) -> Iterator[str]:
        for r in self.gep.regions:
            if r.storage == "bulk" and r.begins_otherwise:
                values = ", ".join(literal(v, r.type) for v in r.init or ())
                yield f"static const {c_name(r.type)} initial_{member(r)}[{r.count}] = {{{values}}};"

    # the update of one element, W columns at once

    def cell(self) -> dict[str, object]:
        parameters = [f"{self.printer.register(r.type)} *to_{member(r)}" for r in self.written]
        parameters += [f"{self.printer.register(r.type)} {self.var('ij', r)}" for r in self.tiles]
        parameters += [f"{r.type} {self.var('ik', r)}" for r in self.from_column]
        parameters += [f"{self.printer.register(r.type)} {self.var('kj', r)}" for r in self.from_row]
        parameters += [f"{r.type} {self.var('kk', r)}" for r in self.from_corner]
        parameters += [f"{v.type} {self.printer.var(v)}" for v in (self.k, self.i) if v in self.used]
        if self.j in self.used:
            parameters.append(f"{self.printer.register(self.j.type)} {self.printer.var(self.j)}")
        self.printer.lines = []
        ends = []
        for r, value in self.written.items():
            text = self.printed(self.renamed(self.gep.update, value), r.type)
            ends.append(f"*to_{member(r)} = {text};")
        lines = [*self.printer.lines, *ends]
        mark(lines, 0, next(iter(self.written.values())).loc)
        return {"parameters": ", ".join(parameters), "lines": lines}

    def call(self, tile: str, row: str, column: str, ik: str, kj: Mapping[Region, str], corner: str) -> str:
        """``tile``, ``ik``, ``corner``: how a region's values are named, with {} for the region."""
        args = [f"&{tile.format(member(r))}" for r in self.written]
        args += [tile.format(member(r)) for r in self.tiles]
        args += [self.scalar(r, ik.format(member(r))) for r in self.from_column]
        args += [kj[r] for r in self.from_row]
        args += [self.scalar(r, corner.format(member(r))) for r in self.from_corner]
        args += [text for v, text in ((self.k, "k"), (self.i, f"I * B + {row}")) if v in self.used]
        if self.j in self.used:
            rep, counted = self.printer.register(self.j.type), f"iota + (int)(J * B + {column})"
            args.append(f"CONVERT({rep}, {counted})" if rep[1:] == "64" else f"({rep})({counted})")
        return f"cell({', '.join(args)});"

    def masked(self, rep: str, value: str, old: str, low: str, high: str, j: str = "iota + (int)j") -> str:
        """``value`` in columns low <= j < high, else ``old``."""
        mask = f"({j} >= (int)({low})) & ({j} < (int)({high}))"
        return f"select_{rep}({mask if rep[1:] == '32' else f'CONVERT({mask_of(rep)}, {mask})'}, {value}, {old})"

    def update(self) -> Iterator[str]:
        for r in self.tiles:
            yield f"{self.printer.register(r.type)} now_{member(r)} = {self.at('x', r, 'i * B + j')};"
        corner = f"k_{{}}[q * {self.stages}{_plus(self.stages - 1)}]"
        kj = {r: self.at("v", r, "q * B + j") for r in self.from_row}
        yield self.call("now_{}", "i", "j", "u_{}[i * B + q]", kj, corner)
        for r in self.written:
            place, rep, value = self.at("x", r, "i * B + j"), self.printer.register(r.type), f"now_{member(r)}"
            whole = _all(self.gep.update.columns, self.gep.columns)
            yield f"{place} = {value if whole else self.masked(rep, value, place, 'left', 'right')};"

    # many elements, many steps

    def loop(self, *inside: str, rows: bool = True) -> Iterator[str]:
        if rows:
            yield "#pragma GCC unroll 16"
            yield "for (int r = 0; r < deep; r++)"
        yield f"#pragma GCC unroll {self.wide}"
        yield "for (int c = 0; c < wide; c++) {"
        yield from (f"    {line}" for line in inside)
        yield "}"

    def enter(self) -> Iterator[str]:
        for r in self.tiles:
            yield f"{self.printer.register(r.type)} t_{member(r)}[deep][wide];"
            yield from self.loop(f"t_{member(r)}[r][c] = {self.at('x', r, '(i + r) * B + j + c * W')};")

    def leave(self) -> Iterator[str]:
        for r in self.written:
            yield from self.loop(f"{self.at('x', r, '(i + r) * B + j + c * W')} = t_{member(r)}[r][c];")

    def step(self) -> Iterator[str]:
        if self.k in self.used:
            yield "const long k = D * B + q;"
        for r in self.from_row:
            yield f"{self.printer.register(r.type)} row_{member(r)}[wide];"
            yield from self.loop(f"row_{member(r)}[c] = {self.at('v', r, 'q * B + j + c * W')};", rows=False)
        corner = f"k_{{}}[q * {self.stages}{_plus(self.stages - 1)}]"
        kj = {r: f"row_{member(r)}[c]" for r in self.from_row}
        yield from self.loop(self.call("t_{}[r][c]", "i + r", "j + c * W", "u_{}[(i + r) * B + q]", kj, corner))

    # some rows and a vector of columns k, many steps

    def strip_enter(self) -> Iterator[str]:
        for r in self.copied:
            yield f"{self.printer.register(r.type)} t_{member(r)}[TALL];"
            yield f"for (int r = 0; r < TALL; r++) t_{member(r)}[r] = {self.at('x', r, '(i + r) * B + j0')};"
        for r in self.watched:
            yield f"{mask_of(self.printer.register(r.type))} changed_{member(r)}[TALL] = {{0}};"

    def strip_leave(self) -> Iterator[str]:
        for r in self.copied:
            if r in self.written or any(r in dict(p.values) for p in self.gep.scale if p.where == "ik"):
                yield f"for (int r = 0; r < TALL; r++) {self.at('x', r, '(i + r) * B + j0')} = t_{member(r)}[r];"
        for r in self.watched:
            n, rep = member(r), self.printer.register(r.type)
            text = f"changed_{n}[r]" if rep[1:] == "32" else f"CONVERT(i32, changed_{n}[r] != 0)"
            yield f"for (int r = 0; r < SMALLER(TALL, ROWS - I * B - i); r++) changed |= {text};"

    def strip_step(self) -> Iterator[str]:
        for n, part in enumerate(self.gep.scale):
            if part.where == "ik":
                yield from self.strip_scale(n, part)
        for n in map(member, self.from_column):
            yield f"u_{n}[(i + r) * B + j0 + c] = t_{n}[r][c];"
        low, high = f"{_start(self.gep.update.rows)} - I * B", f"{self.gep.update.rows.high}L - I * B"
        guard = "" if _all(self.gep.update.rows, self.gep.rows) else f"if (i + r >= {low} && i + r < {high}) "
        yield guard + "{"
        for r in self.tiles:
            yield f"    {self.printer.register(r.type)} now_{member(r)} = t_{member(r)}[r];"
        corner = f"k_{{}}[q * {self.stages}{_plus(self.stages - 1)}]"
        kj = {r: self.at("v", r, "q * B + j0") for r in self.from_row}
        yield "    " + self.call("now_{}", "i + r", "j0", "t_{}[r][c]", kj, corner)
        for r in self.written:
            rep, n, columns = self.printer.register(r.type), member(r), self.gep.update.columns
            low, high = f"{_start(columns)} - J * B - j0", f"{columns.high}L - J * B - j0"
            value = f"now_{n}"
            if not _all(columns, self.gep.columns):
                value = self.masked(rep, value, f"t_{n}[r]", low, high, "iota")
            if r in self.watched:
                m = mask_of(rep)
                here = "iota == (int)c" if m == "i32" else f"CONVERT({m}, iota == (int)c)"
                yield f"    changed_{n}[r] |= (({m})now_{n} ^ ({m})t_{n}[r]) & ({here});"
            yield f"    t_{n}[r] = {value};"
        yield "}"

    def strip_scale(self, n: int, part: Part) -> Iterator[str]:
        yield f"if (i + r >= {_start(part.rows)} - I * B && i + r < {part.rows.high}L - I * B) {{"
        for p in part.places:
            name = member(p.region)
            text = f"t_{name}[r][c]" if p.where == "ik" else f"k_{name}[q * {self.stages}{_plus(n)}]"
            yield f"    const {p.region.type} {self.var(p.where, p.region)} = {self.scalar(p.region, text)};"
        yield from (f"    {line}" for line in self.counters(part, "i + r"))
        for r, value in part.values:
            yield f"    const {r.type} new_{member(r)} = {self.uniform_printer.scalar(self.renamed(part, value))};"
        for r, _ in part.values:
            yield f"    t_{member(r)}[r][c] = {'-' if r.type == BOOL else ''}new_{member(r)};"
        yield "}"

    # rows and columns k

    def corners(self, regions: list[Region], stage: int) -> list[str]:
        return [f"k_{n}[q * {self.stages}{_plus(stage)}] = x_{n}[q * B + q];" for r in regions for n in (member(r),)]

    def scale(self, n: int, part: Part) -> dict[str, object]:
        corner = [p.region for p in part.places if p.where == "kk"]
        lines = list(self.scaled_row(n, part) if part.where == "kj" else self.scaled_column(n, part))
        of = "rows" if part.where == "kj" else "columns"
        return {"keep": self.corners(corner, n), "of": of, "lines": lines}

    def scaled_row(self, n: int, part: Part) -> Iterator[str]:
        start, end = f"{_start(part.columns)} - J * B", f"{part.columns.high}L - J * B"
        yield "for (long j = j0; j < j1; j += W) {"
        for p in part.places:
            t = self.printer.register(p.region.type) if p.where == "kj" else p.region.type
            corner = self.scalar(p.region, f"k_{member(p.region)}[q * {self.stages}{_plus(n)}]")
            text = self.at("x", p.region, "q * B + j") if p.where == "kj" else corner
            yield f"    const {t} {self.var(p.where, p.region)} = {text};"
        yield from (f"    {line}" for line in self.counters(part))
        self.printer.lines, ends = [], []
        for r, value in part.values:
            rep, place = self.printer.register(r.type), self.at("x", r, "q * B + j")
            text = self.masked(rep, self.printed(self.renamed(part, value), r.type), place, start, end)
            ends.append(f"const {rep} new_{member(r)} = {text};")
        ends += [f"{self.at('x', r, 'q * B + j')} = new_{member(r)};" for r, _ in part.values]
        yield from (f"    {line}" for line in (*self.printer.lines, *ends))
        yield "}"

    def scaled_column(self, n: int, part: Part) -> Iterator[str]:
        start, end = f"{_start(part.rows)} - I * B", f"{part.rows.high}L - I * B"
        yield f"for (long i = LARGER(i0, {start}); i < SMALLER(i1, {end}); i++) {{"
        for p in part.places:
            name = member(p.region)
            text = f"x_{name}[i * B + q]" if p.where == "ik" else f"k_{name}[q * {self.stages}{_plus(n)}]"
            yield f"    const {p.region.type} {self.var(p.where, p.region)} = {self.scalar(p.region, text)};"
        yield from (f"    {line}" for line in self.counters(part))
        for r, value in part.values:
            yield f"    const {r.type} new_{member(r)} = {self.uniform_printer.scalar(self.renamed(part, value))};"
        for r, _ in part.values:
            yield f"    x_{member(r)}[i * B + q] = {'-' if r.type == BOOL else ''}new_{member(r)};"
        yield "}"

    def counters(self, part: Part, row: str = "i") -> Iterator[str]:
        used = {v for _, value in part.values for v in reads(value)}
        for v, text in ((self.k, "k"), (self.i, f"I * B + {row}")):
            if v in used:
                yield f"const {v.type} {self.printer.var(v)} = {text};"

    def row_check(self) -> Iterator[str]:
        for r in self.row_copies:
            m = mask_of(self.printer.register(r.type))
            text = f"({m}){self.at('x', r, 'q * B + j')} != ({m}){self.at('v', r, 'q * B + j')}"
            text = f"CONVERT(i32, {text})" if m[1:] == "64" else text
            yield f"moved |= any(({text}) & (iota + (int)j < (int)(COLUMNS - J * B)));"

    def column_check(self) -> Iterator[str]:
        for n in map(member, self.from_column):
            yield f"moved |= memcmp(&x_{n}[i * B + q], &u_{n}[i * B + q], sizeof *x_{n});"

    def inside(self) -> str:
        """Whether all elements of a part of a tile take all of a block's steps."""
        terms = []
        for tile, low, high, span, all_of in (
            ("I", "i0", "i1", self.gep.update.rows, self.gep.rows),
            ("J", "j0", "j1", self.gep.update.columns, self.gep.columns),
        ):
            if span.after:
                terms.append(f"{tile} * B + {low} >= D * B + q1")
            elif span.low:
                terms.append(f"{tile} * B + {low} >= {span.low}")
            if span.high < all_of:
                terms.append(f"{tile} * B + {high} <= {span.high}")
        return " && ".join(terms) or "1"

    # in and out

    def source(self, r: Region) -> str:
        k, t = self.layout[r.name][0], c_name(r.type)
        slot = f"s->slot[{k}]"
        return f"(const {t} *)({slot}.in ? (const char *){slot}.in + s->id * {slot}.in_stride : 0)"

    def initial(self, r: Region, at: str) -> str:
        """An element of the input, or its initial value where the array is left out."""
        if self.slots[self.layout[r.name][0]].required:
            return f"from[{at}]"
        other = f"initial_{member(r)}[{at}]" if r.begins_otherwise else "0"
        return f"(from ? from[{at}] : {other})"

    def pack(self, r: Region) -> Iterator[str]:
        value = self.initial(r, f"(I * B + i) * {self.stride(r)}L + J * B + j")
        yield "{"
        yield f"    const {c_name(r.type)} *const from = {self.source(r)};"
        yield "    for (long J = 0; J < TILES_J; J++) {"
        yield f"        {self.stored(r)} *const x = X({member(r)}, I, J);"
        yield "        for (long i = 0; i < B; i++) {"
        yield "            const long known = I * B + i < ROWS ? SMALLER(B, COLUMNS - J * B) : 0;"
        yield f"            for (long j = 0; j < known; j++) x[i * B + j] = {_mask(r, value)};"
        yield "            for (long j = known; j < B; j++) x[i * B + j] = 0;"
        yield "        }"
        yield "    }"
        yield "}"

    def unpack(self, r: Region) -> Iterator[str]:
        k, t, stride = self.layout[r.name][0], c_name(r.type), self.stride(r)
        if r.storage != "bulk" or not self.slots[k].writes:
            return
        yield f"if (s->slot[{k}].out) {{"
        yield f"    {t} *const to = ({t} *)((char *)s->slot[{k}].out + s->id * s->slot[{k}].out_stride);"
        beside, below = stride > self.gep.columns, r.count > self.gep.rows * stride
        if beside or below:
            yield f"    const {t} *const from = {self.source(r)};"
        yield "    for (long i = 0; i < SMALLER(B, ROWS - I * B); i++) {"
        yield "        for (long J = 0; J < TILES_J; J++) {"
        yield f"            const {self.stored(r)} *const x = X({member(r)}, I, J) + i * B;"
        yield f"            {t} *const there = to + (I * B + i) * {stride}L + J * B;"
        yield "            const long known = SMALLER(B, COLUMNS - J * B);"
        yield f"            for (long j = 0; j < known; j++) there[j] = {self.scalar(r, 'x[j]')};"
        yield "        }"
        if beside:
            at = f"(I * B + i) * {stride}L + j"
            yield f"        for (long j = COLUMNS; to != from && j < {stride}L; j++) to[{at}] = {self.initial(r, at)};"
        yield "    }"
        if below:
            start = f"(I + 1) * B >= ROWS && to != from ? ROWS * {stride}L : {r.count}L"
            yield f"    for (long e = {start}; e < {r.count}L; e++) to[e] = {self.initial(r, 'e')};"
        yield "}"

    def stride(self, r: Region) -> int:
        return dict(self.gep.strides)[r]


def _is_heavy(x: Expr) -> bool:
    """Whether an operation is done lane by lane: unrolled many times, it would take the C compiler minutes."""
    called = isinstance(x, Call) or (isinstance(x, Extremum) and x.rule == "number")
    return called or (isinstance(x, Binary) and x.op in ("/", "%") and x.type.is_integer)


def _mask(r: Region, value: str) -> str:
    return f"-({value} != 0)" if r.type == BOOL else value


def _start(span: Range) -> str:
    return f"(k + {span.low})" if span.after else f"{span.low}L"


def _all(span: Range, count: int) -> bool:
    return not span.after and span.low == 0 and span.high == count


def _plus(n: int) -> str:
    return f" + {n}" if n else ""
