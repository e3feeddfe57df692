"""The pieces of a preprocessed text: one for each declaration or function definition at file scope."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..base.diagnostics import file_of

_TOKEN = re.compile(
    r"^[ \t]*#.*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|[A-Za-z_$]\w*|[{}()\[\];=,:]|\.?\d[\w.]*", re.M
)
_MARKER = re.compile(r'^# (\d+) "((?:[^"\\]|\\.)*)".*\n', re.M)
_PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma\b(.*)", re.M)
LARGE = 4096  # characters of a table: a smaller one is soon parsed
_TYPE_WORDS = ("struct", "union", "enum")
_NO_DECLARATOR = ("_Alignas", "typeof", "_Atomic", "_BitInt", "asm", "__asm__", "__asm", "__attribute__")


@dataclass(frozen=True)
class Piece:
    """``begin`` <= offset < ``end``. ``body``: that of a function's braces, from one to past the other; None for a
    declaration. ``names``: the words before them, without those in parentheses or brackets; the last of a function's is
    its name. ``ended``: whether its last bracket is closed."""

    begin: int
    end: int
    body: tuple[int, int] | None
    names: tuple[str, ...]
    ended: bool = True


def pieces(text: str) -> list[Piece]:
    """All of them in order. A piece that never ends reaches to the end of the text."""
    parts: list[Piece] = []
    begin, depth, brace = 0, 0, 0
    names: list[str] = []
    last = before = of_parameters = ""
    declarator = old_style = False
    body = 0

    def end(at: int, of_body: tuple[int, int] | None, ended: bool = True) -> None:
        nonlocal begin, depth, brace, last, before, declarator, old_style, names, body
        parts.append(Piece(begin, at, of_body, tuple(names), ended))
        begin, depth, brace, last, before, declarator, old_style, names, body = at, 0, 0, "", "", False, False, [], 0

    for m in _TOKEN.finditer(text):
        word = m[0]
        if word.lstrip().startswith("#"):
            continue
        begin = begin if last else m.start()
        if word in "([":
            if not depth and not brace and word == "(":
                of_parameters = last
            depth += 1
        elif word in ")]":
            depth = max(0, depth - 1)
            if not depth and not brace and word == ")":
                declarator = declarator or of_parameters not in _NO_DECLARATOR
        elif word == "{":
            if (
                not depth
                and not brace
                and declarator
                and last != "="
                and not _of_type(last, before)
                and "=" not in names
            ):
                body = m.start()
            brace += 1
        elif word == "}":
            brace = max(0, brace - 1)
            if not brace and body:
                end(m.end(), (body, m.end()))
                continue
        elif not depth and not brace:
            if word == ";" and not old_style:
                end(m.end(), None)
                continue
            if word[0].isalpha() or word[0] in "_$":
                old_style = old_style or (
                    declarator and last == ")" and word not in _NO_DECLARATOR and "=" not in names
                )
                if not declarator:
                    names.append(word)
            elif word == "=":
                names.append(word)
        before, last = last, word
    if text[begin:].strip():
        end(len(text), (body, len(text)) if body else None, False)
    return parts


def _of_type(last: str, before: str) -> bool:
    return last in _TYPE_WORDS or before in _TYPE_WORDS


class Lines:
    """Offsets in a text with line markers, and the lines of files that they are."""

    def __init__(self, text: str):
        self.text = text
        self.starts, self.files = [0], [("", 1)]
        for m in _MARKER.finditer(text):
            self.starts.append(m.end())
            self.files.append((file_of(m[2]), int(m[1])))

    def of(self, at: int) -> tuple[str, int]:
        """(file, line) of an offset."""
        k = bisect_right(self.starts, at) - 1
        file, line = self.files[k]
        return file, line + self.text.count("\n", self.starts[k], at)

    def at(self, at: int) -> tuple[str, tuple[int, int]]:
        """(file, (line, column)) of an offset."""
        file, line = self.of(at)
        return file, (line, at - self.text.rfind("\n", 0, at))

    def offsets(self, file: str, line: int) -> list[int]:
        """Where that line begins: several where a file was included again."""
        offsets = []
        for k, (start, (name, first)) in enumerate(zip(self.starts, self.files)):
            end = self.starts[k + 1] if k + 1 < len(self.starts) else len(self.text)
            if name != file or line < first:
                continue
            at = start
            for _ in range(line - first):
                at = self.text.find("\n", at, end) + 1
                if not at:
                    break
            else:
                if at < end:
                    offsets.append(at)
        return offsets


def blanked(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """The text with spaces in these spans; lines stay."""
    parts, done = [], 0
    for begin, end in sorted(spans):
        parts += [text[done:begin], re.sub(r"(^# \d.*)|[^\n]+", _blank, text[begin:end], flags=re.M)]
        done = end
    return "".join([*parts, text[done:]])


def emptied(text: str, bodies: Iterable[tuple[int, int]]) -> str:
    """The text with nothing between the braces of these bodies."""
    return blanked(text, ((begin + 1, end - 1) for begin, end in bodies))


def without_unused(
    text: str, parts: list[Piece], is_user_file: Callable[[str], bool], elsewhere: frozenset[str] = frozenset()
) -> tuple[str, list[Piece]]:
    """The text, and its pieces, without what nothing of the user's mentions: functions of system headers (immintrin.h
    defines thousands) and large tables. ``elsewhere``: the words of the program's other files."""
    places = Lines(text)
    functions = (p for p in parts if p.body and p.names and not is_user_file(places.of(p.body[0])[0]))
    candidates = {p.names[-1]: p for p in functions}
    candidates.update((name, p) for p in parts if (name := _large_table(text, p)))
    pragmas = {word for line in _PRAGMA.findall(text) for word in re.findall(r"\w+", line)}
    dropped = {p for name, p in candidates.items() if name not in elsewhere and name not in pragmas}
    pending = [p for p in parts if p not in dropped]
    while pending and dropped:
        p = pending.pop()
        for word in _mentioned(text, p) & candidates.keys():
            if candidates[word] in dropped:
                dropped.discard(candidates[word])
                pending.append(candidates[word])
    return blanked(text, ((p.begin, p.end) for p in dropped)), [p for p in parts if p not in dropped]


def mentioned(text: str) -> frozenset[str]:
    """The words of a text, but for those that it only declares."""
    return frozenset().union(*(_mentioned(text, p) for p in pieces(text)))


def _mentioned(text: str, p: Piece) -> frozenset[str]:
    """The same of a piece: a header may declare all tables that there are."""
    of_piece = words(text[p.begin : p.end])
    return of_piece.difference(p.names) if p.names[:1] == ("extern",) and "=" not in p.names else of_piece


_BEFORE_VALUE = re.compile(r"(?:[^=]|(?<=[=!<>])=|=(?==))*")


def _large_table(text: str, p: Piece) -> str:
    """The name of a constant whose initialiser is long, if that is all that a piece declares; else ""."""
    if p.end - p.begin < LARGE or p.names.count("=") != 1 or p.names[-1] != "=" or "const" not in p.names:
        return ""
    declarator = _BEFORE_VALUE.match(text[p.begin : p.end])[0]  # pyright: ignore
    return "" if re.search(r"[{(,]", declarator) else p.names[-2]  # with one of these, that may be another name


def _blank(m: re.Match[str]) -> str:
    return m[0] if m[1] else " " * len(m[0])


_TEXT = re.compile(r"^[ \t]*#.*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.M)


def without_text(text: str) -> str:
    """The text with spaces for what is between quotation marks, in line markers and in pragmas."""
    return _TEXT.sub(_emptied, text)


def _emptied(m: re.Match[str]) -> str:
    mark = m[0][0] if m[0][0] in "\"'" else " "
    return (mark + " " * len(m[0]))[: len(m[0]) - 1] + mark


def words(text: str) -> frozenset[str]:
    """The identifiers of a text; what stands in strings and line markers does not count."""
    return frozenset(m[0] for m in _TOKEN.finditer(text) if m[0][0].isalpha() or m[0][0] in "_$")
