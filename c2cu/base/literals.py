"""Values of C literals: integers, floats, characters and strings (6.4.4, 6.4.5)."""

from __future__ import annotations

import functools
import math
import platform
import re
import sys
from collections.abc import Iterator
from fractions import Fraction

from .ctype import (
    CHAR,
    DOUBLE,
    FLOAT,
    INT,
    LDOUBLE,
    LLONG,
    LONG,
    UCHAR,
    UINT,
    ULLONG,
    ULONG,
    USHORT,
    Scalar,
    nearest_float,
)

_SIMPLE = {"n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11, "\\": 92, "'": 39, '"': 34, "?": 63, "e": 27}
_SIMPLE["E"] = 27
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]*|[0-7]{1,3}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.S)
_SUFFIX = r"(?:[uU](?:ll?|LL?)?|(?:ll?|LL?)[uU]?)?"


def digits_of(text: str) -> tuple[int, str, bool]:
    """Of an integer literal: what its digits say, its suffix in small letters, whether it is decimal. Raises
    ValueError."""
    match = re.fullmatch(rf"(0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+)({_SUFFIX})", text)
    if not match:
        raise ValueError(f"not an integer literal: {text}")
    digits, suffix = match[1], match[2].lower()
    decimal = not (digits.startswith("0") and len(digits) > 1)
    if decimal:
        value = int(digits)
    elif digits[1] in "xXbB":
        value = int(digits, 0)
    else:
        value = int(digits, 8)
    return value, suffix, decimal


@functools.lru_cache(4096)
def integer(text: str) -> tuple[int, Scalar]:
    """Value and type of an integer literal: the first type of 6.4.4.1p5's list that holds it."""
    value, suffix, decimal = digits_of(text)
    longs = suffix.count("l")
    signed, unsigned = [INT, LONG, LLONG][longs:], [UINT, ULONG, ULLONG][longs:]
    if "u" in suffix:
        candidates = unsigned
    elif decimal:
        candidates = signed
    else:
        candidates = [t for pair in zip(signed, unsigned) for t in pair]
    for t in candidates:
        if t.wrap(value) == value:
            return value, t
    return value & (2**64 - 1), ULLONG


@functools.lru_cache(4096)
def floating(text: str) -> tuple[float, Scalar]:
    """Value and type of a floating literal, hexadecimal ones too."""
    body, t = text, DOUBLE
    hexadecimal = body.lower().startswith("0x")
    if body[-1] in "fF" and (not hexadecimal or "p" in body.lower()):
        body, t = body[:-1], FLOAT
    elif body[-1] in "lL":
        body, t = body[:-1], LDOUBLE
    if t is FLOAT:
        return nearest_float(_hexadecimal(body) if hexadecimal else Fraction(body)), t
    if not hexadecimal:
        return float(body), t
    try:
        return float.fromhex(body), t
    except OverflowError:
        return math.inf, t


#: Bits of a long double's significand: x87's, or IEEE's quadruple precision.
LONG_BITS = 64 if platform.machine() in ("x86_64", "AMD64", "i686") else 113


def long_double(x: int | float | Fraction) -> float | Fraction:
    """The long double next to a number, ties to even; infinities, NaN and zeros as floats. Exponents have no bounds."""
    if not x or (isinstance(x, float) and not math.isfinite(x)):
        return float(x)
    exact = Fraction(x)
    unit = Fraction(2) ** (exact.numerator.bit_length() - exact.denominator.bit_length() - LONG_BITS)
    if abs(exact / unit) >= 1 << LONG_BITS:
        unit *= 2
    return round(exact / unit) * unit


def long_literal(text: str) -> float | Fraction:
    """The value of a literal of type long double."""
    body = text.rstrip("lL")
    return long_double(_hexadecimal(body) if body.lower().startswith("0x") else Fraction(body))


def is_double(text: str) -> bool:
    """Whether a number's literal of type long double is a double's value."""
    body, nearest = text.rstrip("lL"), floating(text)[0]
    value = _hexadecimal(body) if body.lower().startswith("0x") else Fraction(body)
    return math.isfinite(nearest) and value == Fraction(nearest)


_IMAGINARY = re.compile(r"(\.?\d.*?)(?:[ij]([fl]?)|([fl])[ij])", re.I)


def is_imaginary(text: str) -> bool:
    """Whether a literal is one of GNU's imaginary numbers: ``2.0i``, ``1.0iF``."""
    return _IMAGINARY.fullmatch(text) is not None


def imaginary(text: str) -> tuple[float, Scalar] | None:
    """The imaginary part of a floating literal that `is_imaginary`, and the type of its parts; None for an integer."""
    m = _IMAGINARY.fullmatch(text)
    assert m is not None
    body, suffix = m[1], m[2] or m[3] or ""
    hexadecimal = body.lower().startswith("0x")
    if not re.search("[.p]" if hexadecimal else "[.e]", body, re.I):
        return None
    return floating(body + suffix)


def _hexadecimal(text: str) -> Fraction:
    """The exact value of ``0x1.8p3``."""
    digits, _, exponent = text.lower().removeprefix("0x").partition("p")
    whole, _, rest = digits.partition(".")
    return Fraction(int(whole + rest, 16)) * Fraction(2) ** (int(exponent) - 4 * len(rest))


def _codes(text: str) -> Iterator[str | int]:
    """The characters of a literal; a number for an escape that gives one. Raises ValueError for \\x without digits, and
    for what is no character."""
    i = 0
    for m in _ESCAPE.finditer(text):
        yield from text[i : m.start()]
        code = m[1]
        if code[0] == "x":
            yield int(code[1:], 16)
        elif code[0] in "01234567":
            yield int(code, 8)
        elif len(code) > 1:
            yield _universal(int(code[1:], 16))
        else:
            yield _SIMPLE.get(code, code)
        i = m.end()
    yield from text[i:]


def _universal(code: int) -> str:
    """Raises ValueError for what is no character."""
    if code > sys.maxunicode or 0xD800 <= code < 0xE000:
        raise ValueError(f"{code:#x} is not a valid universal character")
    return chr(code)


def _unescape(text: str) -> list[int]:
    out: list[int] = []
    for code in _codes(text):
        out += code.encode("utf-8", "surrogateescape") if isinstance(code, str) else [code & 255]
    return out


def character(text: str) -> tuple[int, Scalar]:
    """Value and type of a character constant such as ``'a'``, ``'ab'`` or ``L'\\n'``, as gcc's; char is signed, wchar_t
    is int. Raises ValueError for one that is malformed."""
    prefix, quote, body = text[:-1].partition("'")
    codes = list(_codes(body))
    if not codes or not quote:
        raise ValueError(f"not a character constant: {text}")
    if prefix:
        t = {"L": INT, "u": USHORT, "U": UINT}.get(prefix, UCHAR)
        last = codes[-1]
        if isinstance(last, str):
            units = last.encode("utf-16-le" if t == USHORT else "utf-32-le")
            last = int.from_bytes(units[-t.size :], "little")
        return int(t.wrap(last)), t
    data = _unescape(body)
    value = int.from_bytes(bytes(data), "big")
    return (int(INT.wrap(value)) if len(data) > 1 else int(CHAR.wrap(value))), INT


def string(text: str) -> bytes:
    """Bytes of a string literal without the closing zero; the parser joins adjacent ones with a space between."""
    pieces = re.findall(r'"((?:[^"\\]|\\.)*)"', text, re.S)
    return b"".join(bytes(_unescape(piece)) for piece in pieces)


def width(text: str) -> int:
    """The size of a string literal's characters."""
    prefix = text.partition('"')[0]
    return {"L": 4, "U": 4, "u": 2}.get(prefix, 1)


def codes(text: str, size: int) -> list[int]:
    """The characters of a string literal, ``size`` bytes each, with the closing zero."""
    if size == 1:
        return [*string(text), 0]
    out: list[int] = []
    for piece in re.findall(r'"((?:[^"\\]|\\.)*)"', text, re.S):
        for code in _codes(piece):
            if isinstance(code, int):
                out.append(code)
            elif size == 4:
                out.append(ord(code))
            else:
                units = code.encode("utf-16-le")
                out += [int.from_bytes(units[k : k + 2], "little") for k in range(0, len(units), 2)]
    return [*out, 0]
