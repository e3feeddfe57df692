"""The backends: which there are, which is the best here, and what each one's runtime offers."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from . import tune
from .base import catalogue
from .frontend.options import one_of
from .schedule.artifact import Artifact, CpuArtifact, CpuNativeArtifact, CpuTeamArtifact
from .schedule.estimate import Device
from .schedule.slots import Slot


def known(backend: str) -> None:
    """Raises InputError for one that there is not."""
    one_of("backend", backend, ("auto", "cpu", "cuda"))


def best() -> str:
    """cuda where CuPy sees a device, else cpu."""
    if "cupy" not in sys.modules:
        from importlib.util import find_spec

        if find_spec("cupy") is None:
            return "cpu"
    from .runtime import cuda

    return "cuda" if cuda.available() else "cpu"


def loader(backend: str) -> Any:
    """The function that compiles an artifact and loads it."""
    if backend == "cpu":
        return _load_for_cpu
    from .runtime import launch

    return launch.load


def _load_for_cpu(artifact: Artifact) -> Any:
    if isinstance(artifact, CpuNativeArtifact):
        from .runtime import native

        return native.load(artifact)
    from .runtime import cpu

    assert isinstance(artifact, CpuArtifact | CpuTeamArtifact)
    return cpu.load(artifact, native=_load_for_cpu)


def device(backend: str) -> Device:
    """What estimates want to know of the device."""
    if backend == "cpu":
        return Device()
    from .runtime import cuda

    return cuda.device()


def timer(backend: str, slots: tuple[Slot, ...], inputs: Mapping[str, Any], layout: str, stream: Any) -> tune.Run:
    """A function that runs a program for the first n inputs and says how many seconds that took."""
    if backend == "cpu":
        from .runtime import cpu

        refuse_device_arrays(inputs)
        return cpu.timer(slots, inputs, layout)
    from .runtime import launch

    return launch.timer(slots, inputs, layout, stream)


def refuse_device_arrays(inputs: Mapping[str, Any]) -> None:
    """Raises InputError where the CPU is given arrays of a device."""
    from .runtime import arrays

    if any(arrays.on_device(a) for a in inputs.values()):
        raise catalogue.ON_DEVICE.error()


def count_devices(backend: str, devices: Sequence[int] | None) -> int:
    """How many devices there are to run on. Raises InputError for one that is not there."""
    return 1 if backend == "cpu" else len(ordinals(devices))


def ordinals(devices: Sequence[int] | None) -> list[int]:
    """GPUs by number: those chosen, or all that are visible."""
    from .runtime import cuda

    count = cuda.device_count()
    if devices is None:
        return list(range(count))
    chosen = [int(d) for d in devices]
    wrong = [d for d in chosen if not 0 <= d < count]
    if wrong or not chosen or len(set(chosen)) < len(chosen):
        listed = ", ".join(map(str, chosen)) or "none"
        raise catalogue.BAD_DEVICES.error(devices=listed, last=count - 1)
    return chosen


def pipes(
    artifact: Artifact,
    loaded: Any,
    layout: str,
    fixed: Sequence[Any],
    batched: Sequence[bool],
    group: int,
    depth: int,
    devices: Sequence[int] | None,
    timeline: bool,
) -> list[Any]:
    """One for each device. ``fixed``: what all inputs share; ``batched``: which slots come in batches. Raises
    OutOfRoom."""
    if isinstance(artifact, CpuArtifact | CpuNativeArtifact | CpuTeamArtifact):
        from .runtime.cpu_pipe import CpuPipe

        return [CpuPipe(loaded, layout, fixed, depth)]
    from .runtime.cuda_pipe import CudaPipe

    opened: list[Any] = []
    try:
        for d in ordinals(devices):
            opened.append(CudaPipe(artifact, d, group, depth, layout, fixed, batched, timeline))
    except BaseException:
        for p in opened:
            p.close()
        raise
    return opened


def refuse_in_bands(inputs: Mapping[str, Any], stream: Any) -> None:
    """Raises InputError for what a program cannot take whose matrices go to devices in bands of rows."""
    from .runtime import arrays

    if any(arrays.on_device(a) for a in inputs.values()):
        raise catalogue.BANDS_ON_DEVICE.error()
    if stream is not None:
        raise catalogue.BANDS_STREAM.error()
