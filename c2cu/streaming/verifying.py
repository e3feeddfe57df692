"""A device all of whose results are compared with those of schedule ``native``, group by group: ``verify="all"``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from ..base.diagnostics import ExitError
from ..runtime.pipe import Pipe, Span
from ..schedule.slots import Slot

Token = tuple[Any, Sequence[Any], Sequence[Any], int]  # the device's own, inputs, outputs, count


class VerifyingPipe:
    """See `runtime.pipe.Pipe`. ``proof``: a `program.verify.Verification`, which is told of each group; ``shared``:
    what all inputs share, one array a slot or None."""

    def __init__(self, pipe: Pipe, proof: Any, layout: str, slots: Sequence[Slot], shared: Sequence[Any]):
        self._pipe, self._proof, self._layout = pipe, proof, layout
        self._names, self._slots, self._shared = [s.name for s in slots], slots, shared
        self.name, self.depth, self.memory = pipe.name, pipe.depth, pipe.memory

    def allocate(self, nbytes: int) -> numpy.ndarray:
        return self._pipe.allocate(nbytes)

    def direct(self, array: Any) -> bool:
        return self._pipe.direct(array)

    def start(self, number: int, inputs: Sequence[Any], outputs: Sequence[Any], count: int) -> Token:
        return self._pipe.start(number, inputs, outputs, count), inputs, outputs, count

    def finish(self, token: Token) -> None:
        """As the pipe itself; then put the results of ``native`` in place of others."""
        pipe_token, inputs, outputs, count = token
        early: ExitError | None = None
        try:
            self._pipe.finish(pipe_token)
        except ExitError as e:
            early = e
        arguments = self._named([x if s is None else s for x, s in zip(inputs, self._shared)])
        results = self._named(outputs) if early is None else self._of(early)
        self._proof.mend(arguments, results, self._layout, count)
        if early is not None:
            raise early

    def spans(self) -> list[Span]:
        return self._pipe.spans()

    def close(self) -> None:
        self._pipe.close()

    def _of(self, early: ExitError) -> dict[str, Any]:
        """The outputs of an error by name."""
        if isinstance(early.outputs, dict):
            return early.outputs
        return {s.name: early.outputs for s in self._slots if s.writes}

    def _named(self, arrays: Sequence[Any]) -> dict[str, Any]:
        return {n: a for n, a in zip(self._names, arrays) if a is not None}
