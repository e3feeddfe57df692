"""The CPU as a stream's device: a group at a time over all cores, the next ones ready behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from .cpu import CpuProgram
from .pipe import Span


class CpuPipe:
    """See `runtime.pipe.Pipe`. ``shared``: what all inputs share, one array a slot or None."""

    name = "cpu"
    memory = 0

    def __init__(self, program: CpuProgram, layout: str, shared: Sequence[Any], depth: int):
        self._program, self._layout, self._shared, self.depth = program, layout, shared, depth

    def allocate(self, nbytes: int) -> numpy.ndarray:
        return numpy.empty(nbytes, numpy.uint8)

    def direct(self, array: Any) -> bool:
        return isinstance(array, numpy.ndarray) and array.flags.c_contiguous

    def start(self, number: int, inputs: Sequence[Any], outputs: Sequence[Any], count: int) -> None:
        if self._layout == "row":
            self._run(inputs, outputs, count)
            return
        outs = [None if x is None else numpy.zeros((count, *x.shape[:-1]), x.dtype) for x in outputs]
        self._run([None if x is None else _batch_first(x) for x in inputs], outs, count)
        for target, found in zip(outputs, outs):
            if found is not None:
                target[...] = numpy.moveaxis(found, 0, -1)

    def _run(self, inputs: Sequence[Any], outputs: Sequence[Any], count: int) -> None:
        ins = [x if s is None else s for x, s in zip(inputs, self._shared)]
        self._program.run(ins, outputs, count)

    def finish(self, token: None) -> None:
        return

    def spans(self) -> list[Span]:
        return []

    def close(self) -> None:
        return


def _batch_first(array: numpy.ndarray) -> numpy.ndarray:
    return numpy.ascontiguousarray(numpy.moveaxis(array, -1, 0))
