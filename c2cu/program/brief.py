"""Calls so short that the caller's thread does them."""

from __future__ import annotations

from typing import Any

from ..schedule.understood import Understood

ALONE = 2e4  # nanoseconds of work, about, that are not worth several threads
BRIEF = 1e7  # nanoseconds of work, about, for which Ctrl-C may wait


def is_brief(built: Any, p: int) -> bool:
    """Whether the caller's thread does p inputs: see `CpuProgram.run_table`. ``built``: a `build.Built`."""
    work = _nanoseconds(built.front, getattr(built.artifact, "lanes", 1), p)
    return work is not None and work <= BRIEF and (work <= ALONE or not built.loaded.divides(p))


def may_be_brief(built: Any, p: int) -> bool:
    """Whether the caller's thread may do p inputs once a call has taken no more than `BRIEF`: all calls take about as
    long, whatever the data, and none is divided."""
    return built.front.work is not None and not built.loaded.divides(p)


def _nanoseconds(front: Understood, lanes: int, p: int) -> float | None:
    """What p inputs take one thread, about; None where data decides."""
    return None if front.work is None else front.work * -(-p // lanes)
