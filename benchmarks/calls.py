"""What a call costs beside its work: microseconds a call from NumPy to NumPy, medians.

The kernels do next to nothing. Each row is a program, called with p inputs in one way. A large output is recycled
memory, unless its user keeps it: then each call's has fresh pages. With ``--backend cuda``, on a GPU: from NumPy to
NumPy too; where arrays are on the device, until the device is done, and until the call has returned.

    python benchmarks/calls.py [--backend cpu|cuda] [--json FILE]
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
from c2cu.runtime.cuda import device_name

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


def device_cases() -> Iterator[Case]:
    """The same on a GPU."""
    import cupy

    total, points, walk = (c2cu.compile(t, backend="cuda") for t in (SUM, POINTS, WALK))
    done = cupy.cuda.get_current_stream().synchronize

    def until_done(call: Callable[[], Any]) -> Callable[[], None]:
        return lambda: (call(), done())[1]

    for p in (1, 32, 1024):
        a, n, s = np.ones((p, 8), "i4"), np.full(p, 9, "i4"), np.zeros((p, 4), POINT)
        out, by_name, there, push = np.empty(p, "i4"), {"a": a}, cupy.asarray(a), cupy.asarray(n)
        out_there = cupy.empty(p, "i4")
        yield "bare array", p, lambda a=a: total(a)
        yield "dict", p, lambda d=by_name: total(d)
        yield "bare array, out=", p, lambda a=a, out=out: total(a, out=out)
        yield "structs", p, lambda s=s: points(s)
        yield "array on the device", p, until_done(lambda a=there: total(a))
        yield "array on the device, out=", p, until_done(lambda a=there, out=out_there: total(a, out=out))
        yield "array on the device, returned", p, lambda a=there: total(a)
        state = walk.state(p)
        yield "a step of a state", p, until_done(lambda n=push, state=state: state.step(n))
        yield "a step of a state, returned", p, lambda n=push, state=state: state.step(n)
        yield "a step of a state, NumPy", p, until_done(lambda n=n, state=state: state.step(n))


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
    parser.add_argument("--backend", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    machine = cpu_name() if args.backend == "cpu" else f"{device_name()}, {cpu_name()}"
    warnings.simplefilter("ignore", c2cu.NotObliviousWarning)
    rows = []
    print(f"{machine}; microseconds a call, medians\n")
    print("| call | p | microseconds |")
    print("| --- | --- | --- |")
    for title, p, call in (cases if args.backend == "cpu" else device_cases)():
        row = {"call": title, "p": p, "us": median_us(call)}
        rows.append(row)
        print(f"| {row['call']} | {p:,} | {row['us']:.1f} |")
    save(args.json, rows, machine=machine)


if __name__ == "__main__":
    main()
