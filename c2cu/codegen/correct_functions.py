"""Functions of math.h that round correctly, as C for a CPU: the files of ``c2cu/math/correct`` put into one text.

A file ``NAME.c`` has the function for almost all arguments, and calls NAME for the others; here that is a call of
``c2cu_accurate_NAME``, which computes with long whole numbers. Of what the files define, the text has what is needed.
docs/math.md says why no compiler and no machine changes the results.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..base.libm import CORRECTED, FUNCTIONS, SINCOS
from .math_calls import PREFIX

FOLDER = Path(__file__).parent.parent / "math" / "correct"
HEADER = "/* Functions of math.h, rounded correctly: with the same bits on every machine. */"
CALLED = re.compile(rf"\b{PREFIX}(\w+)\(")
_NAMED = re.compile(r"^(?:static |const |unsigned |long |int |void |double |float |_Bool |\*)+(c2cu_\w+)[\[(]")
#: What is rare, and so long that it is not to be copied into all that calls it.
LONG = re.compile(r"c2cu_(wide|rounded|accurate)_")
_INCLUDE = re.compile(r'#include "(.*)"')
_MACRO = re.compile(r"#define (\w+)(\([\w, ]*\))? (.*)")
_LIBRARY = re.compile(rf"(?<!\w)({'|'.join(sorted(FUNCTIONS, key=len, reverse=True))})(?=\()")


def definitions(calls: Iterable[str]) -> str:
    """The C of these functions, ``c2cu_math_NAME``; "" for none."""
    pieces: dict[str, str] = {}
    for name in sorted(set(calls)):
        pieces |= _pieces(name)
    needed: set[str] = set()
    new = {PREFIX + name for name in calls}
    while new:
        needed |= new
        new = {n for name in new for n in re.findall(r"\bc2cu_\w+", pieces[name]) if n in pieces} - needed
    texts = [text for name, text in pieces.items() if name in needed]
    return "\n\n".join([HEADER, *texts, ""]) if texts else ""


def with_definitions(text: str) -> str:
    """C that `math_calls` had call these functions, with them in front."""
    return definitions(CALLED.findall(text)) + text


def replaced_in(texts: Iterable[str]) -> tuple[str, ...]:
    """The functions of the library that C text may call, and that are to be replaced in it: those that it names, and
    those that compilers make of two of these."""
    words = {n for text in texts for n in re.findall(r"(?<!\w)(?:__builtin_)?([a-z]\w+)", text)}
    named = words & CORRECTED
    return tuple(sorted(named | {both for both, pair in SINCOS.items() if named >= set(pair)}))


def replacements(names: Iterable[str]) -> str:
    """C that defines ``__wrap_NAME`` for each, which a linker puts in place of NAME."""
    names = list(names)
    return "\n".join([definitions(names), *map(_wrapped, names), ""]) if names else ""


def _wrapped(name: str) -> str:
    if name in SINCOS:
        t = FUNCTIONS[SINCOS[name][0]][0].name
        return f"void __wrap_{name}({t} x, {t} *s, {t} *c) {{ {PREFIX}{name}(x, s, c); }}"
    result, parameters = FUNCTIONS[name]
    given = ", ".join(f"{t.name} {x}" for t, x in zip(parameters, "xy"))
    arguments = ", ".join("xy"[: len(parameters)])
    return f"{result.name} __wrap_{name}({given}) {{ return {PREFIX}{name}({arguments}); }}"


@functools.cache
def _pieces(name: str) -> dict[str, str]:
    """What a function is made of, by name, in the order in which C needs it."""
    if name in SINCOS:
        sine, cosine = SINCOS[name]
        t = FUNCTIONS[sine][0].name
        both = f"{{ *s = {PREFIX}{sine}(x), *c = {PREFIX}{cosine}(x); }}"
        text = f"static inline void {PREFIX}{name}({t} x, {t} *s, {t} *c) {both}"
        return _pieces(sine) | _pieces(cosine) | {PREFIX + name: text}
    accurate = FOLDER / ("accurate_float.h" if name.endswith("f") else "accurate.h")
    pieces = dict(_defined(accurate, {}, set()))
    for piece, text in _defined(FOLDER / f"{name}.c", {}, set()):
        if piece == f"c2cu_{name}":
            text = re.sub(rf"\b__builtin_{name}\(", f"c2cu_accurate_{name}(", text)
            piece, text = PREFIX + name, text.replace(f"c2cu_{name}(", f"{PREFIX}{name}(", 1)
        pieces[piece] = text
    return pieces


def _defined(path: Path, macros: dict[str, str], included: set[Path]) -> Iterator[tuple[str, str]]:
    """The definitions of a file, and before them those of the files that it includes, with their names."""
    if path in included:
        return
    included.add(path)
    lines: list[str] = []
    depth = 0
    comment: list[str] = []
    for line in path.read_text().split("\n"):
        if m := _INCLUDE.match(line):
            yield from _defined((path.parent / m[1]).resolve(), macros, included)
        elif m := _MACRO.match(line):
            macros[rf"(?<!\w){m[1]}" + (r"\([^()]*\)" if m[2] else r"\b")] = m[3]
        elif line.startswith("#") or not (line or lines):
            comment = comment if path.suffix == ".c" else []
        elif not depth and (line.startswith(("/*", "   ")) or comment and not comment[-1].endswith("*/")):
            comment = [*comment, line] if comment and not comment[-1].endswith("*/") else [line]
        else:
            lines.append(line)
            depth += line.count("{") - line.count("}")
            if not depth and line.endswith(("}", "};")):
                m = _NAMED.match(lines[0])
                assert m is not None, lines[0]
                apart = "__attribute__((noinline)) " if LONG.match(m[1]) and "(" in lines[0] else ""
                code = "\n".join(_spelled(x, macros) for x in lines)
                yield m[1], "\n".join([*comment, code.replace("static ", f"static {apart}", 1)])
                lines, comment = [], []


def _spelled(line: str, macros: dict[str, str]) -> str:
    """A line with macros in place, functions that nothing declares by the compiler's names, and none of ours to be
    seen from outside."""
    for pattern, text in macros.items():
        line = re.sub(pattern, text, line)
    line = _LIBRARY.sub(r"__builtin_\1", line)
    return f"static {line}" if re.match(r"(double|float) c2cu_", line) else line
