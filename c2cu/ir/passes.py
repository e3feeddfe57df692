"""Passes: named steps from kernel to kernel, and how far to go."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .nodes import Kernel

Pass = tuple[str, Callable[[Kernel], Kernel]]


def through(kernel: Kernel, passes: Sequence[Pass], last: str = "") -> Kernel:
    """``kernel`` after ``passes``, in order; after the one called ``last``, if there is one of this name."""
    for name, step in passes:
        kernel = step(kernel)
        if name == last:
            break
    return kernel
