"""Functions of math.h in lanes beside calls of the host's library: nanoseconds a value, on one core.

Each kernel applies one function to 64 values of its input; 512 inputs stay in the processor's cache. Both schedules run
the same inputs in turn, by the processor's time; medians, and the median of the ratios. All bits are compared. With
--math correct the lanes have functions that round correctly, and a column says how long these take one after the other.

With --vectors, vector libraries are measured beside ours, libmvec of glibc and SLEEF, where they are installed (SLEEF:
apt-get install libsleef3). In turn with the kernels run loops over the first 16,384 of these values as plain arrays:
calls of the C library ("scalar"), ours, and theirs. All these loops read and write the same memory, which the cache's
second level holds, and lack what kernels do as well: inputs are not laid out for lanes, and no call of a program is
prepared; "ours" has the C library's bits there, whatever --math says. Of each, beside nanoseconds a value ("ns"): the
share of 2^20 results, for arguments drawn as those that are timed, whose bits are not the C library's ("differ"); the
largest distance from the C library's result in units in the last place ("apart"), and the largest for these and for
2^20 arguments of all sizes, special ones among them ("anywhere"). A function that a library does not have is "-".

    python benchmarks/math_lanes.py [NAME ...] [--math correct] [--vectors] [--json FILE] [--quick]
"""

from __future__ import annotations

import argparse
import ctypes
import os
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

os.environ["C2CU_THREADS"] = "1"
os.environ["C2CU_VERIFY"] = "off"

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

import c2cu
from benchmarks import vector_libraries
from benchmarks.measure import cpu_name, save
from c2cu.base import toolchain
from c2cu.base.libm import CORRECT, FUNCTIONS
from c2cu.schedule.gang.functions import SLOWER, names
from c2cu.schedule.gang.same_bits import COUNT, NEEDS

P, N = 512, 64
LOOPED = 16384  # values that loops are over
#: Where arguments of programs lie, if not between -4 and 4.
RANGES = {
    **dict.fromkeys(("log", "log2", "log10", "pow"), (0.1, 20.0)),
    **dict.fromkeys(("asin", "acos", "atanh"), (-0.99, 0.99)),
    **dict.fromkeys(("sin", "cos", "tan"), (-10.0, 10.0)),
    "acosh": (1.0, 20.0),
    **dict.fromkeys(("lgamma", "tgamma"), (0.5, 20.0)),
    "log1p": (-0.5, 4.0),
}
TEXT = """
#include <math.h>
void k(const T x[N], const T y[N], T r[N]) { for (int i = 0; i < N; i++) r[i] = CALL; }
"""


def measured(name: str, repeats: int, libraries: Mapping[str, ctypes.CDLL] | None = None, math: str = "host") -> dict:
    """Times of one function under both schedules, and of the library's; with ``libraries``, those of loops too, and how
    exact these are."""
    t, parameters = FUNCTIONS[name]
    call = f"{name}(x[i]{', y[i]' if len(parameters) == 2 else ''})"
    text = TEXT.replace("T ", f"{t.name} ").replace("CALL", call)
    rng = np.random.default_rng(0)
    low, high = RANGES.get(name.removesuffix("f") if t.size == 4 else name, (-4.0, 4.0))

    def drawn(*shape: int) -> list[np.ndarray]:
        return [rng.uniform(*ends, shape).astype(f"f{t.size}") for ends in ((low, high), (-4, 4))]

    x, y = drawn(P, N)
    inputs = {"x": x, "y": y} if len(parameters) == 2 else {"x": x}
    ways = [("gang", math), ("native", math), *([("native", "host")] if math != "host" else [])]
    programs = [c2cu.compile(text, backend="cpu", schedule=s, defines={"N": N}, math=m) for s, m in ways]
    loops = {} if libraries is None else vector_libraries.loops(name, libraries)
    few = [a.reshape(-1)[:LOOPED].copy() for a in (x, y, x)]  # the last one takes the results
    calls = [partial(p, inputs) for p in programs] + [partial(loop, *few) for loop in loops.values()]
    by_gang, by_native, *_ = [call() for call in calls]
    assert np.asarray(by_gang).tobytes() == np.asarray(by_native).tobytes(), name
    turns = [[_seconds(call) for call in calls] for _ in range(repeats)]
    values = [P * N] * len(programs) + [LOOPED] * len(loops)
    times = [statistics.median(t) * 1e9 / n for t, n in zip(zip(*turns), values)]
    last = len(programs) - 1  # calls the library
    ratio = statistics.median(turn[last] / turn[0] for turn in turns)
    row: dict = {
        "name": name,
        "lanes_ns": times[0],
        "alone_ns": times[1:last],
        "library_ns": times[last],
        "ratio": ratio,
    }
    if loops:
        exactness = vector_libraries.accuracy(loops, *drawn(COUNT))
        row["loops"] = {which: {"ns": ns, **exactness.get(which, {})} for which, ns in zip(loops, times[last + 1 :])}
    return row


def _seconds(call: Callable[[], object]) -> float:
    start = time.process_time()
    for _ in range(8):
        call()
    return (time.process_time() - start) / 8


def available() -> dict[str, ctypes.CDLL] | None:
    """The vector libraries, after a line for each that is not here; None where the processor lacks what ours needs."""
    if not toolchain.cpu_features() >= NEEDS:
        print(f"--vectors: skipped, as this processor lacks one of: {', '.join(sorted(NEEDS))}")
        return None
    libraries = vector_libraries.installed()
    for name, file in vector_libraries.FILES.items():
        if name not in libraries:
            print(f"{name}: skipped, as this machine has no {file}")
    return libraries


def columns(row: dict, libraries: Mapping[str, ctypes.CDLL]) -> str:
    """What a row has of the loops."""
    cells = [f"{row['loops']['scalar']['ns']:8.2f}"]
    for which in ("ours", *libraries):
        r = row["loops"].get(which)
        exactness = f"{r['differ']:8.3%} {r['apart']:6} {r['anywhere']:9.3g}" if r else ""
        cells.append(f"{r['ns'] if r else '-':>8{'.2f' if r else ''}} {exactness:25}")
    return " | ".join(cells)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--vectors", action="store_true", help="vector libraries too")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--math", choices=("host", "correct"), default="host", help="whose functions go in lanes")
    parser.add_argument("--quick", action="store_true", help="each once: tests the benchmark")
    args = parser.parse_args(arguments)
    libraries = available() if args.vectors else None
    print(f"{cpu_name()}; one core; nanoseconds a value, medians")
    alone = f" {'alone':>8}" if args.math == "correct" else ""
    head = f"{'function':10} {'lanes':>8}{alone} {'library':>8} {'times':>6}"
    if libraries is not None:
        exactness = f"{'differ':>8} {'apart':>6} {'anywhere':>9}"
        head = " | ".join([head, f"{'scalar':>8}", *(f"{which:>8} {exactness}" for which in ("ours", *libraries))])
    print(head)
    rows = []
    for name in args.names or sorted(CORRECT if args.math == "correct" else names() - SLOWER):
        r = measured(name, 1 if args.quick else 15, libraries, args.math)
        rows.append(r)
        alone = "".join(f" {ns:8.2f}" for ns in r["alone_ns"])
        line = f"{name:10} {r['lanes_ns']:8.2f}{alone} {r['library_ns']:8.2f} {r['ratio']:6.2f}"
        print(line if libraries is None else f"{line} | {columns(r, libraries)}", flush=True)
    save(args.json, rows, cpu=cpu_name())


if __name__ == "__main__":
    main()
