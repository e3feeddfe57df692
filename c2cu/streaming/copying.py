"""Copies on the host. One core alone does not keep up with a GPU's link, so several threads copy a group each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from ..base import toolchain

SMALL = 1 << 16  # bytes of a part below which the call costs more than the copy
MOST = 4  # copying threads; measured: more of them wait for memory and for each other


def assemble(parts: Sequence[Any], target: numpy.ndarray, axis: int) -> None:
    """Copy ``parts``, one after the other along ``axis``, into ``target``."""
    if len(parts) > 1 and target.nbytes < SMALL * len(parts):
        numpy.concatenate(parts, axis=axis, out=target)
        return
    start = 0
    for part in parts:
        end = start + part.shape[axis]
        numpy.copyto(target[start:end] if axis == 0 else target[..., start:end], part)
        start = end


def count_copiers() -> int:
    """How many threads should copy: half the cores, as the other half has work too, and at most `MOST`."""
    return max(1, min(MOST, toolchain.cores() // 2))
