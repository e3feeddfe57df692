"""What a caller may hand over beside arrays, checked: each mistake is an InputError that says what was wanted."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

from .artifact import Slot
from .diagnostics import InputError, InputTypeError
from .front import Options

PACK = (4, 8, 16)
FP = ("exact", "reassociate", "fast")


def options_of(
    fn: str | None = None,
    shared: Mapping[str, Any] | Sequence[str] | None = None,
    defines: Mapping[str, Any] | None = None,
    shapes: Mapping[str, Any] | None = None,
    fp: str = "exact",
    include_dirs: Sequence[str] | None = (),
    pack: int | None = None,
) -> Options:
    """The options of a compilation. ``shapes``: an extent or a sequence of extents by name."""
    if pack is not None and (isinstance(pack, bool) or pack not in PACK):
        raise InputError("C2CU051", f"pack is {pack!r:.40}", None, f"choose one of {', '.join(map(str, PACK))}")
    if fp not in FP:
        raise InputError("C2CU051", f"fp is '{fp}'", None, f"choose one of {', '.join(FP)}")
    return Options(
        fn,
        {n: str(v) for n, v in by_name("defines", defines).items()},
        tuple(map(str, include_dirs or ())),
        tuple(shared or ()),
        {n: _extents(n, s) for n, s in by_name("shapes", shapes).items()},
        fp,
        pack=pack,
    )


def by_name(what: str, given: Any) -> Mapping[str, Any]:
    """A mapping by C name; {} for None."""
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(n, str) for n in given):
        raise InputTypeError("C2CU058", f"{what} is {given!r:.80}", None, "give a dict by the C names")
    return given


def known_values(slots: tuple[Slot, ...], numbers: Mapping[str, str]) -> dict[str, int | float]:
    """What shared scalars are, by name, from their texts. Raises InputError."""
    import numpy

    found: dict[str, int | float] = {}
    for name, text in numbers.items():
        slot = next((s for s in slots if s.name == name), None)
        if slot is None or slot.shape:
            raise InputError("C2CU058", f"'{name}' is no scalar of the kernel's", None, f"write --shared {name}")
        try:
            value = float(text) if numpy.dtype(slot.dtype).kind == "f" else int(text, 0)
            found[name] = numpy.array(value, slot.dtype).item()
        except (ValueError, OverflowError):
            raise InputError(
                "C2CU047", f"'{text}' is no {slot.dtype} for '{name}'", slot.loc, "give a number"
            ) from None
    return found


def whole(what: str, given: Any) -> int:
    """A count."""
    try:
        return operator.index(given)
    except TypeError:
        raise InputTypeError("C2CU058", f"{what} is {given!r:.80}", None, "give a whole number") from None


def in_range(array: Any, slot: Slot) -> None:
    """Raises InputError for an element that is below 0 or above ``slot.most``, if there is such a bound."""
    if slot.most is None or not array.size or (array.min() >= 0 and array.max() <= slot.most):
        return
    at = ((array < 0) | (array > slot.most)).ravel().nonzero()[0][0]
    where, rest = (), int(at)
    for n in reversed(array.shape):
        rest, k = divmod(rest, int(n))
        where = (k, *where)
    message = f"'{slot.name}'[{', '.join(map(str, where))}] is {int(array[where])}, but pack allows 0 to {slot.most}"
    raise InputError("C2CU047", message, slot.loc, f"let {slot.most} stand for no edge, or leave pack out")


def _extents(name: str, given: Any) -> tuple[int, ...]:
    one = isinstance(given, (str, bytes)) or not hasattr(given, "__iter__")
    extents = tuple(whole(f"shape of '{name}'", n) for n in ((given,) if one else given))
    if any(n < 1 for n in extents):
        raise InputError("C2CU058", f"shape of '{name}' is {extents}", None, "extents are at least 1")
    return extents
