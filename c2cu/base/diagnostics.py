"""Places in the user's files, the errors that name them, and how both are printed."""

from __future__ import annotations

import contextlib
import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self


@dataclass(frozen=True)
class Loc:
    """A place in a file; ``line`` and ``column`` count from 1 (0: not known); ``end`` is one past the last column."""

    file: str = ""
    line: int = 0
    column: int = 0
    end: int = 0

    def __str__(self) -> str:
        name = "".join(c if c.isprintable() else "?" for c in self.file)
        return ":".join([name or "<input>"] + [str(n) for n in (self.line, self.column) if n])


def file_of(quoted: str) -> str:
    """The file that a line marker names; its bytes that are not plain may be escaped there as in a C string."""
    if "\\" not in quoted:
        return quoted
    plain = re.sub(rb"\\([0-7]{3}|.)", _unescaped, quoted.encode("utf-8", "surrogateescape"), flags=re.S)
    return plain.decode("utf-8", "surrogateescape")


def quoted(name: str) -> str:
    """A file's name as a line marker writes it."""
    return re.sub(r'[\\"]', r"\\\g<0>", name).replace("\n", r"\012").replace("\r", r"\015")


def _unescaped(m: re.Match[bytes]) -> bytes:
    return bytes([int(m[1], 8)]) if len(m[1]) == 3 else b"\n" if m[1] == b"n" else m[1]


@dataclass(frozen=True)
class Note:
    message: str
    loc: Loc | None = None


@dataclass(frozen=True)
class Diagnostic:
    """One message: ``severity`` is error, warning or note; ``code`` such as C2CU031; ``hint`` says how to go on."""

    severity: str
    code: str
    message: str
    loc: Loc | None = None
    hint: str = ""
    notes: tuple[Note, ...] = ()


class SourceMap(Mapping[str, str]):
    """File name -> text as the user wrote it; knows the expanded lines too, to place carets inside macros."""

    def __init__(self, originals: Mapping[str, str], expanded: str = "", macros: Mapping[str, int] | None = None):
        self._originals = dict(originals)
        self._macros = dict(macros or {})
        self._expanded = expanded
        self._spellings: dict[str, str] = {}
        self._lines: dict[tuple[str, int], list[str]] | None = None

    @classmethod
    def joined(cls, maps: Sequence[SourceMap]) -> SourceMap:
        """The files of all of them; of a header that several have, the lines of the first."""
        originals = {name: text for m in reversed(maps) for name, text in m._originals.items()}
        first = {name: originals[name] for m in maps for name in m._originals}
        macros = {name: line for m in reversed(maps) for name, line in m._macros.items()}
        return cls(first, "\n".join(m._expanded for m in maps), macros)

    def spelled(self, spellings: Mapping[str, str]) -> SourceMap:
        """The same files, where the user calls some things otherwise than the program does: its names -> the user's."""
        out = SourceMap(self._originals, self._expanded, self._macros)
        out._spellings = dict(spellings)
        return out

    def said(self, message: str) -> str:
        """A message with the names that the user has for things."""
        if not self._spellings:
            return message
        return re.sub(r"[A-Za-z_]\w*", lambda m: self._spellings.get(m[0], m[0]), message)

    def __getitem__(self, name: str) -> str:
        return self._originals[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._originals)

    def __len__(self) -> int:
        return len(self._originals)

    def line(self, file: str, number: int) -> str | None:
        """A line as the user wrote it."""
        lines = self._originals.get(file, "").split("\n")
        return lines[number - 1] if 0 < number <= len(lines) else None

    def original(self, loc: Loc) -> tuple[Loc, Note | None]:
        """``loc`` with columns of the user's line; a note where it lies inside a macro's expansion."""
        written, expanded = self.line(loc.file, loc.line), self.expanded_line(loc.file, loc.line)
        if self._spellings and written is not None and loc.end:
            word = re.match(r"[A-Za-z_]\w*", written[loc.column - 1 :])
            if word and word[0] in self._spellings.values():
                loc = replace(loc, end=loc.column + len(word[0]))
        if written is None or not expanded or written == expanded or not loc.column:
            return loc, None
        if loc.column > len(expanded) + 1:
            return replace(loc, column=0, end=0), None
        ours = _tokens(_COMMENT.sub(lambda m: m[1] or " " * len(m[0]), written))
        theirs = [token for part in self._parts(loc.file, loc.line) for token in _tokens(part)]
        at, shift = _aligned(ours, theirs, loc.column - 1)
        if shift is not None:
            whole = loc.end and _aligned(ours, theirs, loc.end - 2)[1] == shift
            return replace(loc, column=at + 1, end=loc.end + shift if whole else 0), None
        name = re.match(r"[A-Za-z_]\w*", written[at:])
        if name is None:
            return replace(loc, column=at + 1, end=0), None
        place = Loc(loc.file, self._macros[name[0]], 1) if name[0] in self._macros else None
        return replace(loc, column=at + 1, end=at + 1 + len(name[0])), Note(f"expanded from macro '{name[0]}'", place)

    def is_beyond(self, loc: Loc | None) -> bool:
        """Whether a place is none of the user's line: in what c2cu adds to it."""
        line = self.expanded_line(loc.file, loc.line) if loc else None
        return loc is not None and line is not None and loc.column > len(line) + 1

    def expanded_line(self, file: str, number: int) -> str | None:
        """A line as the preprocessor left it."""
        parts = self._parts(file, number)
        line = parts[0] if parts else None
        for part in parts[1:]:
            indent = len(part) - len(part.lstrip())
            line = (line or "")[:indent].ljust(indent) + part[indent:]
        return line

    def _parts(self, file: str, number: int) -> list[str]:
        """A line as the preprocessor left it; GCC breaks it, at the same columns, where a macro is the system's. What
        c2cu itself puts at a line begins at its margin."""
        if self._lines is None:
            self._lines = {}
            at, line, last = "", 0, ("", 0)
            for text in self._expanded.split("\n"):
                marker = text.startswith("# ") and re.match(r'# (\d+) "((?:[^"\\]|\\.)*)"', text)
                if marker:
                    at, line = file_of(marker[2]), int(marker[1])
                    continue
                parts = self._lines.setdefault((at, line), [])
                follows = not parts or (last == (at, line) and text[:1].isspace())
                if follows:
                    parts.append(text)
                last = (at, line) if follows else ("", 0)
                line += 1
        return self._lines.get((file, number), [])


_TOKENS = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|\.?\d[\w.]*|\w+|[^\s\w]")
_COMMENT = re.compile(r"(\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*')|/\*.*?(?:\*/|$)|//.*")
AGREED = 8, 4, 2, 1  # tokens after a macro that are to be found again where its expansion ends, as many as possible


def _tokens(line: str) -> list[tuple[int, str]]:
    """Each token's column, counted from 0, and its text."""
    return [(m.start(), m[0]) for m in _TOKENS.finditer(line)]


def _aligned(ours: list[tuple[int, str]], theirs: list[tuple[int, str]], at: int) -> tuple[int, int | None]:
    """Where a place in the expanded line is in the user's, and how far that is from ``at``; None where it is in the
    expansion of a macro, whose name then is there. Columns count from 0."""
    sought = max((k for k, (start, _) in enumerate(theirs) if start <= at), default=0)
    texts, others = [t for _, t in ours], [t for _, t in theirs]
    i = j = 0
    while i < len(ours) and j < len(theirs):
        if texts[i] == others[j]:
            if j == sought:
                shift = ours[i][0] - theirs[j][0]
                return at + shift, shift
            i, j = i + 1, j + 1
            continue
        after, end = _after_macro(texts, others, i, j)
        if sought < end:
            return ours[i][0], None
        i, j = after, end
    return (ours[min(i, len(ours) - 1)][0] if ours else 0), None


def _after_macro(texts: list[str], others: list[str], i: int, j: int) -> tuple[int, int]:
    """The token after a macro that is called at ``i``, and the one after what stands for it from ``j`` on."""
    ends = [*dict.fromkeys((_call_end(texts, i + 1), i + 1))]
    for end in ends:
        for n in AGREED:
            rest = texts[end : end + n]
            last = len(others) - len(rest)
            found = (k for k in range(last if len(rest) < n else j, last + 1) if others[k : k + n] == rest)
            k = next(found, -1)
            if k >= j:
                return end, k
    return len(texts), len(others)


def _call_end(texts: list[str], start: int) -> int:
    """The token after the parenthesised arguments that begin at ``start``, if any."""
    depth = 0
    for k in range(start, len(texts)):
        depth += (texts[k] == "(") - (texts[k] == ")")
        if not depth:
            return k + 1 if k > start else start
    return len(texts) if depth else start


def render(d: Diagnostic, sources: Mapping[str, str], color: bool = False) -> str:
    """A diagnostic as text: place, message and code, the line with a caret, notes, hint."""
    d = _said(d, sources)
    loc, expanded = _placed(d.loc, sources)
    out = [_headline(loc, d.severity, f"{d.message} [{d.code}]", color), *_snippet(loc, sources)]
    for note in (*((expanded,) if expanded else ()), *_of_the_user(d.notes, sources)):
        place, _ = _placed(note.loc, sources)
        out.append(_headline(place, "note", note.message, color))
    if d.hint:
        out.append(f"hint: {d.hint}")
    return "\n".join(out)


def _said(d: Diagnostic, sources: Mapping[str, str]) -> Diagnostic:
    """The same with the user's names, where it is about a place in the C."""
    if d.loc is None or not isinstance(sources, SourceMap):
        return d
    notes = tuple(replace(n, message=sources.said(n.message)) for n in d.notes)
    return replace(d, message=sources.said(d.message), notes=notes)


_COLORS = {"error": "\033[1;31m", "warning": "\033[1;35m", "note": "\033[1;36m"}


def _headline(loc: Loc | None, severity: str, message: str, color: bool) -> str:
    word = f"{_COLORS[severity]}{severity}:\033[0m" if color else f"{severity}:"
    return f"{loc}: {word} {message}" if loc is not None else f"{word} {message}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The hint "did you mean ..?" if one of the known names is similar, case ignored; else ""."""
    cases = {k.casefold(): k for k in known}
    close = difflib.get_close_matches(name.casefold(), cases, 1)
    return f"did you mean '{cases[close[0]]}'?" if close else ""


def _placed(loc: Loc | None, sources: Mapping[str, str]) -> tuple[Loc | None, Note | None]:
    return sources.original(loc) if loc is not None and isinstance(sources, SourceMap) else (loc, None)


def _of_the_user(notes: Iterable[Note], sources: Mapping[str, str]) -> Iterator[Note]:
    """Those that are about the user's text."""
    return (n for n in notes if not (isinstance(sources, SourceMap) and sources.is_beyond(n.loc)))


def _snippet(loc: Loc | None, sources: Mapping[str, str]) -> list[str]:
    """The source line and a caret under it; long lines are cut around the caret."""
    if loc is None or not loc.line or loc.file not in sources:
        return []
    lines = sources[loc.file].split("\n")
    if loc.line > len(lines):
        return []
    line = "".join(c if c == "\t" or c.isprintable() else "?" for c in lines[loc.line - 1])
    if not loc.column or loc.column > len(line) + 1:
        return [f"{loc.line:5} | {line}"[:160]]
    start, width = loc.column - 1, max(1, loc.end - loc.column)
    cut = max(0, start - 100) if len(line) > 140 else 0
    line, start = line[cut : cut + 140], start - cut
    pad = "".join("\t" if c == "\t" else " " for c in line[:start])
    mark = "^" + "~" * (min(width, len(line) - start) - 1)
    return [f"{loc.line:5} | {line}", f"      | {pad}{mark}"]


def to_json(d: Diagnostic, sources: Mapping[str, str] | None = None, **more: object) -> str:
    """The same as one JSON object on one line, which has ``more`` too."""
    d = _said(d, sources or {})
    loc, expanded = _placed(d.loc, sources or {})
    notes = (*((expanded,) if expanded else ()), *_of_the_user(d.notes, sources or {}))
    return json.dumps(
        {
            "severity": d.severity,
            "code": d.code,
            "message": d.message,
            **_place(loc),
            "hint": d.hint,
            "notes": [{"message": n.message, **_place(n.loc)} for n in notes],
            **more,
        }
    )


def _place(loc: Loc | None) -> dict[str, object]:
    if loc is None:
        return {"file": None, "line": None, "column": None, "end_column": None}
    return {"file": loc.file, "line": loc.line or None, "column": loc.column or None, "end_column": loc.end or None}


class Error(Exception):
    """A mistake in the user's program, inputs or machine; as a string, the message with its line of C and a hint.

    docs/errors.md explains every code. A fault of c2cu itself raises another exception.

    Attributes:
        diagnostic: Severity, code, message, place, hint and notes.
        sources: The text of each source file by name; the string quotes them.
    """

    def __init__(self, code: str, message: str, loc: Loc | None = None, hint: str = "", notes: tuple[Note, ...] = ()):
        super().__init__(code, message, loc, hint, tuple(notes))  # what pickling builds it from again
        self.diagnostic = Diagnostic("error", code, message, loc, hint, tuple(notes))
        self.sources: Mapping[str, str] = {}

    @property
    def code(self) -> str:
        """Such as ``"C2CU031"``."""
        return self.diagnostic.code

    @property
    def file(self) -> str | None:
        """The file's name; None where the error has no place."""
        return self.diagnostic.loc.file if self.diagnostic.loc else None

    @property
    def line(self) -> int | None:
        """The line, counted from 1; None where it is not known."""
        return self.diagnostic.loc.line or None if self.diagnostic.loc else None

    @property
    def column(self) -> int | None:
        """The column, counted from 1; None where it is not known."""
        return self.diagnostic.loc.column or None if self.diagnostic.loc else None

    def with_notes(self, *notes: Note) -> Self:
        """The same error with more notes."""
        return self._with(self.diagnostic.loc, (*self.diagnostic.notes, *notes))

    def moved(self, loc: Loc) -> Self:
        """The same error at another place."""
        return self._with(loc, self.diagnostic.notes)

    def _with(self, loc: Loc | None, notes: tuple[Note, ...]) -> Self:
        d = self.diagnostic
        error = type(self)(d.code, d.message, loc, d.hint, notes)
        error.sources = self.sources
        return error

    def __str__(self) -> str:
        return render(self.diagnostic, self.sources)


@contextlib.contextmanager
def lines_of(sources: Mapping[str, str]) -> Iterator[None]:
    """An Error raised inside gets ``sources``, unless it has some, so that it quotes its line."""
    try:
        yield
    except Error as e:
        e.sources = e.sources or sources
        raise


class ParseError(Error):
    """The file cannot be read, or is not valid C."""


class UnsupportedError(Error):
    """The C is outside the subset that docs/language.md lists, or a schedule cannot run it."""


class NotObliviousError(Error):
    """The program is not oblivious, and ``strict`` is set."""


class CompileError(Error):
    """The C compiler, the GPU or a Python package is missing, memory is short, or the compiler failed."""


class MismatchError(Error):
    """A schedule gave another result than the C as the host's compiler takes it, and ``verify`` is ``"strict"``."""


class InputError(Error, ValueError):
    """An argument or an array is wrong: a missing or unknown name, a wrong shape, a value out of range."""


class ExitError(Error):
    """Some inputs ended early, by ``exit``, ``abort``, a failed ``assert``, or on a CPU by a fault, such as a division
    of whole numbers by zero; the others are done. An input that calls ``exit(0)`` ends early too, as its kernel has
    not returned.

    Attributes:
        status: The exit status of each input, as a shell has it: an int32 array ``(p,)``; 0 where the kernel returned.
        early: Which inputs ended early: a bool array ``(p,)``.
        outputs: What the call would have returned. Of an input that ended early, variables are what they were then,
            and the returned value is 0.
    """

    status: Any = None
    early: Any = None
    outputs: Any = None


class InputTypeError(InputError, TypeError):
    """An argument has the wrong type, or an array the wrong dtype."""
