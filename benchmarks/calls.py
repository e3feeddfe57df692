"""What a call costs beside its work, on the CPU: microseconds a call from NumPy to NumPy, medians.

The kernels do next to nothing. Each row is a program, called with p inputs in one way. A large output is recycled
memory, unless its user keeps it: then each call's has fresh pages.

    python benchmarks/calls.py [--json FILE]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

import c2cu
from benchmarks.measure import cpu_name, save

SUM = "int f(int a[8]) { int s = 0; for (int i = 0; i < 8; i++) s += a[i]; return s; }\n"
TURNS = "int f(int n) { int k = 0; while (n > 0) n -= 3, k++; return k; }\n"
POINTS = """struct point { int tag; double x, y; };
struct point points[4];
void move(void) { for (int i = 0; i < 4; i++) points[i].x += points[i].y; }
"""
WALK = "unsigned seed = 1; double x, v;\ndouble f(int push) { seed = seed * 5 + 1; v += push; x += v; return x; }\n"
LARGE = "float a[1024];\nvoid k(void) { for (int i = 0; i < 1024; i++) a[i] += 1; }\n"
POINT = np.dtype({"names": ["tag", "x", "y"], "formats": ["i4", "f8", "f8"], "offsets": [0, 8, 16], "itemsize": 24})

Case = tuple[str, int, Callable[[], Any]]


def cases() -> Iterator[Case]:
    """(what is called, p, the call)"""
    total, turns, points, large = (c2cu.compile(t, backend="cpu") for t in (SUM, TURNS, POINTS, LARGE))
    walk = c2cu.compile(WALK, backend="cpu")
    native = c2cu.compile(SUM, backend="cpu", schedule="native")
    for p in (1, 32, 1024):
        a, n, s = np.ones((p, 8), "i4"), np.full(p, 9, "i4"), np.zeros((p, 4), POINT)
        out, moved, by_name = np.empty(p, "i4"), np.empty_like(s), {"a": a}
        yield "bare array", p, lambda a=a: total(a)
        yield "dict", p, lambda d=by_name: total(d)
        yield "bare array, out=", p, lambda a=a, out=out: total(a, out=out)
        yield "schedule native", p, lambda a=a: native(a)
        yield "c2cu.bulk with the text", p, lambda a=a: c2cu.bulk(SUM, a, backend="cpu")
        yield "data ends the loop", p, lambda n=n: turns(n)
        yield "structs", p, lambda s=s: points(s)
        yield "structs, out=", p, lambda s=s, out=moved: points(s, out=out)
        state = walk.state(p)
        yield "a step of a state", p, lambda n=n, state=state: state.step(n)
    a, results = np.ones((8192, 1024), "f4"), []
    out = np.empty_like(a)
    yield "32 MB out, recycled", 8192, lambda: large(a)
    yield "32 MB out, fresh", 8192, lambda: results.append(large(a))
    yield "32 MB out, out=", 8192, lambda: large(a, out=out)


def median_us(call: Callable[[], Any], seconds: float = 0.5) -> float:
    """Of calls in a row, after those that verify the program."""
    for _ in range(3):
        call()
    times, until = [], time.perf_counter() + seconds
    while len(times) < 20 or (time.perf_counter() < until and len(times) < 20_000):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1e6 * statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    warnings.simplefilter("ignore", c2cu.NotObliviousWarning)
    rows = []
    print(f"{cpu_name()}; microseconds a call, medians\n")
    print("| call | p | microseconds |")
    print("| --- | --- | --- |")
    for title, p, call in cases():
        row = {"call": title, "p": p, "us": median_us(call)}
        rows.append(row)
        print(f"| {row['call']} | {p:,} | {row['us']:.1f} |")
    save(args.json, rows, machine=cpu_name())


if __name__ == "__main__":
    main()
