"""Schedule ``native`` (CPU): the program's own text, compiled as it stands, one input after the other; any C."""

from __future__ import annotations

from ..artifact import Artifact
from ..schedule import Schedule
from ..understood import Understood


class NativeSchedule(Schedule):
    def emit(self, understood: Understood, threads: int, variant: str) -> Artifact:
        from .emit import native

        return native(understood)
