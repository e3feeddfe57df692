"""The options that a caller passes beside arrays, checked: each mistake is an InputError that says what is expected."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy

from ..base import catalogue

PACK = (4, 8, 16)
STDIO = ("discard",)
DTYPES = {  # what bytes may be seen as
    "int8": "signed char",
    "uint8": "unsigned char",
    "int16": "short",
    "uint16": "unsigned short",
    "int32": "int",
    "uint32": "unsigned int",
    "int64": "long",
    "uint64": "unsigned long",
    "float32": "float",
    "float64": "double",
    "bool": "_Bool",
}
FP = ("exact", "reassociate", "fast")
MATH = ("host", "correct")


@dataclass(frozen=True)
class Options:
    """What the user may choose. ``shapes``: shape of one input by name; ``values``: of shared scalar parameters, by
    name, for which alone the program is to be understood; ``pack``: bits that elements of shortest paths fit.
    ``outputs``: the variables that come out, None: all that are written; ``status``: the exit status does too;
    ``stdio``: "discard" drops what the kernel prints; "keep": a translation's kernel prints, on a CPU. ``constants``:
    globals that nothing writes and no call brings; ``given``: those that one does bring although they need not exist
    (`ir.nodes.Kernel.begun`). ``dtypes``: of what ``void *`` parameters point to. ``math``: whose bits functions of
    math.h have. ``portable``: what is generated may run on another machine."""

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
    given: tuple[str, ...] = ()
    dtypes: Mapping[str, str] = field(default_factory=dict)
    math: str = "host"
    portable: bool = False


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
    math: str = "host",
) -> Options:
    """The options of a compilation. ``shapes``: an extent, a sequence of extents, or a pair of one and a dtype (of a
    ``void *`` parameter), by name."""
    if stdio is not None:
        one_of("stdio", stdio, ("", *STDIO))
    if fn is not None and not isinstance(fn, str):
        raise catalogue.WRONG_KIND.error(argument="fn", value=f"{fn!r:.80}", expected="a function's C name")
    if pack is not None and (not isinstance(pack, int | numpy.integer) or isinstance(pack, bool) or pack not in PACK):
        raise catalogue.UNKNOWN_CHOICE.error(option="pack", value=f"{pack!r:.40}", choices=list(PACK))
    one_of("fp", fp, FP)
    one_of("math", math, MATH)
    if math == "correct" and fp == "fast":
        raise catalogue.FAST_AND_CORRECT.error()
    by = {n: _with_dtype(n, s) for n, s in by_name("shapes", shapes).items()}
    return Options(
        fn,
        {n: _body(n, v) for n, v in by_name("defines", defines).items()},
        folders(include_dirs),
        names("shared", shared),
        {n: _extents(n, s) for n, (s, _) in by.items()},
        fp,
        pack=pack,
        outputs=None if outputs is None else names("outputs", outputs),
        status=flag("status", status),
        stdio=stdio or "",
        dtypes={n: t for n, (_, t) in by.items() if t},
        math=math,
    )


def by_name(what: str, value: Any) -> Mapping[str, Any]:
    """A mapping by C name; {} for None."""
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(n, str) for n in value):
        raise catalogue.WRONG_KIND.error(argument=what, value=f"{value!r:.80}", expected="a dict by the C names")
    return value


def names(what: str, value: Any) -> tuple[str, ...]:
    """C names from a sequence of them, or one alone; () for None."""
    listed = _listed(value)
    if listed is None or not all(isinstance(n, str) for n in listed):
        raise catalogue.WRONG_KIND.error(argument=what, value=f"{value!r:.80}", expected="a list of C names")
    return tuple(map(str, listed))


def folders(value: Any) -> tuple[str, ...]:
    """``include_dirs``: paths from a sequence of them, or one alone; () for None."""
    listed = _listed(value)
    if listed is None or not all(isinstance(n, str | os.PathLike) for n in listed):
        raise catalogue.WRONG_KIND.error(argument="include_dirs", value=f"{value!r:.80}", expected="a list of folders")
    return tuple(map(str, listed))


def _listed(value: Any) -> list[Any] | None:
    """What a list, or what stands for one, holds; None for what is none."""
    if value is None:
        return []
    if isinstance(value, str | os.PathLike):
        return [value]
    return list(value) if isinstance(value, Iterable) and not isinstance(value, bytes) else None


def one_of(option: str, value: Any, choices: Sequence[str]) -> str:
    """``value``, one of the choices. Raises InputError for another one."""
    if not isinstance(value, str) or value not in choices:
        shown = [c for c in choices if c]
        raise catalogue.UNKNOWN_CHOICE.error(option=option, value=f"{value!r:.40}", choices=shown)
    return value


def flag(what: str, value: Any) -> bool:
    """A value as Python tests it."""
    try:
        return bool(value)
    except ValueError:  # an array
        raise catalogue.WRONG_KIND.error(argument=what, value=f"{value!r:.80}", expected="True or False") from None


def _body(name: str, value: Any) -> str:
    """What a macro stands for."""
    if value is None or isinstance(value, (Mapping, list, tuple, set, bytes)):
        expected = "a number or C text"
        raise catalogue.WRONG_KIND.error(argument=f"the macro '{name}'", value=f"{value!r:.80}", expected=expected)
    return str(value)


def whole(what: str, value: Any) -> int:
    """A count."""
    try:
        return operator.index(value)
    except TypeError:
        raise catalogue.WRONG_KIND.error(argument=what, value=f"{value!r:.80}", expected="a whole number") from None


def _with_dtype(name: str, value: Any) -> tuple[Any, str]:
    """What an entry of ``shapes`` says: extents, and a dtype's name or ""."""
    if not isinstance(value, (tuple, list)) or len(value) != 2 or not isinstance(value[1], (str, type, numpy.dtype)):
        return value, ""
    try:
        dtype = numpy.dtype(value[1])
    except TypeError:
        dtype = None
    if dtype is None or dtype.name not in DTYPES:
        raise catalogue.UNKNOWN_CHOICE.error(
            option=f"dtype of '{name}'", value=f"{value[1]!r:.40}", choices=list(DTYPES)
        )
    return value[0], dtype.name


def _extents(name: str, value: Any) -> tuple[int, ...]:
    one = isinstance(value, (str, bytes)) or not hasattr(value, "__iter__")
    extents = tuple(whole(f"shape of '{name}'", n) for n in ((value,) if one else value))
    if any(n < 1 for n in extents):
        raise catalogue.BAD_EXTENT.error(name=name, extents=extents)
    return extents
