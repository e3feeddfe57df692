"""Clocks and arrays of a host and of a CUDA device, behind one face: `Host` and `Device`."""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from c2cu.io.files import write

LONGEST = 1000.0  # milliseconds that the repeats of one measurement may take together
ROW, MOST = 20.0, 50  # milliseconds that calls in a row take, and how many they are at most
BUSY = 4_000_000  # cycles, some two milliseconds: more than the host needs to enqueue a call


def cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


def options(description: str | None, arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """What a benchmark without others is asked: ``json``, ``quick``."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--quick", action="store_true", help="few inputs, each once: tests the benchmark")
    return parser.parse_args(arguments)


def save(path: Path | None, rows: Sequence[Any], **machine: str) -> None:
    """Write a table, where a file for it was given."""
    if path is not None:
        write(str(path), (json.dumps({**machine, "rows": rows}, indent=1) + "\n").encode())


class Host:
    """NumPy and the host's clock."""

    backend = "cpu"
    xp: Any = np

    @property
    def name(self) -> str:
        return cpu_name()

    def put(self, a: np.ndarray) -> Any:
        """``a`` where the program wants it."""
        return a

    def settle(self) -> None:
        """Wait for everything that was started."""

    def free(self) -> None:
        """Give back memory that only caches hold."""

    def once(self, f: Callable[[], Any]) -> tuple[float, Any]:
        """(milliseconds of one call, what it returned)"""
        start = time.perf_counter()
        result = f()
        self.settle()
        return 1e3 * (time.perf_counter() - start), result

    def median_ms(self, f: Callable[[], Any], repeats: int, first: float = 0.0) -> float:
        """Median of up to ``repeats`` calls, fewer of slow ones, after one to warm up. ``first``: what that one took
        already; a call as slow as all repeats may be is not repeated."""
        return _median(lambda: self.once(f)[0], repeats, first)

    def call_ms(self, f: Callable[[], Any], repeats: int) -> float:
        """The same by the host's clock: what a caller sees who waits for each result."""
        times = []
        for _ in range(max(1, repeats)):
            self.settle()
            times.append(Host.once(self, f)[0])
        return statistics.median(times)

    def waited_ms(self, f: Callable[[], Any], wait: Callable[[Any], object], repeats: int) -> float:
        """The same of what this device's clock does not see: as many calls in a row as take a while, then ``wait`` for
        the last result, so that starting a call goes on while the one before it runs. By call."""

        def row(calls: int) -> float:
            self.settle()
            start = time.perf_counter()
            for _ in range(calls - 1):
                f()
            wait(f())
            return 1e3 * (time.perf_counter() - start)

        calls = max(1, min(MOST, int(ROW / row(1))))
        return _median(lambda: row(calls), repeats) / calls

    def copy_rate(self, quick: bool) -> float:
        """Bytes a second of a copy, read plus written."""
        a = self.xp.ones(1 << (22 if quick else 28), dtype=np.float32)
        b = self.xp.empty_like(a)
        return 2 * a.nbytes / (1e-3 * self.median_ms(lambda: self.xp.copyto(b, a), 7))

    def differs(self, a: Any, b: Any, tolerance: float) -> str:
        """How ``a`` differs from ``b``, "" if it does not: bit for bit, or for a tolerance by that share of the
        largest number."""
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"{a.dtype} {a.shape}, not {b.dtype} {b.shape}"
        if not tolerance or a.dtype.kind != "f":
            bits = f"u{a.dtype.itemsize}"
            wrong = int((a.view(bits) != b.view(bits)).sum())
            return f"{wrong} of {a.size} elements differ" if wrong else ""
        worst = float(abs(a - b).max() / abs(b).max())
        return "" if worst <= tolerance else f"differs by {worst:.1e} of the largest number"

    def inside(self, program: Any, inputs: Mapping[str, Any], result: Any, p: int) -> dict[str, Any]:
        """What is known of a program's kernels: NVRTC's time, registers, memory; where arrays are first packed into
        column storage, the time of the kernel alone."""
        return {}


class Device(Host):
    """CuPy and the device's events."""

    backend = "cuda"

    def __init__(self) -> None:
        try:
            import cupy
        except ImportError:
            raise SystemExit("this needs a CUDA device, and CuPy: pip install 'c2cu[cuda13]', or cuda12") from None
        self.xp = cupy
        self._busy = cupy.RawKernel(
            'extern "C" __global__ void busy(long long cycles) {\n'
            "    long long start = clock64();\n    while (clock64() - start < cycles) {}\n}\n",
            "busy",
        )

    @property
    def name(self) -> str:
        from c2cu.runtime import cuda

        return cuda.device_name()

    def put(self, a: np.ndarray) -> Any:
        return self.xp.asarray(a)

    def settle(self) -> None:
        self.xp.cuda.Device().synchronize()

    def free(self) -> None:
        import sys

        self.xp.get_default_memory_pool().free_all_blocks()
        if "torch" in sys.modules:
            sys.modules["torch"].cuda.empty_cache()

    def once(self, f: Callable[[], Any]) -> tuple[float, Any]:
        """The device's own time: it is kept busy until the host has enqueued everything, if the host ever gets there
        without waiting for it."""
        start, end = self.xp.cuda.Event(), self.xp.cuda.Event()
        cycles = BUSY
        while True:
            self._busy((1,), (1,), (np.int64(cycles),))
            start.record()
            result = f()
            late = start.done
            end.record()
            end.synchronize()
            ms = self.xp.cuda.get_elapsed_time(start, end)
            if not late or ms > 10 or cycles > 4 * BUSY:
                return ms, result
            cycles *= 2

    def inside(self, program: Any, inputs: Mapping[str, Any], result: Any, p: int) -> dict[str, Any]:
        loaded = program.loaded
        figures = {"compile_seconds": loaded.compile_seconds, "kernels": loaded.resources}
        if "c2cu_pack" not in figures["kernels"]:
            return figures
        slots = loaded.artifact.slots
        results = result if isinstance(result, dict) else {s.name: result for s in slots if s.writes}
        ins, outs = [inputs.get(s.name) for s in slots], [results.get(s.name) for s in slots]
        table, (_, memory) = loaded.table(ins, outs), loaded.working(p)

        def alone() -> float:
            loaded.launch("c2cu_pack", table, p, memory)  # the same data each time: the kernel works in place
            return self.once(lambda: loaded.launch("c2cu_run", table, p, memory))[0]

        return {**figures, "run_ms": _median(alone, 5)}


def _median(ms: Callable[[], float], repeats: int, first: float = 0.0) -> float:
    first = first or ms()
    count = min(repeats, int(LONGEST / max(first, 1e-3)))
    return statistics.median(ms() for _ in range(count)) if count else first
