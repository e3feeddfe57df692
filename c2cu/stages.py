"""`translate --emit`: any stage of the pipeline as text."""

from __future__ import annotations

import io
import os
from typing import Any

from . import pipeline
from .frontend.options import options_of
from .frontend.parse import is_user_file, loc_of
from .frontend.preprocess import read_source
from .ir.dump import dump
from .schedule.choose import choose


def stage(src: str | os.PathLike, what: str, after: str = "", **options: Any) -> str:
    """``what``: ast, ir, plan, cuda or c. ``after``: of the flat IR, the pass whose result it is; "" for what every
    schedule gets. Raises InputError for an unknown one."""
    front = pipeline.understand(read_source(src), options_of(**options))
    match what:
        case "ast":
            out = io.StringIO()
            for node in front.program.unit.ast.ext:
                if is_user_file(front.pre, loc_of(node).file):
                    node.show(out, attrnames=True, nodenames=True)
            return out.getvalue()
        case "ir":
            return dump(pipeline.after(front, after or pipeline.PASSES[-1][0]))
        case "plan":
            lines = []
            for backend in ("cpu", "cuda"):
                plan, _ = choose(front, backend)
                threads = f" in a block of {plan.threads} threads" if plan.threads else " side by side"
                lines.append(f"{backend}: {plan.schedule}, {plan.lanes} inputs{threads}")
                lines += [f"    not {name}: {reason}" for name, reason in plan.rejected]
            return "\n".join(lines) + "\n"
    return choose(front, "cuda" if what == "cuda" else "cpu")[1].text
