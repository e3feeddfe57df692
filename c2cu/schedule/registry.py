"""The schedules there are. Adding one takes a folder, whose ``__init__`` defines a `Schedule`, and a line here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the command line lists schedules before anything is loaded
    from .artifact import Artifact
    from .schedule import Schedule
    from .understood import Understood


@dataclass(frozen=True)
class Entry:
    """A schedule's line. ``place``: the folder and the class in it; it is imported when it is first asked. ``kinds``:
    further names, "schedule:kind", that a user may give; ``large``: the one of them for an input that does not fit a
    device, or that several devices work at together."""

    backend: str
    name: str
    place: str
    kinds: tuple[str, ...] = ()
    large: str = ""

    @cached_property
    def schedule(self) -> Schedule:
        folder, _, cls = self.place.partition(":")
        return getattr(import_module(f".{folder}", __package__), cls)()

    @property
    def variants(self) -> tuple[str, ...]:
        """Its variants as a user writes them: "gep:tiles" and so on."""
        return tuple(f"{self.name}:{v}" for v in self.kinds)

    @property
    def oversized(self) -> str:
        """The variant for an input that does not fit a device, as a user writes it; "" where there is none."""
        return f"{self.name}:{self.large}" if self.large else ""


GEP = ("tiles", "bits", "staged", "streams", "graph", "single", "recursive", "bands")
#: In the order in which "auto" prefers them. The last of a backend takes any C.
REGISTRY = (
    Entry("cpu", "gep", "gep:CpuGepSchedule"),
    Entry("cpu", "gang", "gang:GangSchedule", ("two",)),
    Entry("cpu", "native", "native:NativeSchedule"),
    Entry("cuda", "registers", "registers:RegistersSchedule"),
    Entry("cuda", "gep", "gep:CudaGepSchedule", GEP, "bands"),
    Entry("cuda", "scan", "scan:ScanSchedule"),
    Entry("cuda", "block", "block:BlockSchedule"),
    Entry("cuda", "thread", "column:ThreadSchedule"),
    Entry("cuda", "private", "private:PrivateSchedule"),
)
BACKENDS = tuple(dict.fromkeys(e.backend for e in REGISTRY))


def entries(backend: str) -> tuple[Entry, ...]:
    """A backend's schedules."""
    return tuple(e for e in REGISTRY if e.backend == backend)


def names(backend: str) -> tuple[str, ...]:
    """Their names, without variants."""
    return tuple(e.name for e in entries(backend))


def variants(backend: str, name: str = "") -> tuple[str, ...]:
    """All variants of a backend's schedules, or of the one with this name: "gep:tiles" and so on."""
    return tuple(v for e in entries(backend) if name in ("", e.name) for v in e.variants)


def all_names(backend: str) -> tuple[str, ...]:
    """What a user may call for: schedules, and their variants."""
    return (*names(backend), *variants(backend))


def find(backend: str, name: str) -> Entry:
    """The entry of a schedule, or of a variant. Raises KeyError."""
    plain = name.partition(":")[0]
    for e in entries(backend):
        if e.name == plain:
            return e
    raise KeyError(name)


def rounds_freely(backend: str, name: str) -> bool:
    """Whether ``fp`` makes a difference under a schedule."""
    return any(e.schedule.rounds_freely for e in entries(backend) if e.name == name.partition(":")[0])


def is_oversized(backend: str, name: str) -> bool:
    """Whether a variant is the one for inputs that do not fit a device."""
    return any(name == e.oversized for e in entries(backend) if e.oversized)


def oversized(backend: str, schedule: str) -> str:
    """The variant that ``schedule`` (auto, a schedule, or the variant itself) becomes for an input that does not fit a
    device, or that several work at; "" where it becomes none."""
    variants = (e.oversized for e in entries(backend) if e.oversized and schedule in ("auto", e.name, e.oversized))
    return next(variants, "")


def emit_schedule(name: str, understood: Understood, threads: int = 0, backend: str = "cuda") -> Artifact:
    """The program's text under a schedule, or a variant. ``threads``: see `Candidate`. Raises UnsupportedError where
    the schedule does not take the program."""
    schedule = find(backend, name).schedule

    def emit() -> Artifact:
        return schedule.emit(understood, threads, name.partition(":")[2])

    correct = understood.math == "correct"
    if backend != "cuda" and not correct:
        return emit()
    from ..codegen.correct_functions import with_definitions
    from ..codegen.math_calls import rounding_correctly

    with rounding_correctly(correct):
        if backend == "cpu":
            artifact = emit()
            return replace(artifact, text=with_definitions(artifact.text))
        from .device_functions import with_functions

        return with_functions(emit, understood.fp)
