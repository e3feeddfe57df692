"""The CUDA runtime: CuPy compiles an artifact and runs it. The only file that imports CuPy.

`schedule.artifact` documents what the texts define.
"""

from __future__ import annotations

import ctypes
import functools
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy

from ..base import catalogue
from ..base.cache import Cache, key
from ..base.scratch import scratch
from ..base.toolchain import at_work, rejected
from ..schedule.artifact import BUSY, IN_A_ROW, UNASKED, Artifact, CudaArtifact, CudaLaunchesArtifact
from ..schedule.estimate import USUAL, Device

OPTIONS = ("--std=c++17", "--fmad=false")
FEW_SLOTS = 120  # 32 bytes each of the 4,096 that a kernel's parameters once had
SHARE = 0.5  # of the free device memory that one run may take for its working storage


@functools.cache
def cupy_module() -> Any:
    try:
        import cupy  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise catalogue.NO_CUPY.error() from None
    return cupy


@functools.cache
def available() -> bool:
    """Whether CuPy is installed and sees a device. Never raises."""
    try:
        return cupy_module().cuda.runtime.getDeviceCount() > 0
    except Exception:  # no driver, a broken installation: CuPy raises many things
        return False


def failure() -> str:
    """What goes wrong where CuPy compiles and runs a first kernel; "" where nothing does. Never raises."""
    try:
        cupy = cupy_module()
        (cupy.arange(2) + 1).get()
    except Exception as e:  # no NVRTC, no headers, an old driver: CuPy raises many things
        return (str(e).strip() or type(e).__name__).splitlines()[0]
    return ""


def device_count() -> int:
    """How many devices CuPy sees. Raises CompileError where there is none."""
    require_device()
    return cupy_module().cuda.runtime.getDeviceCount()


def current() -> int:
    """The current device's number."""
    return cupy_module().cuda.Device().id


def device_name() -> str:
    """The current device's name."""
    cupy = cupy_module()
    return cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)["name"].decode()


def identity() -> tuple[object, ...]:
    """What of this machine a program's speed depends on. Raises CompileError where there is no device."""
    require_device()
    cupy = cupy_module()
    versions = cupy.cuda.nvrtc.getVersion(), cupy.cuda.runtime.driverGetVersion(), cupy.__version__
    return device_name(), cupy.cuda.Device().compute_capability, *versions


def device() -> Device:
    """What estimates want to know of the current device, if there is one."""
    if not available():
        return USUAL
    properties = attributes()
    count, clock = properties.get("MultiProcessorCount", 0), 1e3 * properties.get("ClockRate", 0)
    shared = properties.get("MaxSharedMemoryPerBlockOptin", 0)
    return Device(count or Device.multiprocessors, clock or Device.clock, shared or Device.shared_bytes)


def attributes() -> dict[str, int]:
    """The current device's attributes, by CUDA's names without cudaDevAttr."""
    return _attributes(current())


@functools.cache
def _attributes(number: int) -> dict[str, int]:
    return dict(cupy_module().cuda.Device(number).attributes)


def free_bytes() -> int:
    """Of the current device's memory, what a run may have."""
    free, _ = cupy_module().cuda.runtime.memGetInfo()
    return int(free) + int(cupy_module().get_default_memory_pool().free_bytes())


def copy_bandwidth(total: int = 1 << 29) -> float:
    """Bytes read and written a second while the device copies ``total`` / 2 bytes to the other half."""
    cupy = cupy_module()
    source, target = cupy.ones(total // 16), cupy.zeros(total // 16)
    start, end = cupy.cuda.Event(), cupy.cuda.Event()
    times = []
    for _ in range(5):
        start.record()
        cupy.copyto(target, source)
        end.record()
        end.synchronize()
        times.append(cupy.cuda.get_elapsed_time(start, end) / 1e3)
    return 2 * source.nbytes / min(times)


class CudaProgram:
    """A compiled artifact. ``compile_seconds``: what NVRTC took, next to nothing where the cache knew the text.
    ``drawback``: why another schedule had better run, as the compiler's result shows; "" if there is none."""

    def __init__(self, artifact: CudaArtifact | CudaLaunchesArtifact):
        cupy = cupy_module()
        started = time.perf_counter()
        self.artifact = artifact
        self._device = cupy.cuda.Device()
        self._kernels: dict[str, Any] = {}
        self._threads = artifact.threads
        _refuse_many(artifact)
        code = _compiled(artifact)
        with scratch() as folder:  # CuPy loads files only, and remembers their names
            path = folder / "module.cubin"
            path.write_bytes(code)
            module = cupy.RawModule(path=str(path))
            pointer = module.get_global("c2cu_bytes")
            for name in artifact.kernels:
                self._kernels[name] = module.get_function(name)
                _ = self._kernels[name].num_regs  # which loads it
        self.compile_seconds = time.perf_counter() - started
        self.block_bytes = int(cupy.ndarray((1,), numpy.uint64, pointer)[0])
        most = attributes().get("MaxSharedMemoryPerBlockOptin", artifact.shared_bytes)
        if UNASKED < artifact.shared_bytes <= most:
            for kernel in self._kernels.values():
                kernel.max_dynamic_shared_size_bytes = artifact.shared_bytes
        self.drawback = self._spilled()
        if artifact.shared_bytes > most:
            self.drawback = f"a block takes {artifact.shared_bytes} bytes of shared memory, the device has {most}"

    def __del__(self) -> None:
        try:
            with self._device:
                self._device.synchronize()  # the module goes, and a kernel may still run
        except Exception:  # the interpreter may be ending, when names of modules are None
            pass

    def _spilled(self) -> str:
        if not isinstance(self.artifact, CudaArtifact) or self.artifact.spills is None:
            return ""
        kernel = self._kernels["c2cu_run"]
        if kernel.local_size_bytes <= self.artifact.spills:
            return ""
        return f"{kernel.num_regs} registers do not suffice: {kernel.local_size_bytes} bytes a thread are spilled"

    @functools.cached_property
    def resident(self) -> int:
        """How many blocks run at once."""
        kernel, shared = self._kernels["c2cu_run"].kernel, self.artifact.shared_bytes
        occupancy = cupy_module().cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor
        return max(1, occupancy(kernel.ptr, self._threads, shared)) * self._multiprocessors

    @functools.cached_property
    def _multiprocessors(self) -> int:
        return device().multiprocessors

    def blocks(self, p: int) -> int:
        """How many are launched for ``p`` inputs. Blocks that share them out: not more than run at once, and not more
        than busy the device if that leaves threads with few inputs in a row."""
        blocks = -(-p // self.artifact.inputs)
        if not isinstance(self.artifact, CudaArtifact) or self.artifact.refill is None:
            return blocks
        busy = self._multiprocessors * -(-BUSY // self._threads)
        return min(blocks, self.resident, max(busy, -(-p // (IN_A_ROW * self.artifact.inputs))))

    @property
    def kernels(self) -> Mapping[str, Any]:
        """By name."""
        return self._kernels

    @property
    def resources(self) -> dict[str, dict[str, int]]:
        """By kernel: registers and bytes of local memory of a thread, bytes of shared memory of a block."""
        dynamic = self.artifact.shared_bytes
        return {
            name: {
                "registers": k.num_regs,
                "local_bytes": k.local_size_bytes,
                "shared_bytes": k.shared_size_bytes + dynamic,
            }
            for name, k in self._kernels.items()
        }

    def run(self, inputs: Sequence[Any], outputs: Sequence[Any], p: int) -> None:
        """Do p inputs on the current stream: one device array or None for each slot, batch-first and contiguous.

        Where the working storage of all blocks would take too much memory, blocks go in several turns.
        """
        turn, memory = self.working(p)
        for first in range(0, p, turn):
            self.go(self.table(inputs, outputs, first), min(p - first, turn), memory)

    def working(self, p: int) -> tuple[int, Any]:
        """(inputs a turn, working storage for them): all ``p`` in one if a share of the device's memory suffices."""
        blocks = -(-p // self.artifact.inputs)
        if self.block_bytes:
            blocks = max(1, min(blocks, int(SHARE * free_bytes()) // self.block_bytes))
        memory = cupy_module().empty(max(1, blocks * self.block_bytes), numpy.uint8)
        return max(1, blocks) * self.artifact.inputs, memory

    def in_one_turn(self, p: int) -> bool:
        """Whether p inputs are done at once, whatever else is in the device's memory."""
        return not self.block_bytes and p > 0

    def run_table(self, table: Any, p: int) -> None:
        """The same as `run` where `in_one_turn`, by the driver's own call. ``table``: what `table` holds, in one piece
        of memory that ctypes knows."""
        cuda, count = cupy_module().cuda, ctypes.c_longlong(p)
        if not cuda.driver.ctxGetCurrent():
            cuda.runtime.setDevice(self._device.id)  # the first call of a thread
        arguments = (ctypes.c_void_p * 3)(*map(ctypes.addressof, (table, count, self._nothing)))
        shape = self.blocks(p), 1, 1, self._threads, 1, 1, self.artifact.shared_bytes
        stream = cuda.get_current_stream().ptr
        for function in self._functions:
            cuda.driver.launchKernel(function, *shape, stream, ctypes.addressof(arguments), 0)

    @functools.cached_property
    def _functions(self) -> tuple[int, ...]:
        """The driver's handles of the kernels."""
        return tuple(kernel.kernel.ptr for kernel in self._kernels.values())

    @functools.cached_property
    def _nothing(self) -> ctypes.c_void_p:
        """The address of working storage where none is needed."""
        return ctypes.c_void_p(None)

    def fits(self, nbytes: int) -> bool:
        """Whether there is room for a block's working storage, and beside it for ``nbytes`` in and out."""
        free = free_bytes()
        return self.block_bytes <= SHARE * free and self.block_bytes + nbytes <= free

    def go(self, table: Any, p: int, memory: Any) -> None:
        """Launch all kernels for ``p`` inputs."""
        for name in self._kernels:
            self.launch(name, table, p, memory)

    def table(self, inputs: Sequence[Any], outputs: Sequence[Any], first: int = 0) -> Any:
        """The slot table for inputs from ``first`` on, which kernels take by value: one struct of NumPy's."""
        table = numpy.zeros(1, [("slots", numpy.int64, (max(1, len(self.artifact.slots)), 4))])
        for row, slot, source, target in zip(table["slots"][0], self.artifact.slots, inputs, outputs, strict=False):
            if source is not None:
                stride = (
                    slot.nbytes
                    if not slot.shared
                    and source.nbytes != slot.nbytes
                    or (not slot.shared and source.ndim > len(slot.shape))
                    else 0
                )
                row[0], row[1] = source.data.ptr + first * stride, stride
            if target is not None:
                row[2], row[3] = target.data.ptr + first * slot.nbytes, slot.nbytes
        return table

    def launch(self, name: str, table: Any, p: int, memory: Any) -> None:
        """Launch one of the kernels."""
        arguments = (table, numpy.int64(p), memory)
        self._kernels[name]((self.blocks(p),), (self._threads,), arguments, shared_mem=self.artifact.shared_bytes)


def nvrtc_options(artifact: Artifact) -> tuple[str, ...]:
    """What NVRTC is given beside an artifact's text."""
    wide = ("--device-int128",) if "__int128" in artifact.text else ()
    flags = {flag.partition("=")[0]: flag for flag in (*OPTIONS, *wide, *artifact.flags)}  # NVRTC takes none twice
    return tuple(flags.values())


def _compiled(artifact: Artifact) -> bytes:
    """An artifact's machine code for the current device. Raises CompileError.

    CuPy's RawModule would append -ftz=true when it compiles, and so take subnormal numbers for zero.
    """
    cupy = cupy_module()
    options = nvrtc_options(artifact)
    device = cupy.cuda.Device().compute_capability
    name = key(artifact.text, options, device, cupy.cuda.nvrtc.getVersion(), cupy.__version__)

    def produce() -> bytes:
        with at_work("NVRTC"):
            code, _ = cupy.cuda.compiler.compile_using_nvrtc(artifact.text, options, cache_in_memory=True)
        return code

    try:
        return Cache().put(name, ".cubin", produce)
    except cupy.cuda.compiler.CompileException as e:
        raise rejected("NVRTC", artifact.text, str(e)) from None


def _refuse_many(artifact: Artifact) -> None:
    """Raise CompileError for more slots than kernels take before CUDA 12.1, or before compute capability 7.0."""
    cupy = cupy_module()
    old = cupy.cuda.nvrtc.getVersion() < (12, 1) or int(cupy.cuda.Device().compute_capability) < 70
    if old and len(artifact.slots) > FEW_SLOTS:
        raise catalogue.TOO_MANY_FOR_DEVICE.error(
            artifact.slots[FEW_SLOTS].loc, count=len(artifact.slots), most=FEW_SLOTS
        )


def pinned(array: numpy.ndarray) -> bool:
    """Whether a host array's memory is page-locked, so that the device copies from and to it without a detour."""
    runtime = cupy_module().cuda.runtime
    first, last = array.ctypes.data, array.ctypes.data + max(1, array.nbytes) - 1
    return all(runtime.pointerGetAttributes(x).type == runtime.memoryTypeHost for x in {first, last})


def joined(parts: Sequence[Any], axis: int) -> Any:
    """Device arrays, one after the other."""
    cupy = cupy_module()
    return cupy.concatenate([a if isinstance(a, cupy.ndarray) else cupy.from_dlpack(a) for a in parts], axis)


def uploaded(array: Any) -> Any:
    """A contiguous array on the current device; CuPy has no structured dtypes: structs are bytes there."""
    array = numpy.ascontiguousarray(array) if array.ndim else numpy.asarray(array)
    bytes_ = array.reshape(-1).view(numpy.uint8) if array.dtype.kind == "V" else array
    return cupy_module().asarray(bytes_)


def require_device() -> None:
    if not available():
        cupy_module()
        raise catalogue.NO_DEVICE.error()
