"""The program as the stages before scheduling leave it, with the user's options."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ..analysis.facts import Trace
from ..analysis.uniform import Uniform
from ..base import catalogue
from ..base.diagnostics import Loc, UnsupportedError
from ..frontend.kernel import KernelProgram
from ..frontend.link import Linked
from ..frontend.preprocess import Preprocessed, Source
from ..frontend.sizes import sizing
from ..gep import Gep, NotGep, recognise
from ..ir.nodes import Kernel, Region
from .slots import Layout, Slot, layout

_OF_SIZES = (catalogue.ALLOCATION.code, catalogue.VARIABLE_EXTENT.code)


@dataclass(frozen=True)
class Understood:
    """A program understood: everything that does not depend on the machine. ``kernel`` and ``analysis`` are None
    where ``why_not`` says what cannot be analysed; ``trace`` and ``gep`` are None then. ``stdio``: see `Options`.
    ``asked``: the user names the outputs. ``ends``: where an input may end early, of a program that is analysed; its
    lanes need `native` beside them, which does such an input again. ``assumed``: parameters whose extents a call tells;
    until then they are taken as large."""

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

    @cached_property
    def gep(self) -> Gep | NotGep | None:
        """The kernel as a loop of Gaussian-elimination type: see `recognise`."""
        return recognise(self.analysis.kernel) if self.analysis is not None and not self.ends else None

    @property
    def why_not_whole(self) -> UnsupportedError | None:
        """Why no schedule runs it that has nothing but the flat program; None where that is enough."""
        return self.why_not or (catalogue.ENDS_EARLY.error(self.ends[0]) if self.ends else None)

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
        waits = self.why_not is not None and self.why_not.code in _OF_SIZES
        return sizing(self.program.unit, self.program.kernel) if waits else frozenset()

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
