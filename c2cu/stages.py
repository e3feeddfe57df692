"""`translate --emit`: any stage of the pipeline as text."""

from __future__ import annotations

import io
import os
from typing import Any

from . import pipeline
from .frontend.options import options_of
from .frontend.parse import is_user_file, loc_of
from .frontend.preprocess import read_source
from .ir.nodes import (
    Assign,
    Binary,
    Bitcast,
    Block,
    Call,
    Cast,
    Const,
    Expr,
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


def stage(src: str | os.PathLike, what: str, **options: Any) -> str:
    """``what``: ast, ir, plan, cuda or c."""
    front = pipeline.understand(read_source(src), options_of(**options))
    match what:
        case "ast":
            out = io.StringIO()
            for node in front.program.unit.ast.ext:
                if is_user_file(front.pre, loc_of(node).file):
                    node.show(out, attrnames=True, nodenames=True)
            return out.getvalue()
        case "ir":
            if front.analysis is None:
                assert front.why_not is not None
                raise front.why_not
            return dump(front.analysis.kernel)
        case "plan":
            lines = []
            for backend in ("cpu", "cuda"):
                plan, _ = pipeline.schedule(front, backend)
                threads = f" in a block of {plan.threads} threads" if plan.threads else " side by side"
                lines.append(f"{backend}: {plan.schedule}, {plan.lanes} inputs{threads}")
                lines += [f"    not {name}: {reason}" for name, reason in plan.rejected]
            return "\n".join(lines) + "\n"
    return pipeline.schedule(front, "cuda" if what == "cuda" else "cpu")[1].text


def dump(kernel: Kernel) -> str:
    """A flat kernel as text."""
    lines = [f"{r.storage} {r.type} {r.name}[{r.count}]" for r in kernel.regions] + [f"{kernel.name}:"]
    _block(kernel.body, 1, lines)
    return "\n".join(lines) + "\n"


def _name(v: Variable) -> str:
    return f"{v.name}.{v.uid}"


def _block(block: Block, depth: int, lines: list[str]) -> None:
    pad = "    " * depth
    for s in block:
        match s:
            case Assign():
                lines.append(f"{pad}{_name(s.var)} = {_expr(s.value)}")
            case Store():
                lines.append(f"{pad}{s.region.name}[{_expr(s.index)}] = {_expr(s.value)}")
            case If():
                lines.append(f"{pad}if {_expr(s.cond)}")
                _block(s.then, depth + 1, lines)
                if s.other:
                    lines.append(f"{pad}else")
                    _block(s.other, depth + 1, lines)
            case Loop():
                until = f" until {', '.join(map(_name, s.flags))}" if s.flags else ""
                lines.append(f"{pad}loop{until}")
                _block(s.head, depth + 1, lines)
                lines.append(f"{pad}while {_expr(s.cond)}")
                _block(s.body, depth + 1, lines)
                if s.step:
                    lines.append(f"{pad}step")
                    _block(s.step, depth + 1, lines)


def _expr(e: Expr) -> str:
    match e:
        case Const():
            return str(e.value)
        case Var():
            return _name(e.var)
        case Load():
            return f"{e.region.name}[{_expr(e.index)}]"
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
        case Call():
            return f"{e.name}({', '.join(map(_expr, e.args))})"
    raise AssertionError(e)
