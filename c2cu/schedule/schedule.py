"""What a schedule is: the class that the ``__init__`` of each schedule's folder defines. `registry` lists them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from .artifact import Artifact
from .estimate import Estimate, Rival
from .understood import Understood

if TYPE_CHECKING:
    from ..analysis.facts import Trace
    from ..ir.passes import Pass


@dataclass(frozen=True)
class Candidate:
    """A schedule by name, or "name:variant", and the threads of a block (``block``, ``gep``: of an input); 0 leaves
    their number to the schedule."""

    schedule: str
    threads: int = 0

    def __str__(self) -> str:
        return f"{self.schedule} with {self.threads} threads" if self.threads else self.schedule


class Schedule:
    """A way to lay p inputs over threads and lanes.

    ``rounds_freely``: whether ``fp`` makes a difference. ``settles``: made for what it takes, so that nothing is to be
    compared with it. ``pass_names``: of what ``passes`` returns. ``ends_lanes``: whether it takes programs whose inputs
    may end early.

    A module of a schedule's folder is imported where a method needs it, as asking must not cost what emitting does.
    """

    rounds_freely: ClassVar[bool] = False
    settles: ClassVar[bool] = False
    pass_names: ClassVar[tuple[str, ...]] = ()
    ends_lanes: ClassVar[bool] = False

    def applies(self, understood: Understood) -> bool:
        """Whether it is made for programs like this one at all."""
        return True

    def objection(self, understood: Understood, p: int | None) -> str | None:
        """Why "auto" should prefer a later schedule for ``p`` inputs (None: for many). The program has been lowered."""
        return None

    def emit(self, understood: Understood, threads: int, variant: str) -> Artifact:
        """The program's text. ``threads``: see `Candidate`; ``variant``: one of its kinds, or "" for the schedule's own
        choice. Raises UnsupportedError for a program that it does not take."""
        raise NotImplementedError

    def passes(self, understood: Understood) -> tuple[Pass, ...]:
        """What the flat IR goes through under this schedule, after what it goes through under all of them."""
        return ()

    def estimate(self, artifact: Artifact, trace: Trace) -> Estimate | None:
        """What an artifact of this schedule takes; None where nothing is known. ``trace`` is complete."""
        return None

    def rival(self, understood: Understood) -> Rival | None:
        """What of this schedule and its backend's last one "auto" has not chosen, where a measurement is to tell which
        is faster; None where it need not."""
        return None

    def alternatives(self, candidate: Candidate, artifact: Artifact) -> list[Candidate]:
        """What else is worth a measurement, where ``candidate``, which gives no number of threads, led to
        ``artifact``: other numbers of threads, other variants."""
        return []
