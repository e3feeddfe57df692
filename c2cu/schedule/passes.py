"""The passes of each schedule that rewrites the flat IR: their names, in order, and the functions.

Schedules that are not listed read the program as it is after the common passes (`pipeline.PASSES`).
"""

from __future__ import annotations

from collections.abc import Callable

from ..ir.nodes import Kernel, Region
from ..ir.passes import Pass
from . import plan
from .understood import Front

_REGISTERS = ("unroll", "scalarize", "webs", "if_convert", "minmax")
Passes = tuple[Pass, ...]


def _gang(front: Front) -> Passes:
    from .gang.emit import PASSES

    return PASSES


def _registers(front: Front) -> Passes:
    from .registers.emit import passes

    return passes(_leaving(front), front.fp)


def _scan(front: Front) -> Passes:
    from .registers.emit import BUDGET, passes
    from .scan.emit import kept_loops

    assert front.analysis is not None
    return passes(_leaving(front), front.fp, BUDGET, kept_loops(front.analysis.kernel))


def _block(front: Front) -> Passes:
    from .block.emit import compiled, passes

    def phases(_: Kernel) -> Kernel:
        assert front.analysis is not None and front.trace is not None
        return compiled(front.analysis, front.trace, front.fp).phases

    return (("phases", phases), *passes(front.fp))


def _leaving(front: Front) -> frozenset[Region]:
    """The regions that go out."""
    assert front.analysis is not None
    layout = plan.layout(front.program)
    return frozenset(
        r for r in front.analysis.kernel.regions if r.name in layout and front.slots[layout[r.name][0]].writes
    )


#: By schedule: the names of its passes, and the passes for a program.
SCHEDULE_PASSES: dict[str, tuple[tuple[str, ...], Callable[[Front], Passes]]] = {
    "gang": (("unroll", "scalarize", "select"), _gang),
    "registers": (_REGISTERS, _registers),
    "scan": (_REGISTERS, _scan),
    "block": (("phases", "if_convert", "minmax"), _block),
}
