"""What it is that the parser did not take, in words: assembly, or an extension of GNU's."""

from __future__ import annotations

import re

from ..base import catalogue
from ..base.diagnostics import Loc, ParseError, SourceMap, UnsupportedError
from .pieces import without_text
from .preprocess import Preprocessed

BEFORE = 40  # lines in which a statement of assembly, or an expression, begins
_ASM = re.compile(r"\b(?:__)?asm(?:__)?\b(?:\s*\b(?:__)?(?:volatile|inline|goto)(?:__)?\b)*")
#: (what stands before the place; what stands at it; the extension's name)
_EXTENSIONS = tuple(
    (re.compile(before + r"\s*\Z"), re.compile(at), name)
    for before, at, name in (
        (r"\?", r":", "a condition that has an effect and no middle operand, 'f() ?: b'"),
        (r"", r"&&", "the address of a label, '&&name'"),
        (r"\bgoto", r"\*", "a goto to an address, 'goto *p'"),
        (r"\b__label__", r"", "a local label, '__label__'"),
        (r"\b__auto_type", r"", "'__auto_type'"),
        (r"\b(_Decimal\d+)", r"", "a decimal number, '_Decimal64'"),
        (r"[{,]\s*\w+", r":", "a member as 'name: value'"),
        (r"[{,]\s*\[[^\]]*\]", r"\w", "an element as '[a] value'"),
        (r"\b__builtin_\w+\s*\((?:[^()]*,)?", r"\w", "a function of the compiler that takes a type"),
        (r"\A\s*|[;{}]\s*", r"\[\s*\[?", "an attribute as '[[name]]'"),
        (r"\b(?!if\b|for\b|while\b|switch\b)\w+\s*\([^{};]*\)", r"\{", "a function inside another"),
    )
)


def unparsed(error: ParseError, pre: Preprocessed) -> UnsupportedError:
    """What it is that the parser did not take, if the compiler does."""
    loc = error.diagnostic.loc or Loc()
    before, at = _around(pre.sources, loc)
    assembler = _assembler(before, at)
    if assembler is not None:
        begin, word = assembler
        line = loc.line - before.count("\n", begin)
        column = begin - (before.rfind("\n", 0, begin) + 1) + 1
        return catalogue.ASSEMBLER.error(Loc(loc.file, line, column, column + len(word)))
    name = next((n for b, a, n in _EXTENSIONS if a.match(at) and b.search(before)), "")
    return catalogue.GNU_EXTENSION.error(loc, which=f": {name}" if name else "")


def _around(sources: SourceMap, loc: Loc) -> tuple[str, str]:
    """The text before a place, as the parser has it, and what follows on its line; strings are empty."""
    first = max(1, loc.line - BEFORE)
    lines = [sources.expanded_line(loc.file, n) or "" for n in range(first, loc.line + 1)]
    text, at = "\n".join(lines[:-1] + [lines[-1][: max(0, loc.column - 1)]]), lines[-1][max(0, loc.column - 1) :]
    return without_text(text), at


def _assembler(before: str, at: str) -> tuple[int, str] | None:
    """Where in ``before`` the statement of assembly begins that a place stands in, and its word."""
    word = re.match(_ASM, at)
    if word is not None:
        return len(before), word[0].split()[0].split("(")[0]
    for m in reversed([*_ASM.finditer(before)]):
        inside = before[m.end() :]
        opened = inside.count("(") - inside.count(")")
        if not inside.strip() or opened > 0:
            return m.start(), re.split(r"\s", m[0])[0]
        return None
    return None
