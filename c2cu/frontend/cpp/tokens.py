"""Preprocessing tokens (6.4): a text cut into lines of them."""

from __future__ import annotations

import re
from typing import NamedTuple

from ...base.diagnostics import Loc, ParseError

_SPLICE = re.compile(r"\\[ \t]*\n")
_TOKEN = re.compile(
    r"(?P<newline>\n)|(?P<white>[ \t\f\v]+|//[^\n]*|/\*.*?\*/)|(?P<open>/\*)|(?P<raw>(?:u8|[uUL])?R\")"
    r"|(?P<string>(?:u8|[uUL])?\"(?:\\.|[^\"\\\n])*\")|(?P<char>[uUL]?'(?:\\.|[^'\\\n])*')"
    r"|(?P<unclosed>(?:(?:u8|[uUL])?\"|[uUL]?')[^\n]*)"
    r"|(?P<number>\.?[0-9](?:[eEpP][+-]|[\w.$])*)|(?P<name>(?:[^\W\d]|\$)[\w$]*)"
    r"|(?P<other>\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|[-<>=!+*/%&^|]=|&&|\|\||\#\#|%:%:|%:|<:|:>|<%|%>|::|.)",
    re.S,
)


class Token(NamedTuple):
    """``kind``: name, number, string, char or other. ``space``: white space stands before it. ``edge``: an expansion
    begins or ended here, so that it may touch what it did not touch in the text. ``final``: a macro's name that is not
    replaced any more (6.10.3.4)."""

    kind: str
    text: str
    line: int
    column: int
    space: bool = False
    edge: bool = False
    final: bool = False

    def loc(self, file: str) -> Loc:
        return Loc(file, self.line, self.column, self.column + len(self.text))


Line = list[Token]
_HEADER = re.compile(r"(?P<header><[^>\n]*>|\"[^\"\n]*\")")


def _next(text: str, at: int, before: Line) -> re.Match[str]:
    """The token there; a header's name (6.4.7) behind #include and __has_include."""
    if text[at] in '<"' and before:
        words = [t.text for t in before[-2:]]
        directive = len(before) == 2 and words[0] in ("#", "%:") and words[1] == "include"
        if (directive or words == ["__has_include", "("]) and (m := _HEADER.match(text, at)):
            return m
    m = _TOKEN.match(text, at)
    assert m is not None
    return m


def lines(text: str, file: str) -> list[Line]:
    """The logical lines that hold a token, comments taken for white space. Raises ParseError."""
    text = text if text.endswith("\n") else text + "\n"
    spliced, cuts, removed = "", [], 0
    for m in _SPLICE.finditer(text):  # where in the text without them a physical line ends
        cuts.append(m.start() - removed)
        removed += m.end() - m.start()
    spliced = _SPLICE.sub("", text)
    found: list[Line] = [[]]
    line, begin, space, cut = 1, 0, False, 0
    at = 0
    while at < len(spliced):
        m = _next(spliced, at, found[-1])
        at = m.end()
        while cut < len(cuts) and cuts[cut] <= m.start():
            line, begin, cut = line + 1, cuts[cut], cut + 1
        kind = m.lastgroup or ""
        if kind in ("open", "raw"):
            what = "unterminated comment" if kind == "open" else "a raw string is not understood without a C compiler"
            raise ParseError("C2CU002", what, Loc(file, line, m.start() - begin + 1))
        if kind in ("newline", "white"):
            last = m[0].rfind("\n")
            while cut < len(cuts) and cuts[cut] < m.end() and last >= 0:
                line, cut = line + 1, cut + 1
            if last >= 0:
                line, begin = line + m[0].count("\n"), m.start() + last + 1
            space = True
            if kind == "newline":
                found.append([])
                space = False
            continue
        kind = "other" if kind == "unclosed" else kind  # as gcc: it takes the rest of its line
        found[-1].append(Token(kind, m[0], line, m.start() - begin + 1, space))
        space = False
    return [x for x in found if x]


def glued(left: str, right: Token) -> bool:
    """Whether a token would be read with the one before it as another one (as gcc's cpp_avoid_paste)."""
    first = right.text[0]
    if left[-1].isalnum() or left[-1] == "_":
        number = left[0].isdigit() or left[0] == "." and len(left) > 1
        return right.kind in ("name", "number", "string", "char") or number and first in ".+-"
    if first == "=" and left in ("=", "!", ">", "<", "+", "-", "*", "/", "%", "&", "|", "^", ">>", "<<"):
        return True
    after = {">": ">", "<": "<%:", "+": "+", "-": "->", "/": "/*", "%": ":%", "&": "&", "|": "|", ":": ":>", "->": "*",
             ".": ".%", "#": "#%"}  # fmt: skip
    return first in after.get(left, "") or left == "." and right.kind == "number"


def spelled(tokens: Line) -> str:
    """A line's text, one space for any white space."""
    return "".join(" " * (t.space and k > 0) + t.text for k, t in enumerate(tokens))
