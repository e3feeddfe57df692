"""The program's own names, beside those of the text around it: which are spelled out, renamed, or refused."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from itertools import count
from typing import TYPE_CHECKING

from pycparser import c_ast as C

from ..base import catalogue, libc
from ..base.headers import declares, defines, is_the_headers
from ..base.libm import CORRECTED, DECLARED
from ..base.templates import reserved, words
from ..codegen.c_printer import CPP_KEYWORDS, is_cplusplus
from ..frontend.kernel import Parameter
from ..frontend.parse import is_user_file, loc_of
from ..frontend.preprocess import KEYWORDS
from ..frontend.tree import nodes
from ..frontend.typed import Unit

if TYPE_CHECKING:
    from ..schedule.understood import Understood

_AROUND = ("host.j2", "parts.j2", "runs.j2")
_AROUND_COLUMNS = (
    *_AROUND,
    "cuda/check.cuh.j2",
    *(f"cuda/{n}_columns.cuh.j2" for n in ("main", "group")),
    "cuda/group_main.cuh.j2",
    "cuda/columns.cuh.j2",
)
_AROUND_ROWS = (
    *_AROUND,
    "cuda/check.cuh.j2",
    *(f"cuda/{n}_rows.cuh.j2" for n in ("main", "group")),
    "cuda/group_main.cuh.j2",
)
C_TEXTS = (*_AROUND, "cpu/standalone.c.j2")
CUDA_TEXTS = (
    *_AROUND_COLUMNS,
    *_AROUND_ROWS,
    *(f"cuda/{n}_private.cuh.j2" for n in ("main", "group")),
    *(f"cuda/standalone{n}.cu.j2" for n in ("", "_rows", "_private")),
)
PROCESS_TEXTS = ("cuda/process_host.cuh.j2", "cuda/process_runs.cuh.j2")
#: Names that gcc or nvcc know with two underscores in front, beside those of math.h.
_COMPILERS_OWN = frozenset(
    "real imag complex label alignof asm attribute const extension inline restrict signed typeof volatile thread func"
    " null device host global shared constant managed forceinline noinline launch_bounds grid_constant maxnreg"
    " cluster_dims syncthreads syncwarp threadfence trap brkpt nanosleep assert ldg ldcg ldca ldcs stcs all any ballot"
    " activemask shfl popc popcll clz clzll ffs ffsll brev brevll sad usad mul24 umul24 mulhi umulhi mul64hi umul64hi"
    " hadd rhadd uhadd urhadd byte_perm prof_trigger pm0 pm1 pm2 pm3 half half2 int128 float128 try catch decltype"
    " constinit int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t".split()
)
#: The functions of the C library that our text calls, around the program's own.
_CALLED = frozenset(
    "abort aligned_alloc calloc close dup dup2 fflush fileno fprintf free ftruncate fwrite isatty lseek malloc memcpy"
    " memset pread printf realloc select setvbuf tmpfile write".split()
)
_PLACES = frozenset(("threadIdx", "blockIdx", "blockDim", "gridDim"))
#: Those keywords of C++ that no macro can be named, and those that our own text says.
NO_MACROS = frozenset("and and_eq bitand bitor compl not not_eq or or_eq xor xor_eq bool true false".split())
_CUDAS = re.compile(
    r"(u?(char|short|int|long|longlong)|float|double)[1-4]|u?(double|long|longlong)4_(16|32)a|u(short|int|long)|dim3"
    r"|warpSize|min|max|r?index|make_\w+|clock(64)?|atomic[A-Z]\w*|r?norm[34]?d?|rsqrt|rhypot|rcbrt|erfc?inv|erfcx"
    r"|normcdf(inv)?|cyl_bessel_i[01]|(cos|sin|sincos)pi|(tex|surf)([123]D|Cubemap)\w*|cuda[A-Z]\w*|all|any|ballot|trap|brkpt"
    r"|d(add|sub|mul)|(u?int|u?ll|float)2double|double2u?(int|ll)|float2u?int|u?int2float|float_as_int|int_as_float"
    r"|u?mul(24|hi|64hi)|u?sad|saturate|fdividef|prof_trigger|(syncthreads|threadfence)\w*|libraryPropertyType(_t)?"
)
_GANG_NAMES = re.compile(
    r"\b(W|LANES|CONVERT|SHUFFLE|BITS|any|kernel|gang|[iuf](?:8|16|32|64)|(?:splat|select|divide|modulo|root|transpose|pack|unpack)"
    r"_[iuf]\d+|multiply_wide|words|mask|bits|of_bits|every_lane|EVERY_LANE|LANE"
    r"|(?:lt|le|gt|ge|eq|ne|choose|ones)_[iuf]\d+)\b"
)
_REGIONS = re.compile(r"\b((?:initial_)?r[0-9_]*_\w+)\b")
#: What a text defines outside of functions.
_DEFINES = tuple(
    re.compile(pattern, re.M)
    for pattern in (
        r"^#define (\w+)",
        r"^typedef [^\n{]*?\b(\w+)(?: __attribute__.*)?;",
        r"^(?:struct|union) (\w+) \{",
        r"^(?:static |__attribute__[^\n]*?\)\) |inline )+[^;={}\n(]*?(?:\(\([^)]*\)\)[^;={}\n(]*?)?\b(\w+)\(",
        r"^static const [\w ]+ \*?(\w+)\[",
    )
)


def spelled_out(unit: Unit, cplusplus: bool, *more: str) -> frozenset[str]:
    """Macros that the program's text says by their values: their names are words of what stands around it, which has
    two underscores in front of what it names itself. So these are words of the languages, or their libraries'.
    ``more``: templates that are part of that text too."""
    taken = words(*(CUDA_TEXTS if cplusplus else C_TEXTS), *more) | KEYWORDS | libc.DECLARED
    macros = {n for n in unit.pre.macros if n in taken or _is_ours(n)}
    if cplusplus:
        macros |= {n for n in unit.pre.macros if is_cplusplus(n) or n in _PLACES or _CUDAS.fullmatch(n)}
    return frozenset(macros)


#: Functions that glibc's math.h also declares for vectors, by a macro made of the name; and what ends that of a type.
_VECTOR = frozenset(
    "acos asin atan atan2 cos sin tan cosh sinh tanh sincos acosh asinh atanh exp log log10 exp10 expm1 log1p exp2 log2"
    " pow hypot cbrt erf erfc".split()
)
OF_TYPES = ("", "f", "l", "f16", "f32", "f64", "f128", "f32x", "f64x")


def is_vector(name: str) -> bool:
    return name in _VECTOR or name[:-1] in _VECTOR


#: Macros of math.h, which generated text includes: a variable of the program's may have such a name.
_MATH_MACROS = re.compile(r"INFINITY|NAN|HUGE_VAL[FL]?|M_[A-Z0-9_]+|FP_[A-Z]+")


def refuse_places(front: Understood) -> None:
    """Kernels find their input by these names."""
    unit = front.program.unit
    for place in sorted(named_in(unit)[1] & _PLACES - unit.pre.macros.keys()):
        symbol = unit.scope.find(place)
        loc = symbol.loc if symbol is not None else None
        raise catalogue.CUDA_NAME.error(loc, name=place)


def renamed_in_cplusplus(unit: Unit) -> list[tuple[str, str]]:
    """Names of the program's own that mean something else to nvcc, and new ones for them: keywords of C++, and what
    CUDA's headers declare."""
    every, top_level = named_in(unit)
    clashing = (
        every & CPP_KEYWORDS - NO_MACROS
        | top_level & DECLARED
        | _hidden_in_headers(unit)
        | {n for n in _tags_defined(unit) if declares(n)}
        | {n for n in top_level if _CUDAS.fullmatch(n)}
    )
    return _new_names(clashing - unit.pre.macros.keys() - _called(unit), every)


def _hidden_in_headers(unit: Unit) -> set[str]:
    """What the program defines and headers that it does not include declare otherwise."""
    variables = {s.name for s in unit.variables.values() if s.decl is None or "extern" not in s.decl.storage}
    defined = (variables | unit.functions.keys()) & named_in(unit)[1] | types_defined(unit)
    known = {n for n, s in unit.scope.names.items() if s.kind == "typedef" and is_the_headers(n, s.type)}
    return {n for n in defined - DECLARED - known if declares(n)}


def types_defined(unit: Unit) -> set[str]:
    """The names of types and of enumerators that the program's own files define."""
    types = (n for n in _own(unit) if isinstance(n, (C.Typedef, C.Enumerator)))
    return {n.name for n in types if n.name} | _tags_defined(unit)


def _tags_defined(unit: Unit) -> set[str]:
    """Not those of structs beside whose name the program has the library's function, as C and C++ let it."""
    structs = (n for n in _own(unit) if isinstance(n, (C.Struct, C.Union)))
    return {n.name for n in structs if n.name and n.decls is not None} - _called(unit)


def _called(unit: Unit) -> set[str]:
    """The functions that the program names and does not define."""
    used = (unit.symbols.get(id(n)) for n in _own(unit) if isinstance(n, C.ID))
    return {s.name for s in used if s is not None and s.kind == "function"} - unit.functions.keys()


def _own(unit: Unit) -> Iterator[C.Node]:
    """What stands in the program's own files."""
    return (x for top in unit.ast.ext if is_user_file(unit.pre, loc_of(top).file) for x in nodes(top))


def aliases_of(unit: Unit, names: set[str], ours: frozenset[str]) -> dict[str, str]:
    """Names by which our text calls functions of the C library, for those that the program has another thing for.
    Raises UnsupportedError for what cannot have another name."""
    needed = names & ours - CPP_KEYWORDS  # what our text says of these stands before the program's own
    for n in sorted(needed - _CALLED):
        symbol = unit.scope.find(n)
        message = catalogue.CUDA_NAME if _CUDAS.fullmatch(n) else catalogue.LIBRARY_WORD
        raise message.error(symbol.loc if symbol is not None else None, name=n)
    return {n: f"__{n}_of_c" for n in sorted(needed)}


def undefined_macros(unit: Unit) -> list[str]:
    """Macros of headers that the program gives another meaning."""
    every, top_level = named_in(unit)
    named = {n for n in top_level if _MATH_MACROS.fullmatch(n)} | {n for n in every if defines(n)}
    return sorted(named - unit.pre.macros.keys())


def macros(unit: Unit, spelled_out: Container[str], undefined: list[str], renamed: list[tuple[str, str]]) -> list[str]:
    """The directives that stand before the program's text: its own macros, and the new names."""
    defined = unit.pre.macros
    kept = [f"#define {m.name} {m.value}" for m in defined.values() if m.name not in spelled_out]
    new_names = [f"#define {n} {new}" for n, new in renamed if n not in defined]
    return [*kept, *(f"#undef {n}" for n in undefined), *new_names]


def rounded_in(front: Understood) -> list[str]:
    """The functions of math.h that the program itself calls, and that are to be rounded correctly."""
    if front.math != "correct":
        return []
    unit = front.program.unit
    names = {n.name for n in nodes(unit.ast) if isinstance(n, C.ID) and n.name not in unit.functions}
    return sorted(names & CORRECTED - unit.variables.keys())


def renamed_in_c(unit: Unit) -> list[tuple[str, str]]:
    return _new_names(_hidden_in_headers(unit), named_in(unit)[0])


def _new_names(clashing: set[str], every: set[str]) -> list[tuple[str, str]]:
    return [(n, next(new for k in count(1) if (new := n + "_" * k) not in every)) for n in sorted(clashing)]


def named_in(unit: Unit) -> tuple[set[str], set[str]]:
    """All that the program itself names, and of these what stands outside of functions."""
    every = {x for n in _own(unit) for x in _names_of(n)}
    types = {*unit.scope.tags, *(n for n, s in unit.scope.names.items() if s.kind != "function")}
    return every, every & {*unit.variables, *unit.functions, *types}


def _names_of(n: C.Node) -> list[str]:
    return [x for x in (getattr(n, "name", None), getattr(n, "declname", None)) if isinstance(x, str)]


def _is_ours(name: str) -> bool:
    """Whether a name begins as those of our own text do; those with two underscores in front are no program's."""
    return name.startswith(("c2cu_", "C2CU_"))


def refuse_ours(unit: Unit) -> None:
    for n in _own(unit):
        for x in _names_of(n):
            if _is_ours(x) and x not in unit.pre.macros:
                raise catalogue.OUR_NAME.error(loc_of(n), name=x)


def refuse_library(unit: Unit, names: tuple[str, ...]) -> None:
    """Functions of the C library that a kernel's text calls where the program's own names stand."""
    taken = named_in(unit)[1].intersection(names) - unit.pre.macros.keys()
    for n in _own(unit):
        for x in taken.intersection(_names_of(n)):
            raise catalogue.LIBRARY_WORD.error(loc_of(n), name=x)


def respelled(value: object, names: frozenset[str]) -> object:
    """Text of the program's own in which some names have new ones, as `c_printer.name` gives them."""
    match value:
        case str():
            skipped = r'/\*.*?\*/|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\''
            pattern = rf"{skipped}|\b({'|'.join(sorted(names))})\b"
            return re.sub(pattern, lambda m: f"{m[1]}_" if m[1] else m[0], value, flags=re.S) if names else value
        case list():
            return [respelled(v, names) for v in value]
        case dict():
            return {k: respelled(v, names) for k, v in value.items()}
    return value


def private_names(text: str) -> str:
    """A text for a C compiler whose names none of the program's can have."""
    defined = {m[1] for form in _DEFINES for m in form.finditer(text)}
    text = _GANG_NAMES.sub(r"c2cu_\1", text)
    names = sorted(n for n in defined if not n.startswith(("c2cu_", "__")) and not _GANG_NAMES.fullmatch(n))
    if "##" not in text:  # of a region's name others are made
        text = _REGIONS.sub(r"c2cu_\1", text)
        names = [n for n in names if not _REGIONS.fullmatch(n)]
    return re.sub(rf"\b({'|'.join(names)})\b", r"c2cu_\1", text) if names else text


def undefines(text: str, macro: str) -> bool:
    """Whether a text ends with a macro undefined."""
    return bool(re.search(rf"#undef {macro}\b(?!.*#define {macro}\b)", text, re.S))


def device_name(b: Parameter) -> str:
    """The array that holds a parameter's copies: as in the paper, unless the name is taken."""
    spelled = f"__{b.name}" in reserved(*_AROUND_COLUMNS, *_AROUND_ROWS)
    taken = spelled or b.name in DECLARED | _COMPILERS_OWN or declares(b.name)
    return f"__{b.name}_" if taken else f"__{b.name}"
