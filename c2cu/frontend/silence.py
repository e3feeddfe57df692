"""Output that is dropped: a call that prints, and whose value nobody uses, becomes what its arguments do."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import TypeGuard, TypeVar

from pycparser import c_ast as C

from ..base import libc
from .parse import Parsed
from .tree import nodes

N = TypeVar("N", bound=C.Node)
_COUNT = re.compile(r"%[-+ #0-9.*'hlqjzt]*n")
_CHANGES = ("++", "--", "p++", "p--")
_BODIES = {  # the statements in a statement, and the expressions whose value it drops
    C.Compound: ("block_items",),
    C.If: ("iftrue", "iffalse"),
    C.For: ("init", "next", "stmt"),
    C.While: ("stmt",),
    C.DoWhile: ("stmt",),
    C.Switch: ("stmt",),
    C.Case: ("stmts",),
    C.Default: ("stmts",),
    C.Label: ("stmt",),
}


def silenced(parsed: Parsed) -> Parsed:
    """The program without what it prints. Calls whose value is used stay, and so do the program's own functions."""
    defined = {f.decl.name for f in parsed.ast.ext if isinstance(f, C.FuncDef)} | set(parsed.bodies)
    defined |= {d.name for d in parsed.ast.ext if isinstance(d, C.Decl) and not isinstance(d.type, C.FuncDecl)}
    names = libc.PRINTS - defined
    ast = copy.copy(parsed.ast)
    ast.ext = [_function(f, names) if isinstance(f, C.FuncDef) else f for f in ast.ext]
    return replace(parsed, ast=ast)


def _function(f: C.FuncDef, names: frozenset[str]) -> C.FuncDef:
    locals_ = {n.name for n in nodes(f) if isinstance(n, C.Decl)}
    return _with(f, body=_Silencer(names - locals_).statement(f.body))


class _Silencer:
    """``names``: the functions that print. What does not change stays the same node."""

    def __init__(self, names: frozenset[str]):
        self.names = names

    def prints(self, n: C.Node) -> TypeGuard[C.FuncCall]:
        return (
            isinstance(n, C.FuncCall)
            and isinstance(n.name, C.ID)
            and n.name.name.removeprefix("__builtin_") in self.names
            and not _stores(n)
        )

    def statement(self, n: C.Node) -> C.Node:
        """A statement, or an expression that stands for one."""
        if self.prints(n):
            return self._effects(n) or C.EmptyStatement(n.coord)
        changed = {}
        for field in _BODIES.get(type(n), ()):
            inner = getattr(n, field)
            if isinstance(inner, list):
                changed[field] = [self.statement(x) for x in inner]
            elif inner is not None:
                changed[field] = (self.dropped if field in ("init", "next") else self.statement)(inner)
        return _with(n, **changed) if changed or not _is_expression(n) else self.dropped(n)

    def dropped(self, n: C.Node) -> C.Node:
        """An expression whose value nobody uses."""
        if self.prints(n):
            return self._effects(n) or C.Constant("int", "0", n.coord)
        match n:
            case C.ExprList():
                return _with(n, exprs=[self.dropped(e) for e in n.exprs])
            case C.Cast() if _is_void(n.to_type):
                return _with(n, expr=self.dropped(n.expr))
            case C.TernaryOp():
                return self._branches(n)
            case C.BinaryOp(op="&&" | "||") if self.prints(n.right):
                return _with(n, right=self.dropped(n.right))
        return n

    def _branches(self, n: C.TernaryOp) -> C.Node:
        """Both or none: the arms have types that go together."""
        arms = [self.dropped(x) for x in (n.iftrue, n.iffalse)]
        return _with(n, iftrue=arms[0], iffalse=arms[1]) if self.prints(n.iftrue) and self.prints(n.iffalse) else n

    def _effects(self, call: C.FuncCall) -> C.Node | None:
        """What the arguments of a call do: GCC begins with the last."""
        args = call.args.exprs if call.args is not None else []
        parts = [a for a in reversed(args) if _changes(a)]
        return None if not parts else parts[0] if len(parts) == 1 else C.ExprList(parts, call.coord)


def _stores(call: C.FuncCall) -> bool:
    """Whether a call may store the number of characters: its format has ``%n``, or is no literal."""
    name, args = call.name.name, call.args.exprs if call.args is not None else []  # pyright: ignore
    if "printf" not in name:
        return False
    literals = [a.value for a in args if isinstance(a, C.Constant) and a.type == "string"]
    return not literals or any(_COUNT.search(text) for text in literals)


def _changes(n: C.Node) -> bool:
    return any(
        isinstance(x, (C.Assignment, C.FuncCall, C.Compound)) or (isinstance(x, C.UnaryOp) and x.op in _CHANGES)
        for x in nodes(n)
    )


def _is_expression(n: C.Node) -> bool:
    return isinstance(n, (C.ExprList, C.Cast, C.TernaryOp, C.BinaryOp))


def _is_void(t: C.Node) -> bool:
    inner = t.type if isinstance(t, C.Typename) else None
    return isinstance(inner, C.TypeDecl) and getattr(inner.type, "names", None) == ["void"]


def _with(n: N, **fields: C.Node | Iterable[C.Node]) -> N:
    """A copy with other fields; ``n`` itself where they are what it has."""
    if all(_same(getattr(n, field), value) for field, value in fields.items()):
        return n
    out = copy.copy(n)
    for field, value in fields.items():
        setattr(out, field, value)
    return out


def _same(a: object, b: object) -> bool:
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(x is y for x, y in zip(a, b))
    return a is b
