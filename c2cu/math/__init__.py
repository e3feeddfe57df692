"""Functions of math.h, written in C for one input (``exp.c``, ...), that c2cu itself compiles into lanes.

`lanes`: their text for a gang. `check`: whether their bits are those of this machine's library; it is asked before any
of them is used. docs/math.md says how they were compared.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from ..base.libm import FUNCTIONS

FOLDER = Path(__file__).parent


_any_library: ContextVar[bool] = ContextVar("any_library", default=False)


@contextmanager
def for_any_library() -> Iterator[None]:
    """While this lasts, text that is printed calls the library, as another one than this machine's may be there."""
    token = _any_library.set(True)
    try:
        yield
    finally:
        _any_library.reset(token)


def usable() -> frozenset[str]:
    """The functions that may be had instead of the library's."""
    return frozenset() if _any_library.get() else names()


@functools.cache
def names() -> frozenset[str]:
    """The functions that there are."""
    return frozenset(f.stem for f in FOLDER.glob("*.c")) & FUNCTIONS.keys()
