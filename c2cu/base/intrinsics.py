"""What a text needs of immintrin.h: a few functions of the thousands that GCC takes half a second to read.

``header`` is immintrin.h as GCC preprocesses it for some flags, with -dD: macros, types, and for each function

    extern __inline __m256i
    __attribute__((__gnu_inline__, __always_inline__, __artificial__))
    _mm256_add_epi32 (__m256i __A, __m256i __B)
    {
      ...
    }

between pragmas if the flags do not have its instruction.
"""

from __future__ import annotations

import re

INCLUDE = "#include <immintrin.h>\n"
_WORD = re.compile(r"\b_\w+")
_TARGET = '#pragma GCC target("'
_TYPE_OR_NUMBER = re.compile(
    r"^typedef [\w ]*?\b(__[mv]\w+)(?: *__attribute__[^;]*)?;|^#define (_(?:CMP|MM)_\w+) .+$", re.M
)


def shortened(text: str, header: str) -> str:
    """The text with the declarations that it names, and those that they name, in place of the include. As it is if it
    names what is no function there, such as a macro with parameters."""
    others: dict[str, tuple[int, str]] = {}
    for m in _TYPE_OR_NUMBER.finditer(header):
        others.setdefault(m[1] or m[2], (m.start(), m[0]))  # some stand there twice
    needed: dict[str, tuple[int, str]] = {}
    pending = set(_WORD.findall(text))
    while pending:
        name = pending.pop()
        declaration = others.get(name) or _function(name, header)
        if declaration is None and name.startswith("_mm"):
            return text
        if declaration is not None:
            needed[name] = declaration
            pending |= set(_WORD.findall(declaration[1])) - needed.keys()
    return text.replace(INCLUDE, "".join(f"{declaration}\n" for _, declaration in sorted(needed.values())), 1)


def _function(name: str, header: str) -> tuple[int, str] | None:
    """Where a function is defined, and how: ("" where the flags do not have its instruction). None for no function."""
    at = header.find(f"\n{name} (")
    begin, end = header.rfind("extern __inline", 0, at), header.find("\n}", at) + 2
    if min(at, begin) < 0 or end < at or header.find("__artificial__", begin, at) < 0:
        return None
    target = header.rfind(_TARGET, 0, begin)
    within = target > header.rfind("#pragma GCC pop_options", 0, begin)
    lacking = within and not header.startswith("general-regs-only", target + len(_TARGET))
    return begin, "" if lacking else header[begin:end]
