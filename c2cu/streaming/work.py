"""A group on its way through the engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..base import catalogue
from ..base.diagnostics import Error
from ..runtime.pipe import Pipe
from .batcher import Group
from .buffers import Buffer


@dataclass(eq=False)
class Work:
    """A group with its memory. ``inputs``, ``outputs``: host arrays, one a slot or None; ``in_buffer``, ``out_buffer``:
    the engine's buffers in which they lie, None if they are the user's own arrays; ``token``: what `Pipe.start` gave.
    """

    group: Group
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    in_buffer: Buffer | None
    out_buffer: Buffer | None
    token: Any = None


@dataclass(frozen=True)
class Done:
    """A group's outputs, one array a slot or None. ``latency``: seconds since its first input arrived."""

    first: int
    count: int
    outputs: tuple[Any, ...]
    latency: float
    buffer: Buffer | None


def device_error(pipe: Pipe, error: BaseException) -> Error:
    """What a user is told of a device that failed."""
    if isinstance(error, Error):
        return error
    return catalogue.WORKER_FAILED.error(device=pipe.name, reason=error)
