"""Doubles in a device's constant memory, from which its instructions take operands: a literal whose lower half is not
zero is put together by two instructions more, each time."""

from __future__ import annotations

import math
import re
import struct

from ..base.ctype import DOUBLE
from ..ir.nodes import Const, Expr
from .cuda import literal


def is_long(e: Expr) -> bool:
    """Whether it is a double that no instruction holds."""
    if not isinstance(e, Const) or e.type != DOUBLE or not math.isfinite(e.value):
        return False
    return struct.pack("<d", e.value)[:4] != bytes(4)


def constant_name(value: float, prefix: str) -> str:
    """What it is called: by its shortest decimal form, which no other double has."""
    return f"{prefix}k{repr(float(value)).replace('-', 'm').replace('.', '_').replace('+', '')}"


def constants(text: str, prefix: str) -> list[str]:
    """The definitions of those that a text names."""
    digits = sorted(set(re.findall(rf"\b{prefix}k(m?\d[\dem_]*)\b", text)))
    values = [float(x.replace("m", "-").replace("_", ".")) for x in digits]
    return [f"__constant__ double {prefix}k{x} = {literal(v, DOUBLE)};" for x, v in zip(digits, values)]
