"""Macro replacement (6.10.3), as gcc does it where the standard leaves it open."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from ...base.diagnostics import ParseError
from .tokens import Line, Token, lines


@dataclass(frozen=True)
class Macro:
    """``params``: None of an object-like one. ``variadic``: the last of them takes what is left."""

    name: str
    body: tuple[Token, ...]
    params: tuple[str, ...] | None = None
    variadic: bool = False


_OMITTED: Line = []  # a variable argument of which not even the comma is there


class Source(Protocol):
    """Where tokens come from. ``opens``: whether the next one is a parenthesis, no directive coming before it.
    ``special``: what a name such as __LINE__ stands for."""

    @property
    def file(self) -> str: ...
    def next(self, inside: bool) -> Token | None: ...
    def opens(self) -> bool: ...
    def special(self, t: Token) -> Token | None: ...


@dataclass
class _Context:
    """What a macro was replaced with; until it is used up the macro stays itself."""

    macro: str
    tokens: Line
    at: int = 0


@dataclass
class Expansion:
    """The tokens of a source with its macros replaced."""

    macros: Mapping[str, Macro]
    source: Source
    disabled: set[str] = field(default_factory=set)
    stack: list[_Context] = field(default_factory=list)
    edge: bool = False  # an expansion ended before the next token
    space: bool = False  # one of nothing did, with white space before it
    argument: bool = False  # the source is one
    one_line: bool = False  # the macro of the source is object-like: for gcc then also what follows it is on its line

    def next(self) -> Token | None:
        while (t := self.raw()) is not None:
            if t.kind != "name" or t.final:
                break
            macro = self.macros.get(t.text)
            if macro is None:
                special = self.source.special(t)
                self.edge = special is not None
                t = special or t
                break
            if t.text in self.disabled:
                t = t._replace(final=True)
                break
            if not self.stack and not self.argument:
                self.one_line = macro.params is None
            if macro.params is None:
                self._enter(t, macro, self._substituted(t, macro, []))
            elif self._opens():
                arguments = self._arguments(t, macro)
                self._enter(t, macro, self._substituted(t, macro, arguments))
            else:
                break
        return t

    def all(self) -> Line:
        found = []
        while (t := self.next()) is not None:
            found.append(t)
        return found

    def raw(self, inside: bool = False) -> Token | None:
        """The next token as it stands. ``inside``: the arguments of a macro."""
        self._leave()
        if self.stack:
            top = self.stack[-1]
            top.at += 1
            t = top.tokens[top.at - 1]
        else:
            t = self.source.next(inside)
        if t is not None and self.edge:
            t = t._replace(edge=True, space=t.space or self.space)
        self.edge = self.space = False
        return t

    def _leave(self) -> None:
        """Of what is used up."""
        while self.stack and self.stack[-1].at == len(self.stack[-1].tokens):
            self.disabled.discard(self.stack.pop().macro)
            self.edge = True

    def _opens(self) -> bool:
        self._leave()
        return self.stack[-1].tokens[self.stack[-1].at].text == "(" if self.stack else self.source.opens()

    def _enter(self, t: Token, macro: Macro, body: Line) -> None:
        self.edge = True
        body = [x._replace(line=t.line, column=t.column) for x in body]
        if body:
            body[0] = body[0]._replace(space=t.space, edge=True)
        self.space = t.space and not body
        self.disabled.add(macro.name)
        self.stack.append(_Context(macro.name, body))

    # arguments

    def _arguments(self, name: Token, macro: Macro) -> list[Line]:
        """Of each parameter."""
        params = macro.params or ()
        found: list[Line] = [[]]
        depth = 0
        self.raw(True)
        while True:
            t = self.raw(True)
            if t is None:
                raise self._error(name, f'unterminated argument list invoking macro "{macro.name}"')
            if t.text == ")" and not depth:
                break
            depth += (t.text == "(") - (t.text == ")")
            if t.text == "," and not depth and not (macro.variadic and len(found) == len(params)):
                found.append([])
                continue
            if self.one_line:
                t = t._replace(line=name.line)
            found[-1].append(t._replace(final=True) if t.kind == "name" and t.text in self.disabled else t)
        if macro.variadic and (len(found) == len(params) - 1 or found == [[]]):
            found[len(params) - 1 :] = [_OMITTED]
        if not params and found == [[]]:
            return []
        if len(found) != len(params):
            many = f"{len(found)} arguments, but takes just {len(params)}"
            if len(found) < len(params):
                many = f"just {len(found)}, but it requires {len(params)} arguments"
            raise self._error(name, f'macro "{macro.name}" passed {many}')
        return found

    def _expanded(self, argument: Line) -> Line:
        """An argument that is replaced by itself, before it is put in."""
        return Expansion(self.macros, Given(argument, self.source), set(self.disabled), argument=True).all()

    # replacement lists

    def _substituted(self, name: Token, macro: Macro, arguments: list[Line]) -> Line:
        params = macro.params or ()
        given = dict(zip(params, arguments))
        expanded: dict[str, Line] = {}  # once each: a __COUNTER__ counts once
        body = _with_strings(macro, given)
        out: Line = []  # with an `_empty` for an argument of nothing
        k = 0
        while k < len(body):
            t = body[k]
            following = body[k + 1] if k + 1 < len(body) else None
            if t.text == "##" and following is not None:
                raw = given.get(following.text) if following.kind == "name" else None
                last = bool(params) and macro.variadic and following.text == params[-1]
                if last and out and (comma := out[-1]).text == ",":  # GNU's
                    out[-1:] = [] if raw is _OMITTED else [comma, *(raw or [])]
                else:
                    right = [following] if raw is None else raw or [_empty(following)]
                    out[-1:] = [self._pasted(name, out[-1], right[0]), *(x._replace(edge=True) for x in right[1:])]
                k += 2
                if k < len(body):
                    body[k] = body[k]._replace(edge=True)
                continue
            if t.kind != "name" or t.text not in given:
                out.append(t)
            elif following is not None and following.text == "##":
                out += _placed(given[t.text], t)
            else:
                if t.text not in expanded:
                    expanded[t.text] = self._expanded(given[t.text])
                found = expanded[t.text]
                out += _placed(found, t)
                if following is not None:
                    body[k + 1] = following._replace(edge=True, space=following.space or (t.space and not found))
            k += 1
        before = [name._replace(text=""), *out]
        return [t._replace(edge=t.edge or not b.text) for b, t in zip(before, out) if t.text]

    def _pasted(self, name: Token, left: Token, right: Token) -> Token:
        if not right.text:
            return left
        if not left.text:
            return right._replace(space=left.space, edge=True)
        found = [t for line in lines(left.text + right.text, self.source.file) for t in line]
        if len(found) != 1:
            what = f'pasting "{left.text}" and "{right.text}" does not give a valid preprocessing token'
            raise self._error(name, what)
        return found[0]._replace(space=left.space, edge=left.edge)

    def _error(self, t: Token, message: str) -> ParseError:
        return ParseError("C2CU002", message, t.loc(self.source.file))


@dataclass
class Given:
    """Tokens of an argument or a condition, as a source."""

    tokens: Line
    of: Source
    at: int = 0

    @property
    def file(self) -> str:
        return self.of.file

    def next(self, inside: bool) -> Token | None:
        self.at += 1
        return self.tokens[self.at - 1] if self.at <= len(self.tokens) else None

    def opens(self) -> bool:
        return self.at < len(self.tokens) and self.tokens[self.at].text == "("

    def special(self, t: Token) -> Token | None:
        return self.of.special(t)


def _with_strings(macro: Macro, given: Mapping[str, Line]) -> Line:
    """A function-like macro's body with each # and its parameter made a string."""
    body: list[Token] = []
    for t in macro.body:
        if macro.params is not None and body and body[-1].text == "#":
            body[-1] = Token("string", _string(given[t.text]), t.line, t.column, body[-1].space)
        else:
            body.append(t)
    return body


def _placed(argument: Line, parameter: Token) -> Line:
    """An argument where its parameter stood."""
    if not argument:
        return [_empty(parameter)]
    return [argument[0]._replace(space=parameter.space, edge=True), *argument[1:]]


def _empty(parameter: Token) -> Token:
    """What stands for an argument of nothing (a placemarker, 6.10.3.3): it has no text."""
    return parameter._replace(text="", edge=True)


def _string(argument: Line) -> str:
    """What # gives (6.10.3.2)."""
    text = ""
    for k, t in enumerate(argument):
        plain = re.sub(r'[\\"]', r"\\\g<0>", t.text) if t.kind in ("string", "char") else t.text
        text += " " * (t.space and k > 0) + plain
    return f'"{text}"'
