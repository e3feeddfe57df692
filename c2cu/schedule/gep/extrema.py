"""What stands for the choices of the C program in a text, as comments say it."""

from __future__ import annotations

import re


def extrema(text: str, known: str = "") -> str:
    """What stands for choices in a text: minima, maxima or both. ``known``: min or max, which it has anyway."""
    has = [w for w in ("min", "max") if w == known or re.search(rf"\bf?{w}f?\(", text)]
    return " and ".join({"min": "minima", "max": "maxima"}[w] for w in has)
