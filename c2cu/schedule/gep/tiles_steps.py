"""CUDA text of the steps: the owners of row k and column k pass them on, then all threads update their tiles."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from ...base.ctype import BOOL, INT, Scalar
from ...codegen.cuda import CudaText, element_name, type_name
from ...codegen.places import place_in
from ...gep import Gep, Part, Range
from ...gep.choice import guarded
from ...ir.fold import unary
from ...ir.nodes import Binary, Expr, Region, Select, Var, Variable
from ...transform.minmax import minima
from .names import matrix_name
from .tiles_shape import Sides, TileShape

UNROLL = "#pragma unroll"


def register_type(t: Scalar) -> str:
    """The type of an element in a register: narrow integers are what they are promoted to."""
    return type_name(INT if t.is_integer and t.size < 4 and t != BOOL else t)


class Cells(CudaText):
    """Prints code on the elements of a tile. ``at``: the C text of an element, by its place (ij, ik, kj, kk)."""

    def __init__(self, g: Gep, depth: int):
        super().__init__()
        self.depth = depth
        self.places = {p.variable: p for part in (*g.scale, g.update) for p in part.places}
        self.counters = dict(zip(g.counters, "kij"))
        self.at: Mapping[str, str] = {}

    def variable(self, v: Variable) -> str:
        if v in self.counters:
            return self.counters[v] if v.type == INT else f"(({type_name(v.type)}){self.counters[v]})"
        p = self.places[v]
        return self.at[p.where].format(matrix_name(p.region))

    def open_loops(self, *loops: str) -> None:
        """Open unrolled loops; ``"r < R"``: of r."""
        for x in loops:
            counter, *step = x.split(",")
            self.line(UNROLL)
            name = counter.split()[0]
            self.open(f"for (int {name} = 0; {counter}; {name} += {step[0].strip() if step else '1'})")

    def close_loops(self, count: int) -> None:
        for _ in range(count):
            self.close()

    @contextmanager
    def where_used(self, *constants: str) -> Iterator[None]:
        """Declare those of the ``constants``, ``"i = ROW(r)"``, that the lines printed meanwhile mention."""
        start, self.lines = self.lines, []
        yield
        text = "\n".join(self.lines)
        named = [c for c in constants if re.search(rf"\b{c.split()[0]}\b", text)]
        lines, self.lines = self.lines, start
        if named:
            self.line(f"const int {', '.join(named)};")
        self.lines += lines


def compared(g: Gep) -> list[Region]:
    """The matrices whose row k or column k an update both reads and writes."""
    read = {p.region for p in g.update.places if p.where != "ij"}
    return [r for r, _ in g.update.values if r in read]


IJ = {"ij": "x_{}[r][c]", "ik": "u_{}[r]", "kj": "v_{}[c]", "kk": "w_{}"}
KK = dict.fromkeys(IJ, "w_{}")


class Steps:
    """Prints the steps of a tile. ``compares``: whether the owners compare row k and column k before and after.
    ``minima``: whether the text has a constant MINIMA that tells if choices are computed as minima."""

    def __init__(self, g: Gep, sides: Sides, s: TileShape, fast: bool, compares: bool, minima: bool = False):
        self.gep, self.sides, self.shape, self.fast = g, sides, s, fast
        self.compares, self.minima = compares, minima
        self.out = Cells(g, 0)

    def lines(self) -> list[str]:
        o, g, s = self.out, self.gep, self.shape
        if s.diagonal:
            o.line("/* UNIT steps at a time, whose rows and columns are the s-th and following of their owners:")
            o.line(" * s is known when this is compiled, as subscripts of registers have to be. */")
            o.open_loops("s < R, UNIT")
            o.open("for (int owner = 0; owner < TX; owner++)")
            o.line("const int k0 = (s / UNIT * TX + owner) * UNIT;")
            low, high = bool(g.k.low), g.k.high < s.band
        else:
            o.line("/* UNIT steps at a time: the threads that hold row and column k0 hold those of all of them. */")
            o.open("for (int k0 = first; k0 < last; k0 += UNIT)")
            low, high = bool(g.k.low % s.unit), bool(g.k.high % s.unit)
        o.open_loops("q < UNIT")
        with o.where_used("k = k0 + q"):
            outside = [f"k < {g.k.low}"] * low + [f"k >= {g.k.high}"] * high
            if outside:
                o.line(f"if ({' || '.join(outside)}) continue;")
            self.publish()
            self.receive()
            for part in g.scale:
                self.scale(part)
            self.store_scaled()
            self.update()
            if self.compares:
                self.compare()
        o.close_loops(3 if s.diagonal else 2)
        return o.lines

    def publish(self) -> None:
        """The owners store row k and column k to shared memory, each in a buffer of its own."""
        o, s = self.out, self.shape
        row = "(k - pivot * (R * TY))" if s.bands > 1 else "(k & 1)"
        rows, columns = (list(map(matrix_name, side)) for side in (self.sides.rows, self.sides.columns))
        sides = [*["row k"] * bool(rows), *["column k"] * bool(columns)]
        if not sides:
            return
        o.line(f"/* Whoever holds {' or '.join(sides)} puts it, as step k finds it, into shared memory. */")
        for r in self.sides.rows:
            o.line(f"{element_name(r.type)} *const row_{matrix_name(r)} = rows_{matrix_name(r)} + {row} * (C * TX);")
        for r in self.sides.columns:
            name = matrix_name(r)
            o.line(f"{element_name(r.type)} *const column_{name} = columns_{name} + (k & 1) * (R * TY);")
        self.by_owners("row", "h < C, UNIT", [f"c2cu_share_row(row_{n} + COLUMN(h), x_{n}[g + q], h);" for n in rows])
        puts = [f"c2cu_share_column(column_{n} + ty * UNIT + g * TY, x_{n}, g, h + q);" for n in columns]
        self.by_owners("column", "g < R, UNIT", puts)
        o.line("/* All of it is there. No barrier follows the reads: step k + 1 writes elsewhere,")
        o.line(" * and step k + 2, which may write here, comes behind the barrier of step k + 1. */")
        o.line("c2cu_sync();")

    def by_owners(self, side: str, along: str, lines: Sequence[str]) -> None:
        """Print ``lines`` in a loop along row k or column k, for the threads that hold it."""
        if not lines:
            return
        o = self.out
        rows, columns = ("g", "R", "ROW(g)", "ty"), ("h", "C", "COLUMN(h)", "tx")
        place, end, position, thread = rows if side == "row" else columns
        if self.shape.diagonal:
            o.open(f"if ({thread} == owner)")
            o.line(f"const int {place} = s;")
        else:
            o.open_loops(f"{place} < {end}, UNIT")
            o.open(f"if ({position} == k0)")
        o.open_loops(along)
        for line in lines:
            o.line(line)
        o.close_loops(2 if self.shape.diagonal else 3)

    def receive(self) -> None:
        """Every thread loads the parts of row k and column k that belong to its tile."""
        o = self.out
        if self.sides.rows or self.sides.columns:
            o.line("/* Each thread takes the parts that lie beside its elements. */")
        for r in self.sides.rows:
            name, t = matrix_name(r), register_type(r.type)
            o.line(f"{t} v_{name}[C];")
            o.line(f"c2cu_read_shared<TX>(v_{name}, row_{name} + column0);")
            if self.has_corner(r):
                o.line(f"{t} w_{name} = ({t})row_{name}[k];")
        for r in self.sides.columns:
            name = matrix_name(r)
            o.line(f"{register_type(r.type)} u_{name}[R];")
            o.line(f"c2cu_read_shared<TY>(u_{name}, column_{name} + ty * UNIT);")

    def has_corner(self, r: Region) -> bool:
        """Whether element [k][k] is read by itself."""
        parts = (*self.gep.scale, self.gep.update)
        scaled = any((p.columns if p.where == "kj" else p.rows).has_k() for p in self.gep.scale)
        return scaled or any((p.region, p.where) == (r, "kk") for part in parts for p in part.places)

    def scale(self, part: Part) -> None:
        """Every thread scales the part of row k or column k that it has loaded."""
        o = self.out
        row = part.where == "kj"
        side, span, letter = ("v", part.columns, "c") if row else ("u", part.rows, "r")
        line = "row k" if row else "column k"
        o.line(f"/* {place_in(part.loc)}: {line}, which each thread computes of what it has taken. */")
        o.open("")
        if span.has_k():
            o.line("/* element (k, k) */")
            self.values(part, KK, "n")
        o.open_loops("c < C" if row else "r < R")
        with o.where_used("j = COLUMN(c)" if row else "i = ROW(r)"):
            o.open(_if(_conditions(span, "j" if row else "i")))
            self.values(part, IJ, "m")
            for r, _ in part.values:
                o.line(f"{side}_{matrix_name(r)}[{letter}] = m_{matrix_name(r)};")
            o.close()
        o.close()
        if span.has_k():
            o.open(_if(_conditions(span, "k")))
            for r, _ in part.values:
                name = matrix_name(r)
                o.line(f"w_{name} = n_{name};")
                if row and r in self.sides.columns:
                    o.open_loops("r < R")
                    o.line(f"if (ROW(r) == k) u_{name}[r] = w_{name};")
                    o.close_loops(1)
                if not row and r in self.sides.rows:
                    o.open_loops("c < C")
                    o.line(f"if (COLUMN(c) == k) v_{name}[c] = w_{name};")
                    o.close_loops(1)
            o.close_loops(1)
        o.close_loops(1)

    def values(self, part: Part, at: Mapping[str, str], prefix: str) -> None:
        """Declare constants with the new values of a part's elements."""
        o = self.out
        o.at = at
        counters = ("i = k", "j = k") if at is KK else ()
        with o.where_used(*counters):
            for r, value in part.values:
                exact = o.text(self.best(value, r, self.fast))
                least = o.text(self.best(value, r, True)) if self.minima else exact
                text = f"MINIMA ? {least} : {exact}" if least != exact else exact
                o.line(f"const {register_type(r.type)} {prefix}_{matrix_name(r)} = {text};")

    def best(self, value: Expr, region: Region, fast: bool) -> Expr:
        """With minima; and with one choice where there were several of the old value: no jump is made of it."""
        old = next((v for v, p in self.out.places.items() if (p.region, p.where) == (region, "ij")), None)
        conditions, inner = guarded(minima(value, fast), old)
        if len(conditions) < 2 or old is None:
            return minima(value, fast)
        cond, *rest = (c if expected else unary("!", c, INT, c.loc) for c, expected in conditions)
        for c in rest:
            cond = Binary("&&", cond, c, INT, c.loc)
        return Select(cond, inner, Var(old), region.type, value.loc)

    def store_scaled(self) -> None:
        """The owners store the scaled values in their tiles."""
        scaled = {where: [r for p in self.gep.scale if p.where == where for r, _ in p.values] for where in ("kj", "ik")}
        rows = [matrix_name(r) for r in self.sides.rows if r in scaled["kj"]]
        columns = [matrix_name(r) for r in self.sides.columns if r in scaled["ik"]]
        if rows or columns:
            o = self.out
            o.line("/* Whoever holds what was computed anew keeps it. */")
        self.by_owners("row", "c < C", [f"x_{n}[g + q][c] = v_{n}[c];" for n in rows])
        self.by_owners("column", "r < R", [f"x_{n}[r][h + q] = u_{n}[r];" for n in columns])

    def update(self) -> None:
        """Update all elements of a tile, or those whose row and column are in range: tested once for each UNIT x UNIT
        square, and for each element only in squares that are partly in range."""
        o, u = self.out, self.gep.update
        rows, columns = _limits(u.rows, self.gep.rows), _limits(u.columns, self.gep.columns)
        if not rows and not columns:
            o.line(f"/* {place_in(u.loc)}: the thread's elements, in registers. */")
            o.open_loops("r < R", "c < C")
            self.cell("")
            o.close_loops(2)
            return
        o.line(f"/* {place_in(u.loc)}: the thread's elements, in registers, whose i and j the loops take. */")
        o.open_loops("g < R, UNIT", "h < C, UNIT")
        some = _meet(u.rows, "ROW(g)", "UNIT", rows) + _meet(u.columns, "left", "(TX * UNIT)", columns)
        every = _inside(u.rows, "above", "(TY * UNIT)", rows) + _inside(u.columns, "left", "(TX * UNIT)", columns)
        with o.where_used("above = row0 - ty * UNIT + g * TY", "left = h * TX"):
            o.line("/* Of UNIT x UNIT elements of each thread some are taken, or all of every thread's. */")
            o.open(_if(some))
            o.open(_if(every))
            o.open_loops("r < UNIT", "c < UNIT")
            self.cell("", "g + r", "h + c")
            o.close_loops(2)
            o.close("} else {")
            o.depth += 1
            o.open_loops("r < UNIT", "c < UNIT")
            conditions = _conditions(u.rows, "i", rows) + _conditions(u.columns, "j", columns)
            self.cell(" && ".join(conditions), "g + r", "h + c")
            o.close_loops(4)
        o.close_loops(2)

    def cell(self, condition: str, r: str = "r", c: str = "c") -> None:
        o = self.out
        at = {w: t.replace("[r]", f"[{r}]").replace("[c]", f"[{c}]") for w, t in IJ.items()}
        with o.where_used(f"i = ROW({r})", f"j = COLUMN({c})"):
            self.values(self.gep.update, at, "m")
            for region, _ in self.gep.update.values:
                name = matrix_name(region)
                value = f"{condition} ? m_{name} : x_{name}[{r}][{c}]" if condition else f"m_{name}"
                o.line(f"x_{name}[{r}][{c}] = {value};")

    def compare(self) -> None:
        """The owners set ``moved`` where row k or column k is not as it was read."""
        g, s = self.gep, self.shape
        self.out.line("/* Whoever holds row k or column k looks whether step k has changed what others read. */")
        places_read = {(p.region, p.where) for p in g.update.places if p.region in dict(g.update.values)}
        if g.row_moves:
            rows = [matrix_name(r) for r in self.sides.rows if {(r, "kj"), (r, "kk")} & places_read]
            guard = "if (COLUMN(c) < COLUMNS) " * (s.width > g.columns)
            self.by_owners("row", "c < C", [f"{guard}moved |= c2cu_differ(x_{n}[g + q][c], v_{n}[c]);" for n in rows])
        if g.column_moves:
            columns = [matrix_name(r) for r in self.sides.columns if (r, "ik") in places_read]
            guard = "if (ROW(r) < ROWS) " * (s.band * s.bands > g.rows)
            self.by_owners(
                "column", "r < R", [f"{guard}moved |= c2cu_differ(x_{n}[r][h + q], u_{n}[r]);" for n in columns]
            )


def _if(conditions: Iterable[str]) -> str:
    return f"if ({' && '.join(conditions) or 'true'})"


def _limits(span: Range, extent: int) -> tuple[str, ...]:
    """Which bounds of a range cut something off a matrix of so many rows or columns."""
    return ("low",) * (span.after or span.low > 0) + ("high",) * (span.high < extent)


def _start(span: Range) -> str:
    if not span.after:
        return str(span.low)
    return f"k + {span.low}" if span.low > 0 else f"k - {-span.low}" if span.low < 0 else "k"


def _conditions(span: Range, x: str, limits: tuple[str, ...] = ("low", "high")) -> list[str]:
    """That a counter is in range."""
    return [f"{x} >= {_start(span)}"] * ("low" in limits) + [f"{x} < {span.high}"] * ("high" in limits)


def _meet(span: Range, x: str, size: str, limits: tuple[str, ...]) -> list[str]:
    """That one of ``size`` values from x on is in range."""
    return [f"{x} + {size} > {_start(span)}"] * ("low" in limits) + [f"{x} < {span.high}"] * ("high" in limits)


def _inside(span: Range, x: str, size: str, limits: tuple[str, ...]) -> list[str]:
    """That all of them are."""
    return [f"{x} >= {_start(span)}"] * ("low" in limits) + [f"{x} + {size} <= {span.high}"] * ("high" in limits)
