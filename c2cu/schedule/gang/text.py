"""A kernel's statements in C, what varies as vectors, for schedule ``gang``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial

from ...analysis.live import live
from ...analysis.uniform import Uniform
from ...base.ctype import BOOL, DOUBLE, Scalar
from ...codegen.division import is_by_constant
from ...codegen.indent import indented
from ...codegen.lanes import BEYOND
from ...codegen.lookups import padded
from ...codegen.positions import MARK, are_told, mark, told
from ...codegen.simd import Printer, before, literal, member, memory
from ...ir.nodes import (
    ALONE,
    ENDED,
    SOME_LANE,
    Assign,
    Binary,
    Block,
    Call,
    Const,
    Expr,
    If,
    Load,
    Loop,
    Region,
    Stmt,
    Store,
    Var,
    Variable,
)
from ...ir.walk import blocks, expressions, statements, subexpressions, touched, used, variables
from ...transform.in_bounds import in_bounds
from ...transform.pairs import both
from ..deferred import run
from ..dividends import looks
from .fours import lookup, only_stored, runs, stored_byte
from .parts import common, parts
from .select import accesses, is_small

#: What a reader of `two_steps` is told.
TWO_STEPS = (
    "/* Two steps at once, for half of the loads and stores: with copies of row k and of the next row, */",
    "/* as step k leaves it. The last step may be alone, and so is one that might change the row or */",
    "/* the column that it reads, which the diagonal tells, in some lane: it is done as the C has it. */",
)
FEW_DIVISIONS = 3  # by constants, in a run: of fewer, what shows that they were wrong takes as long as they do
LOCAL_BYTES = 1 << 14  # a region up to this size may live in the kernel's frame


def by_products(vector_bytes: int) -> bool:
    """Whether constants are divided by in products: a Runge-Kutta-Fehlberg method that does takes nine tenths of the
    time with AVX2. Processors with shorter vectors may have no fused multiply-add."""
    return vector_bytes >= 32


def c_name(t: Scalar) -> str:
    """The type of an array's elements in C."""
    return "unsigned char" if t == BOOL else t.name


def array(r: Region) -> str:
    """A uniform region with its type."""
    return f"{c_name(r.type)} {member(r)}[{r.count}]"


def is_large(r: Region) -> bool:
    """Whether a region is too large for a function's frame."""
    return r.type.size * r.count > LOCAL_BYTES


def neighbours(block: Block, p: Printer) -> frozenset[tuple[Region, Expr]]:
    """Elements of tables, of 8 bytes each, that a block loads together with the next one, by table and subscript."""
    left = Counter(s.var for s in block if isinstance(s, Assign))  # assignments to come
    inside = {s.var for outer in block if blocks(outer) for s in statements((outer,)) if isinstance(s, Assign)}
    loads: dict[tuple[Region, Expr], None] = {}
    changed: set[tuple[Region, Expr]] = set()  # of which a subscript is another one further down
    for s in block:
        for e in expressions(s) if not blocks(s) else ():
            for x in subexpressions(e):
                if not isinstance(x, Load) or x.region.type.size != 8 or x.region.storage != "shared":
                    continue
                if x.region in p.u.varying_regions or not p.u.is_varying(x.index) or not p.is_gathered(x):
                    continue
                named = [y.var for y in subexpressions(x.index) if isinstance(y, Var)]
                inner = any(isinstance(y, Load) for y in subexpressions(x.index))
                if inner or any(left[v] or v in inside for v in named):
                    changed.add((x.region, x.index))
                loads[x.region, x.index] = None
        if isinstance(s, Assign):
            left[s.var] -= 1
    firsts: dict[tuple[Region, Expr], None] = {}
    loads = {x: None for x in loads if x not in changed}
    for region, index in loads:
        first = before(index)
        if (
            first is not None
            and (region, first) in loads
            and before(first) not in [i for r, i in firsts if r == region]
        ):
            firsts[region, first] = None
    return frozenset(firsts)


def whole(u: Uniform, p: Printer, in_parts: bool, gangs: int) -> tuple[Emitter, dict[str, object]]:
    """A kernel as one function, or as several if ``in_parts`` and it is long: what has printed it, and what
    cpu/gang.c.j2 is filled with. ``gangs``: that go side by side, in one function."""
    pieces = parts(u.kernel) if in_parts else (u.kernel.body,)
    shared = common(pieces)
    regions = [r for r in shared.regions if r.storage == "local" and r not in u.varying_regions and not is_large(r)]
    p.common = frozenset({*shared.variables, *regions})
    if gangs > 1:
        p.gang = "g0"
    emitter = Emitter(u, p, gangs, mentions(u.kernel.body))
    bodies: list[list[str]] = []
    for piece in pieces:
        p.lines = []
        emitter.block(piece)
        local = [r for r in touched(piece) if r not in p.common]
        bodies.append(emitter.declarations(piece, local if len(pieces) > 1 else None) + indented(p.lines))
    p.lines = [line for body in bodies for line in body]
    members = [*map(emitter.declared, shared.variables), *map(array, regions)]
    return emitter, {"parts": bodies, "common": members, "gangs": gangs}


def mentions(block: Block) -> Counter[Variable]:
    """How often a block names each variable."""
    return used(block) + Counter(s.var for s in statements(block) if isinstance(s, Assign))


class Emitter:
    """Prints a kernel's statements, what varies as vectors. ``mentioned``: how often the kernel names each variable,
    where loops may declare their counters; None where these are declared in any case."""

    def __init__(self, u: Uniform, p: Printer, gangs: int = 1, mentioned: Counter[Variable] | None = None):
        self.u, self.p, self.mentioned = u, p, mentioned
        self.counters: set[Variable] = set()  # that loops have declared
        self.before: Stmt | None = None  # what was printed last, in this block
        self.divided = 0  # runs of statements with divisions by products
        self.gangs = gangs  # that are at work side by side, on what varies in turn
        self.alone = gangs == 1  # whether what is printed is one gang's
        self.whole = ""  # the mask outside which lanes hold nothing that is still wanted
        self.masks = 0
        self.masked = 0  # lines under masks
        self.live = live(u.kernel.body) if u.ends_on_data else None
        self.inside = in_bounds(u.kernel.body)
        self.only_stored = frozenset[Variable]() if p.half else only_stored(u) - p.common
        self.stored_bytes: dict[str, tuple[str, str]] = {}  # what they hold: the bytes, of which type
        self.needed: frozenset[Variable] = frozenset()  # by lanes outside the mask; where ``live`` is None, all are

    def declarations(self, block: Block | None = None, regions: Iterable[Region] | None = None) -> list[str]:
        """Variables and uniform local regions of the frame of a function: of the kernel, or of what does ``block``."""
        names = variables(self.u.kernel.body if block is None else block)
        elsewhere = self.p.common | self.u.varying | self.counters
        out = [self.begun(v) for v in names if v not in elsewhere]
        varying = [v for v in names if v not in self.p.common and v in self.u.varying]
        self.each(lambda: out.extend(self.begun(v) for v in varying if self.p.var(v) not in self.stored_bytes))
        for r in self.u.kernel.regions if regions is None else regions:
            if r.storage == "local" and r not in self.u.varying_regions:
                large = is_large(r)
                out.append(f"{c_name(r.type)} *const {member(r)} = g->{member(r)};" if large else f"{array(r)};")
        return out

    def declared(self, v: Variable) -> str:
        """A variable with its type."""
        name = self.p.var(v).removeprefix("c->")
        if v not in self.u.varying:
            return f"{v.type} {name}"
        return f"{self.p.mask_type if v.type == BOOL else self.p.register(v.type)} {name}"

    def begun(self, v: Variable) -> str:
        return f"{self.declared(v)} = {'{0}' if v in self.u.varying else '0'};"

    def line(self, text: str) -> None:
        self.p.lines.append(text)

    def each(self, print_it: Callable[[], None]) -> None:
        """Print what varies, for each gang."""
        if self.alone:
            print_it()
            return
        self.alone = True
        for k in range(self.gangs):
            self.p.gang, self.p.suffix = f"g{k}", f"g{k}"
            print_it()
        self.p.gang, self.p.suffix, self.alone = "g0", "", False

    def block(self, block: Block) -> None:
        self.before = None
        start = k = 0
        while k < len(block):
            r = run(block, k, None, self.is_slow, FEW_DIVISIONS, calls=False) if self.p.by_products else None
            if r is None or r.copies:
                k += 1
                continue
            self.row(block[start:k])
            self.each(partial(self.divisions, r.statements))
            start = k = k + r.length
        self.row(block[start:])

    def is_slow(self, e: Expr) -> bool:
        """Whether an expression is a division of lanes by a constant."""
        return is_by_constant(e) and self.u.is_varying(e)

    def divisions(self, block: tuple[Assign | Store, ...]) -> None:
        """Statements with divisions by products; as C has it, if one of these was wrong."""
        self.divided += 1
        n = self.divided
        self.line(f"f64 least{n} = {self.p.vector(Const(1.0, DOUBLE))};")
        as_bytes, self.only_stored = self.only_stored, frozenset[Variable]()  # bytes would be of one row or the other
        self.p.odd, self.p.looks = str(n), looks(block)
        self.row(block)
        self.p.odd = ""
        self.line(f"if (__builtin_expect(odd_f64(least{n}), 0)) {{")
        self.row(block)
        self.line("}")
        self.only_stored = as_bytes

    def row(self, block: Block) -> None:
        """Statements as they are."""
        outside = self.p.neighbours, self.p.loaded
        self.p.neighbours, self.p.loaded = neighbours(block, self.p), {}
        for beside in runs(self.u, block):
            start = len(self.p.lines)
            pair = len(beside) == 2 and both(*beside) in self.p.known
            if pair and self.u.is_varying(expressions(beside[0])[0]):
                self.each(partial(self.both, beside))
                mark(self.p.lines, start, beside[0].loc)
                continue
            loads = [e for s in beside if (e := lookup(self.u, s)) is not None]
            if len(loads) < 2:
                for s in beside:
                    self.statement(s)
                continue
            self.each(partial(self.looked_up, beside, loads))
            mark(self.p.lines, start, beside[0].loc)
        self.p.neighbours, self.p.loaded = outside

    def looked_up(self, beside: list[Stmt], loads: list[Load]) -> None:
        if all(isinstance(s, Assign) and s.var in self.only_stored for s in beside):
            for s, value in zip(beside, self.p.bytes_together(loads)):
                assert isinstance(s, Assign)
                self.stored_bytes[self.p.var(s.var)] = value, memory(loads[0].region.type)
            return
        for s, value in zip(beside, self.p.lookups_together(loads)):
            assert isinstance(s, Assign)
            self.assigned(s.var, value)

    def statement(self, s: Stmt) -> None:
        start = len(self.p.lines)
        if isinstance(s, Loop) and not self.u.is_ended_by_data(s):
            start -= self.uniform_loop(s)
        else:
            self.printed(s)
        self.before = s
        mark(self.p.lines, start, s.loc)

    def printed(self, s: Stmt) -> None:
        match s:
            case Assign(value=Call(name=name)) if name == SOME_LANE:
                self.vote(s)
            case Assign() if s.var not in self.u.varying:
                if s.var.role == ALONE and are_told():
                    self.p.lines += TWO_STEPS
                self.line(f"{self.p.var(s.var)} = {self.p.text(s.value)};")
            case Assign():
                self.each(lambda: self.assign(s))
            case Store() if s.region not in self.u.varying_regions:
                self.line(f"{self.p.region(s.region)}[{self.p.subscript(s.index)}] = {self.p.text(s.value)};")
            case Store():
                self.each(lambda: self.store(s))
            case If() if not self.u.is_varying(s.cond):
                self.uniform_if(s)
            case If():
                self.each(lambda: self.apart(lambda: self.varying_if(s)))
            case Loop():
                self.each(lambda: self.apart(lambda: self.varying_loop(s)))

    def both(self, beside: list[Stmt]) -> None:
        """Two functions of a pair, by the function that does both."""
        first, second = beside
        assert isinstance(first, Assign) and isinstance(second, Assign) and isinstance(first.value, Call)
        rep = self.p.register(first.value.type)
        argument = self.p.vector(first.value.args[0])
        one, other = self.p.temporary(rep), self.p.temporary(rep)
        name = both(first, second)
        self.p.functions[name] = None
        self.line(f"lanes_{name}({argument}, &{one}, &{other});")
        self.assigned(first.var, one)
        self.assigned(second.var, other)

    def apart(self, print_it: Callable[[], None]) -> None:
        """Print what some lanes execute."""
        outermost, start = not self.p.mask, len(self.p.lines)
        print_it()
        if outermost:
            self.masked += len(self.p.lines) - start

    def vote(self, s: Assign) -> None:
        """Whether a condition holds in some lane, of any gang."""
        assert isinstance(s.value, Call)
        name, (cond,) = self.p.var(s.var), s.value.args
        if self.alone:
            self.line(f"{name} = any({self.p.truth(cond)});")
            return
        self.line(f"{name} = 0;")
        self.each(lambda: self.line(f"{name} |= any({self.p.truth(cond)});"))

    def assign(self, s: Assign) -> None:
        self.assigned(s.var, self.p.truth(s.value) if s.var.type == BOOL else self.p.vector(s.value))

    def assigned(self, v: Variable, value: str) -> None:
        name = self.p.var(v)
        if self.p.mask not in ("", self.whole) and (self.live is None or v in self.needed):
            if v.type == BOOL:
                value = self.p.merged(self.p.mask, value, name)
            else:
                value = self.p.select(self.p.mask, value, name, self.p.register(v.type))
        self.line(f"{name} = {value};")

    def store(self, s: Store) -> None:
        target = self.p.region(s.region)
        rep, memory_rep = self.p.register(s.region.type), self.p.memory(s.region)
        if self.u.is_varying(s.index):
            index = self.p.lanes_index(s.index)
            value = self.p.temporary(rep)
            self.line(f"{value} = {self.p.vector(s.value)};")
            guard = f"if ({self.p.lane(self.p.mask)}) " if self.p.mask else ""
            self.line(f"LANES {guard}{target}[{index}[l]][l] = {value}[l];")
            return
        place = f"{target}[{self.p.subscript(s.index)}]"
        v = stored_byte(s)
        found = self.stored_bytes.get(self.p.var(v)) if v is not None and v in self.u.varying else None
        if found is not None:
            value, element = found
            if self.p.mask in ("", self.whole):
                self.line(f"{place} = ({memory_rep}){value};")
                return
            value = self.p.converted(value, element, rep)
        else:
            value = self.p.stored(s.value)
        if self.p.mask not in ("", self.whole):
            value = self.p.select(self.p.mask, value, self.p.converted(place, memory_rep, rep), rep)
        self.line(f"{place} = {self.p.converted(value, rep, memory_rep)};")
        if s.region == ENDED and self.live is None:  # else it is the last statement
            self.line(f"if (!any({self.p.compared(place, '==', f'({rep}){{0}}', rep)})) return;")

    def uniform_if(self, s: If) -> None:
        self.line(f"if ({self.p.text(s.cond)}) {{")
        self.block(s.then)
        if s.other:
            self.line("} else {")
            self.block(s.other)
        self.line("}")

    def new_mask(self, value: str) -> str:
        self.masks += 1
        self.line(f"{self.p.mask_type} m{self.masks} = {value};")
        return f"m{self.masks}"

    def varying_if(self, s: If) -> None:
        outer = self.p.mask
        self.line("{")
        start = len(self.p.lines)
        cond = self.p.truth(s.cond)
        taken = self.new_mask(f"{cond} & {outer}" if outer else cond)
        other = self.new_mask(f"~{taken} & {outer}" if outer else f"~{taken}") if s.other else ""
        known = accesses(s.cond)
        needed = self.needed
        for mask, arm in ((taken, s.then), (other, s.other)):
            if not arm:
                continue
            self.p.mask = mask
            if self.live is not None:
                self.needed = needed | self.live.after[id(s)]
                if arm is s.then:  # in lanes that take the other arm
                    self.needed |= self.live.other[id(s)]
            if is_small(self.u, arm, known, self.inside.get(id(s), frozenset())):
                self.block(arm)
                continue
            self.line(f"if (any({mask})) {{")
            self.block(arm)
            self.line("}")
        self.p.mask, self.needed = outer, needed
        for mask in filter(None, (other, taken)):
            self.leave_out_unused(mask, start)
        self.line("}")

    def leave_out_unused(self, mask: str, start: int) -> None:
        """Without a mask's definition, after line ``start``, where nothing names it: all lanes may do the same."""
        lines = self.p.lines
        named = (k for k in range(start, len(lines)) if mask in lines[k] and re.search(rf"\b{mask}\b", lines[k]))
        definition = next(named)
        if next(named, None) is None:
            del lines[definition]

    def uniform_loop(self, s: Loop) -> int:
        """Returns how many of the lines before are in it now."""
        flags = " || ".join(self.p.var(f) for f in s.flags)
        step = s.step[0] if len(s.step) == 1 and not s.head and not flags else None
        if isinstance(step, Assign) and step.var not in self.u.varying:
            first = self.first(s, step.var)
            self.line(f"for ({first}; {self.p.text(s.cond)}; {self.next(step)}) {{{told(s.loc)}")
            self.block(s.body)
            self.line("}")
            return bool(first)
        if not s.head:
            test = f"!({flags}) && {self.p.scalar(s.cond)}" if flags else self.p.text(s.cond)
            self.line(f"while ({test}) {{{told(s.loc)}")
        else:
            self.line(f"for (;;) {{{told(s.loc)}")
            if flags:
                self.line(f"if ({flags}) break;")
            self.block(s.head)
            self.line(f"if (!{self.p.scalar(s.cond)}) break;")
        self.block(s.body)
        if flags and s.step:
            self.line(f"if ({flags}) break;")
        self.block(s.step)
        self.line("}")
        return 0

    def first(self, s: Loop, counter: Variable) -> str:
        """What a loop does first: it takes over the line before if that sets the counter, with a declaration if no one
        else needs it."""
        before = self.before
        if not isinstance(before, Assign) or before.var != counter or not self.p.lines:
            return ""
        text = f"{self.p.var(counter)} = {self.p.text(before.value)}"
        if MARK.sub("", self.p.lines[-1]) != f"{text};":
            return ""
        self.p.lines.pop()
        if self.mentioned is None or counter in self.p.common:
            return text
        elsewhere = mentions((before, s))[counter] < self.mentioned[counter]
        if elsewhere or any(isinstance(x, Var) and x.var == counter for x in subexpressions(before.value)):
            return text
        self.counters.add(counter)
        return f"{counter.type} {text}"

    def next(self, step: Assign) -> str:
        """How a loop's counter changes."""
        name = self.p.var(step.var)
        match step.value:
            case Binary(op="+", left=Var(var=v), right=Const(value=1), type=t) if v == step.var and t == v.type:
                return f"{name}++"
            case Binary(op="+" | "-" as op, left=Var(var=v), right=Const(value=k) as by, type=t):
                if v == step.var and t == v.type and k > 0:
                    return f"{name} {op}= {self.p.text(by)}"
        return f"{name} = {self.p.text(step.value)}"

    def varying_loop(self, s: Loop) -> None:
        assert self.live is not None
        outer, needed = self.p.mask, self.needed
        self.line("{")
        running = self.new_mask(outer or self.p.every_lane)
        self.p.mask, self.needed = running, needed | self.live.after[id(s)]
        self.line("for (;;) {")
        self.leave(s, running)
        if any(isinstance(x, Loop) for x in statements(s.head)):  # it may not end where no lane is there
            self.line(f"if (!any({running})) break;")
        self.block(s.head)
        self.line(f"{running} &= {self.p.truth(s.cond)};")
        self.line(f"if (!any({running})) break;")
        self.block(s.body)
        if s.flags and s.step:
            self.leave(s, running)
        self.block(s.step)
        self.line("}")
        self.line("}")
        self.p.mask, self.needed = outer, needed

    def leave(self, s: Loop, running: str) -> None:
        for f in s.flags:
            if f in self.u.varying:
                self.line(f"{running} &= ~{self.p.var(f)};")
            else:
                self.line(f"if ({self.p.var(f)}) break;")


def tables(u: Uniform, p: Printer) -> list[str]:
    """Arrays whose values stand in the text."""
    out: list[str] = []
    for r in u.kernel.regions:
        if r.storage == "shared" and r.init is not None and r not in u.varying_regions:
            values = ", ".join(literal(v, r.type) for v in r.init)
            count = max(r.count + (BEYOND if r.type.size < 4 else 0), padded(r) if r in p.lookups else 0)
            aligned = "__attribute__((aligned(64))) " if r in p.lookups else ""
            out.append(f"static const {c_name(r.type)} {member(r)}[{count}] {aligned}= {{{values}}};")
    for r in u.kernel.regions:
        if r.storage == "bulk" and r.begins_otherwise:
            values = ", ".join(literal(v, r.type) for v in r.init or ())
            out.append(f"static const {c_name(r.type)} initial_{member(r)}[{r.count}] = {{{values}}};")
    return out
