"""Values of C literals: integers, floats, characters and strings (6.4.4, 6.4.5)."""

from __future__ import annotations

import re
from fractions import Fraction

from .ctype import DOUBLE, FLOAT, INT, LDOUBLE, LLONG, LONG, UINT, ULLONG, ULONG, Scalar, nearest_float

_SIMPLE = {"n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11, "\\": 92, "'": 39, '"': 34, "?": 63, "e": 27}
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]+|[0-7]{1,3}|.)", re.S)


def integer(text: str) -> tuple[int, Scalar]:
    """Value and type of an integer literal: the first type of 6.4.4.1p5's list that holds it."""
    match = re.fullmatch(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)([uUlL]*)", text)
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
    return float.fromhex(body) if hexadecimal else float(body), t


def _hexadecimal(text: str) -> Fraction:
    """The exact value of ``0x1.8p3``."""
    digits, _, exponent = text.lower().removeprefix("0x").partition("p")
    whole, _, rest = digits.partition(".")
    return Fraction(int(whole + rest, 16)) * Fraction(2) ** (int(exponent) - 4 * len(rest))


def _unescape(text: str) -> list[int]:
    out: list[int] = []
    i = 0
    for m in _ESCAPE.finditer(text):
        out += text[i : m.start()].encode()
        code = m[1]
        if code[0] == "x":
            out.append(int(code[1:], 16) & 255)
        elif code[0] in "01234567":
            out.append(int(code, 8) & 255)
        else:
            out.append(_SIMPLE.get(code, ord(code) & 255))
        i = m.end()
    return out + list(text[i:].encode())


def character(text: str) -> int:
    """Value of a character constant such as ``'a'`` or ``'\\n'``; char is signed."""
    value = 0
    for byte in _unescape(text[text.index("'") + 1 : -1]):
        value = value << 8 | byte
    return value - 256 if 128 <= value < 256 else value


def string(text: str) -> bytes:
    """Bytes of a string literal without the closing zero; the parser joins adjacent ones with a space between."""
    pieces = re.findall(r'"((?:[^"\\]|\\.)*)"', text, re.S)
    return b"".join(bytes(_unescape(piece)) for piece in pieces)
