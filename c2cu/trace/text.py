"""The tracer as a C program: `steps` in C, in the template cpu/tracer.c.j2."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..base.ctype import BOOL
from ..base.templates import render
from ..codegen.correct_functions import with_definitions
from ..codegen.lanes import complex_parts
from ..codegen.simd import Printer, literal, member
from ..ir.nodes import Assign, Call, Expr, Extremum, Load, Region, Store, Var, Variable
from ..ir.walk import subexpressions
from .steps import COUNTERS, Access, Began, Branch, Check, CountBlock, Guarded, Repeat, Step, Steps, Stop, Tracer
from .undefined import Why

FAULTS = 32  # how many are reported at most
CONFLICTS, TRIES = 8, 256  # of one loop, at most: different conflicts that are reported, and all that are examined


def text(t: Tracer, record: bool = False) -> str:
    """The C of a tracer. With ``record``, it writes every access instead of facts about all."""
    writer = _TextWriter(t, Printer(t.u))
    writer.block(t.steps)
    program = render(
        "cpu/tracer.c.j2",
        record=record,
        depths=t.depths,
        chains=[((), "none"), *(((*n.around, n.number), n.number) for n in t.nests)],
        loops=max(1, len(t.nests)),
        blocks=len(t.blocks),
        branches=max(1, t.pairs),
        cells=max(1, t.cells),
        counters=COUNTERS,
        faults=FAULTS,
        conflicts=CONFLICTS,
        tries=TRIES,
        whys=", ".join(w.name for w in Why),
        complex_parts=complex_parts(t.u.kernel),
        calls=writer.calls,
        declarations=[writer.declaration(r) for r in t.regions if r not in t.numbers]
        + [f"static {v.type} {writer.printer.var(v)};" for v in writer.used],
        numbers=[(r.type, member(r), r.type.is_float) for r in t.numbers],
        body=writer.lines,
    )
    return with_definitions(program)


@dataclass
class _TextWriter:
    t: Tracer
    printer: Printer
    lines: list[str] = field(default_factory=list)
    used: dict[Variable, None] = field(default_factory=dict)
    calls: bool = False  # functions of the C library

    def declaration(self, r: Region) -> str:
        t = "unsigned char" if r.type == BOOL else r.type.name
        values = ", ".join(literal(v, r.type) for v in r.init or (0,))
        return f"static {t} {self.printer.region(r)}[{max(1, r.count)}] = {{{values}}};"

    def line(self, text: str) -> None:
        self.lines.append(text)

    def var(self, v: Variable) -> str:
        self.used[v] = None
        return self.printer.var(v)

    def scalar(self, e: Expr) -> str:
        """A uniform value."""
        self.used.update((x.var, None) for x in subexpressions(e) if isinstance(x, Var))
        self.calls = self.calls or any(isinstance(x, (Call, Extremum)) for x in subexpressions(e))
        return self.printer.scalar(e)

    def block(self, steps: Steps) -> None:
        for s in steps:
            self.step(s)

    def step(self, s: Step) -> None:
        match s:
            case Assign(var=v, value=e):
                self.line(f"{self.var(v)} = {self.scalar(e)};")
            case Store(region=r, index=i, value=e):
                self.line(f"{self.scalar(Load(r, i))} = {self.scalar(e)};")
            case CountBlock(block=n):
                self.line(f"blocks[{n}]++;")
            case Stop(cond=c, why=w):
                self.line(f"if ({self.scalar(c)}) stop({w.name});")
            case Began(pair=n, turned=turned):
                self.line(f"{'turned' if turned else 'began'}[{n}] = now;")
            case Branch():
                self.line(f"if ({self.scalar(s.cond)}) {{")
                self.block(s.then)
                if s.other:
                    self.line("} else {")
                    self.block(s.other)
                self.line("}")
            case Guarded(cond=c, steps=steps):
                self.line(f"{{ int never = !{self.scalar(c)}; beside += never;")
                self.block(steps)
                self.line("beside -= never; }")
            case Repeat():
                self.loop(s)
            case Access():
                self.access(s)

    def loop(self, s: Repeat) -> None:
        n = s.nest.number
        ended = " || ".join(self.var(f) for f in s.nest.loop.flags)
        self.line(f"enter({n});")
        self.line("for (;;) {")
        if ended:
            self.line(f"if ({ended}) break;")
        self.line(f"turn({n});")
        self.block(s.head)
        self.line(f"if (!{self.scalar(s.nest.loop.cond)}) break;")
        self.line(f"count({n});")
        self.block(s.body)
        if ended:
            self.line(f"if ({ended}) break;")
        self.block(s.step)
        self.line("}")
        self.line(f"leave({n});")

    def access(self, s: Access) -> None:
        checks = () if all(c.element is not None for c in s.checks) else s.checks
        for c in checks:
            self.line(f"{{ long k = {self.scalar(c.index)};")
            self.line(f"{self.outside(c)} else {{")
        element = (s.checks[-1].element if s.checks else None) or 0
        e = f"{s.cell} + k" if checks else str(s.cell + element)
        if s.local:
            self.line(f"if (!(state[{e}] & STORED)) fault({s.site}, UNSET, 0, {self.report(s.site)});")
        self.line(self.record(s, e))
        if checks:
            self.line("} }" * len(checks))

    def outside(self, c: Check) -> str:
        then = " stop(OUTSIDE);" if c.stops else ""
        return f"if (k < 0 || k >= {c.extent}) {{ fault({c.site}, OUTSIDE, k, {self.report(c.site)});{then} }}"

    def report(self, site: int) -> str:
        values = ", ".join(f"(long){self.var(v)}" for v in self.t.counters[site]) or "0"
        return f"(long[COUNTERS]){{{values}}}"

    def record(self, s: Access, e: str) -> str:
        if s.known:
            return f"state[{e}] |= {'STORED' if s.store else 'LOADED'};"
        loop = s.loops[-1] if s.loops else "none"
        if not s.store:
            return f"load_{loop}({e}, {s.site}, {s.private});"
        certain = str(int(s.certain))
        if s.pair >= 0:
            certain = f"cells[{e}].once > began[{s.pair}] && cells[{e}].once <= turned[{s.pair}]"
        once = f" cells[{e}].once = now;" if s.once else ""
        return f"store_{loop}({e}, {s.site}, {s.ordered}, {certain});{once}"
