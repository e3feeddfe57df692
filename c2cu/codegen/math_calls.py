"""Which functions of math.h device text calls by names of ours: those whose text `schedule.device_functions` adds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_ours: ContextVar[frozenset[str]] = ContextVar("c2cu_math_calls", default=frozenset())
PREFIX = "c2cu_math_"


def math_call(name: str) -> str:
    """How a function of math.h is called in device text."""
    return PREFIX + name if name in _ours.get() else name


@contextmanager
def our_functions(names: frozenset[str]) -> Iterator[None]:
    """While this lasts, text that is printed calls ours for these."""
    token = _ours.set(names)
    try:
        yield
    finally:
        _ours.reset(token)
