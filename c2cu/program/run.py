"""Running a call: arrays in, a compiled program over them, arrays out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .. import backends
from ..schedule.artifact import CudaBandsArtifact
from .build import Built


def run(
    program: Any,
    built: Built,
    given: Mapping[str, Any],
    out: Any,
    layout: str,
    stream: Any,
    p: int | None,
    devices: Sequence[int] | None,
) -> Any:
    """The results of a call of ``program``, by what was ``built`` for it; otherwise as `Program.__call__` says."""
    from ..runtime import arrays

    slots, more = built.artifact.slots, ()
    if isinstance(built.artifact, CudaBandsArtifact):
        backends.refuse_in_bands(given, stream)
        more = (None if devices is None else backends.ordinals(devices),)
    elif built.plan.backend == "cuda":
        from ..runtime import launch

        if stream is None and arrays.in_groups(slots, given, out, layout):
            from ..streaming.streams import in_groups

            return in_groups(program, slots, given, out, arrays.common_p(given, slots, layout, p))
        return launch.run(built.loaded, slots, given, out, layout, stream, p)
    else:
        backends.refuse_device_arrays(given)
    bound = arrays.bind(slots, given, {}, out, layout, p)
    if bound.p:
        built.loaded.run(bound.inputs, bound.outputs, bound.p, *more)
    return arrays.deliver(bound, slots, out, layout, lambda a, s: a)
