"""A compiled program: what runs inputs of these shapes, built when it is first needed.

`extents`: which understanding of the program a call asks for. `build`: the choice of what runs it, compiled and loaded.
`run`: arrays in, arrays out. `program`: what users call.
"""

from .build import Built
from .extents import lengths
from .program import Program

__all__ = ["Built", "Program", "lengths"]
