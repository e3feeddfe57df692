"""``#pragma c2cu declassify(x)``: from there on, what ``x`` holds is no secret."""

from __future__ import annotations

import re

from pycparser import CParser
from pycparser import c_ast as C

from ..base import catalogue
from .parse import loc_of
from .tree import nodes

_PRAGMA = re.compile(r"c2cu\s+declassify\b\s*(.*)", re.S)


def declassified(pragma: C.Pragma) -> C.Node | None:
    """The expression in a pragma of this kind, None of another. Raises ParseError where there is none."""
    words = (pragma.string or "").strip()
    m = _PRAGMA.fullmatch(words)
    if m is None and re.match(r"c2cu\b", words):
        raise catalogue.PRAGMA_CLAUSE.error(loc_of(pragma), words=words, right="'#pragma c2cu declassify(name)'")
    if m is None:
        return None
    try:
        ast = CParser().parse(f"void f(void) {{ (void){m[1]}; }}") if re.fullmatch(r"\(.*\S.*\)", m[1], re.S) else None
    except Exception as e:
        if type(e).__name__ not in ("ParseError", "PLYParser", "AssertionError"):
            raise
        ast = None
    body = ast.ext[0].body.block_items if ast is not None and len(ast.ext) == 1 else []
    if len(body) != 1 or not isinstance(body[0], C.Cast) or not _is_place(body[0].expr):
        raise catalogue.DECLASSIFY.error(loc_of(pragma), given=m[1] or "nothing")
    for n in nodes(body[0].expr):
        n.coord = pragma.coord
    return body[0].expr


def _is_place(n: C.Node) -> bool:
    """Whether an expression names a variable, or a member of one."""
    if isinstance(n, C.StructRef):
        return _is_place(n.name)
    return isinstance(n, C.ID) or (isinstance(n, C.UnaryOp) and n.op == "*" and _is_place(n.expr))


def spelled(n: C.Node) -> str:
    """What a pragma declassifies, as C."""
    match n:
        case C.ID():
            return n.name
        case C.StructRef():
            return f"{spelled(n.name)}{n.type}{n.field.name}"
        case C.UnaryOp():
            return f"*{spelled(n.expr)}"
    raise AssertionError(n)
