"""The value of an #if (6.10.1): integers of 64 bits, folded as the constants of the program are."""

from __future__ import annotations

from dataclasses import dataclass

from ...base.ctype import LLONG, ULLONG
from ...base.diagnostics import ParseError
from ...base.literals import character, digits_of
from ...ir.fold import COMPARISONS, binary, cast, unary
from ...ir.nodes import Const
from .tokens import Line, Token

_LEVELS = (("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", ">", "<=", ">="), ("<<", ">>"), ("+", "-"),
           ("*", "/", "%"))  # fmt: skip


def condition(tokens: Line, at: Token, file: str) -> bool:
    """Whether tokens, their macros replaced, are not 0. ``at``: the directive. Raises ParseError."""
    reader = _Reader(tokens, at, file)
    value = reader.expression(True)
    if reader.at < len(tokens):
        raise reader.error(f'missing binary operator before token "{tokens[reader.at].text}"')
    return bool(value.value)


@dataclass
class _Reader:
    """``live``, below: whether the operand counts, so that a division by zero is an error."""

    tokens: Line
    directive: Token
    file: str
    at: int = 0

    def error(self, message: str) -> ParseError:
        place = self.tokens[self.at] if self.at < len(self.tokens) else self.directive
        return ParseError("C2CU002", f"#{self.directive.text} {message}", place.loc(self.file))

    def take(self, *texts: str) -> str:
        """The next token, if it is one of these; else ""."""
        if self.at < len(self.tokens) and self.tokens[self.at].text in texts:
            self.at += 1
            return self.tokens[self.at - 1].text
        return ""

    def expression(self, live: bool) -> Const:
        value = self.conditional(live)
        while self.take(","):
            value = self.conditional(live)
        return value

    def conditional(self, live: bool) -> Const:
        test = self.level(0, live)
        if not self.take("?"):
            return test
        yes = self.expression(live and bool(test.value))
        if not self.take(":"):
            raise self.error("has '?' without following ':'")
        no = self.conditional(live and not test.value)
        t = ULLONG if ULLONG in (yes.type, no.type) else LLONG
        return _constant(cast(yes if test.value else no, t))

    def level(self, k: int, live: bool) -> Const:
        if k == len(_LEVELS):
            return self.operand(live)
        left = self.level(k + 1, live)
        while op := self.take(*_LEVELS[k]):
            decided = op == "&&" and not left.value or op == "||" and bool(left.value)
            right = self.level(k + 1, live and not decided)
            left = self.applied(op, left, right, live)
        return left

    def applied(self, op: str, a: Const, b: Const, live: bool) -> Const:
        if op in ("&&", "||"):
            return Const(int(bool(a.value) and bool(b.value) if op == "&&" else bool(a.value) or bool(b.value)), LLONG)
        if op in ("<<", ">>"):
            return _shifted(op, a, int(b.value))
        t = ULLONG if ULLONG in (a.type, b.type) else LLONG
        if op in ("/", "%") and not b.value:
            if live:
                raise self.error("has a division by zero")
            return Const(0, t)
        found = _constant(binary(op, cast(a, t), cast(b, t), t))
        return Const(found.value, LLONG) if op in COMPARISONS else found

    def operand(self, live: bool) -> Const:
        if op := self.take("+", "-", "~", "!"):
            x = self.operand(live)
            return x if op == "+" else _constant(unary(op, x, LLONG if op == "!" else x.type, x.loc))
        if self.take("("):
            value = self.expression(live)
            if not self.take(")"):
                raise self.error("misses a ')' in its expression")
            return value
        if self.at == len(self.tokens):
            raise self.error("with no expression" if not self.tokens else "misses an operand")
        t = self.tokens[self.at]
        value = self.primary(t)
        self.at += 1
        return value

    def primary(self, t: Token) -> Const:
        if t.kind == "name":
            return Const(0, LLONG)
        try:
            if t.kind == "char":
                return Const(character(t.text), ULLONG if t.text[0] in "uU" else LLONG)
            value, suffix, _ = digits_of(t.text)
        except ValueError:
            raise self.error(f'has the token "{t.text}", which is not valid in preprocessor expressions') from None
        kind = ULLONG if "u" in suffix or 2**63 <= value < 2**64 else LLONG
        return Const(kind.wrap(value), kind)


def _shifted(op: str, a: Const, n: int) -> Const:
    """As gcc: by a negative count the other way, by 64 or more until nothing is left."""
    if n < 0:
        op, n = ">>" if op == "<<" else "<<", -n
    n = min(n, 64)
    return Const(a.type.wrap(int(a.value) << n if op == "<<" else int(a.value) >> n), a.type)


def _constant(e: object) -> Const:
    assert isinstance(e, Const)
    return e
