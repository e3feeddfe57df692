"""Functions of math.h in lanes beside calls of the host's library: nanoseconds a value, on one core.

Each kernel applies one function to 64 values of its input; 512 inputs stay in the processor's cache. Both schedules run
the same inputs in turn, by the processor's time; medians, and the median of the ratios. All bits are compared. With
--math correct the lanes have functions that round correctly, and a column says how long these take one after the other.

    python benchmarks/math_lanes.py [NAME ...] [--math correct] [--json FILE] [--quick]
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

os.environ["C2CU_THREADS"] = "1"
os.environ["C2CU_VERIFY"] = "off"

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

import c2cu
from benchmarks.measure import cpu_name, save
from c2cu.base.libm import CORRECT, FUNCTIONS
from c2cu.schedule.gang.functions import SLOWER, names

P, N = 512, 64
#: Where arguments of programs lie, if not between -4 and 4.
RANGES = {
    **dict.fromkeys(("log", "log2", "log10", "pow"), (0.1, 20.0)),
    **dict.fromkeys(("asin", "acos", "atanh"), (-0.99, 0.99)),
    **dict.fromkeys(("sin", "cos", "tan"), (-10.0, 10.0)),
    "acosh": (1.0, 20.0),
    "log1p": (-0.5, 4.0),
}
TEXT = """
#include <math.h>
void k(const T x[N], const T y[N], T r[N]) { for (int i = 0; i < N; i++) r[i] = CALL; }
"""


def measured(name: str, repeats: int, math: str = "host") -> dict:
    """Times of one function under both schedules, and of the library's."""
    t, parameters = FUNCTIONS[name]
    call = f"{name}(x[i]{', y[i]' if len(parameters) == 2 else ''})"
    text = TEXT.replace("T ", f"{t.name} ").replace("CALL", call)
    rng = np.random.default_rng(0)
    low, high = RANGES.get(name.removesuffix("f") if t.size == 4 else name, (-4.0, 4.0))
    x, y = rng.uniform(low, high, (P, N)).astype(f"f{t.size}"), rng.uniform(-4, 4, (P, N)).astype(f"f{t.size}")
    inputs = {"x": x, "y": y} if len(parameters) == 2 else {"x": x}
    ways = [("gang", math), ("native", math), *([("native", "host")] if math != "host" else [])]
    programs = [c2cu.compile(text, backend="cpu", schedule=s, defines={"N": N}, math=m) for s, m in ways]
    results = [np.asarray(p(inputs)) for p in programs]
    assert results[0].tobytes() == results[1].tobytes(), name
    pairs = []
    for _ in range(repeats):
        pairs.append([_seconds(p, inputs) for p in programs])
    lanes, *alone, library = (statistics.median(x) * 1e9 / (P * N) for x in zip(*pairs))
    ratio = statistics.median(times[-1] / times[0] for times in pairs)
    return {"name": name, "lanes_ns": lanes, "alone_ns": alone, "library_ns": library, "ratio": ratio}


def _seconds(program: c2cu.Program, inputs: dict) -> float:
    start = time.process_time()
    for _ in range(8):
        program(inputs)
    return (time.process_time() - start) / 8


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--math", choices=("host", "correct"), default="host", help="whose functions go in lanes")
    parser.add_argument("--quick", action="store_true", help="each once: tests the benchmark")
    args = parser.parse_args(arguments)
    print(f"{cpu_name()}; one core; nanoseconds a value, medians")
    alone = f" {'alone':>8}" if args.math == "correct" else ""
    print(f"{'function':10} {'lanes':>8}{alone} {'library':>8} {'times':>6}")
    rows = []
    for name in args.names or sorted(CORRECT if args.math == "correct" else names() - SLOWER):
        r = measured(name, 1 if args.quick else 15, args.math)
        rows.append(r)
        alone = "".join(f" {ns:8.2f}" for ns in r["alone_ns"])
        print(f"{name:10} {r['lanes_ns']:8.2f}{alone} {r['library_ns']:8.2f} {r['ratio']:6.2f}", flush=True)
    save(args.json, rows, cpu=cpu_name())


if __name__ == "__main__":
    main()
