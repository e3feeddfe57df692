"""What this machine offers: for `c2cu doctor` and `c2cu explain`."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable
from pathlib import Path

from ..base import toolchain
from ..base.cache import Cache, key
from ..base.diagnostics import Error
from ..base.version import __version__
from ..runtime import cpu, cuda
from ..schedule.estimate import USUAL, Device
from ..schedule.roofline import PER_CLOCK, Limits, rate

#: Vector instructions that a CPU core starts a clock, at most.
VECTORS = 2
#: Bytes a second that an H200 copies, read and written together: see benchmarks/results/h200.json.
H200 = 4.2e12


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
    said = f"nominal: {threads} threads x {VECTORS} vectors of {lanes} a clock at {clock / 1e9:.2f} GHz"
    return Limits(
        name or platform.machine(),
        bandwidth,
        "measured: copying with all threads",
        rates if clock else {},
        said if clock else "",
    )


def _cuda_limits(size: int, again: bool) -> Limits:
    if not cuda.available():
        said = _nominal(USUAL.multiprocessors, USUAL.clock)
        return Limits("NVIDIA H200, not here", H200, "nominal", _cuda_rates(USUAL, size, 2), said)
    found, name = cuda.attributes(), cuda.device_name()
    bandwidth = _measured(("cuda", name), cuda.copy_bandwidth, again)
    clock, count = 1e3 * found.get("ClockRate", 0), found.get("MultiProcessorCount", 0)
    rates = _cuda_rates(Device(count, clock), size, found.get("SingleToDoublePrecisionPerfRatio", 2))
    known = bool(clock and count)
    said = _nominal(count, clock) if known else ""
    return Limits(name, bandwidth, "measured: copying on the device", rates if known else {}, said)


def _cuda_rates(device: Device, size: int, singles: int) -> dict[str, float]:
    """Operations a second by class. ``singles``: operations on floats in the time of one on doubles."""
    rates = {c: n * device.clock * device.multiprocessors for c, n in PER_CLOCK.items()}
    if size == 8:
        rates["float"] /= max(1, singles)
        rates["integer"] /= 2  # an addition of 64 bits is two of 32
    return rates


def _nominal(count: int, clock: float) -> str:
    return f"nominal: {count} multiprocessors at {clock / 1e9:.2f} GHz, instructions a clock as on an H200"


def _measured(what: tuple[object, ...], measure: Callable[[], float], again: bool = False) -> float:
    """A rate from the cache, or measured now."""

    def produce(path: Path) -> None:
        path.write_text(f"{measure():.4g}\n")

    cache, name = Cache(), key("bandwidth", *what, __version__)
    known = cache.get(name, ".rate")
    if known is not None and again:
        known.unlink(missing_ok=True)
    return float(cache.put(name, ".rate", produce).read_text())


def can_run() -> bool:
    """Whether any backend works here."""
    return cuda.available() or _compiler() is not None


def _compiler() -> str | None:
    try:
        command = toolchain.find_compiler()
        return f"{' '.join(command)}: {toolchain.compiler_version(command)}"
    except Error:
        return None


def examination(measure: bool = False) -> str:
    """One line for each thing that matters; if ``measure``, the bandwidths too, measured now."""
    rows = [
        ("c2cu", f"{__version__}, Python {platform.python_version()} at {sys.executable}"),
        ("C compiler", _compiler() or "none: needed only to run on the CPU; install gcc, or pip install 'c2cu[zig]'"),
        ("CPU", device("cpu")),
        ("cache", str(Cache().folder)),
        ("nvcc", toolchain.find_nvcc() or "none: needed only to compile standalone .cu files"),
        (
            "CUDA device",
            cuda.device_name()
            if cuda.available()
            else "none: pip install 'c2cu[cuda12]' or 'c2cu[cuda13]' where there is a GPU",
        ),
    ]
    for backend in ("cpu", "cuda") if measure else ():
        if backend == "cpu" or cuda.available():
            found = limits(backend, again=True)
            rows.append((f"{backend} memory", f"{rate(found.bandwidth)}B/s ({found.bandwidth_from})"))
    return "\n".join(f"{what:12} {found}" for what, found in rows)
