"""CUDA text of a threads' program."""

from __future__ import annotations

import itertools
import textwrap
from typing import Any

import numpy as np

from ...analysis.facts import Trace
from ...analysis.uniform import Uniform
from ...base import catalogue
from ...base.ctype import BOOL
from ...codegen.cuda import CudaText, element_name, literal, region_name, type_name
from ...codegen.places import place_in
from ...codegen.precedence import PREFIX
from ...ir.evaluate import COMPARISONS
from ...ir.nodes import Assign, Binary, Block, Const, Expr, Load, Loop, Region, Stmt, Unary, Var, Variable
from ...ir.ranges import RangeOf
from ...ir.walk import blocks, expressions, subexpressions, variables
from ..pack import is_plain
from ..slots import Layout, Slot
from .builder import REDO, Builder
from .fit import ROUND, thread_ranges
from .machine import padded
from .notes import ThreadText, is_barrier, is_note, names_of, words

COMMENT = 112  # characters of a comment's line


class BlockText(ThreadText):
    """Indices are places in shared memory already. ``at_first``: variables that are declared where they are first
    assigned."""

    def __init__(self, of_variable: RangeOf, at_first: frozenset[Variable]):
        super().__init__(of_variable)
        self.waiting = set(at_first)

    def variable(self, v: Variable) -> str:
        return "redo" if v.name == REDO.name else super().variable(v)

    def declared(self, v: Variable) -> str:
        """A variable that is assigned, with its type where that declares it."""
        if v not in self.waiting:
            return self.variable(v)
        self.waiting.remove(v)
        return f"{type_name(v.type)} {self.variable(v)}"

    def result(self, v: Variable) -> str:
        if v in self.waiting:
            self.line(f"{self.declared(v)};")
        return self.variable(v)

    def binary(self, e: Binary) -> tuple[str, int]:
        """A truth value beside 0 is its negation."""
        if e.op == "==" and isinstance(e.right, Const) and e.right.value == 0 and _is_truth(e.left):
            return f"!{self.expr(e.left)}", PREFIX
        return super().binary(e)

    def load(self, e: Load) -> str:
        """What no thread writes may come through the read-only path."""
        if e.region.storage != "shared":
            return super().load(e)
        text = f"__ldg(&{self.element(e.region, e.index)})"
        return f"({text} != 0)" if e.type == BOOL else text

    def statement(self, s: Stmt) -> None:
        if is_barrier(s):
            self.line(f"c2cu_sync(); /* {words(s)} */")
        elif is_note(s):
            self.comment(words(s))
        elif isinstance(s, Assign) and s.var.name == ROUND.name:
            pass  # the loop says so
        elif isinstance(s, Assign):
            self.origin = s.loc
            text = self.text(s.value)
            self.line(f"{self.declared(s.var)} = {text};")
        else:
            super().statement(s)

    def loop(self, s: Loop) -> None:
        if not any(isinstance(x, Var) and x.var.name == ROUND.name for x in subexpressions(s.cond)):
            super().loop(s)
            return
        self.open(f"for (int round = 0; {self.text(s.cond)}; round++)")
        self.block(s.body)
        self.close()

    def comment(self, text: str) -> None:
        """A note, with an empty line before one on a phase."""
        if text.startswith("Phase"):
            self.lines.append("")
        indent = "    " * self.depth
        for k, line in enumerate(lines := textwrap.wrap(text, COMMENT - len(indent), break_long_words=False)):
            end = " */" if k == len(lines) - 1 else ""
            self.lines.append(f"{indent}{' * ' if k else '/* '}{line}{end}")


class SequentialBlockText(CudaText):
    """The kernel as it was, for one thread."""

    def element(self, r: Region, index: Expr) -> str:
        at = self.text(self.index(index))
        return f"{region_name(r)}[{at}]" if r.storage == "shared" else f"{region_name(r)}[{_place(r, at)}]"


def _place(r: Region, at: str) -> str:
    return f"PLACE({at}, {128 // r.type.size})" if r.type.size >= 4 else at


def _is_truth(e: Expr) -> bool:
    return (isinstance(e, Binary) and e.op in (*COMPARISONS, "&&", "||")) or (isinstance(e, Unary) and e.op == "!")


def _shared_start(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(x for x, _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(a, b)))


def declared_at_first(body: Block) -> frozenset[Variable]:
    """Variables that their first assignment may declare: it stands in the block that has all else of them."""
    first: dict[Variable, tuple[int, ...]] = {}  # where it is assigned, if that is the first of it
    common: dict[Variable, tuple[int, ...]] = {}  # the numbers of the blocks around all of it

    def occurs(v: Variable, path: tuple[int, ...]) -> None:
        common[v] = _shared_start(common.get(v, path), path)

    def inside(block: Block, path: tuple[int, ...]) -> None:
        for s in block:
            read = [x.var for e in expressions(s) for x in subexpressions(e) if isinstance(x, Var)]
            for v in (*read, *(s.flags if isinstance(s, Loop) else ())):
                occurs(v, path)
            if isinstance(s, Assign):
                if s.var not in common:
                    first[s.var] = path
                occurs(s.var, path)
            for b in blocks(s):
                inside(b, (*path, next(numbers)))

    numbers = itertools.count()
    inside(body, ())
    return frozenset(v for v, path in first.items() if path == common[v] and not v.name.startswith("c2cu_"))


def values(
    u: Uniform, trace: Trace, b: Builder, body: Block, slots: tuple[Slot, ...], layout: Layout, inputs: int
) -> dict[str, Any]:
    """What the template is filled with."""
    regions = [r for r in u.kernel.regions if r.storage != "shared"]
    bulk = [r for r in regions if r.storage == "bulk"]
    at_first = declared_at_first(body)
    threads = BlockText(thread_ranges(b.threads, body), at_first)
    threads.declare(body, [v for v in variables(body) if v in at_first or v.name.startswith("c2cu_")])
    threads.block(body)
    again = SequentialBlockText()
    if b.speculative:
        again.declare(u.kernel.body)
        again.block(u.kernel.body)
    at, arrays = 0, []
    for r in regions:
        arrays.append((element_name(r.type), region_name(r), at))
        at += _bytes(r)
    made = [v for v in variables(body) if not v.spelling]
    return {
        "name": u.kernel.name,
        "place": place_in(u.kernel.loc),
        "example": f"array {regions[0].name} at {region_name(regions[0])}" if regions else "",
        "elements": _elements(b),
        **{kind: any(v.name.startswith(f"{kind}_") for v in made) for kind in ("own", "read")},
        "taken": any(v.name == "taken" for v in made),
        "threads": b.threads,
        "inputs": inputs,
        "bytes": at,
        "tables": [_table(r) for r in (*u.kernel.regions, *b.machine.tables) if r.storage == "shared" and r.init],
        "initial": [_initial(r) for r in bulk if r.begins_otherwise],
        "shared_inputs": [
            _shared_input(r, slots, layout) for r in u.kernel.regions if r.storage == "shared" and not r.init
        ],
        "arrays": arrays,
        "bring": [_bring(r, slots, layout) for r in bulk if trace.comes_in(r.name, slots[layout[r.name][0]].writes)],
        "take": [_take(r, slots, layout) for r in bulk if slots[layout[r.name][0]].writes],
        "body": threads.lines,
        "again": again.lines,
        "speculative": b.speculative,
    }


def _elements(b: Builder) -> str:
    """How many of an input's elements a thread may hold."""
    if not b.resident:
        return ""
    count = next(iter(b.resident)).count
    each = f"{names_of(b.resident)}: {count} elements{' each' if len(b.resident) > 1 else ''}, {b.slots} a thread"
    return f"{each}."


def array_bytes(u: Uniform) -> int:
    """Memory of an input's arrays."""
    return sum(_bytes(r) for r in u.kernel.regions if r.storage != "shared")


def _bytes(r: Region) -> int:
    last = int(padded(np.asarray(max(0, r.count - 1)), r.type))
    return -(-(last + 1) * r.type.size // 16) * 16


def _table(r: Region) -> str:
    values = ", ".join(literal(v, r.type) for v in r.init or ())
    return f"__device__ const {element_name(r.type)} {region_name(r)}[{r.count}] = {{{values}}};"


def _initial(r: Region) -> str:
    values = ", ".join(literal(v, r.type) for v in r.init or ())
    return f"__device__ const {element_name(r.type)} c2cu_initial_{region_name(r)}[{r.count}] = {{{values}}};"


def _slot(r: Region, slots: tuple[Slot, ...], layout: Layout) -> int:
    if not is_plain(slots, layout[r.name]):
        raise catalogue.PART_OF_STRUCT.error(r.loc, name=r.name)
    return layout[r.name][0]


def _shared_input(r: Region, slots: tuple[Slot, ...], layout: Layout) -> str:
    t = element_name(r.type)
    return f"const {t} *const {region_name(r)} = (const {t} *)slot[{_slot(r, slots, layout)}].in;"


def _bring(r: Region, slots: tuple[Slot, ...], layout: Layout) -> str:
    initial = f"c2cu_initial_{region_name(r)}" if r.begins_otherwise else "nullptr"
    row = 128 // r.type.size if r.type.size >= 4 else 0
    t = element_name(r.type)
    slot = f"slot[{_slot(r, slots, layout)}]"
    return f"bring<{t}, {r.count}, {row}>({region_name(r)}, {slot}, id, tid, (const {t} *){initial});"


def _take(r: Region, slots: tuple[Slot, ...], layout: Layout) -> str:
    row = 128 // r.type.size if r.type.size >= 4 else 0
    t = element_name(r.type)
    return f"take<{t}, {r.count}, {row}>({region_name(r)}, slot[{_slot(r, slots, layout)}], id, tid);"
