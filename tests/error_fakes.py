"""Machines that examples of errors run on: GPUs and packages that are not there, memory and devices that fail."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import c2cu
from c2cu import api, runtime
from c2cu.base.recent import Recent
from c2cu.runtime import cpu, cuda_bands, launch
from c2cu.runtime.cpu_pipe import CpuPipe
from c2cu.runtime.cuda import _refuse_many
from tests.error_example import State


class OutOfMemoryError(Exception):
    pass


class CUDADriverError(Exception):
    pass


class CUDARuntimeError(Exception):
    pass


class Stream:
    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


class DeviceArray:
    """An array that lies on a device, as far as c2cu can tell without looking into it."""

    def __init__(self, array: np.ndarray):
        self.dtype, self.shape, self.ndim = array.dtype, array.shape, array.ndim
        self.__cuda_array_interface__ = array.__array_interface__
        self.flags, self.device = array.flags, SimpleNamespace(id=0)


def cupy(count: int, free: int, cuda: tuple[int, int]) -> Any:
    """CuPy with ``count`` devices that have ``free`` bytes of memory each, built for a version of CUDA."""

    class Device(Stream):
        compute_capability = "90"

        def __init__(self, number: int = 0):
            self.id, self.attributes = number, {}

    module: Any = ModuleType("cupy")
    module.asarray = np.asarray
    module.ascontiguousarray = np.ascontiguousarray
    module.empty = np.empty
    module.ndarray = DeviceArray
    module.__version__ = "14.0"
    module.ones = lambda shape, dtype: DeviceArray(np.ones(shape, dtype))
    module.get_default_memory_pool = lambda: SimpleNamespace(free_bytes=lambda: 0, free_all_blocks=lambda: None)
    module.cuda = SimpleNamespace(
        Device=Device,
        Stream=Stream,
        ExternalStream=Stream,
        get_current_stream=Stream,
        memory=SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
        driver=SimpleNamespace(CUDADriverError=CUDADriverError),
        nvrtc=SimpleNamespace(getVersion=lambda: cuda),
        runtime=SimpleNamespace(
            CUDARuntimeError=CUDARuntimeError,
            getDeviceCount=lambda: count,
            getDeviceProperties=lambda number: {"name": b"a GPU"},
            memGetInfo=lambda: (free, free),
            driverGetVersion=lambda: 13000,
        ),
    )
    return module


def gpus(
    count: int = 1, free: int = 1 << 34, cuda: tuple[int, int] = (13, 0), failure: Exception | None = None
) -> Callable[[pytest.MonkeyPatch], None]:
    """A machine with GPUs, where programs need no compiler and do nothing. ``failure``: what their kernels raise."""

    def make(monkeypatch: pytest.MonkeyPatch) -> None:
        module = cupy(count, free, cuda)
        monkeypatch.setitem(sys.modules, "cupy", module)
        # All are imported before any is changed: one that is imported later would keep the fake for good.
        users = [importlib.import_module(m.name) for m in pkgutil.iter_modules(runtime.__path__, "c2cu.runtime.")]
        for user in users:
            if hasattr(user, "cupy_module"):
                monkeypatch.setattr(user, "cupy_module", lambda: module)
        monkeypatch.setattr("c2cu.runtime.cuda.available", lambda: count > 0)
        monkeypatch.setattr(launch, "_loaded", Recent(1))
        monkeypatch.setattr(api, "_programs", Recent(1))
        monkeypatch.setattr(launch, "CudaProgram", lambda artifact: Compiled(artifact, failure))

    return make


class Compiled:
    """A compiled program of which no kernel does anything, or all fail."""

    drawback = ""

    def __init__(self, artifact: Any, failure: Exception | None):
        _refuse_many(artifact)
        self.artifact, self.failure = artifact, failure

    def run(self, *_: object) -> None:
        if self.failure is not None:
            raise self.failure


def moving(monkeypatch: pytest.MonkeyPatch) -> None:
    """A GPU that finds in each matrix that row k changes in step k."""
    gpus()(monkeypatch)
    monkeypatch.setattr(cuda_bands, "_InputRun", lambda *_: SimpleNamespace(go=lambda: True))


def failing_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """A GPU that fails while a stream's first group runs."""

    class FailingPipe(CpuPipe):
        name = "cuda:0"

        def finish(self, token: object) -> None:
            raise CUDADriverError("CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered")

    gpus(failure=CUDADriverError())(monkeypatch)
    monkeypatch.setattr("c2cu.backends.pipes", lambda *_: [FailingPipe(None, "row", (), 2)])  # pyright: ignore


def no_host_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    team = cpu.Team.__init__

    def make(self: Any, library: Any) -> None:
        team(self, library)
        self._begin = lambda *_: None

    monkeypatch.setattr(cpu.Team, "__init__", make)
    monkeypatch.setattr("c2cu.runtime.cpu._loaded", Recent(1))


def import_anew(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """c2cu's module of this name is not imported yet."""
    for modules, key in ((sys.modules, f"c2cu.{name}"), (vars(c2cu), name)):
        monkeypatch.setitem(modules, key, None)
        del modules[key]


def without(package: str) -> Callable[[pytest.MonkeyPatch], None]:
    """A machine where a package is not installed."""

    def make(monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, package, None)
        import_anew(monkeypatch, package)

    return make


def matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    """As much of matplotlib as can be imported before there is something to plot."""
    for name in ("matplotlib", "matplotlib.figure", "matplotlib.patches"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))


def dask(monkeypatch: pytest.MonkeyPatch) -> None:
    """What c2cu.dask imports of Dask, and arrays of which a part has an unknown length."""

    class Array:
        def __init__(self, shape: tuple[float, ...], dtype: object = None):
            self.shape = shape

        def __getitem__(self, chosen: object) -> Array:
            return Array((float("nan"), *self.shape[1:]))

        def __gt__(self, other: object) -> Array:
            return self

    names = {"Array": Array, "ones": Array, "meta_from_array": None, "tokenize": None, "delayed": None}
    for name in ("dask", "dask.array", "dask.array.utils", "dask.base", "dask.delayed"):
        module = ModuleType(name)
        vars(module).update(names)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(sys.modules["dask"], "array", sys.modules["dask.array"], raising=False)
    import_anew(monkeypatch, "dask")


def fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def check(*_: object, **__: object) -> None:
        raise AssertionError("loop without a test")

    monkeypatch.delenv("C2CU_DEBUG", raising=False)
    monkeypatch.setattr("c2cu.api.check", check)


REGISTERS = CUDADriverError("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: too many resources requested for launch")

ADDRESS = CUDARuntimeError("cudaErrorIllegalAddress: an illegal memory access was encountered")

STATES = {
    "CuPy, no GPU": State("where CuPy is installed, but there is no GPU", gpus(0)),
    "GPU": State("where there is one GPU", gpus()),
    "full GPU": State("where other programs use the GPU's memory", gpus(free=4096, failure=OutOfMemoryError())),
    "old CUDA": State("with CUDA 12.0", gpus(cuda=(12, 0))),
    "GPU refuses": State("where the kernel needs more registers than the GPU has", gpus(failure=REGISTERS)),
    "GPU faults": State("where the kernel reads past an array that comes by pointer", gpus(failure=ADDRESS)),
    "GPU fails": State("where the GPU fails during the run", failing_stream),
    "negative cycle": State("where a distance from a vertex to itself becomes negative", moving),
    "no host memory": State("where the memory is used up", no_host_memory),
    "no nvcc": State("where nvcc is not installed", lambda m: m.setattr("c2cu.base.toolchain.find_nvcc", lambda: None)),
    "no matplotlib": State("where matplotlib is not installed", without("matplotlib")),
    "matplotlib": State("where matplotlib is installed", matplotlib),
    "no Dask": State("where Dask is not installed", without("dask")),
    "Dask": State("where Dask is installed", dask),
    "fault": State("where c2cu has a bug", fault),
}
