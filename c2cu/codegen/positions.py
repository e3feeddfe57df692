"""Where printed lines come from: marks at their ends, which `standalone.line_directives` turns into ``#line``.

A mark is a comment that no C file has. It stays with its line, whatever is printed around that. Without
`kept_positions` there are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ..base.diagnostics import Loc

_SIGN = "\ue000"  # of Unicode's private use
MARK = re.compile(rf" ?/\*{_SIGN}(\d+):(\d+)\*/")

Files = list[str]  # by the numbers in marks
_told: ContextVar[bool] = ContextVar("c2cu_told_places", default=False)
_files: ContextVar[Files | None] = ContextVar("c2cu_marked_files", default=None)


@contextmanager
def kept_positions(kept: bool) -> Iterator[Files]:
    """While this lasts, statements are printed with marks, if they are to be ``kept``. Returns the files of these."""
    files: Files = []
    token = _files.set(files if kept else None)
    try:
        yield files
    finally:
        _files.reset(token)


@contextmanager
def told_places() -> Iterator[None]:
    """While this lasts, comments say which loops of the C printed ones are. What only a compiler reads has none: it
    would be compiled anew whenever a line of the file is added."""
    token = _told.set(True)
    try:
        yield
    finally:
        _told.reset(token)


def are_told() -> bool:
    """Whether the text is for people to read."""
    return _told.get()


def told(loc: Loc) -> str:
    """The comment behind a loop's first line, or ""."""
    if not _told.get() or _files.get() is not None or not loc.line:
        return ""
    return f" /* {Loc(loc.file.rsplit('/', 1)[-1], loc.line)} */"


def are_kept() -> bool:
    """Whether statements are printed with marks."""
    return _files.get() is not None


def mark(lines: list[str], first: int, loc: Loc) -> None:
    """Mark those of the lines from ``first`` on that have no mark."""
    files = _files.get()
    if files is None or not loc.line or not loc.file:
        return
    if loc.file not in files:
        files.append(loc.file)
    text = f" /*{_SIGN}{files.index(loc.file)}:{loc.line}*/"
    for k in range(first, len(lines)):
        lines[k] = "\n".join(_with_mark(line, text) for line in lines[k].split("\n"))


def marked(text: str, loc: Loc) -> str:
    """The same of a text's lines."""
    if not are_kept():
        return text
    lines = [text]
    mark(lines, 0, loc)
    return lines[0]


def _with_mark(line: str, text: str) -> str:
    plain = not line.strip() or line.lstrip().startswith("#") or line.endswith("\\") or _SIGN in line
    return line if plain else line + text
