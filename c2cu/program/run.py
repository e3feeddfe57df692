"""Running a call: arrays in, a compiled program over them, arrays out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .. import backends
from ..schedule.artifact import CpuNativeArtifact, CudaBandsArtifact
from .build import Built
from .verify import compared, verified


def run(
    program: Any,
    built: Built,
    arguments: Mapping[str, Any],
    out: Any,
    layout: str,
    stream: Any,
    p: int | None,
    devices: Sequence[int] | None,
    started: float,
) -> Any:
    """The results of a call of ``program``, by what was ``built`` for it, verified; otherwise as `Program.__call__`
    says. ``started``: when it was called."""
    from ..runtime import arrays

    slots = built.artifact.slots

    def checked() -> tuple[Mapping[str, Any], Any, str, int, float]:
        fitted, count = arrays.fitted(arguments, slots, layout, p)
        arrays.targets(slots, out, layout, count)
        return fitted, out, layout, count, started

    def call(out: Any, work: Any = None) -> Any:
        return _run(program, built, work, arguments, out, layout, stream, p, devices)

    if built.contest is not None:
        with built.contest.over(arrays.count(arguments, slots, layout, p) or 0) as match:
            if match is not None:
                return compared(match.unproved, lambda out: call(out, match.run), *checked())
    if built.proof is None or built.proof.settled:
        return call(out)
    return verified(built.proof, call, *checked())


def _run(
    program: Any,
    built: Built,
    work: Callable[..., Any] | None,
    arguments: Mapping[str, Any],
    out: Any,
    layout: str,
    stream: Any,
    p: int | None,
    devices: Sequence[int] | None,
) -> Any:
    from ..runtime import arrays

    slots, more = built.artifact.slots, ()
    if isinstance(built.artifact, CudaBandsArtifact):
        backends.refuse_in_bands(arguments, stream)
        more = (None if devices is None else backends.ordinals(devices),)
    elif built.plan.backend == "cuda":
        from ..runtime import launch

        if stream is None and arrays.in_groups(slots, arguments, out, layout):
            from ..streaming.streams import in_groups

            return in_groups(program, slots, arguments, out, arrays.common_p(arguments, slots, layout, p))
        return launch.run(built.loaded, slots, arguments, out, layout, stream, p)
    else:
        backends.refuse_device_arrays(arguments)
    bound = arrays.bind(slots, arguments, {}, out, layout, p)
    run_them = work or built.loaded.run
    exited = run_them(bound.inputs, bound.outputs, bound.p, *more) if bound.p else None
    if isinstance(built.artifact, CpuNativeArtifact) and out is None and bound.p:
        dropped = built.loaded.unchanged(bound.inputs, bound.outputs)
        bound = replace(bound, outputs=tuple(None if s.name in dropped else x for s, x in zip(slots, bound.outputs)))
    results = arrays.deliver(bound, slots, out, layout, lambda a, s: a)
    if isinstance(built.artifact, CpuNativeArtifact) and built.artifact.guessed and not isinstance(results, dict):
        results = {next(s.name for s, x in zip(slots, bound.outputs) if x is not None): results}  # not by chance alone
    return results if exited is None else ended_early(exited, built, results)


def ended_early(exited: Any, built: Built, results: Any) -> Any:
    """The results of a call of which some inputs ended early, if their status is among them; else raises ExitError.
    ``exited``: see `NativeProgram.run`."""
    if any(s.is_status for s in built.artifact.slots):
        return results
    from ..runtime.native import ended

    raise ended(exited, results)
