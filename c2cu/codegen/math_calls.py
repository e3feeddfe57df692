"""Which functions of math.h generated text calls by names of ours.

On a device: those whose text `schedule.device_functions` adds. With ``math="correct"``, on every machine: those that
c2cu has rounded correctly, whose text `correct_functions` has.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ..base.libm import CORRECTED

_ours: ContextVar[frozenset[str]] = ContextVar("c2cu_math_calls", default=frozenset())
_correct: ContextVar[bool] = ContextVar("c2cu_math_correct", default=False)
PREFIX = "c2cu_math_"


def math_call(name: str) -> str:
    """How a function of math.h is called in device text."""
    return PREFIX + name if is_ours(name) else host_call(name)


def is_ours(name: str) -> bool:
    """Whether device text calls one of those that have the library's bits."""
    return name in _ours.get()


def host_call(name: str) -> str:
    """How it is called in text for a CPU."""
    return PREFIX + name if _correct.get() and name in CORRECTED else name


@contextmanager
def our_functions(names: frozenset[str]) -> Iterator[None]:
    """While this lasts, text that is printed calls ours for these."""
    token = _ours.set(names)
    try:
        yield
    finally:
        _ours.reset(token)


def rounds_correctly() -> bool:
    """Whether text that is printed now has ``math="correct"``."""
    return _correct.get()


@contextmanager
def rounding_correctly(correct: bool) -> Iterator[None]:
    """While this lasts, that is so."""
    token = _correct.set(correct)
    try:
        yield
    finally:
        _correct.reset(token)
