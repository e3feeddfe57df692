"""Functions of math.h: as this machine's C library computes them, and as the compiler does where it may."""

from __future__ import annotations

import ctypes
import functools
import math
import re
import struct
from collections.abc import Callable, Sequence

from . import toolchain
from .ctype import Scalar
from .libm import CLASSIFICATION, FUNCTIONS

#: Functions of which a call takes no longer than a few operations.
CHEAP = frozenset(
    name + suffix
    for name in "fabs sqrt ceil floor nearbyint rint round trunc copysign fdim fmax fmin fma ldexp scalbn".split()
    for suffix in ("", "f")
) | {"lround", "llround", "lrint", "llrint", "ilogb", "logb", "logbf", *CLASSIFICATION}
_TYPES = {"float64": ctypes.c_double, "float32": ctypes.c_float, "int32": ctypes.c_int, "int64": ctypes.c_long}


def called(name: str, arguments: Sequence[int | float]) -> int | float | None:
    """What a function returns; None of one that is not known, and for NaN, whose sign and payload are lost here."""
    function = _function(name)
    result = None if function is None else function(*arguments)
    return None if result is None or math.isnan(result) else result


def folded(name: str, calls: Sequence[Sequence[int | float]]) -> list[int | float] | None:
    """What the compiler makes of calls with constants for arguments, which it rounds correctly; None of a compiler that
    does not, or is none of GCC's."""
    compiler = toolchain.find_compiler()
    if "clang" in toolchain.compiler_version(compiler):
        return None
    result, _ = FUNCTIONS[name]
    rows = ",\n".join(f"__builtin_{name}({', '.join(map(_literal, arguments))})" for arguments in calls)
    command = [*compiler, "-O1", "-S", "-w", "-x", "c", "-", "-o", "-"]
    done = toolchain.fed(command, f"const {result} t[] = {{\n{rows}\n}};")
    words = [int(n) for n in re.findall(rb"^\s+\.long\s+(-?\d+)$", done.stdout, re.M)]
    if done.returncode or 4 * len(words) != result.size * len(calls):
        return None
    packed = struct.pack(f"<{len(words)}I", *(n & 0xFFFFFFFF for n in words))
    return [x for (x,) in struct.iter_unpack("<d" if result.size == 8 else "<f", packed)]


def _literal(x: int | float) -> str:
    return x.hex() if isinstance(x, float) and math.isfinite(x) else f"({x})".replace("inf", "__builtin_inf()")


@functools.cache
def _function(name: str) -> Callable[..., int | float] | None:
    if name not in FUNCTIONS or name in CLASSIFICATION:
        return None
    result, parameters = FUNCTIONS[name]
    types = [_type(t) for t in (result, *parameters)]
    try:
        function = getattr(ctypes.CDLL(None), name)
    except (AttributeError, OSError):
        return None
    if None in types:
        return None
    function.restype, function.argtypes = types[0], types[1:]
    return function


def _type(t: object) -> type | None:
    return _TYPES.get(str(t.numpy)) if isinstance(t, Scalar) else None
