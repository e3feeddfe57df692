"""Threads that refill: where data ends the kernel's main loop, a thread whose input is done takes the warp's next.

The kernel is three parts: what comes before one outermost loop that data ends, the loop, and what comes after it. Each
warp has a share of the inputs, and its threads are at different turns of their inputs' loops; a thread brings its
input's row in by itself, and takes it out. Results do not depend on who does what.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ...analysis.work import work
from ...ir.nodes import Block, Load, Loop, Variable
from ..slots import Slot
from ..warp_pack import RowElement, RowPart, enter_alone, leave_alone
from .text import Layout, Placed, RegistersText

MOST_DUE = 8  # threads of a warp that wait for the others, at most, before they take inputs
BETWEEN = 256  # operations, about, before the threads of a warp look at each other again


@dataclass(frozen=True)
class Refilling:
    """``due``: threads of a warp that are done when they take inputs; ``turns``: of the loop, before that is asked."""

    before: Block
    loop: Loop
    after: Block
    due: int
    turns: int


def refill(placed: Placed) -> Refilling | None:
    """The three parts, where data ends a loop."""
    if placed.loop is None:
        return None
    before, loop, after = placed.body[: placed.loop], placed.body[placed.loop], placed.body[placed.loop + 1 :]
    assert isinstance(loop, Loop)
    turn = work((*loop.head, *loop.body, *loop.step))
    elements = sum(r.count for r in placed.arrays if r.storage == "bulk")
    outside = work((*before, *after, *placed.loads, *placed.stores)) + 2 * elements
    due = max(1, min(MOST_DUE, outside // max(turn, 1)))
    return Refilling(before, loop, after, due, max(1, BETWEEN // max(turn, 1)))


class RefillingText(RegistersText):
    """Prints the three parts."""

    def __init__(self, form: Refilling, placed: Placed, slots: tuple[Slot, ...], layout: Layout, threads: int):
        super().__init__(placed, slots, layout, threads)
        self.form = form
        self.single = frozenset()  # what one part assigns another reads; so no sum or product of long numbers is found

    def values(self) -> dict[str, Any]:
        placed, form = self.placed, self.form
        out = {k: list(self.going_out(k)) for k, s in enumerate(self.slots) if s.writes}
        holes = {k: self.holes(k, cells) for k, cells in out.items()}
        self.declare((*placed.loads, *placed.body, *placed.stores))
        self.declare_kept(holes)
        declared = self.printed_apart()
        filled = {
            "before": self.part(5, lambda: self.start(holes)),
            "turn": self.part(4, self.turn),
            "after": self.part(5, lambda: self.finish(out, holes)),
        }
        main = {"loc": form.loop.loc, "due": form.due, "turns": form.turns}
        return {**self.surroundings(), **main, **filled, "declared": declared}

    def part(self, depth: int, print_it: Callable[[], None]) -> list[str]:
        """The lines that ``print_it`` prints."""
        self.depth = depth
        print_it()
        return self.printed_apart()

    def printed_apart(self) -> list[str]:
        lines, self.lines = self.lines, []
        return lines

    def start(self, holes: Mapping[int, list[RowElement]]) -> None:
        """Everything up to the loop, for an input that a thread has taken."""
        for s in self.placed.loads:  # they hold what the input before has left
            assert isinstance(s.value, Load)
            place = self.layout.get(s.value.region.name)
            if place is not None and not self.slots[place[0]].required:
                self.line(f"{self.variable(s.var)} = 0;")
        self.begin(holes)
        self.block(self.form.before)

    def finish(self, out: Mapping[int, list[RowElement]], holes: Mapping[int, list[RowElement]]) -> None:
        """Everything behind the loop."""
        self.block(self.form.after)
        self.end(out, holes)

    def turn(self) -> None:
        """A turn, if there is another one."""
        loop = self.form.loop
        self.leave_loop(loop.flags)
        self.block(loop.head)
        self.leave_loop((), f"!{self.expr(loop.cond)}")
        self.block(loop.body)
        if loop.step:
            self.leave_loop(loop.flags)
        self.block(loop.step)

    def leave_loop(self, flags: tuple[Variable, ...], cond: str = "") -> None:
        if flags or cond:
            self.line(f"if ({cond or ' || '.join(map(self.variable, flags))}) {{ running = false; break; }}")

    def bring_part(self, part: RowPart, cells: list[RowElement]) -> list[str]:
        return enter_alone(part, self.slots[part.slot], cells)

    def take_part(self, part: RowPart, cells: list[RowElement]) -> list[str]:
        return leave_alone(part, self.slots[part.slot], cells)
