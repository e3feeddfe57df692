"""The program as the stages before scheduling leave it, with the user's options."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..base import catalogue
from ..base.diagnostics import Error, Loc, UnsupportedError
from ..frontend.preprocess import Preprocessed, Source
from .slots import Layout, Slot, layout

if TYPE_CHECKING:  # what was understood before needs none of them
    from ..analysis.facts import Trace
    from ..analysis.uniform import Uniform
    from ..frontend.kernel import KernelProgram, Parameter
    from ..frontend.link import Linked
    from ..gep import Gep, NotGep
    from ..ir.nodes import Kernel, Region

#: What calls ask of a program that is compiled.
OUTLINE = (
    "kernel_name",
    "scalars",
    "open_structs",
    "lengths",
    "only_read",
    "initialised",
    "begun",
    "sized_by",
    "oblivious",
    "is_gep",
    "why_no_gep",
    "unknown",
    "steps",
    "work",
)
_OF_SIZES = (catalogue.ALLOCATION.code, catalogue.VARIABLE_EXTENT.code)


@dataclass(frozen=True)
class Understood:
    """A program understood: everything that does not depend on the machine. ``kernel`` and ``analysis`` are None
    where ``why_not`` says what cannot be analysed; ``trace`` and ``gep`` are None then. ``stdio``, ``math``: see
    `Options`. ``asked``: the user names the outputs. ``ends``: where an input may end early, of a program that is
    analysed; its lanes need `native` beside them, which does such an input again. ``assumed``: parameters whose extents
    a call tells; until then they are taken as large. ``origin``: identifies all that it was made from, where that is
    known; ``report``: the verdict, where that was made before."""

    source: Source
    pre: Preprocessed
    linked: Linked
    program: KernelProgram
    kernel: Kernel | None
    analysis: Uniform | None
    why_not: UnsupportedError | None
    trace: Trace | None
    slots: tuple[Slot, ...]
    fp: str = "exact"
    pack: int | None = None
    stdio: str = ""
    asked: bool = False
    ends: tuple[Loc, ...] = ()
    assumed: tuple[str, ...] = ()
    origin: str = ""
    report: Any = None
    math: str = "host"

    @cached_property
    def gep(self) -> Gep | NotGep | None:
        """The kernel as a loop of Gaussian-elimination type: see `recognise`."""
        from ..gep import recognise

        return recognise(self.analysis.kernel) if self.analysis is not None and not self.ends else None

    @property
    def why_not_whole(self) -> UnsupportedError | None:
        """Why no schedule runs it that has nothing but the flat program; None where that is enough."""
        if self.why_not is not None or not self.ends:
            return self.why_not
        way_on = (
            "leave schedule= / --schedule out: on the CPU, and in a whole program, the default takes it; or return a"
            " status instead"
        )
        return catalogue.ENDS_EARLY.error(self.ends[0], way_on=way_on)

    @cached_property
    def layout(self) -> Layout:
        """Where each region lies in the slots."""
        return layout(self.program)

    @property
    def leaving(self) -> frozenset[Region]:
        """The regions that go out."""
        regions, layout = self.whole().kernel.regions, self.layout
        return frozenset(r for r in regions if r.name in layout and self.slots[layout[r.name][0]].writes)

    @cached_property
    def sized_by(self) -> frozenset[str]:
        """The parameters whose values would tell the sizes of objects, where those stand in the way of an analysis."""
        from ..frontend.sizes import sizing

        waits = self.why_not is not None and self.why_not.code in _OF_SIZES
        return sizing(self.program.unit, self.program.kernel) if waits else frozenset()

    @cached_property
    def kernel_name(self) -> str:
        return self.program.kernel.name

    @cached_property
    def scalars(self) -> frozenset[str]:
        """The parameters that are one number for all inputs if a call has it so."""
        return frozenset(b.name for b in self.program.parameters if b.kind == "param" and not b.shared)

    @cached_property
    def open_structs(self) -> frozenset[str]:
        return frozenset(b.name for b in self.program.parameters if b.is_open_struct)

    @cached_property
    def lengths(self) -> tuple[str, ...]:
        """Integer parameters that some address or bound comes from."""
        if self.analysis is None:
            return tuple(self.sized_by)
        steps = [s for f in self.analysis.findings if f.severe for s in f.trail]
        return tuple(
            b.name for b in self.program.parameters if _may_be_length(b) and any(s.loc == b.loc for s in steps)
        )

    @cached_property
    def only_read(self) -> tuple[str, ...]:
        """Globals that the kernel only reads, and that have a value without a call."""
        from ..analysis.effects import may_write
        from ..ir.nodes import Store
        from ..ir.walk import statements

        if self.kernel is not None:  # scratch is no output, nor is what nobody asks for
            stored = {s.region.variable for s in statements(self.kernel.body) if isinstance(s, Store)}
        else:
            stored = {s.name for s in may_write(self.program)}
        read = {s.name for s in self.slots if s.reads and not s.writes and not s.shared and not s.required} - stored
        symbols = (b.symbol for b in self.program.parameters if b.kind == "global" and b.name in read)
        return tuple(s.name for s in symbols if s is not None and not s.volatile)

    @cached_property
    def initialised(self) -> tuple[str, ...]:
        """Those of ``only_read`` that the C initialises: calls are not expected to bring them."""
        zero = {s.name for s in self.slots if s.zero}
        return tuple(name for name in self.only_read if name not in zero)

    @cached_property
    def begun(self) -> tuple[str, ...]:
        """Variables that no call is expected to bring, as they begin as the C says: see `ir.nodes.Kernel.begun`."""
        return self.kernel.begun if self.kernel is not None else ()

    @cached_property
    def oblivious(self) -> bool | None:
        """None where there is no analysis."""
        return self.analysis.oblivious if self.analysis is not None else None

    @cached_property
    def is_gep(self) -> bool:
        from ..gep import Gep

        return isinstance(self.gep, Gep)

    @cached_property
    def why_no_gep(self) -> str:
        """Why an analysed kernel is no loop of Gaussian-elimination type; "" where it is."""
        from ..gep import NotGep

        return f"{self.gep.loc}: {self.gep.message}" if isinstance(self.gep, NotGep) else ""

    @cached_property
    def unknown(self) -> tuple[str, ...]:
        """The shared variables that addresses depend on."""
        return self.trace.unknown if self.trace is not None else ()

    @cached_property
    def steps(self) -> int:
        """Accesses of an input, or updates of a matrix, as far as they were counted."""
        from ..gep import Gep

        traced = self.trace.steps if self.trace is not None else 0
        return max(traced, self.gep.updates if isinstance(self.gep, Gep) else 0)

    @cached_property
    def work(self) -> int | None:
        """Accesses, operations and turns of loops of an input, in all; None where data decides."""
        trace = self.trace
        if trace is None or not trace.complete:
            return None
        return 1 + trace.steps + sum(trace.operations.values()) + sum(loop.turns for loop in trace.loops)

    def analysed(self) -> Uniform:
        """The analysis of the flat program. Raises UnsupportedError where there is none."""
        if self.analysis is None:
            assert self.why_not is not None
            raise self.why_not
        return self.analysis

    def whole(self) -> Uniform:
        """The same, of a program all of whose inputs come to their end. Raises UnsupportedError where they may not."""
        if self.why_not_whole is not None:
            raise self.why_not_whole
        return self.analysed()


def _may_be_length(b: Parameter) -> bool:
    t = b.type
    return b.kind == "param" and not b.shared and getattr(t, "kind", "") in ("i", "u")


Begin = Callable[["Kernel", Callable[[], Understood]], None]
_begin: ContextVar[Begin | None] = ContextVar("c2cu_begin", default=None)


@contextmanager
def looking_ahead(begin: Begin) -> Iterator[None]:
    """Programs that are understood inside go to ``begin`` as soon as they are analysed: the flat kernel, and a function
    that returns the program without a trace, with the slots that it has if the trace tells nothing more."""
    token = _begin.set(begin)
    try:
        yield
    finally:
        _begin.reset(token)


def foresee(kernel: Kernel, make: Callable[[], Understood]) -> None:
    """Tell who looks ahead, if anyone does: see `looking_ahead`. What is wrong is told where it is needed."""
    begin = _begin.get()
    if begin is not None:
        with suppress(Error):
            begin(kernel, make)
