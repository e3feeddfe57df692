"""A compiled program: what runs inputs of these shapes, built when it is first needed.

`extents`: which understanding of the program a call asks for. `build`: the choice of what runs it, compiled and loaded.
`run`: arrays in, arrays out; `prepared`: the same for calls that come again. `state`: variables that stay from call to
call. `program`: what users call.
"""

from .build import Built
from .program import Program
from .state import State

__all__ = ["Built", "Program", "State"]
