"""Schedules: how p inputs are laid over threads and lanes. One file each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import plan, toolchain
from ..artifact import Artifact
from ..scalarize import scalarize
from ..uniform import uniform
from ..unroll import unroll

if TYPE_CHECKING:
    from ..front import Front


def emit_schedule(name: str, front: Front, threads: int = 0) -> Artifact:
    """The artifact of ``front`` under the schedule ``name``. ``threads``: of a block, for the schedule ``block`` of an
    input; 0 for the schedule's own choice. Raises UnsupportedError where it does not take the program."""
    family, _, variant = name.partition(":")
    if family in ("gang", "registers", "stream", "block", "gep"):
        if front.analysis is None:
            assert front.why_not is not None
            raise front.why_not
        assert front.kernel is not None
        layout = plan.layout(front.program)
        if family == "gep":
            from .gep.grid import grid, recognised

            gep = recognised(front.analysis.kernel)
            return grid(front.analysis, gep, front.slots, layout, front.fp, variant or "auto")
        if name == "registers":
            from .registers import THREADS, registers

            return registers(front.analysis, front.slots, layout, front.fp, threads or THREADS)
        if name == "stream":
            from .stream import stream

            assert front.trace is not None
            return stream(front.analysis, front.trace, front.slots, layout, front.fp)
        if name == "block":
            from .block import block

            assert front.trace is not None
            return block(front.analysis, front.trace, front.slots, layout, front.fp, threads)
        from .gang import gang
        from .gang_select import selects

        kernel = selects(uniform(scalarize(unroll(front.kernel)).kernel))
        return gang(uniform(kernel), front.slots, layout, toolchain.vector_bytes(), front.trace)
    from .private import private, scalar

    if name == "scalar":
        return scalar(front.program, front.slots)
    if name == "private":
        return private(front.program, front.slots)
    from .thread import THREADS, thread

    return thread(front.program, front.slots, threads or THREADS)
