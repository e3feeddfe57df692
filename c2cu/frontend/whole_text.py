"""One file's own text with the headers put in that lie beside it, for a compiler that has nothing but this text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

#: A directive, or what only looks like one: a comment, which may show how a header is used, or a string.
_INCLUDE = re.compile(
    r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)[^\n]*$'
    r'|/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'',
    re.M | re.S,
)
_MOST = 200  # that are put in: a header may include itself


def whole_text(text: str, folder: Path, include_dirs: Sequence[str], defined: Mapping[str, str]) -> str:
    """``text``, of a file in ``folder``, after definitions of ``defined``; "" where a header cannot be put in."""
    inserted = _Inserted(tuple(Path(d) for d in include_dirs))
    try:
        body = inserted.text(text, folder)
    except _TooMany:
        return ""
    definitions = "".join(f"#define {name} {value}\n" for name, value in defined.items())
    return definitions + body


class _TooMany(Exception):
    pass


class _Inserted:
    """``once``: headers that may come but once, and have."""

    def __init__(self, folders: tuple[Path, ...]):
        self.folders, self.once, self.count = folders, set[Path](), 0

    def text(self, text: str, folder: Path) -> str:
        def insert(m: re.Match[str]) -> str:
            if not (m[1] or m[2]):
                return m[0]
            places = [folder, *self.folders] if m[1] else self.folders
            path = next((f / (m[1] or m[2]) for f in places if (f / (m[1] or m[2])).is_file()), None)
            if path is None or path.resolve() in self.once:
                return "" if path else m[0]
            self.count += 1
            if self.count > _MOST:
                raise _TooMany
            header = path.read_text(errors="surrogateescape")
            if re.search(r"^[ \t]*#[ \t]*pragma[ \t]+once\b", header, re.M):
                self.once.add(path.resolve())
                header = re.sub(r"^[ \t]*#[ \t]*pragma[ \t]+once\b.*$", "", header, flags=re.M)
            return self.text(header.replace("\r\n", "\n"), path.parent).rstrip("\n")

        return _INCLUDE.sub(insert, text)
