"""`translate --emit`: what any stage of the pipeline returns, as text."""

from __future__ import annotations

import io

from ..base import catalogue
from ..base.diagnostics import lines_of
from ..frontend.options import Options
from ..frontend.parse import deep, deeply, is_user_file, loc_of
from ..frontend.preprocess import Source
from ..ir.dump import dump
from ..ir.nodes import Kernel
from ..ir.passes import through
from ..pipeline import PASSES, analysed, understand
from ..schedule import registry
from ..schedule.choose import AUTO, choose
from ..schedule.understood import Understood


def after(front: Understood, name: str) -> Kernel:
    """The flat IR after a pass: one of `PASSES`, or "schedule:pass". Raises InputError for an unknown one, and
    UnsupportedError where the program does not get that far."""
    schedules = {e.name: e.schedule for e in registry.REGISTRY if e.schedule.pass_names}
    names = [n for n, _ in PASSES] + [f"{name}:{n}" for name, s in schedules.items() for n in s.pass_names]
    if name not in names:
        raise catalogue.UNKNOWN_CHOICE.error(option="pass", value=f"'{name}'", choices=list(names))
    kernel = front.analysed().kernel
    schedule, _, last = name.rpartition(":")
    with lines_of(front.pre.sources):
        if not schedule:
            return deep(lambda: analysed(front.program, last=last).ir)
        return deep(lambda: through(kernel, schedules[schedule].passes(front), last))


@deeply
def emit(
    source: Source,
    options: Options,
    stage: str,
    pass_name: str = "",
    schedule: str = AUTO,
    p: int | None = None,
) -> str:
    """What a stage of the pipeline returns, as text: ``"ast"``, ``"ir"``, ``"plan"``, ``"cuda"`` or ``"c"``.

    ``pass_name``: the pass after which to print the flat IR; by default the last of `PASSES`. ``schedule``: whose text
    or plan, for ``p`` inputs (None: for many). Raises as `understand`, `after` and `choose` do.
    """
    front = understand(source, options)
    match stage:
        case "ast":
            return _syntax_tree(front)
        case "ir":
            return dump(after(front, pass_name or PASSES[-1][0]))
        case "plan":
            backends = [b for b in ("cpu", "cuda") if schedule == AUTO or schedule in registry.all_names(b)]
            return "".join(_plan_text(front, b, schedule, p) for b in backends or ("cpu",))  # which says what there is
    return choose(front, "cuda" if stage == "cuda" else "cpu", schedule, p=p)[1].text


def _syntax_tree(front: Understood) -> str:
    """The parsed declarations of the user's own files."""
    out = io.StringIO()
    for node in front.program.unit.ast.ext:
        if is_user_file(front.pre, loc_of(node).file):
            node.show(out, attrnames=True, nodenames=True)
    return out.getvalue()


def _plan_text(front: Understood, backend: str, schedule: str, p: int | None) -> str:
    plan, _ = choose(front, backend, schedule, p=p)
    threads = f" in a block of {plan.threads} threads" if plan.threads else " side by side"
    rejected = "".join(f"    not {name}: {reason}\n" for name, reason in plan.rejected)
    return f"{backend}: {plan.schedule}, {plan.lanes} inputs{threads}\n{rejected}"
