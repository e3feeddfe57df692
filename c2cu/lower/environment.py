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


_NOWHERE: frozenset[Single] = frozenset()


def _meet(known: dict[Known, Const | None], key: Known, x: Const | None, y: Const | None, start: Environment) -> None:
    """Note what is known of an integer that is ``x`` on one path and ``y`` on the other."""
    if x is not None and (x is y or x == y):  # `is` is faster
        known[key] = x
    elif key in start.known:
        known[key] = None
    else:
        known.pop(key, None)


def join(a: Environment, b: Environment, start: Environment) -> Environment:
    """What is known where two paths meet. ``start``: what holds of the initial values of statics and globals, which
    neither path need mention. A pointer that was not set on one path keeps what the other says."""
    if not a.reached or not b.reached:
        return (a if a.reached else b).copy()
    places = dict(a.places)  # mostly both say the same
    for cell, there in b.places.items():
        here = places.get(cell)
        if here is not there:
            places[cell] = (start.places.get(cell, _NOWHERE) if here is None else here) | there
    for cell in a.places.keys() - b.places.keys():
        places[cell] |= start.places.get(cell, _NOWHERE)
    known = dict(a.known)
    for key, there in b.known.items():
        here = known.get(key)
        if here is None or here is not there:
            _meet(known, key, here if key in known else start.known.get(key), there, start)
    for key in a.known.keys() - b.known.keys():
        _meet(known, key, a.known[key], start.known.get(key), start)
    return Environment(places, known)
