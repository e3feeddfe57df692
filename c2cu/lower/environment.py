"""What is known at a place of the program before it runs: where each pointer points, and which integers are constants.

Lowering is a partial evaluation: what is known is computed, and only the rest becomes statements. Where two paths meet,
a pointer may point to the places of both, and an integer is known if both agree.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..ir.nodes import Const, Variable
from .objects import PointerCell, Single

Known = Variable | PointerCell  # a variable, or the index of a pointer in a region


@dataclass
class Environment:
    """``places``: of each pointer that was set; ``known``: integers and the parts of complex numbers, None where
    what holds at the start of the kernel holds no longer.

    ``reached``: whether control comes here at all.
    """

    places: dict[PointerCell, frozenset[Single]] = field(default_factory=dict)
    known: dict[Known, Const | None] = field(default_factory=dict)
    reached: bool = True

    def copy(self) -> Environment:
        return Environment(dict(self.places), dict(self.known), self.reached)

    def over(self, start: Environment) -> Environment:
        """With what ``start`` says of whatever this one does not mention."""
        return Environment({**start.places, **self.places}, {**start.known, **self.known}, self.reached)


def join(a: Environment, b: Environment, start: Environment) -> Environment:
    """What is known where two paths meet. ``start``: what holds of the initial values of statics and globals, which
    neither path need mention. A pointer that was not set on one path keeps what the other says."""
    if not a.reached or not b.reached:
        return (a if a.reached else b).copy()
    out = Environment()
    for cell in (*a.places, *(c for c in b.places if c not in a.places)):
        unset = start.places.get(cell, frozenset())
        out.places[cell] = a.places.get(cell, unset) | b.places.get(cell, unset)
    for key in (*a.known, *(k for k in b.known if k not in a.known)):
        unknown = start.known.get(key)
        x, y = a.known.get(key, unknown), b.known.get(key, unknown)
        if x is not None and x == y:
            out.known[key] = x
        elif key in start.known:
            out.known[key] = None
    return out
