"""The options that a caller passes beside arrays, checked: each mistake is an InputError that says what is expected."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..base import catalogue

PACK = (4, 8, 16)
STDIO = ("discard",)
FP = ("exact", "reassociate", "fast")


@dataclass(frozen=True)
class Options:
    """What the user may choose. ``shapes``: shape of one input by name; ``values``: of shared scalar parameters, by
    name, for which alone the program is to be understood; ``pack``: bits that elements of shortest paths fit.
    ``outputs``: the variables that come out, None: all that are written; ``status``: the exit status does too;
    ``stdio``: "discard" drops what the kernel prints; "keep": a translation's kernel prints, on a CPU. ``constants``:
    globals that nothing writes and no call brings."""

    fn: str | None = None
    defines: Mapping[str, str] = field(default_factory=dict)
    include_dirs: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    fp: str = "exact"
    values: Mapping[str, int | float] = field(default_factory=dict)
    pack: int | None = None
    outputs: tuple[str, ...] | None = None
    status: bool = False
    stdio: str = ""
    constants: tuple[str, ...] = ()


def options_of(
    fn: str | None = None,
    shared: Mapping[str, Any] | Sequence[str] | None = None,
    defines: Mapping[str, Any] | None = None,
    shapes: Mapping[str, Any] | None = None,
    fp: str = "exact",
    include_dirs: Sequence[str] | None = (),
    pack: int | None = None,
    outputs: Sequence[str] | None = None,
    status: bool = False,
    stdio: str | None = None,
) -> Options:
    """The options of a compilation. ``shapes``: an extent or a sequence of extents by name."""
    if stdio not in (None, "", *STDIO):
        raise catalogue.UNKNOWN_CHOICE.error(option="stdio", value=f"{stdio!r:.40}", choices=list(STDIO))
    if isinstance(outputs, str) or not all(isinstance(n, str) for n in outputs or ()):
        raise catalogue.WRONG_KIND.error(argument="outputs", value=f"{outputs!r:.80}", expected="a list of C names")
    if pack is not None and (isinstance(pack, bool) or pack not in PACK):
        raise catalogue.UNKNOWN_CHOICE.error(option="pack", value=f"{pack!r:.40}", choices=list(PACK))
    if fp not in FP:
        raise catalogue.UNKNOWN_CHOICE.error(option="fp", value=f"'{fp}'", choices=list(FP))
    return Options(
        fn,
        {n: str(v) for n, v in by_name("defines", defines).items()},
        tuple(map(str, include_dirs or ())),
        tuple(shared or ()),
        {n: _extents(n, s) for n, s in by_name("shapes", shapes).items()},
        fp,
        pack=pack,
        outputs=None if outputs is None else tuple(outputs),
        status=bool(status),
        stdio=stdio or "",
    )


def by_name(what: str, value: Any) -> Mapping[str, Any]:
    """A mapping by C name; {} for None."""
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(n, str) for n in value):
        raise catalogue.WRONG_KIND.error(argument=what, value=f"{value!r:.80}", expected="a dict by the C names")
    return value


def whole(what: str, value: Any) -> int:
    """A count."""
    try:
        return operator.index(value)
    except TypeError:
        raise catalogue.WRONG_KIND.error(argument=what, value=f"{value!r:.80}", expected="a whole number") from None


def _extents(name: str, value: Any) -> tuple[int, ...]:
    one = isinstance(value, (str, bytes)) or not hasattr(value, "__iter__")
    extents = tuple(whole(f"shape of '{name}'", n) for n in ((value,) if one else value))
    if any(n < 1 for n in extents):
        raise catalogue.BAD_EXTENT.error(name=name, extents=extents)
    return extents
