"""CUDA text of a threads' program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...analysis.facts import Trace
from ...analysis.uniform import Uniform
from ...base import catalogue
from ...base.ctype import BOOL, Leaf
from ...codegen.cuda import CudaText, element_name, literal, region_name
from ...ir.nodes import Block, Expr, Load, Region, Stmt, Variable
from ...ir.walk import variables
from ..pack import is_plain
from ..slots import Slot
from .builder import REDO, Builder
from .fit import ROUND, TID, thread_ranges
from .machine import is_barrier, padded

Layout = Mapping[str, tuple[int, Leaf]]  # region name -> its slot's number, and where it lies in the slot's bytes


_OURS = {TID.name: "tid", ROUND.name: "round", REDO.name: "redo"}  # whatever their webs are


class BlockText(CudaText):
    """Indices are places in shared memory already."""

    def variable(self, v: Variable) -> str:
        return _OURS.get(v.name) or super().variable(v)

    def load(self, e: Load) -> str:
        """What no thread writes may come through the read-only path."""
        if e.region.storage != "shared":
            return super().load(e)
        text = f"__ldg(&{self.element(e.region, e.index)})"
        return f"({text} != 0)" if e.type == BOOL else text

    def statement(self, s: Stmt) -> None:
        if is_barrier(s):
            self.line("SYNC();")
        else:
            super().statement(s)


class SequentialBlockText(CudaText):
    """The kernel as it was, for one thread."""

    def element(self, r: Region, index: Expr) -> str:
        at = self.text(self.index(index))
        return f"{region_name(r)}[{at}]" if r.storage == "shared" else f"{region_name(r)}[{_place(r, at)}]"


def _place(r: Region, at: str) -> str:
    return f"PLACE({at}, {128 // r.type.size})" if r.type.size >= 4 else at


def values(
    u: Uniform, trace: Trace, b: Builder, body: Block, slots: tuple[Slot, ...], layout: Layout, inputs: int
) -> dict[str, Any]:
    """What the template is filled with."""
    regions = [r for r in u.kernel.regions if r.storage != "shared"]
    bulk = [r for r in regions if r.storage == "bulk"]
    threads = BlockText(of_variable=thread_ranges(b.threads, body))
    threads.declare(body, [v for v in variables(body) if v.name.startswith("c2cu_")])
    threads.block(body)
    again = SequentialBlockText()
    if b.speculative:
        again.depth = 2
        again.declare(u.kernel.body)
        again.block(u.kernel.body)
    at, arrays = 0, []
    for r in regions:
        arrays.append((element_name(r.type), region_name(r), at))
        at += _bytes(r)
    return {
        "name": u.kernel.name,
        "threads": b.threads,
        "inputs": inputs,
        "bytes": at,
        "tables": [_table(r) for r in (*u.kernel.regions, *b.machine.tables) if r.storage == "shared" and r.init],
        "initial": [_initial(r) for r in bulk if r.init is not None and any(r.init)],
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


def shared_bytes(u: Uniform) -> int:
    """Shared memory of an input."""
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
    initial = f"c2cu_initial_{region_name(r)}" if r.init is not None and any(r.init) else "nullptr"
    row = 128 // r.type.size if r.type.size >= 4 else 0
    t = element_name(r.type)
    slot = f"slot[{_slot(r, slots, layout)}]"
    return f"bring<{t}, {r.count}, {row}>({region_name(r)}, {slot}, id, tid, (const {t} *){initial});"


def _take(r: Region, slots: tuple[Slot, ...], layout: Layout) -> str:
    row = 128 // r.type.size if r.type.size >= 4 else 0
    t = element_name(r.type)
    return f"take<{t}, {r.count}, {row}>({region_name(r)}, slot[{_slot(r, slots, layout)}], id, tid);"
