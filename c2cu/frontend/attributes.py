"""Compiler attributes: blanked out of the preprocessed text; those that change what a program means are refused."""

from __future__ import annotations

import re
from collections.abc import Callable

from ..base import catalogue
from ..base.diagnostics import Loc, file_of

_MARKER = re.compile(r'^# (\d+) "((?:[^"\\]|\\.)*)".*\n', re.M)
_TOKEN = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|[A-Za-z_]\w*|^[ \t]*#.*|[{}();]", re.M)
_ATTRIBUTE = ("__attribute__", "__attribute")
_ASM = ("__asm__", "__asm", "asm")
_MEANING = re.compile(
    r"(?:__)?(packed|vector_size|ext_vector_type|mode|scalar_storage_order|ms_struct|transparent_union"
    r"|constructor|destructor|cleanup|alias|ifunc)(?:__)?"
)
_ALIGNED = re.compile(r"(?:__)?aligned(?:__)?")


def without_attributes(text: str, is_system: Callable[[str], bool]) -> str:
    """``text`` (with line markers) with attributes blanked out, every column kept; ``is_system`` takes a file's name.

    Raises UnsupportedError where the user's own code has one that moves members or changes a type, as '#pragma pack'
    does: without it the program would be another one. In system headers all go, and assembler names of functions too.
    """
    parts, begin, place = [], 0, ("", 1)
    for marker in [*_MARKER.finditer(text), None]:
        end = marker.start() if marker else len(text)
        parts.append(_blanked(text[begin:end], *place, is_system(place[0])))
        if marker:
            parts.append(marker[0])
            begin, place = marker.end(), (file_of(marker[2]), int(marker[1]))
    return "".join(parts)


def _blanked(text: str, file: str, first: int, system: bool) -> str:
    """The same for lines of one file, ``first`` and on."""
    if "__attribute" not in text and "asm" not in text and "_Alignas" not in text and "pack" not in text:
        return text
    cuts: list[tuple[int, int]] = []
    frames: list[tuple[bool, list[str]]] = []  # of each open brace: whether it is a type's, and the words before it
    words: list[str] = []  # of the declaration so far
    done = 0
    for m in _TOKEN.finditer(text):
        word = m[0]
        if m.start() < done:
            continue
        if word in _ATTRIBUTE or (system and word in _ASM):
            done = _closing(text, m.end())
            cuts.append((m.start(), done))
        of_type = bool(frames and frames[-1][0]) or "typedef" in words or words[-1:] in (["}"], ["struct"], ["union"])
        bad = "" if system else _forbidden(word, text[m.start() : done], of_type)
        if bad:
            raise catalogue.LAYOUT_ATTRIBUTE.error(_loc(text, m.start(), file, first), attribute=bad)
        words = _declaration(word, words, frames)
    for start, end in cuts:
        text = text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]
    return text


def _declaration(word: str, words: list[str], frames: list[tuple[bool, list[str]]]) -> list[str]:
    """The words of the declaration after ``word``; keeps ``frames`` up to date."""
    if word == "{":
        frames.append((")" not in words and any(w in ("struct", "union", "enum") for w in words), words))
        return []
    if word == "}" and frames:
        of_type, before = frames.pop()
        return [*before, "}"] if of_type else []
    return [] if word == ";" else [*words, word]


def _forbidden(word: str, attribute: str, of_type: bool) -> str:
    """What changes the program's meaning. ``aligned`` does so on types and members, not on variables."""
    if re.match(r"[ \t]*#\s*pragma\s+pack\b", word):
        return "'#pragma pack'"
    if word == "_Alignas" and of_type:
        return "'_Alignas' on a member"
    for name in re.findall(r"[A-Za-z_]\w*", attribute) if word in _ATTRIBUTE else ():
        if _MEANING.fullmatch(name) or (of_type and _ALIGNED.fullmatch(name)):
            return f"the attribute '{name}'"
    return ""


def _closing(text: str, start: int) -> int:
    """Past the parenthesis that closes the one which follows ``start``; ``start`` if none follows."""
    depth = 0
    for m in _TOKEN.finditer(text, start):
        if not depth and (m[0] != "(" or text[start : m.start()].strip()):
            return start
        depth += (m[0] == "(") - (m[0] == ")")
        if not depth:
            return m.end()
    return start


def _loc(text: str, at: int, file: str, first: int) -> Loc:
    line = text.rfind("\n", 0, at) + 1
    return Loc(file, first + text.count("\n", 0, at), at - line + 1)
