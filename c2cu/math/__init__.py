"""Functions of math.h, written in C for one input (``exp.c``, ...), that c2cu itself compiles into lanes.

`lanes`: their text for a gang. `check`: whether their bits are those of this machine's library; it is asked before any
of them is used. docs/math.md says how they were compared.
"""

from __future__ import annotations

import functools
from pathlib import Path

from ..base.libm import FUNCTIONS

FOLDER = Path(__file__).parent


@functools.cache
def names() -> frozenset[str]:
    """The functions that there are."""
    return frozenset(f.stem for f in FOLDER.glob("*.c")) & FUNCTIONS.keys()
