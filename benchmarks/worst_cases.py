"""The worst case by construction for each thing that c2cu does for speed, on one core: is it ever slower than plain C?

Beside each time under ``auto``: `native`, which is the C as it stands, in the same process and in turn, both by the
processor's time. Medians, and the median of the ratios; all bits are compared.

    python benchmarks/worst_cases.py [--json FILE] [--quick]
"""

from __future__ import annotations

import statistics
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np

import c2cu
from benchmarks.data_ended import PROGRAMS, SETTLED  # sets the number of threads
from benchmarks.measure import cpu_name, options, save

Case = tuple[str, str, dict[str, np.ndarray], tuple[str, ...], tuple[str, ...]]


def cases(rng: np.random.Generator, quick: bool) -> Iterator[Case]:
    """(title, program, inputs, outputs, the inputs that all share)"""
    p = 256 if quick else 65536
    turns = np.where(rng.random(p) < 1e-3, 10_000, 10).astype(np.int32)
    yield "lanes that refill: one in a thousand goes on", "one_long", {"turns": turns, "x": rng.random(p)}, ("r",), ()
    turns = np.full(p, 10, np.int32)
    yield "the same, where none does", "one_long", {"turns": turns, "x": rng.random(p)}, ("r",), ()
    table = rng.integers(0, 1 << 32, 65536, dtype=np.uint32)
    start = rng.integers(0, 1 << 32, p, dtype=np.uint32)
    yield "lookups: every lane somewhere else", "far_lookups", {"table": table, "from": start}, ("sum",), ("table",)
    letters = {n: rng.integers(0, 4, (p // 16, 64)).astype(np.int8) for n in "ab"}
    yield "lanes of 16 bits: a range one too wide", "one_too_wide", letters, ("best",), ()
    ops = rng.integers(0, 16, (p, 32), dtype=np.uint32)
    yield "branches: all arms taken", "all_arms", {"op": ops, "x": rng.normal(size=p)}, ("r",), ()
    tiny = rng.choice([5e-324, 1e-300, -1e-310], (p, 8))
    yield "divisions by products: none is exact", "zero_divided", {"x": tiny}, ("r",), ()


def measured(case: Case, repeats: int) -> dict[str, Any]:
    title, name, inputs, outputs, together = case
    shared = {n: inputs[n] for n in together}
    inputs = {n: a for n, a in inputs.items() if n not in shared}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", c2cu.NotObliviousWarning)
        auto, native = (
            c2cu.compile(
                PROGRAMS / f"{name}.c", fn=name, backend="cpu", schedule=s, outputs=outputs, shared=list(shared)
            )
            for s in ("auto", "native")
        )
    ours, right = auto(inputs, shared=shared), native(inputs, shared=shared)
    until = time.monotonic() + (SETTLED if repeats > 1 else 0)
    while auto.plan.rival is not None and time.monotonic() < until:
        auto(inputs, shared=shared)
    assert np.asarray(ours).tobytes() == np.asarray(right).tobytes(), title
    times = []
    for _ in range(repeats):
        start = time.process_time()
        native(inputs, shared=shared)
        between = time.process_time()
        auto(inputs, shared=shared)
        times.append((between - start, time.process_time() - between))
    p = len(next(iter(inputs.values())))
    return {
        "workload": title,
        "p": p,
        "schedule": auto.plan.schedule,
        "c2cu_us": 1e6 * statistics.median(b for _, b in times) / p,
        "native_us": 1e6 * statistics.median(a for a, _ in times) / p,
        "ratio": statistics.median(a / b for a, b in times),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    args = options(__doc__, arguments)
    print(f"{cpu_name()}; one core; microseconds an input, medians")
    print(f"{'workload':48} {'p':>7} {'schedule':8} {'c2cu':>9} {'native':>9} {'times':>6}")
    rows = []
    for case in cases(np.random.default_rng(0), args.quick):
        r = measured(case, 1 if args.quick else 9)
        rows.append(r)
        times = f"{r['c2cu_us']:9.4f} {r['native_us']:9.4f} {r['ratio']:6.2f}"
        print(f"{r['workload']:48} {r['p']:7} {r['schedule']:8} {times}", flush=True)
    save(args.json, rows, cpu=cpu_name())


if __name__ == "__main__":
    main()
