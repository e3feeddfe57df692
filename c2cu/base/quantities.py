"""Sizes and times as they are written: 2G, 512MiB, 5ms."""

from __future__ import annotations

import re

MOST = 1 << 62
_SIZES = {"": 1, **{unit: 1 << (10 * k) for k, unit in enumerate("kmgt", 1)}}
_TIMES = {"us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "": 1.0}


def size(text: str) -> int:
    """Bytes: K, M, G and T, also KiB or KB, are powers of 1024. Raises ValueError."""
    m = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", text.strip().lower())
    if m is None or not float(m[1]):
        raise ValueError(f"'{text}' is no size: write 2G, 512M or a number of bytes")
    return int(float(m[1]) * _SIZES[m[2]])


def seconds(text: str) -> float:
    """A time in us, ms or s; without a unit, seconds. Raises ValueError."""
    m = re.fullmatch(r"(\d+(?:\.\d+)?|\.\d+)\s*(us|µs|ms|s|)", text.strip().lower())
    if m is None or not float(m[1]):
        raise ValueError(f"'{text}' is no time: write 5ms, 200us or 0.5s")
    return float(m[1]) * _TIMES[m[2]]


def count(text: str) -> int:
    """A number of inputs, or of anything. Raises ValueError."""
    try:
        number = int(text)
    except ValueError:
        raise ValueError(f"'{text}' is no whole number") from None
    if number > MOST:
        raise ValueError(f"{number} is more than {MOST}")
    return number


def some(text: str) -> int:
    """At least one. Raises ValueError."""
    number = count(text)
    if number < 1:
        raise ValueError(f"{number} is less than 1")
    return number


def numbers(text: str) -> tuple[int, ...]:
    """Whole numbers with commas between, none twice. Raises ValueError."""
    parts = text.split(",")
    if not all(p.strip().isdigit() for p in parts) or len(set(map(int, parts))) < len(parts):
        raise ValueError(f"'{text}' is no list of numbers: write 0,1")
    return tuple(map(int, parts))
