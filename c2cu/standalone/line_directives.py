"""``#line`` directives: a debugger or a profiler shows the user's own C for what comes from it."""

from __future__ import annotations

from ..base.diagnostics import quoted
from ..codegen.positions import MARK, Files

_BRACES = frozenset("{};")  # of a line that has nothing to show


def line_directives(text: str, name: str, files: Files) -> str:
    """A text with its marks made directives: marked lines belong to the user's ``files``, all others to the text
    itself, which is stored as ``name``."""
    out: list[str] = []
    at: tuple[str, int] = name, 1  # where a compiler takes the next line to stand
    inside = False  # a directive of several lines
    for line in text.split("\n"):
        m = MARK.search(line)
        line = MARK.sub("", line)
        if set(line.strip()) <= _BRACES and line != "}":  # which ends a function, and returns
            place = at
        elif m is not None:
            place = files[int(m[1])], int(m[2])
        else:
            place = name, len(out) + 1
        if place != at and not inside:
            if m is None:
                place = name, len(out) + 2  # behind the directive
            file = f' "{quoted(place[0])}"' if place[0] != at[0] else ""
            out.append(f"#line {place[1]}{file}")
            at = place
        out.append(line)
        at = at[0], at[1] + 1
        inside = line.endswith("\\")
    return "\n".join(out)
