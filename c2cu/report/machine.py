"""What this machine offers: for `c2cu doctor` and `c2cu explain`."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata

from ..base import driver, toolchain
from ..base.cache import Cache, chosen_folder, key
from ..base.diagnostics import CompileError, Error
from ..base.scratch import scratch
from ..base.version import __version__
from ..runtime import cpu, cuda
from ..schedule.estimate import USUAL, Device
from ..schedule.roofline import PER_CLOCK, Limits, rate

#: Vector instructions that a CPU core starts a clock, at most.
VECTORS = 2
#: Bytes a second that an H200 copies, read and written together: see benchmarks/results/h200.json.
H200 = 4.2e12
#: What installs a C compiler, and has it taken before any other.
ZIG = f"pip install 'c2cu[zig]' && export CC='{sys.executable} -m ziglang cc'"
#: Packages that c2cu does without, and what needs them.
OPTIONAL = (
    ("matplotlib", "'c2cu explain --plot'"),
    ("zarr", "arrays in Zarr files"),
    ("dask", "several machines (c2cu.dask)"),
)


def device(backend: str) -> str:
    """The name of what a backend runs on, or would run on."""
    if backend == "cuda":
        return cuda.device_name() if cuda.available() else "no GPU here: figures are an NVIDIA H200's"
    return f"{platform.machine()}, {8 * toolchain.vector_bytes()}-bit SIMD, {cpu.threads()} threads"


def speed(backend: str) -> Device:
    """What estimates want to know of a backend's device."""
    return cuda.device() if backend == "cuda" else USUAL


def limits(backend: str, size: int = 4, again: bool = False) -> Limits:
    """What bounds a program here; ``size``: bytes of the values that it computes with, 4 or 8. Without a GPU, what
    would bound it on an H200.

    Copying measures the bandwidth, once; the cache keeps it, unless it is to be measured ``again``.
    """
    return _cuda_limits(size, again) if backend == "cuda" else _cpu_limits(size, again)


def _cpu_limits(size: int, again: bool) -> Limits:
    name, clock = toolchain.cpu_model()
    threads, lanes = cpu.threads(), toolchain.vector_bytes() // size
    bandwidth = _measured(("cpu", name, toolchain.cpu_key(), threads), cpu.copy_bandwidth, again)
    rate = clock * threads * VECTORS
    rates = {"float": rate * lanes, "integer": rate * lanes, "wide": rate * toolchain.vector_bytes() // 8}
    nominal = f"nominal: {threads} threads x {VECTORS} vectors of {lanes} a clock at {clock / 1e9:.2f} GHz"
    return Limits(
        name or platform.machine(),
        bandwidth,
        "measured: copying with all threads",
        rates if clock else {},
        nominal if clock else "",
    )


def _cuda_limits(size: int, again: bool) -> Limits:
    if not cuda.available():
        nominal = _nominal(USUAL.multiprocessors, USUAL.clock)
        return Limits("NVIDIA H200, not here", H200, "nominal", _cuda_rates(USUAL, size, 2), nominal)
    attributes, name = cuda.attributes(), cuda.device_name()
    bandwidth = _measured(("cuda", name), cuda.copy_bandwidth, again)
    clock, count = 1e3 * attributes.get("ClockRate", 0), attributes.get("MultiProcessorCount", 0)
    rates = _cuda_rates(Device(count, clock), size, attributes.get("SingleToDoublePrecisionPerfRatio", 2))
    known = bool(clock and count)
    nominal = _nominal(count, clock) if known else ""
    return Limits(name, bandwidth, "measured: copying on the device", rates if known else {}, nominal)


def _cuda_rates(device: Device, size: int, singles: int) -> dict[str, float]:
    """Operations a second by class. ``singles``: operations on floats in the time of one on doubles."""
    rates = {c: n * device.clock * device.multiprocessors for c, n in PER_CLOCK.items()}
    if size == 8:
        rates["float"] /= max(1, singles)
        rates["integer"] /= 2  # an addition of 64 bits is two of 32
    return rates


def _nominal(count: int, clock: float) -> str:
    return f"nominal: {count} multiprocessors at {clock / 1e9:.2f} GHz, instructions a clock as on an H200"


def _measured(identity: tuple[object, ...], measure: Callable[[], float], again: bool = False) -> float:
    """A rate from the cache, or measured now."""
    cache, name = Cache(), key("bandwidth", *identity, __version__)
    known = None if again else cache.get(name, ".rate")
    if known is None:
        known = f"{measure():.4g}".encode()
        cache.store(name, ".rate", known)
    return float(known)


@dataclass(frozen=True)
class Capability:
    """What `c2cu doctor` finds of one thing, and what to do, a command mostly, where it is missing or fails."""

    what: str
    state: str
    mend: str = ""


def can_run() -> bool:
    """Whether c2cu works here: without a C compiler that works it does not."""
    return not _compiler().mend


def examination(measure: bool = False) -> str:
    """A line for each thing that matters, and under it what to do where it is missing or fails. ``measure``: the
    bandwidths too, measured now."""
    rows = [*findings(), *(_bandwidths() if measure else [])]
    width = max(len(r.what) for r in rows) + 1
    lines = []
    for r in rows:
        lines.append(f"{r.what:{width}} {r.state}")
        lines += [f"{'':{width}} to mend it: {r.mend}"] if r.mend else []
    return "\n".join(lines)


def findings() -> list[Capability]:
    """What this machine has and lacks."""
    version = driver.cuda_version()
    has_device = cuda.available()
    return [
        Capability("c2cu", f"{__version__}, Python {platform.python_version()} at {sys.executable}"),
        _compiler(),
        Capability("CPU", device("cpu")),
        _cache(),
        Capability("CUDA driver", f"for CUDA {_dotted(version)}" if version else "none: c2cu runs on the CPU"),
        _cupy(version),
        Capability("CUDA device", cuda.device_name() if has_device else "none that CuPy sees"),
        _nvcc(),
        *(_optional(*package) for package in OPTIONAL),
    ]


def _cache() -> Capability:
    folder, why_not = chosen_folder()
    if not why_not:
        return Capability("cache", str(folder))
    private = f"nothing is kept: {folder or 'no folder'} is not used, as {why_not}"
    return Capability("cache", private, "set C2CU_CACHE_DIR to a folder of yours that is closed to others (chmod 700)")


def _compiler() -> Capability:
    what = "C compiler"
    try:
        command = toolchain.find_compiler()
        version = toolchain.compiler_version(command)
    except Error as e:
        return Capability(what, e.diagnostic.message, e.diagnostic.hint)
    if complaint := _complaint(command):
        return Capability(what, f"{' '.join(command)} does not compile a simple program: {complaint}", ZIG)
    return Capability(what, f"{' '.join(command)}: {version}")


def _complaint(command: tuple[str, ...]) -> str:
    """What a compiler says of a program with a header of C's and a function of its library; "" where it compiles."""
    program = "#include <math.h>\n#include <stdlib.h>\ndouble f(double x) { return sin(x); }\n"
    with scratch() as folder:
        options = ["-shared", "-fPIC", "-x", "c", "-", "-o", str(folder / "f.so"), "-lm"]
        try:
            done = toolchain.fed([*command, *options], program, folder)
        except CompileError as e:
            return e.diagnostic.message
    if not done.returncode:
        return ""
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return next((x for x in lines if "error" in x), *lines[-1:]) if lines else f"it exits with {done.returncode}"


def _cupy(version: driver.Version | None) -> Capability:
    """CuPy, for a driver of this CUDA version."""
    what, extra = "CuPy", driver.extra(version)
    command = f"pip install 'c2cu[{extra}]'" if extra else ""
    wheels = {major: v for major in driver.EXTRAS if (v := _version(f"cupy-cuda{major}x"))}
    installed = next(iter(wheels.values()), "") or _version("cupy")
    if version is None:
        return Capability(what, f"{installed or 'none'}: it needs an NVIDIA driver")
    if not extra:
        old = f"the driver is for CUDA {_dotted(version)}: update it"
        return Capability(what, f"needs CUDA {min(driver.EXTRAS)} or later, {old}")
    if not installed:
        return Capability(what, "none, though there is a driver", command)
    for major in wheels:
        if major > version[0]:
            newer = f"{installed} for CUDA {major}, but the driver is for CUDA {_dotted(version)}"
            return Capability(what, newer, f"pip uninstall cupy-cuda{major}x && {command}")
    if failure := cuda.failure():
        return Capability(what, f"{installed}, but it compiles no kernel: {failure}", command)
    return Capability(what, f"{installed}, with NVRTC and headers")


def _nvcc() -> Capability:
    path = toolchain.find_nvcc()
    missing = "none: only what 'c2cu translate' writes for a GPU is compiled with it; NVIDIA's CUDA toolkit has it"
    return Capability("nvcc", path or missing)


def _optional(package: str, use: str) -> Capability:
    version = _version(package)
    extra = "plot" if package == "matplotlib" else package
    return Capability(package, version or f"none: needed for {use}", "" if version else f"pip install 'c2cu[{extra}]'")


def _version(package: str) -> str:
    """The version of a Python package; "" where it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _dotted(version: driver.Version) -> str:
    return ".".join(map(str, version))


def _bandwidths() -> list[Capability]:
    backends = ["cpu", *(["cuda"] if cuda.available() else [])]
    measured = [(backend, limits(backend, again=True)) for backend in backends]
    return [Capability(f"{backend} memory", f"{rate(x.bandwidth)}B/s ({x.bandwidth_from})") for backend, x in measured]
