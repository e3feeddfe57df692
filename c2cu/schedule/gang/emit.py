"""Schedule ``gang`` (CPU): one input in each SIMD lane, W inputs in lockstep.

A varying `if` becomes a select, or is skipped when no lane takes it; a varying loop runs until every lane is done;
a varying subscript goes lane by lane. A gang's regions stand lane by lane (``a[i][W]``), so they stay in L1 or L2.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...analysis.facts import Trace
from ...analysis.uniform import Uniform, uniform
from ...base.ctype import BOOL, Leaf, Scalar
from ...base.templates import render
from ...codegen.lanes import complex_parts, extreme_text, vectors
from ...codegen.simd import Printer, converted, literal, member, memory
from ...ir.nodes import Assign, Block, If, Loop, Region, Stmt, Store, Var, Variable
from ...ir.passes import Pass
from ...ir.walk import expressions, statements, subexpressions
from ...transform.common import common
from ...transform.propagate import propagate
from ...transform.scalarize import scalarize
from ...transform.unroll import unroll_by_profit
from .. import pack
from ..artifact import CpuArtifact
from ..slots import Slot
from .select import accesses, is_small, selects

Layout = Mapping[str, tuple[int, Leaf]]  # region name -> its slot's number, and where it lies in the slot's bytes
LOCAL_BYTES = 1 << 14  # a region up to this size may live in the kernel's frame
#: What a kernel goes through before it is analysed once more and printed.
PASSES: tuple[Pass, ...] = (
    ("propagate", propagate),
    ("unroll", unroll_by_profit),
    ("scalarize", scalarize),
    ("select", lambda k: selects(uniform(k))),
    ("common", common),
)


def gang(
    u: Uniform, slots: tuple[Slot, ...], layout: Layout, native_bytes: int, trace: Trace | None = None
) -> CpuArtifact:
    """C text for the host compiler. ``native_bytes``: width of the CPU's SIMD registers. ``trace``: what the program
    touches; what it writes whole before it reads any of it is not packed."""
    widest = _widest(u)
    lanes = native_bytes // widest
    emitter = Emitter(u, widest == 8)
    emitter.block(u.kernel.body)
    body = emitter.declarations() + emitter.p.lines
    bulk = [r for r in u.kernel.regions if r.storage == "bulk"]
    coming = [r for r in bulk if trace is None or trace.comes_in(r.name, slots[layout[r.name][0]].writes)]
    shared_inputs = [r for r in u.kernel.regions if r.storage == "shared" and r.init is None and r.name in layout]
    fields = frozenset(r for r in shared_inputs if not pack.is_plain(slots, layout[r.name]))
    members, tables = _storage(u, emitter.p, fields)
    transposed = sorted({r.type.size for r in bulk if pack.is_plain(slots, layout[r.name])})
    text = render(
        "cpu/gang.c.j2",
        name=u.kernel.name,
        lanes=lanes,
        vectors=vectors(lanes, widest),
        complex_parts=complex_parts(u.kernel),
        body=body,
        members=members,
        tables=tables,
        wide_multiply=emitter.p.wide_multiply,
        roots=sorted(emitter.p.roots),
        unsigned=sorted(emitter.p.unsigned),
        extremes=[extreme_text(name, lanes) for name in sorted(emitter.p.extremes)],
        transposes=[pack.transpose(size, lanes) for size in transposed if lanes > 1],
        shared=[line for r in shared_inputs for line in pack.share(r, slots, layout[r.name])],
        pack=[line for r in coming for line in pack.pack(r, slots, layout[r.name], lanes, widest == 8)],
        unpack=[line for r in bulk for line in pack.unpack(r, slots, layout[r.name], lanes, widest == 8)],
    )
    return CpuArtifact("gang", text, slots, lanes=lanes)


def _widest(u: Uniform) -> int:
    """Bytes of the widest varying value: 4 or 8."""
    sizes = [v.type.size for v in u.varying] + [r.type.size for r in u.varying_regions]
    for s in statements(u.kernel.body):
        for e in expressions(s):
            sizes += [x.type.size for x in subexpressions(e) if x.type.size == 8 and u.is_varying(x)]
    return 8 if 8 in sizes else 4


def _storage(u: Uniform, p: Printer, fields: frozenset[Region]) -> tuple[list[str], list[str]]:
    """Members of ``struct gang``, and tables in the text. ``fields``: shared regions that are part of a struct."""
    members: list[str] = []
    tables: list[str] = []
    for r in u.kernel.regions:
        if r in u.varying_regions:
            members.append(f"{p.memory(r.type)} {member(r)}[{r.count}]")
            if r.storage == "bulk" and p.memory(r.type) != memory(r.type):
                members.append(f"{memory(r.type)} {pack.narrow(r)}[{r.count}]")
        elif r in fields or (r.storage == "local" and r.type.size * r.count > LOCAL_BYTES):
            members.append(f"{c_name(r.type)} {member(r)}[{r.count}]")
        elif r.storage == "shared" and r.init is None:
            members.append(f"const {c_name(r.type)} *{member(r)}")
        elif r.storage == "shared":
            values = ", ".join(literal(v, r.type) for v in r.init or ())
            tables.append(f"static const {c_name(r.type)} {member(r)}[{r.count}] = {{{values}}};")
    for r in u.kernel.regions:
        if r.storage == "bulk" and r.init is not None and any(r.init):
            values = ", ".join(literal(v, r.type) for v in r.init)
            tables.append(f"static const {c_name(r.type)} initial_{member(r)}[{r.count}] = {{{values}}};")
    return members, tables


def c_name(t: Scalar) -> str:
    """The type of an array's elements in C."""
    return "unsigned char" if t == BOOL else t.name


class Emitter:
    """Prints a kernel's statements, what varies as vectors."""

    def __init__(self, u: Uniform, wide: bool):
        self.u = u
        self.p = Printer(u, wide=wide)
        self.masks = 0

    def declarations(self) -> list[str]:
        """Variables and uniform local regions of the kernel's frame."""
        variables: dict[Variable, None] = {}
        for s in statements(self.u.kernel.body):
            if isinstance(s, Assign):
                variables[s.var] = None
            if isinstance(s, Loop):
                variables.update(dict.fromkeys(s.flags))
            for e in expressions(s):
                variables.update((x.var, None) for x in subexpressions(e) if isinstance(x, Var))
        out = []
        for v in variables:
            if v in self.u.varying:
                out.append(f"{self.p.register(v.type)} {self.p.var(v)} = {{0}};")
            else:
                out.append(f"{v.type} {self.p.var(v)} = 0;")
        for r in self.u.kernel.regions:
            if r.storage == "local" and r not in self.u.varying_regions:
                large = r.type.size * r.count > LOCAL_BYTES
                out.append(
                    f"{c_name(r.type)} *const {member(r)} = g->{member(r)};"
                    if large
                    else f"{c_name(r.type)} {member(r)}[{r.count}];"
                )
        return out

    def line(self, text: str) -> None:
        self.p.lines.append(text)

    def block(self, block: Block) -> None:
        for s in block:
            self.statement(s)

    def statement(self, s: Stmt) -> None:
        match s:
            case Assign():
                self.assign(s)
            case Store():
                self.store(s)
            case If() if not self.u.is_varying(s.cond):
                self.uniform_if(s)
            case If():
                self.varying_if(s)
            case Loop() if self.u.is_varying(s.cond) or any(f in self.u.varying for f in s.flags):
                self.varying_loop(s)
            case Loop():
                self.uniform_loop(s)

    def assign(self, s: Assign) -> None:
        name = self.p.var(s.var)
        if s.var not in self.u.varying:
            self.line(f"{name} = {self.p.text(s.value)};")
            return
        rep = self.p.register(s.var.type)
        if s.var.type == BOOL:
            value = self.p.truth(s.value)
        else:
            value = self.p.vector(s.value)
        self.line(f"{name} = {self.p.select(self.p.mask, value, name, rep) if self.p.mask else value};")

    def store(self, s: Store) -> None:
        target = self.p.region(s.region)
        if s.region not in self.u.varying_regions:
            self.line(f"{target}[{self.p.subscript(s.index)}] = {self.p.text(s.value)};")
            return
        rep, memory_rep = self.p.register(s.region.type), self.p.memory(s.region.type)
        if self.u.is_varying(s.index):
            index = self.p.lanes_index(s.index)
            value = self.p.temporary(rep)
            self.line(f"{value} = {self.p.vector(s.value)};")
            guard = f"if ({self.p.mask}[l]) " if self.p.mask else ""
            self.line(f"LANES {guard}{target}[{index}[l]][l] = {value}[l];")
            return
        place = f"{target}[{self.p.subscript(s.index)}]"
        value = self.p.stored(s.value)
        if self.p.mask:
            value = self.p.select(self.p.mask, value, converted(place, memory_rep, rep), rep)
        self.line(f"{place} = {converted(value, rep, memory_rep)};")

    def uniform_if(self, s: If) -> None:
        self.line(f"if ({self.p.text(s.cond)}) {{")
        self.block(s.then)
        if s.other:
            self.line("} else {")
            self.block(s.other)
        self.line("}")

    def new_mask(self, value: str) -> str:
        self.masks += 1
        self.line(f"i32 m{self.masks} = {value};")
        return f"m{self.masks}"

    def varying_if(self, s: If) -> None:
        outer = self.p.mask
        self.line("{")
        cond = self.p.truth(s.cond)
        taken = self.new_mask(f"{cond} & {outer}" if outer else cond)
        other = self.new_mask(f"~{taken} & {outer}" if outer else f"~{taken}") if s.other else ""
        known = accesses(s.cond)
        for mask, arm in ((taken, s.then), (other, s.other)):
            if not arm:
                continue
            self.p.mask = mask
            if is_small(self.u, arm, known):
                self.block(arm)
                continue
            self.line(f"if (any({mask})) {{")
            self.block(arm)
            self.line("}")
        self.p.mask = outer
        self.line("}")

    def uniform_loop(self, s: Loop) -> None:
        flags = " || ".join(self.p.var(f) for f in s.flags)
        if not s.head:
            start = len(self.p.lines)
            cond = self.p.scalar(s.cond)
            assert len(self.p.lines) == start
            test = f"!({flags}) && {cond}" if flags else cond
            self.line(f"while ({test}) {{")
        else:
            self.line("for (;;) {")
            if flags:
                self.line(f"if ({flags}) break;")
            self.block(s.head)
            self.line(f"if (!{self.p.scalar(s.cond)}) break;")
        self.block(s.body)
        if flags and s.step:
            self.line(f"if ({flags}) break;")
        self.block(s.step)
        self.line("}")

    def varying_loop(self, s: Loop) -> None:
        outer = self.p.mask
        self.line("{")
        live = self.new_mask(outer or "splat_i32(-1)")
        self.p.mask = live
        self.line("for (;;) {")
        self.leave(s, live)
        self.line(f"if (!any({live})) break;")
        self.block(s.head)
        self.line(f"{live} &= {self.p.truth(s.cond)};")
        self.line(f"if (!any({live})) break;")
        self.block(s.body)
        if s.flags and s.step:
            self.leave(s, live)
        self.block(s.step)
        self.line("}")
        self.line("}")
        self.p.mask = outer

    def leave(self, s: Loop, live: str) -> None:
        for f in s.flags:
            if f in self.u.varying:
                self.line(f"{live} &= ~{self.p.var(f)};")
            else:
                self.line(f"if ({self.p.var(f)}) break;")
