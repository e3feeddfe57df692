"""Where each of several buffers begins in one allocation."""

from __future__ import annotations

from collections.abc import Iterable

ALIGNED = 256  # bytes


def arena(pieces: Iterable[tuple[str, int]], unit: int = ALIGNED) -> tuple[dict[str, int], int]:
    """``pieces``: what there is, and how many bytes of it. By what is there, where it begins, a multiple of ``unit``;
    and how many bytes all take."""
    at, found = 0, {}
    for what, size in pieces:
        found[what] = at
        at += -(-size // unit) * unit
    return found, at
