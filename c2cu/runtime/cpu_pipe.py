"""The CPU as a stream's device: a group at a time over all cores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from .cpu import CpuProgram
from .native import NativeProgram, ended
from .pipe import Span

Token = tuple[Sequence[Any], Sequence[Any], int]  # inputs, outputs, count


class CpuPipe:
    """See `runtime.pipe.Pipe`. ``shared``: what all inputs share, one array a slot or None."""

    name = "cpu"
    memory = 0

    def __init__(self, program: CpuProgram | NativeProgram, layout: str, shared: Sequence[Any], depth: int):
        self._program, self._layout, self._shared, self.depth = program, layout, shared, depth

    def allocate(self, nbytes: int) -> numpy.ndarray:
        return numpy.empty(nbytes, numpy.uint8)

    def direct(self, array: Any) -> bool:
        return isinstance(array, numpy.ndarray) and array.flags.c_contiguous

    def start(self, number: int, inputs: Sequence[Any], outputs: Sequence[Any], count: int) -> Token:
        return inputs, outputs, count

    def finish(self, token: Token) -> None:
        """Run the group. Nothing is gained by beginning earlier, as a group keeps all cores busy."""
        inputs, outputs, count = token
        if self._layout == "row":
            self._run(inputs, outputs, count)
            return
        batch_first = [None if x is None else numpy.zeros((count, *x.shape[:-1]), x.dtype) for x in outputs]
        self._run([None if x is None else _batch_first(x) for x in inputs], batch_first, count)
        for target, output in zip(outputs, batch_first):
            if output is not None:
                target[...] = numpy.moveaxis(output, 0, -1)

    def _run(self, inputs: Sequence[Any], outputs: Sequence[Any], count: int) -> None:
        ins = [x if s is None else s for x, s in zip(inputs, self._shared)]
        exited = self._program.run(ins, outputs, count)
        slots = self._program.artifact.slots
        if exited is not None and not any(s.is_status for s in slots):
            copies = {s.name: x.copy() for s, x in zip(slots, outputs) if x is not None}
            raise ended(exited, copies if len(copies) != 1 else next(iter(copies.values())))

    def spans(self) -> list[Span]:
        return []

    def close(self) -> None:
        return


def _batch_first(array: numpy.ndarray) -> numpy.ndarray:
    return numpy.ascontiguousarray(numpy.moveaxis(array, -1, 0))
