"""The pure library functions a kernel may call: name -> (result, parameters)."""

from __future__ import annotations

import math

from .ctype import DOUBLE, FLOAT, INT, LLONG, LONG, Function, Scalar

_ONE = (
    "acos asin atan cos sin tan cosh sinh tanh acosh asinh atanh exp exp2 expm1 log log10 log1p log2 logb cbrt fabs "
    "sqrt erf erfc lgamma tgamma ceil floor nearbyint rint round trunc"
).split()
_TWO = "atan2 pow hypot fmod remainder copysign nextafter fdim fmax fmin".split()


#: Macros of math.h that take any floating type.
CLASSIFICATION = ("isnan", "isinf", "isfinite", "signbit", "isnormal")


def _functions() -> dict[str, tuple[Scalar, tuple[Scalar, ...]]]:
    table: dict[str, tuple[Scalar, tuple[Scalar, ...]]] = {}
    for t, suffix in ((DOUBLE, ""), (FLOAT, "f")):
        for n in _ONE:
            table[n + suffix] = (t, (t,))
        for n in _TWO:
            table[n + suffix] = (t, (t, t))
        table["fma" + suffix] = (t, (t, t, t))
        table["ldexp" + suffix] = table["scalbn" + suffix] = (t, (t, INT))
        for n, r in (("lround", LONG), ("llround", LLONG), ("lrint", LONG), ("llrint", LLONG), ("ilogb", INT)):
            table[n + suffix] = (r, (t,))
    for n in CLASSIFICATION:
        table[n] = (INT, (DOUBLE,))
    return table


#: GCC's built-in functions that stand for a constant: name -> (value, type)
CONSTANTS: dict[str, tuple[float, Scalar]] = {
    "inf": (math.inf, DOUBLE),
    "inff": (math.inf, FLOAT),
    "huge_val": (math.inf, DOUBLE),
    "huge_valf": (math.inf, FLOAT),
    "nan": (math.nan, DOUBLE),
    "nanf": (math.nan, FLOAT),
}

FUNCTIONS = _functions()
#: What math.h declares, with its usual extensions.
DECLARED = frozenset(FUNCTIONS) | {
    n + s
    for s in ("", "f")
    for n in "j0 j1 jn y0 y1 yn gamma drem significand scalb scalbln finite exp10 pow10 sincos remquo frexp modf nan"
    " nexttoward lgamma_r".split()
}


def builtin(name: str) -> Function:
    """The type of a function that GCC has built in and nothing declares."""
    plain = name.removeprefix("__builtin_")
    if plain in FUNCTIONS:
        return Function(*FUNCTIONS[plain])
    return Function(CONSTANTS[plain][1] if plain in CONSTANTS else INT, (), True)
