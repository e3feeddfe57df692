"""A flat kernel as text, for people: `translate --emit ir`."""

from __future__ import annotations

from collections.abc import Iterable

from .canonical import CountedLoop, counted, subscripts
from .nodes import (
    Assign,
    Binary,
    Bitcast,
    Block,
    Call,
    Cast,
    Const,
    Expr,
    Extremum,
    If,
    Kernel,
    Load,
    Loop,
    Select,
    Store,
    Unary,
    Var,
    Variable,
)


def dump(kernel: Kernel) -> str:
    """One line for each region and each statement. A counted loop is ``for k.1 = 0 .. 15``, both ends included; of one
    whose counter is set elsewhere the first value is left out."""
    lines = [f"{r.storage} {r.type} {r.name}{_in_brackets(r.extents)}" for r in kernel.regions] + [f"{kernel.name}:"]
    _block(kernel.body, 1, lines)
    return "\n".join(lines) + "\n"


def _name(v: Variable) -> str:
    return f"{v.name}.{v.uid}"


def _block(block: Block, depth: int, lines: list[str]) -> None:
    pad = "    " * depth
    for k, s in enumerate(block):
        match s:
            case Assign():
                if not _is_first(s, block[k + 1 : k + 2]):
                    lines.append(f"{pad}{_name(s.var)} = {_expr(s.value)}")
            case Store():
                lines.append(f"{pad}{_element(s)} = {_expr(s.value)}")
            case If():
                lines.append(f"{pad}if {_expr(s.cond)}")
                _block(s.then, depth + 1, lines)
                if s.other:
                    lines.append(f"{pad}else")
                    _block(s.other, depth + 1, lines)
            case Loop():
                _loop(s, block[max(0, k - 1) : k], depth, lines)


def _loop(s: Loop, before: Block, depth: int, lines: list[str]) -> None:
    pad = "    " * depth
    until = f" until {', '.join(map(_name, s.flags))}" if s.flags else ""
    c = _range(s)
    if c is not None:
        first = f" = {_expr(b.value)}" if before and isinstance(b := before[0], Assign) and b.var == c.counter else ""
        by = f" by {c.by}" if abs(c.by) != 1 else ""
        lines.append(f"{pad}for {_name(c.counter)}{first} .. {_last(c)}{by}{until}")
        _block(s.body, depth + 1, lines)
        return
    lines.append(f"{pad}loop{until}")
    _block(s.head, depth + 1, lines)
    lines.append(f"{pad}while {_expr(s.cond)}")
    _block(s.body, depth + 1, lines)
    if s.step:
        lines.append(f"{pad}step")
        _block(s.step, depth + 1, lines)


def _range(s: Loop) -> CountedLoop | None:
    """A loop that counts up or down to its limit; `!=` may also pass it by."""
    c = None if s.head else counted(s)
    ways = ("<", "<=") if c is not None and c.by > 0 else (">", ">=")
    return c if c is not None and c.op in ways else None


def _is_first(s: Assign, after: Block) -> bool:
    """Whether the loop behind a statement says what it assigns."""
    if not after or not isinstance(after[0], Loop):
        return False
    c = _range(after[0])
    return c is not None and c.counter == s.var


def _last(c: CountedLoop) -> str:
    assert c.limit is not None
    if c.op in ("<=", ">="):
        return _expr(c.limit)
    one = 1 if c.op == "<" else -1
    if isinstance(c.limit, Const):
        return str(c.limit.value - one)
    return f"({_expr(c.limit)} {'-' if one > 0 else '+'} 1)"


def _element(access: Load | Store) -> str:
    """An element by its subscripts; by its place among all elements where they cannot be told apart."""
    apart = subscripts(access.region, access.index, access.rows)
    return access.region.name + _in_brackets(map(_expr, (access.index,) if apart is None else apart))


def _in_brackets(subscripts: Iterable[object]) -> str:
    return "".join(f"[{x}]" for x in subscripts)


def _expr(e: Expr) -> str:
    match e:
        case Const():
            return str(e.value)
        case Var():
            return _name(e.var)
        case Load():
            return _element(e)
        case Unary():
            return f"{e.op}{_expr(e.operand)}"
        case Binary():
            return f"({_expr(e.left)} {e.op} {_expr(e.right)})"
        case Cast():
            return f"({e.type}){_expr(e.operand)}"
        case Bitcast():
            return f"bits<{e.type}>({_expr(e.operand)})"
        case Select():
            return f"({_expr(e.cond)} ? {_expr(e.yes)} : {_expr(e.no)})"
        case Extremum():
            name = e.function if e.rule == "number" else e.op if e.rule == "strict" else f"{e.op}_or_equal"
            return f"{name}({_expr(e.left)}, {_expr(e.right)})"
        case Call():
            return f"{e.name}({', '.join(map(_expr, e.args))})"
    raise AssertionError(e)
