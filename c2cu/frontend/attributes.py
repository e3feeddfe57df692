"""Compiler attributes and GNU's spellings: out of the parser's text, with a mark where one changes what C means."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from ..base.diagnostics import Loc, file_of

LAYOUT, MEANING = "layout", "meaning"
#: GCC's older way to say __int128.
WIDE_MODE = "the attribute 'mode(TI)'"

_MARKER = re.compile(r'^# (\d+) "((?:[^"\\]|\\.)*)".*\n', re.M)
_TOKEN = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|[A-Za-z_]\w*|^[ \t]*#.*|[{}();]", re.M)
_ATTRIBUTE = ("__attribute__", "__attribute")
_ASM = ("__asm__", "__asm", "asm")
_LAYOUTS = re.compile(r"(?:__)?(packed|ms_struct|aligned)(?:__)?")
_MEANINGS = re.compile(
    r"(?:__)?(vector_size|ext_vector_type|mode|scalar_storage_order|transparent_union"
    r"|constructor|destructor|cleanup|alias|ifunc|weakref)(?:__)?"
)
_WIDE_MODE = re.compile(r"\(\s*(?:__)?TI(?:__)?\s*\)")
#: Without what changes something.
_OPERAND = r"(?:[^()=+-]|\+(?!\+)|-(?!-)|[=!<>]=(?!=))*"
#: Without instructions, and with no operand that they would have to set: "+r" keeps its value.
_EMPTY_ASM = re.compile(
    r'\s*(?:(?:__)?(?:volatile|inline)(?:__)?\s*)*\(\s*""\s*'
    r'(?:\)|:\s*(?:(?:\[\w+\]\s*)?"\+[^"]*"\s*\(OPERAND\)\s*,?\s*)*'
    r"(?:\)|:[^:()]*(?:\(OPERAND\)[^:()]*)*(?:\)|:)))".replace("OPERAND", _OPERAND)
)
#: GNU's words that C has another one for, no longer than they are: columns of the user's files stay, and marks'
#: offsets hold.
_SPELLINGS = {
    "__extension__": "", "__restrict": "restrict", "__restrict__": "restrict", "__inline": "inline",
    "__inline__": "inline", "__const": "const", "__const__": "const", "__volatile": "volatile",
    "__volatile__": "volatile", "__signed": "signed", "__signed__": "signed", "__alignof": "_Alignof",
    "__alignof__": "_Alignof", "__builtin_offsetof": "offsetof", "__thread": "", "_Thread_local": "",
    "__int128_t": "__int128", "__builtin_va_list": "char *",
    "__typeof__": "typeof", "__typeof": "typeof", "__complex__": "_Complex", "__complex": "_Complex",
    "__real__": "__real", "__imag__": "__imag",
}  # fmt: skip
_FLOATS = {"_Float128": "long double", "_Float64x": "long double", "_Float64": "double", "_Float32x": "double",
           "_Float32": "float", "_Float16": "float", "__bf16": "short"}  # fmt: skip
_GNU = re.compile(r"__|asm|_Alignas|_Thread_local|_Float|^[ \t]*#[ \t]*pragma", re.M)
_TELLING = ("typedef", "struct", "union", "enum", ")")
_KEPT_PRAGMA = re.compile(r"[ \t]*#\s*pragma\s+([kK]\w*|c2cu)\b")


@dataclass(frozen=True)
class Mark:
    """An attribute, pragma or specifier that plain C has no word for. ``kind``: LAYOUT (of a type) or MEANING (of a
    type, a function or a variable); ``at``: where it stands in the text; ``until``: where its effect on types ends,
    for '#pragma pack'."""

    attribute: str
    kind: str
    loc: Loc
    at: int
    until: int = 0


def without_attributes(text: str, is_system: Callable[[str], bool]) -> tuple[str, tuple[Mark, ...]]:
    """``text`` (with line markers) in the parser's C: attributes blanked out, every column of the user's kept.

    ``is_system`` takes a file's name: in system headers all go, and assembler names of functions too. The marks are of
    the user's files alone.
    """
    parts, marks, size = [], [], 0
    begin, place = 0, ("", 1)
    for marker in [*_MARKER.finditer(text), None]:
        end = marker.start() if marker else len(text)
        part, part_marks = _blanked(text[begin:end], *place, is_system(place[0]), size)
        parts += [part, f'# {marker[1]} "{marker[2]}"\n' if marker else ""]  # without flags: the parser is faster
        marks += part_marks
        size += len(parts[-2]) + len(parts[-1])
        if marker:
            begin, place = marker.end(), (file_of(marker[2]), int(marker[1]))
    return "".join(parts), tuple(_packs(marks, size))


def _blanked(text: str, file: str, first: int, system: bool, base: int) -> tuple[str, list[Mark]]:
    """The same for lines of one file, ``first`` and on, that will stand at ``base``."""
    if not _GNU.search(text):
        return text, []
    cuts: list[tuple[int, int, str]] = []
    marks: list[Mark] = []
    frames: list[tuple[bool, list[str]]] = []  # of each open brace: whether it is a type's, and the words before it
    words: list[str] = []  # of the declaration so far: the last one, and `_TELLING` ones
    done = 0
    for m in _TOKEN.finditer(text):
        word = m[0]
        if m.start() < done:
            continue
        empty = _EMPTY_ASM.match(text, m.end()) if word in _ASM and not system else None
        if word in _ATTRIBUTE or (system and word in _ASM) or empty:
            done = _closing(text, m.end())
            cuts.append((m.start(), done, ""))
        elif word in _SPELLINGS:
            cuts.append((*m.span(), _SPELLINGS[word]))
        elif system and word in _FLOATS:
            cuts.append((*m.span(), _FLOATS[word]))
        elif word.lstrip().startswith("#") and "pragma" in word and not _KEPT_PRAGMA.match(word):
            cuts.append((*m.span(), ""))
        of_type = bool(frames and frames[-1][0]) or "typedef" in words or words[-1:] in (["}"], ["struct"], ["union"])
        if not system:
            for kind, attribute in _marked(word, text[m.start() : done], of_type):
                marks.append(Mark(attribute, kind, _loc(text, m.start(), file, first), base + m.start()))
        words = _declaration(word, words, frames)
    parts, begin = [], 0
    for start, end, by in cuts:
        blank = re.sub(r"[^\n]", " ", text[start:end])
        parts += [text[begin:start], by, blank[len(by) :]]
        begin = end
    return "".join([*parts, text[begin:]]), marks


def _packs(marks: list[Mark], size: int) -> list[Mark]:
    """The marks, each '#pragma pack' reaching to the next one; those that end it are none."""
    packs = [m for m in marks if "pack(" in m.attribute]
    ends = {id(m): after.at for m, after in zip(packs, [*packs[1:], Mark("", "", Loc(), size)])}
    return [replace(m, until=ends.get(id(m), 0)) for m in marks if not re.search(r"pack\((pop)?\)", m.attribute)]


def _declaration(word: str, words: list[str], frames: list[tuple[bool, list[str]]]) -> list[str]:
    """The last word of the declaration, which is ``word`` now, and the telling ones before it; keeps ``frames`` up to
    date."""
    if word == "{":
        frames.append((")" not in words and any(w in ("struct", "union", "enum") for w in words), words))
        return []
    if word == "}" and frames:
        of_type, words = frames.pop()
        if not of_type:
            return []
    elif word == ";":
        return []
    if words and (words[-1] not in _TELLING or words[-1] in words[:-1]):
        words.pop()  # an initialiser may have thousands
    words.append(word)
    return words


def _marked(word: str, attribute: str, of_type: bool) -> list[tuple[str, str]]:
    """(kind, name) of what changes a program. ``aligned`` does so on types and members, not on variables."""
    if m := re.match(r"[ \t]*#\s*pragma\s+pack\b\s*(.*)", word):
        return [(LAYOUT, f"'#pragma pack{re.sub(' ', '', m[1])}'")]
    if word == "_Alignas" and of_type:
        return [(LAYOUT, "'_Alignas' on a member")]
    changes = []
    for name in re.findall(r"[A-Za-z_]\w*", attribute) if word in _ATTRIBUTE else ():
        if "mode" in name and _WIDE_MODE.search(attribute):
            changes.append((MEANING, WIDE_MODE))
        elif _MEANINGS.fullmatch(name):
            changes.append((MEANING, f"the attribute '{name}'"))
        elif _LAYOUTS.fullmatch(name) and (of_type or "aligned" not in name):
            changes.append((LAYOUT, f"the attribute '{name}'"))
    return changes


def _closing(text: str, start: int) -> int:
    """Past the parenthesis that closes the next one, words between allowed; ``start`` if none follows."""
    depth = 0
    for m in _TOKEN.finditer(text, start):
        if not depth and m[0] != "(":
            if re.fullmatch(r"(?:__)?(?:volatile|inline|goto)(?:__)?", m[0]):
                continue
            return start
        depth += (m[0] == "(") - (m[0] == ")")
        if not depth:
            return m.end()
    return start


def _loc(text: str, at: int, file: str, first: int) -> Loc:
    line = text.rfind("\n", 0, at) + 1
    return Loc(file, first + text.count("\n", 0, at), at - line + 1)
