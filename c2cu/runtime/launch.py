"""Load an artifact on the current GPU, time it, run it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy

from ..base import catalogue
from ..base.diagnostics import Error
from ..base.recent import Recent
from ..schedule.artifact import Artifact, CudaArtifact, CudaBandsArtifact, CudaLaunchesArtifact
from ..schedule.slots import Slot
from . import arrays
from .cuda import CudaProgram, cupy_module, require_device
from .cuda_bands import CudaBandsProgram
from .cuda_launches import CudaLaunchesProgram

MODULES = 256  # that stay loaded, those last used
_loaded: Recent[Any] = Recent(MODULES)


def load(artifact: Artifact) -> Any:
    """Compile (or find) an artifact for the current device, and load it: a `CudaProgram`, or what runs it in bands.
    Raises CompileError."""
    require_device()
    meaning = (_key(artifact), repr(artifact.slots), cupy_module().cuda.Device().id)
    return _loaded.of(meaning, lambda: _program(artifact))


def _key(artifact: Artifact) -> Artifact:
    """An artifact but for its slots, which have no hash where there are structs."""
    if isinstance(artifact, CudaBandsArtifact):
        artifact = replace(artifact, otherwise=None)  # has the same slots
    return replace(artifact, slots=())


def _program(artifact: Artifact) -> Any:
    match artifact:
        case CudaBandsArtifact():
            return CudaBandsProgram(artifact)
        case CudaLaunchesArtifact():
            return CudaLaunchesProgram(artifact)
        case CudaArtifact():
            return CudaProgram(artifact)
    raise TypeError(artifact)


def timer(
    slots: tuple[Slot, ...], inputs: Mapping[str, Any], layout: str, stream: Any = None
) -> Callable[[CudaProgram, int], float]:
    """A function that runs a program for the first n inputs and says how many seconds that took on the device. Results
    go nowhere. It raises CompileError where the device does not take the launch, or has not enough memory."""
    cupy = cupy_module()
    bound: dict[int, arrays.Bound] = {}

    def run(program: CudaProgram, n: int) -> float:
        with stream if stream is not None else cupy.cuda.get_current_stream():
            try:
                if n not in bound:
                    bound.clear()
                    bound[n] = arrays.bind(slots, arrays.first(inputs, slots, layout, n), {}, None, layout, n, cupy)
                start, end = cupy.cuda.Event(), cupy.cuda.Event()
                start.record()
                program.run(bound[n].inputs, bound[n].outputs, n)
                end.record()
                end.synchronize()
            except cupy.cuda.memory.OutOfMemoryError:
                raise catalogue.DEVICE_MEMORY.error(what=f"{n} inputs") from None
            except cupy.cuda.driver.CUDADriverError as e:
                raise catalogue.DEVICE_FAILED.error(reason=e) from None
            return 1e-3 * cupy.cuda.get_elapsed_time(start, end)

    return run


def run(
    program: CudaProgram,
    slots: tuple[Slot, ...],
    inputs: Mapping[str, Any],
    out: Any,
    layout: str,
    stream: Any,
    p: int | None,
) -> Any:
    """Check the arrays, run, and deliver: NumPy for NumPy, CuPy for arrays on a device."""
    cupy = cupy_module()
    current = stream if stream is not None else cupy.cuda.get_current_stream()
    if not isinstance(current, cupy.cuda.Stream | cupy.cuda.ExternalStream):
        raise catalogue.NOT_A_STREAM.error(type=type(stream).__name__)
    with current:
        try:
            bound = arrays.bind(slots, inputs, {}, out, layout, p, cupy)
            if bound.p:
                program.run(bound.inputs, bound.outputs, bound.p)
        except cupy.cuda.memory.OutOfMemoryError:
            raise catalogue.DEVICE_MEMORY.error(what="these inputs") from None
        except (cupy.cuda.driver.CUDADriverError, cupy.cuda.runtime.CUDARuntimeError) as e:
            raise failed(e, program, slots) from None
        deliver = _to_device if bound.on_device else _to_host
        try:
            return arrays.deliver(bound, slots, out, layout, deliver)
        except cupy.cuda.runtime.CUDARuntimeError as e:  # the copy back is the first to hear of a fault
            raise failed(e, program, slots) from None


#: What a kernel's own access or instruction ends in; CUDA takes no other call from the process then.
_FAULTS = re.compile(r"illegal|misaligned|launch.?fail|unspecified|hardware|invalid.?(pc|address)|assert|stack", re.I)


def failed(e: Exception, program: CudaProgram, slots: tuple[Slot, ...]) -> Error:
    """What is said of an error of the device."""
    if not _FAULTS.search(str(e)):
        return catalogue.DEVICE_FAILED.error(reason=e)
    artifact = getattr(program, "artifact", None)
    heading = re.match(r"/\* (\w+)", artifact.text if artifact is not None else "")
    name = f"'{heading[1]}'" if heading else "the kernel"
    where = next((s.loc for s in slots if s.loc.line), None)
    schedule = artifact.schedule if artifact is not None else "cuda"
    return catalogue.KERNEL_FAULT.error(where, name=name, schedule=schedule, reason=e)


def _to_device(array: Any, slot: Slot) -> Any:
    return array


def _to_host(array: Any, slot: Slot) -> numpy.ndarray:
    host = array.get()
    t = numpy.dtype(slot.dtype)
    return host if t.names is None and t.kind != "V" else host.reshape(-1).view(t).reshape(host.shape[0], *slot.shape)
