"""What an example of an error is made of: its C text, the call that raises it, and the state of the machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

ADD = "float a[4], b[4];\nvoid k(void) {\n    for (int i = 0; i < 4; i++) b[i] = a[i] + 1;\n}\n"
CUDA = 'c2cu.compile("k.c", backend="cuda", schedule="%s")'


@dataclass(frozen=True)
class Example:
    """``source``: what k.c holds. ``call``: a command line after "$ ", or a Python expression. ``before``: Python that
    runs first. ``state``: the name of one of `STATES`, for what does not happen on every machine.
    """

    source: str = ""
    call: str = "$ c2cu check k.c"
    before: str = ""
    state: str = ""


@dataclass(frozen=True)
class State:
    """A machine, or a moment, that is made up for an example."""

    told: str
    make: Callable[[pytest.MonkeyPatch], None]


def command(call: str) -> str:
    return f"$ c2cu {call}"


def statement(text: str, head: str = "int x, a[4];") -> str:
    """A program whose kernel has one statement."""
    return f"{head}\nvoid k(void) {{\n    {text}\n}}\n"
