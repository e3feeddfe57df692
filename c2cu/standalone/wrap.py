"""Lines of moderate length: a generated text whose long lines go on in the next, with the same tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..codegen.positions import MARK

WIDTH = 119  # of the longest line
_DEEPER = 4  # that a line which goes on is indented
_TOKEN = re.compile(
    r"/\*.*?(?:\*/|$)|//.*"
    r'|(?:u8|[uUL])?R"(?P<end>[^(]*)\(.*?\)(?P=end)"'
    r'|(?P<string>(?:u8|[uUL])?"(?:\\.|[^"\\])*")'
    r"|(?:u8|[uUL])?'(?:\\.|[^'\\])*'"
    r"|\.?\d(?:[eEpP][+-]|'\w|[\w.])*|\w+|<<<|>>>|\s+|."
)
_OPERATOR = re.compile(r"(?:[-+*/%&|^<>=?:]|&&|\|\||<<|>>|[-+*/%&|^<>=!]=) ")
_OPERATOR_BEFORE = re.compile(r" (?:[-+*/%&|^<>=?:]|&&|\|\||<<|>>|[-+*/%&|^<>=!]=)$")
_OPENING, _CLOSING = frozenset(("(", "[", "{", "<<<")), frozenset((")", "]", "}", ">>>"))


@dataclass(frozen=True)
class _Break:
    """A place where a line may end: ``end`` characters stay, and the next line begins with the one at ``start``, behind
    ``opened``. ``closed``: what the line ends in. ``depth``: the brackets around."""

    end: int
    start: int
    depth: int
    closed: str = ""
    opened: str = ""


def wrapped(text: str) -> str:
    """The text, none of whose lines is longer than `WIDTH` where C lets a line end before. Lines that are marked as the
    user's stay as they are, as each of them stands for one of the user's."""
    out: list[str] = []
    directive = commented = False  # the line before goes on
    for line in text.split("\n"):
        directive = directive or (line.lstrip().startswith("#") and not commented)
        if len(line) <= WIDTH or MARK.search(line):
            out.append(line)
        elif directive:
            out += _lines(line, " \\")
        elif (commented or line.lstrip().startswith("/*")) and "*/" not in line.rstrip()[:-2]:
            out += _comment(line)
        elif not commented:
            out += _lines(line, "")
        else:
            out.append(line)
        commented = _is_open(line, commented)
        directive = directive and line.endswith("\\")
    return "\n".join(out)


def _is_open(line: str, commented: bool) -> bool:
    """Whether a comment goes on behind a line. ``commented``: one goes on in it."""
    if commented:
        _, end, line = line.partition("*/")
        if not end:
            return True
    if "/*" not in line:
        return False
    last = [m[0] for m in _TOKEN.finditer(line)][-1:]
    return bool(last) and last[0].startswith("/*") and not last[0].endswith("*/")


def _comment(line: str) -> list[str]:
    """The lines of one that is a comment."""
    indent = line[: len(line) - len(line.lstrip())]
    star = f"{indent} * " if line.lstrip().startswith("/*") else f"{indent}* "
    out = []
    while len(line) > WIDTH:
        at = line.rfind(" ", len(star) + 2, WIDTH + 1)
        if at < 0:
            break
        out.append(line[:at].rstrip())
        line = star + line[at:].lstrip()
    return [*out, line]


def _lines(line: str, end: str) -> list[str]:
    """The lines of one of code. ``end``: what a line that goes on ends in."""
    indent = line[: len(line) - len(line.lstrip())]
    out: list[str] = []
    while len(line) > WIDTH:
        at = _best(line, WIDTH - len(end), len(indent), bool(end))
        if at is None:
            break
        first, rest = line[: at.end], line[at.start :]
        if not at.closed:  # else spaces are a string's
            first, rest = first.rstrip(), rest.lstrip()
        out.append(first + at.closed + end)
        whole = out[-1].endswith(";") and at.depth == 0 and not rest.startswith("/*")  # another statement begins
        line = f"{indent}{'' if whole else ' ' * _DEEPER}{at.opened}{rest}"
    return [*out, line]


def _best(line: str, width: int, indent: int, directive: bool) -> _Break | None:
    """Where to end a line: outside of as many brackets as can be, behind a comma or at an operator rather than between
    two words, and late; but not within the first third."""
    least = indent + _DEEPER + 1
    every = [b for b in _breaks(line, directive) if b.end > least]
    fitting = [b for b in every if b.end + len(b.closed) <= width]
    late = [b for b in fitting if b.end > width // 3] or fitting
    if late:
        return min(late, key=lambda b: (b.depth, _rank(line, b), -b.end))
    return every[0] if every else None


def _rank(line: str, b: _Break) -> int:
    """How well a line ends there."""
    if line[: b.end].endswith((",", ";")):
        return 0
    return 1 if _OPERATOR_BEFORE.search(line[: b.end]) or _OPERATOR.match(line, b.start) else 2


def _breaks(line: str, directive: bool) -> list[_Break]:
    """The places where a line may end, in order."""
    out: list[_Break] = []
    depth = templates = 0
    for m in _TOKEN.finditer(line):
        token = m[0]
        before, behind = line[m.start() - 1 : m.start()], line[m.end() : m.end() + 1]
        if token == "<" and before.isidentifier() and not behind.isspace():  # of a template
            depth, templates = depth + 1, templates + 1
        elif token == ">" and templates and before not in "- ":
            depth, templates = depth - 1, templates - 1
        elif token in _OPENING:
            depth += 1
            out.append(_Break(m.end(), m.end(), depth + 2))
        elif token in _CLOSING:
            depth -= 1
        elif token == "," and behind.strip():
            out.append(_Break(m.end(), m.end(), depth + 3))
        elif token.isspace():
            out.append(_Break(m.start(), m.end(), depth))
        elif token.startswith("/*") and not directive:
            out += [_Break(m.start() + k, m.start() + k + 1, depth) for k in _spaces(token)]
        elif m["string"] and token[0] == '"' and not directive:
            out += [_Break(m.start() + k + 1, m.start() + k + 1, depth + 4, '"', '"') for k in _spaces(token)]
    return out


def _spaces(token: str) -> list[int]:
    return [k for k in range(3, len(token) - 3) if token[k] == " " and token[k - 1] != "\\"]
