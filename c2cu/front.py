"""What the stages before scheduling hand over: the user's options, and the program understood."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from .artifact import Slot
from .diagnostics import UnsupportedError
from .facts import Trace
from .gep import Gep, NotGep, recognise
from .ir import Kernel
from .preprocess import Preprocessed, Source
from .program import Program
from .uniform import Uniform


@dataclass(frozen=True)
class Options:
    """What the user may choose. ``shapes``: shape of one input by name; ``values``: of shared scalar parameters, by
    name, for which alone the program is to be understood; ``pack``: bits that elements of shortest paths fit."""

    fn: str | None = None
    defines: Mapping[str, str] = field(default_factory=dict)
    include_dirs: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    fp: str = "exact"
    values: Mapping[str, int | float] = field(default_factory=dict)
    pack: int | None = None


@dataclass(frozen=True)
class Front:
    """A program understood: everything that does not depend on the machine. ``kernel`` and ``analysis`` are None
    where ``why_not`` says what cannot be analysed; ``trace`` and ``gep`` are then None too."""

    source: Source
    pre: Preprocessed
    program: Program
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
