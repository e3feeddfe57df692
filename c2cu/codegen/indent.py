"""Lines of C as people indent them: a block's deeper than what is around it."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NO_CODE = re.compile(r"""/\*.*?\*/|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'""")
_CLOSING = re.compile(r"\}*")


def indented(lines: Iterable[str]) -> list[str]:
    """Lines that have no indentation, by the braces around them. Those of the preprocessor stay where they are."""
    out: list[str] = []
    depth = 0
    for line in lines:
        code = _NO_CODE.sub("", line)
        closing = _CLOSING.match(code)
        assert closing is not None
        out.append(line if line.startswith("#") else "    " * (depth - len(closing[0])) + line)
        depth += code.count("{") - code.count("}")
    return out
