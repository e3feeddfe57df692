"""Places in the C, as comments of generated text name them."""

from __future__ import annotations

import posixpath
import re

from ..base.diagnostics import Loc

_LONGEST = 48  # characters of a file's name


def place_in(loc: Loc) -> str:
    """File and line, without the folder, and without what could end a comment: ``fw.c:12``."""
    if not loc.line:
        return "unknown place"
    name = re.sub(r"[^\w.<>+-]", "?", posixpath.basename(loc.file))[-_LONGEST:]
    return f"{name}:{loc.line}" if name else f"line {loc.line}"
