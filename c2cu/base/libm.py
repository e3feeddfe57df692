"""The pure library functions a kernel may call: name -> (result, parameters)."""

from __future__ import annotations

import math

from .ctype import (
    BOOL,
    CDOUBLE,
    CFLOAT,
    CHAR,
    DOUBLE,
    FLOAT,
    INT,
    LDOUBLE,
    LLONG,
    LONG,
    UINT,
    ULLONG,
    ULONG,
    USHORT,
    VOID,
    CType,
    Function,
    Pointer,
    Scalar,
)

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

#: Functions that c2cu has rounded correctly (``math="correct"``, c2cu/math/correct), and those that C or IEEE 754
#: define to the last bit, so that every library has the same.
CORRECT = frozenset(
    "exp log sin cos tan atan pow acosf acoshf asinf asinhf atan2f atanf atanhf cbrtf cosf coshf erff erfcf exp2f expf "
    "expm1f hypotf log10f log1pf log2f logf powf sinf sinhf tanf tanhf".split()
)
#: Functions that give what two of these do, which the library has too.
SINCOS = {"sincos": ("sin", "cos"), "sincosf": ("sinf", "cosf")}
#: And those of ours whose second function gets the first one's argument negated.
OPPOSITE = {"erfcs": ("erfc", "erfc"), "erfcsf": ("erfcf", "erfcf")}
PAIRS = SINCOS | OPPOSITE
#: The two parts of the logarithm that a power has, and the power by it: functions of ours alone.
LOGARITHMS, POWER = {"pow_logs": ("pow_high", "pow_low")}, "pow_by"
#: Functions of which f(-x) is -f(x) to the last bit, and that programs call with both.
ODD = frozenset({"erf", "erff"})
#: What ``math="correct"`` calls by names of ours.
CORRECTED = CORRECT | SINCOS.keys()
_EXACT = (
    "fabs sqrt ceil floor nearbyint rint round trunc fmod remainder copysign nextafter fdim fmax fmin fma ldexp scalbn "
    "lround llround lrint llrint ilogb logb frexp modf remquo drem finite nan nexttoward scalbln significand"
).split()
EXACT = frozenset(n + s for n in _EXACT for s in ("", "f", "l")) | {*CLASSIFICATION}


#: Functions of complex.h that are a library's own affair, and those that are arithmetic.
_TRANSCENDENTAL = "cexp clog csqrt csin ccos ctan csinh ccosh ctanh casin cacos catan casinh cacosh catanh".split()


def _complex() -> dict[str, tuple[Scalar, tuple[Scalar, ...]]]:
    table: dict[str, tuple[Scalar, tuple[Scalar, ...]]] = {}
    for t, part, suffix in ((CDOUBLE, DOUBLE, ""), (CFLOAT, FLOAT, "f")):
        table.update((n + suffix, (part, (t,))) for n in ("creal", "cimag", "cabs", "carg"))
        table.update((n + suffix, (t, (t,))) for n in ("conj", "cproj", *_TRANSCENDENTAL))
        table["cpow" + suffix] = (t, (t, t))
    return table


#: Functions of complex.h: name -> (result, parameters)
COMPLEX = _complex()


def _complex_parts() -> dict[str, tuple[Scalar, tuple[Scalar, ...]]]:
    table: dict[str, tuple[Scalar, tuple[Scalar, ...]]] = {}
    for name, (result, params) in COMPLEX.items():
        if name.removesuffix("f") in (*_TRANSCENDENTAL, "cpow"):
            for part, t in result.parts:
                table[f"{name}_{part}"] = (t, tuple(t for p in params for _, t in p.parts))
    return table


#: One part of what such a function gives, as a function of the parts of its arguments: ``cexp_real(x, y)``.
COMPLEX_PARTS = _complex_parts()


def _bits() -> dict[str, tuple[Scalar, tuple[Scalar, ...]]]:
    table: dict[str, tuple[Scalar, tuple[Scalar, ...]]] = {}
    for suffix, t, signed in (("", UINT, INT), ("l", ULONG, LONG), ("ll", ULLONG, LLONG)):
        for n in ("clz", "ctz", "popcount", "parity"):
            table[n + suffix] = (INT, (t,))
        table["ffs" + suffix] = (INT, (signed,))
    for t, bits in ((USHORT, 16), (UINT, 32), (ULONG, 64)):
        table[f"bswap{bits}"] = (t, (t,))
    table["expect"] = (LONG, (LONG, LONG))
    return table


#: GCC's built-in functions on bits, and hints: name -> (result, parameters)
BITS = _bits()
#: Functions of long doubles that, of doubles, give what the double's function does, to the last bit.
_WIDENED = "fabs floor ceil trunc round rint nearbyint copysign lround llround lrint llrint".split()
WIDENED = frozenset(n + "l" for n in _WIDENED)
#: What math.h declares, with its usual extensions.
DECLARED = frozenset(FUNCTIONS) | {
    n + s
    for s in ("", "f")
    for n in "j0 j1 jn y0 y1 yn gamma drem significand scalb scalbln finite exp10 pow10 sincos remquo frexp modf nan"
    " nexttoward lgamma_r".split()
}


#: What other built-in functions of GCC give, where that is not int.
RESULTS: dict[str, CType] = {
    "bswap16": USHORT,
    "bswap32": UINT,
    "bswap64": ULONG,
    "expect": LONG,
    "expect_with_probability": LONG,
    "labs": LONG,
    "llabs": LLONG,
    "strlen": ULONG,
    "strnlen": ULONG,
    "object_size": ULONG,
    **dict.fromkeys(("unreachable", "trap", "prefetch", "bzero"), VOID),
    **dict.fromkeys(("memcpy", "memmove", "memset", "mempcpy", "memchr", "assume_aligned"), Pointer(VOID)),
    **dict.fromkeys(("strcpy", "strncpy", "strcat", "strchr", "strrchr", "strstr"), Pointer(CHAR)),
    **{f"{op}_overflow": BOOL for op in ("add", "sub", "mul")},
}


def builtin(name: str) -> Function:
    """The type of a function that GCC has built in and nothing declares."""
    plain = name.removeprefix("__builtin_")
    if plain in FUNCTIONS:
        return Function(*FUNCTIONS[plain])
    if plain in WIDENED:
        returns, params = FUNCTIONS[plain[:-1]]
        return Function(LDOUBLE if returns == DOUBLE else returns, tuple(LDOUBLE for _ in params))
    if plain in BITS:
        return Function(*BITS[plain])
    if plain in COMPLEX:
        return Function(*COMPLEX[plain])
    return Function(CONSTANTS[plain][1] if plain in CONSTANTS else RESULTS.get(plain, INT), (), True)
