"""Native, compiled while the rest of a program is still being understood.

A forest of decision trees, a megabyte of C, takes the host's compiler as long as it takes to trace it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .. import backends
from ..base.aside import Aside
from ..schedule import choose, registry
from ..schedule.artifact import CpuNativeArtifact
from ..schedule.understood import Understood, looking_ahead
from .verify import NATIVE

if TYPE_CHECKING:
    from ..ir.nodes import Kernel


@contextmanager
def native_ahead(backend: str, schedule: str) -> Iterator[None]:
    """Have the host's compiler at work on a program that is understood inside as soon as it is clear that ``native``
    will run it. ``backend``, ``schedule``: as asked for."""

    def begin(kernel: Kernel, make: Callable[[], Understood]) -> None:
        if schedule != NATIVE and _is_straight(kernel):
            return  # which goes in lanes
        front = make()
        if _runs(front, schedule) and (backend == "cpu" or backends.best() == "cpu"):
            artifact = registry.emit_schedule(NATIVE, front, backend="cpu")
            assert isinstance(artifact, CpuNativeArtifact)
            Aside(lambda: _compile(artifact))

    if backend == "cuda" or schedule not in (choose.AUTO, NATIVE):
        yield
        return
    with looking_ahead(begin):
        yield


def _is_straight(kernel: Kernel) -> bool:
    from ..ir.nodes import If, Loop

    return not any(isinstance(s, If | Loop) for s in kernel.body)


def _runs(front: Understood, schedule: str) -> bool:
    """Whether native is going to run a program that has yet to be traced: facts about loops change its estimate by a
    quarter at most, in the programs that were looked at."""
    if front.initialised or any(-1 in s.shape for s in front.slots):
        return False  # calls may bring what makes it another program
    return choose.foreseen(front, "cpu", schedule).schedule == NATIVE


def _compile(artifact: CpuNativeArtifact) -> None:
    from ..runtime import native

    native.compile_ahead(artifact)
