"""Schedules: how p inputs are laid over threads and lanes. One file each."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from ..analysis.uniform import uniform
from ..base import toolchain
from ..base.diagnostics import UnsupportedError
from ..ir.nodes import Region
from ..ir.passes import through
from . import plan
from .artifact import Artifact

if TYPE_CHECKING:
    from .understood import Front

BANDS = "bands"  # the variant of ``gep`` for what does not fit a device, or for several of them


def emit_schedule(name: str, front: Front, threads: int = 0, backend: str = "cuda") -> Artifact:
    """The artifact of ``front`` under the schedule ``name``. ``threads``: of a block, for the schedules ``block`` and
    ``gep`` of an input; 0 for the schedule's own choice. Raises UnsupportedError where it does not take the program."""
    name, _, variant = name.partition(":")
    if name in ("gang", "registers", "gep", "scan", "block"):
        if front.analysis is None:
            assert front.why_not is not None
            raise front.why_not
        assert front.kernel is not None
        layout = plan.layout(front.program)
        if name == "registers":
            from .registers.emit import THREADS, registers

            return registers(front.analysis, front.slots, layout, front.fp, threads or THREADS)
        if name == "gep" and backend == "cpu":
            return _gep_on_cpu(front, layout)
        if name == "gep":
            return _gep_on_cuda(front, layout, variant, threads)
        if name == "scan":
            from .scan.emit import scan

            assert front.trace is not None
            return scan(front.analysis, front.trace, front.slots, layout, front.fp)
        if name == "block":
            from .block.emit import block

            assert front.trace is not None
            return block(front.analysis, front.trace, front.slots, layout, front.fp, threads)
        from .gang.emit import PASSES, gang

        kernel = through(front.analysis.kernel, PASSES)
        return gang(uniform(kernel), front.slots, layout, toolchain.vector_bytes(), front.trace)
    from .native.emit import private, scalar

    if name == "scalar":
        return scalar(front.program, front.slots)
    if name == "private":
        return private(front.program, front.slots)
    from .column.emit import THREADS, thread

    return thread(front.program, front.slots, threads or THREADS)


def _gep_on_cpu(front: Front, layout: plan.Layout) -> Artifact:
    from .gep.cpu import cpu

    assert front.analysis is not None
    return cpu(front.analysis, front.gep, front.slots, layout, toolchain.vector_bytes())


def _gep_on_cuda(front: Front, layout: plan.Layout, variant: str, threads: int) -> Artifact:
    """Each matrix in registers, or, where it is too large for them or a variant is wanted, the whole device at each:
    on bits if it is a transitive closure."""
    from ..gep.closure import closure
    from .gep.bits import bits
    from .gep.grid import grid
    from .gep.required import required
    from .gep.tiles import LARGEST, tiles

    assert front.analysis is not None
    found = required(front.analysis.kernel, front.gep)
    if variant == BANDS:
        from .gep.bands import bands

        otherwise = None  # for inputs that devices cannot do
        with suppress(UnsupportedError):
            otherwise = _gep_on_cpu(front, layout)
        return bands(front.analysis, found, front.slots, layout, front.fp, otherwise)
    small = max(found.rows, found.columns) <= LARGEST
    if variant == "bits" or (not variant and not small and isinstance(closure(found), Region)):
        return bits(front.analysis, found, front.slots, layout, front.fp)
    if variant == "tiles" or (not variant and small):
        try:
            return tiles(front.analysis, found, front.slots, layout, front.fp, threads=threads)
        except UnsupportedError:
            if variant or threads:
                raise
    return grid(front.analysis, found, front.slots, layout, front.fp, variant or "auto", pack=front.pack is not None)
