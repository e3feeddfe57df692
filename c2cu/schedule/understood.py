"""What the stages before scheduling hand over: the user's options, and the program understood."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ..analysis.facts import Trace
from ..analysis.uniform import Uniform
from ..base.diagnostics import UnsupportedError
from ..frontend.kernel import KernelProgram
from ..frontend.preprocess import Preprocessed, Source
from ..gep import Gep, NotGep, recognise
from ..ir.nodes import Kernel
from .artifact import Slot


@dataclass(frozen=True)
class Front:
    """A program understood: everything that does not depend on the machine. ``kernel`` and ``analysis`` are None
    where ``why_not`` says what cannot be analysed; ``trace`` and ``gep`` are then None too."""

    source: Source
    pre: Preprocessed
    program: KernelProgram
    kernel: Kernel | None
    analysis: Uniform | None
    why_not: UnsupportedError | None
    trace: Trace | None
    slots: tuple[Slot, ...]
    fp: str = "exact"
    pack: int | None = None

    @cached_property
    def gep(self) -> Gep | NotGep | None:
        """The kernel as a loop of Gaussian-elimination type: see `recognise`."""
        return recognise(self.analysis.kernel) if self.analysis is not None else None
