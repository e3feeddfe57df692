"""What stands behind #define (6.10.3)."""

from __future__ import annotations

import re

from ...base.diagnostics import ParseError
from .expand import Macro
from .tokens import Line, Token


def check_name(name: Token, file: str) -> None:
    if name.kind != "name" or name.text in ("defined", "__has_include"):
        raise ParseError("C2CU002", f'"{name.text}" cannot be a macro\'s name', name.loc(file))


def macro_of(words: Line, file: str) -> Macro:
    """What stands behind #define."""
    name, rest = words[0], words[1:]
    check_name(name, file)
    params: list[str] | None = None
    variadic = False
    if rest and rest[0].text == "(" and not rest[0].space:
        end = next((k for k, t in enumerate(rest) if t.text == ")"), len(rest))
        inner = " ".join(t.text for t in rest[1:end])
        m = re.fullmatch(r"(?:(?:[^\W\d]\w* , )*(?:[^\W\d]\w*( \.\.\.)?|(\.\.\.)))?", inner)
        params = inner.split(" , ") if inner else []
        if m is None or end == len(rest) or len(set(params)) < len(params):
            raise ParseError("C2CU002", f"the parameters of '{name.text}' are malformed", name.loc(file))
        variadic = inner.endswith("...")
        if variadic:
            params[-1] = "__VA_ARGS__" if m[2] else params[-1].removesuffix(" ...")
        rest = rest[end + 1 :]
    digraphs = {"%:%:": "##"} if params is None else {"%:%:": "##", "%:": "#"}
    rest = [t._replace(text=digraphs.get(t.text, t.text)) for t in rest]
    body = [t._replace(space=t.space and k > 0) for k, t in enumerate(rest)]
    if body and "##" in (body[0].text, body[-1].text):
        raise ParseError("C2CU002", "'##' cannot appear at either end of a macro expansion", name.loc(file))
    for k, t in enumerate(body):
        named = k + 1 < len(body) and body[k + 1].text in (params or ())
        if t.text == "__VA_OPT__" or (params is not None and t.text == "#" and not named):
            raise ParseError("C2CU002", f"'{t.text}' is not followed by a macro parameter", t.loc(file))
    return Macro(name.text, tuple(body), None if params is None else tuple(params), variadic)
