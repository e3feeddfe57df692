"""Library functions written in C (`templates/lower`), which are inlined like the program's own."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from ..base import libc
from ..base.diagnostics import Loc, SourceMap
from ..base.mathematics import mathematics
from ..base.random_numbers import first_numbers
from ..base.templates import render
from ..frontend.parse import parse
from ..frontend.preprocess import Preprocessed
from ..frontend.typed import FunctionDef, Unit, typed
from ..ir.nodes import Block, Expr, If, Loop
from ..ir.walk import rewritten
from .context import Context

LIBRARY = "<library>"
DECLARATIONS = "void *memcpy(void *, const void *, unsigned long); void *memset(void *, int, unsigned long);\n"


@cache
def library() -> Unit:
    """The functions, typed."""
    text = DECLARATIONS + render("lower/library.c.j2").split("*/", 1)[1]
    text += render("lower/numbers.c.j2") + render("lower/complex.c.j2")
    text += render("lower/random.c.j2", first_numbers=first_numbers(), kept=False)
    pre = Preprocessed(text, LIBRARY, {}, (), SourceMap({LIBRARY: text}))
    return typed(parse(pre), pre)


def substitute(cx: Context, name: str) -> FunctionDef | None:
    """The C that stands for a library function, known to ``cx`` from here on."""
    unit = library()
    if name in libc.GENERATORS and not mathematics().startswith("glibc"):
        return None
    plain = name.removeprefix("__builtin_")
    f = unit.functions.get(name) or unit.functions.get(plain)
    if f is not None and not cx.library:
        cx.library = True
        cx.unit.types.update(unit.types)
        cx.unit.symbols.update(unit.symbols)
        cx.unit.scopes.update(unit.scopes)
    return f


def placed(block: Block, loc: Loc) -> Block:
    """Statements as if they stood at ``loc``, where the function is called."""

    def expression(e: Expr) -> Expr:
        return replace(e, loc=loc)

    def statements(b: Block) -> Block:
        out = []
        for s in b:
            match s:
                case If():
                    s = replace(s, then=statements(s.then), other=statements(s.other))
                case Loop():
                    s = replace(s, head=statements(s.head), body=statements(s.body), step=statements(s.step))
            out.append(replace(s, loc=loc))
        return tuple(out)

    return statements(rewritten(block, expression))
