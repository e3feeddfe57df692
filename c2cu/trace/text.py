"""The tracer's C text: the uniform slice of a kernel, with a note taken at every access."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..ctype import BOOL
from ..emit import render
from ..ir import Assign, Binary, Bitcast, Block, Const, Expr, If, Load, Loop, Region, Stmt, Store, Var, Variable
from ..schedule.gang_expr import Printer, literal
from ..uniform import Uniform
from ..walk import operands, subexpressions
from .sites import Nest, Place, Site, arms, carried, doubtful, needed, nests, uniform_arms

_Access = Load | Store | Var | Assign
COUNTERS = 8  # values that a fault is reported with


class Unknown(Exception):
    """An address depends on a value that only the run brings. ``region``: the shared variable."""

    def __init__(self, region: Region):
        self.region = region


@dataclass(frozen=True)
class Tracer:
    """A program to compile and run, and what the numbers in its report stand for."""

    text: str
    sites: tuple[Site, ...]
    nests: tuple[Nest, ...]
    counters: tuple[tuple[Variable, ...], ...]  # of each site, what a fault is reported with
    blocks: tuple[tuple[Block, Expr | None], ...]  # whose executions are counted, with the test at the end
    elements: Mapping[Place, int]  # number of a place's first cell
    cells: int
    memory: int  # bytes that the notes take


def tracer(u: Uniform, record: bool = False) -> Tracer:
    """The tracer of an oblivious kernel; if ``record``, one that writes down every access. Raises Unknown."""
    writer = _Writer(u)
    writer.block(u.kernel.body)
    found = tuple(writer.nests.values())
    depths = max((len(n.around) + 1 for n in found), default=1)
    text = render(
        "cpu/tracer.c.j2",
        record=record,
        depths=depths,
        chains=[((), "none"), *(((*n.around, n.number), n.number) for n in found)],
        loops=max(1, len(found)),
        blocks=len(writer.blocks),
        branches=max(1, writer.pairs),
        cells=max(1, writer.cells),
        counters=COUNTERS,
        declarations=writer.declarations(),
        body=writer.lines,
    )
    return Tracer(
        text,
        tuple(writer.sites),
        found,
        tuple(writer.reported),
        tuple(writer.blocks),
        writer.elements,
        writer.cells,
        writer.cells * (9 + 16 * depths),
    )


@dataclass
class _Writer:
    u: Uniform
    lines: list[str] = field(default_factory=list)
    sites: list[Site] = field(default_factory=list)
    reported: list[tuple[Variable, ...]] = field(default_factory=list)
    blocks: list[tuple[Block, Expr | None]] = field(default_factory=list)
    inside: tuple[Nest, ...] = ()  # the loops around here
    conditional: int = 0  # branches on data around here
    pairs: int = 0  # branches on data with an else
    other: int = -1  # number of the pair whose else this is, where no other branch is around
    cells: int = 0

    def __post_init__(self) -> None:
        self.nests, self.needed = nests(self.u), needed(self.u)
        self.carried, self.doubtful = carried(self.u), doubtful(self.u)
        self.elements: dict[Place, int] = {}
        self.used: dict[Variable, None] = {}
        self.printer = Printer(self.u)
        for r in self.u.kernel.regions:
            if r in self.needed and r.storage == "shared" and r.init is None:
                raise Unknown(r)
            self.elements[r] = self.cells
            self.cells += r.count

    def declarations(self) -> list[str]:
        out = []
        for r in self.u.kernel.regions:
            if r in self.needed:
                t = "unsigned char" if r.type == BOOL else r.type.name
                values = ", ".join(literal(v, r.type) for v in r.init or (0,))
                out.append(f"static {t} {self.printer.region(r)}[{max(1, r.count)}] = {{{values}}};")
        return out + [f"static {v.type} {self.printer.var(v)};" for v in self.used]

    def line(self, text: str) -> None:
        self.lines.append(text)

    def scalar(self, e: Expr) -> str:
        """A uniform value."""
        self.used.update((x.var, None) for x in subexpressions(e) if isinstance(x, Var))
        return self.printer.scalar(e)

    # statements

    def block(self, block: Block, test: Expr | None = None, computed: bool = True) -> None:
        """A straight line of statements, and the condition at its end."""
        self.line(f"blocks[{len(self.blocks)}]++;")
        self.blocks.append((block, test))
        for s in block:
            self.statement(s)
        if test is not None:
            self.read(test, computed)

    def statement(self, s: Stmt) -> None:
        match s:
            case Assign(var=v, value=e):
                wanted = v in self.needed and v not in self.u.varying
                self.read(e, wanted, _is_copy(s))
                if wanted:
                    self.used[v] = None
                    self.line(f"{self.printer.var(v)} = {self.scalar(e)};")
                if v in self.carried or v in self.doubtful:
                    self.access(s, v)
            case Store(region=r, index=i, value=e):
                self.read(i, True)
                self.read(e, r in self.needed, _is_copy(s))
                self.access(s, r)
                if r in self.needed:
                    self.line(f"{self.printer.region(r)}[{self.scalar(i)}] = {self.scalar(e)};")
            case If():
                self.branch(s)
            case Loop():
                self.loop(s)

    def read(self, e: Expr, computed: bool, copied: bool = False) -> None:
        """Note what an expression reads. ``computed``: the tracer computes its value, so nothing may go wrong.
        ``copied``: as in `access`."""
        sometimes = arms(e)
        computed = computed and not self.u.is_varying(e)
        inner = computed or isinstance(e, Load) or bool(uniform_arms(self.u, e))
        for x in operands(e):
            if all(x is not arm for _, _, arm in sometimes):
                self.read(x, inner, copied and isinstance(e, Bitcast))
        for cond, wanted, arm in sometimes:
            self.arm(cond, wanted, arm, computed)
        match e:
            case Var(var=v) if v in self.carried or v in self.doubtful:
                self.access(e, v, copied)
            case Load(region=r):
                self.access(e, r, copied)
            case Binary() if computed:
                self.defined(e)

    def arm(self, cond: Expr, wanted: bool, e: Expr, computed: bool) -> None:
        """Note what an operand reads that is evaluated where ``cond`` is ``wanted``."""
        if isinstance(e, Const):
            return
        if self.u.is_varying(cond):
            self.conditional += 1
            self.read(e, computed)
            self.conditional -= 1
            return
        self.line(f"if ({'' if wanted else '!'}{self.scalar(cond)}) {{")
        self.block((), e, computed)
        self.line("}")

    def defined(self, e: Binary) -> None:
        """Stop where C does not say what an operation on integers gives."""
        if not e.type.is_integer or isinstance(e.right, Const) and e.right.value not in (0, -1) and e.op in "/%":
            return
        if e.op in ("/", "%"):
            self.line(f"if (!{self.scalar(e.right)}) stop(DIVIDED);")
            if e.type.kind == "i":
                least = literal(-(2 ** (e.type.bits - 1)), e.type)
                self.line(f"if ({self.scalar(e.right)} == -1 && {self.scalar(e.left)} == {least}) stop(DIVIDED);")
        if e.op in ("<<", ">>") and not (isinstance(e.right, Const) and 0 <= e.right.value < e.type.bits):
            self.line(f"if ((unsigned long){self.scalar(e.right)} >= {e.type.bits}) stop(SHIFTED);")

    def branch(self, s: If) -> None:
        self.read(s.cond, True)
        if not self.u.is_varying(s.cond):
            self.line(f"if ({self.scalar(s.cond)}) {{")
            self.block(s.then)
            if s.other:
                self.line("} else {")
                self.block(s.other)
            self.line("}")
            return
        pair = self.pairs if s.other and not self.conditional else -1
        outer, self.other = self.other, -1
        self.conditional += 1
        if pair >= 0:
            self.pairs += 1
            self.line(f"began[{pair}] = now;")
        self.block(s.then)
        if s.other:
            self.other = pair
            if pair >= 0:
                self.line(f"turned[{pair}] = now;")
            self.block(s.other)
        self.other = outer
        self.conditional -= 1

    def loop(self, s: Loop) -> None:
        n = self.nests[id(s)]
        self.used.update(dict.fromkeys(s.flags))
        left = " || ".join(self.printer.var(f) for f in s.flags)
        outer, self.inside = self.inside, (*self.inside, n)
        self.line(f"enter({n.number});")
        self.line("for (;;) {")
        if left:
            self.line(f"if ({left}) break;")
        self.line(f"turn({n.number});")
        self.block(s.head, s.cond)
        self.line(f"if (!{self.scalar(s.cond)}) break;")
        self.line(f"count({n.number});")
        self.block(s.body)
        if left:
            self.line(f"if ({left}) break;")
        self.block(s.step)
        self.line("}")
        self.line(f"leave({n.number});")
        self.inside = outer

    # accesses

    def access(self, node: _Access, place: Place, copied: bool = False) -> None:
        """Check and note an access. ``copied``: of a whole object, some of which may never have been set."""
        store = isinstance(node, (Store, Assign))
        if place not in self.elements:
            self.elements[place] = self.cells
            self.cells += 1
        e = str(self.elements[place])
        checks = 0
        if isinstance(node, (Load, Store)):
            spent = " stop(OUTSIDE);" if place in self.needed else ""  # what follows cannot be known
            rows = [(k, n) for k, n in node.rows if not self.u.is_varying(k)]
            checks = len(rows) + 1
            for k, n in rows:
                self.line(f"{{ long k = {self.scalar(k)};")
                self.line(f"{self.outside(self.site(node, place, store, n, True), n, spent)} else")
            site = self.site(node, place, store, node.region.count)
            self.line(f"{{ long k = {self.scalar(node.index)};")
            self.line(f"{self.outside(site, node.region.count, spent)} else {{")
            e += " + k"
        else:
            site = self.site(node, place, store)
        local = isinstance(place, Variable) or place.storage == "local"
        if local and not store and not copied and not self.conditional:
            self.line(f"if (!(state[{e}] & STORED)) fault({site}, UNSET, 0, {self.report(site)});")
        self.line(self.note(site, place, store, e))
        if checks:
            self.line("}" + " }" * checks)

    def site(self, node: _Access, place: Place, store: bool, extent: int = 1, row: bool = False) -> int:
        loops = tuple(n.number for n in self.inside)
        self.sites.append(Site(place, store, node.loc, loops, self.conditional, extent, row))
        counters = tuple(dict.fromkeys(v for n in self.inside for v in n.counters))[-COUNTERS:]
        self.reported.append(counters)
        self.used.update(dict.fromkeys(counters))
        return len(self.sites) - 1

    def report(self, site: int) -> str:
        values = ", ".join(f"(long){self.printer.var(v)}" for v in self.reported[site]) or "0"
        return f"(long[COUNTERS]){{{values}}}"

    def outside(self, site: int, extent: int, then: str = "") -> str:
        return f"if (k < 0 || k >= {extent}) {{ fault({site}, OUTSIDE, k, {self.report(site)});{then} }}"

    def note(self, site: int, place: Place, store: bool, e: str) -> str:
        here = self.inside[-1].number if self.inside else "none"
        if isinstance(place, Variable) and place not in self.u.varying:
            return f"state[{e}] |= {'STORED' if store else 'LOADED'};"  # every turn knows its value
        if not store:
            own = sum(1 << d for d, n in enumerate(self.inside) if n.owns(place))
            return f"load_{here}({e}, {site}, {own});"
        once = f" cells[{e}].once = now;" if self.conditional == 1 else ""
        return f"store_{here}({e}, {site}, {self.ordered(place)}, {self.certain(e)});{once}"

    def ordered(self, place: Place) -> int:
        """A bit for the depth of each loop whose turns must store to the place in order, as others see it."""
        if isinstance(place, Variable):
            return 0
        return sum(1 << d for d, n in enumerate(self.inside) if place not in n.private)

    def certain(self, e: str) -> str:
        """Whether a store happens whatever the data: no branch is around, or the other arm stored there too."""
        if self.conditional == 1 and self.other >= 0:
            return f"cells[{e}].once > began[{self.other}] && cells[{e}].once <= turned[{self.other}]"
        return "0" if self.conditional else "1"


def _is_copy(s: Assign | Store) -> bool:
    """Whether a statement is part of the copy of a whole object: lowering gives both sides one place."""
    e = s.value.operand if isinstance(s.value, Bitcast) else s.value
    return isinstance(e, (Load, Var)) and e.loc is s.loc
