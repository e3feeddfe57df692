"""The user's files that a program is made of, and whether they are what they were."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from .preprocess import Source

_INCLUDE = re.compile(
    r'(?:^[ \t]*#[ \t]*include(?:_next)?|__has_include(?:_next)?[ \t]*\()[ \t]*(["<])([^">\n]+)[">]', re.M
)
_CLOCKS = 10_000_000  # nanoseconds by which a file system's clock may be late


class Included:
    """What the preprocessor read beside the source's own files. ``sources``: texts by file name, as it left them. Also
    the places where a file would be found first. ``began``: the `now` before it started; what was written from then on
    may not be what it read, and counts as changed."""

    def __init__(self, sources: Mapping[str, str], source: Source, include_dirs: Sequence[str], began: int):
        written = {s.name for s in source.units}
        files = [Path(name) for name in sources if name not in written]
        folders = [s.path.parent if s.path is not None else Path() for s in source.units]
        quoted = list(dict.fromkeys([*folders, *(f.parent for f in files), *map(Path, include_dirs)]))
        places = dict.fromkeys([*files, *(folder / f.name for f in files for folder in quoted)])
        for kind, name in _INCLUDE.findall("\n".join(sources.values())):
            places.update(dict.fromkeys(f / name for f in (quoted if kind == '"' else map(Path, include_dirs))))
        self._texts = {place: _bytes(place) for place in places}
        self._late = any(_written(place) >= began - _CLOCKS for place in places)

    def changed(self) -> bool:
        """Whether a file is another one now, is gone, or stands where there was none."""
        return self._late or any(_bytes(place) != text for place, text in self._texts.items())


def now() -> int:
    """In nanoseconds, as files tell when they were written."""
    return time.time_ns()


def _written(file: Path) -> int:
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return 0


def _bytes(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except OSError:
        return None
