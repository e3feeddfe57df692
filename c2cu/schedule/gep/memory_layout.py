"""Offsets of the pieces that share one allocation."""

from __future__ import annotations

from collections.abc import Iterable

ALIGNMENT = 256  # bytes


def memory_layout(pieces: Iterable[tuple[str, int]], unit: int = ALIGNMENT) -> tuple[dict[str, int], int]:
    """Lay out ``pieces``, each (name, bytes), one behind the other. Returns the offset in bytes of each by name, a
    multiple of ``unit``, and the bytes of the whole allocation."""
    at, offsets = 0, {}
    for name, size in pieces:
        offsets[name] = at
        at += -(-size // unit) * unit
    return offsets, at
