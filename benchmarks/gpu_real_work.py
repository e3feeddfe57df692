"""Kernels of the kinds that people bring, on one GPU: those of `real_work.py`, `data_ended.py` and `generated.py`.

From device arrays to device arrays, by the device's events; medians. Every result is compared with the CPU's, bit for
bit. Beside each time the copy limit: the time of moving inputs and outputs once at the copy rate of the same run.

    python benchmarks/gpu_real_work.py [--only NAME,...] [--schedule NAME,...] [--json FILE]
    python benchmarks/gpu_real_work.py --backend cpu --quick    # the same on the CPU, few inputs: tests this program
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

import c2cu
from benchmarks import data_ended, generated, real_work
from benchmarks.measure import Device, Host, save

os.environ.pop("C2CU_THREADS", None)  # the other benchmarks have one

P, QUICK = 262_144, 256
Case = tuple[str, Path, dict[str, np.ndarray], tuple[str, ...]]


def cases(rng: np.random.Generator, p: int, folder: Path, only: Sequence[str]) -> Iterator[Case]:
    """(title, file, inputs, outputs): the other benchmarks' cases, of whose inputs ``p`` are drawn."""
    few = p <= QUICK
    every = [
        *((*c, data_ended.PROGRAMS) for c in real_work.cases(rng, few)),
        *((*c, data_ended.PROGRAMS) for c in data_ended.cases(rng, few)),
        *generated.cases(rng, few, folder),
    ]
    table = rng.integers(0, 256, (p, 128)).astype(np.uint8)
    every.append(("CRC-32, a table of 16", "crc32", {"message": table}, ("crc",), data_ended.PROGRAMS))
    for title, name, inputs, outputs, where in every:
        if only and name not in only:
            continue
        drawn = rng.integers(0, len(next(iter(inputs.values()))), p)
        yield title, where / f"{name}.c", {n: a[drawn] for n, a in inputs.items()}, outputs


def row(case: Case, schedules: Sequence[str], device: Host, rate: float) -> dict[str, Any]:
    """A kernel under each schedule."""
    title, source, inputs, outputs = case
    p = len(next(iter(inputs.values())))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        right = c2cu.compile(source, fn=source.stem, backend="cpu", schedule="native", outputs=outputs)(inputs)
    expected = right if isinstance(right, dict) else {outputs[0]: right}
    put = {n: device.put(a) for n, a in inputs.items()}
    moved = sum(a.nbytes for a in (*inputs.values(), *expected.values()))
    cells = {s: cell(source, s, put, expected, device) for s in schedules}
    return {"workload": title, "p": p, "copy_limit_ns": 1e9 * moved / rate / p, "schedules": cells}


def cell(source: Path, schedule: str, inputs: dict[str, Any], expected: dict[str, Any], device: Host) -> dict[str, Any]:
    """One schedule's time, or why there is none."""
    start = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = c2cu.compile(
                source, fn=source.stem, backend=device.backend, schedule=schedule, outputs=tuple(expected)
            )
        compiled = time.perf_counter() - start
        first, result = device.once(lambda: program(inputs))
    except c2cu.Error as e:
        return {"refused": str(e).splitlines()[0]}
    results = result if isinstance(result, dict) else dict(zip(expected, [result]))
    wrong = [device.differs(results[n], device.put(a), 0.0) for n, a in expected.items()]
    ms = device.median_ms(lambda: program(inputs), 15, first)
    return {
        "schedule": program.plan.schedule,
        "ns": 1e6 * ms / len(next(iter(inputs.values()))),
        "compile_s": compiled,
        "differs": "; ".join(filter(None, wrong)),
        **({"kernels": program.loaded.resources} if device.backend == "cuda" else {}),
    }


def told(r: dict[str, Any]) -> str:
    """A row as text."""
    lines = []
    for name, c in r["schedules"].items():
        head = f"{r['workload'] if not lines else '':38} {name:9}"
        if "refused" in c:
            lines.append(f"{head} refused: {c['refused'][:90]}")
            continue
        figures = f"{c['ns']:9.3f} {r['copy_limit_ns']:8.3f} {c['compile_s']:7.2f} {c['differs']}"
        lines.append(f"{head} {c['schedule']:9} {figures} {c.get('kernels', '')}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="kernels, by their names in C")
    parser.add_argument("--schedule", default="auto")
    parser.add_argument("--backend", choices=("cpu", "cuda"), default="cuda")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--quick", action="store_true", help="few inputs: tests the benchmark")
    args = parser.parse_args(arguments)
    device = Device() if args.backend == "cuda" else Host()
    rate = device.copy_rate(args.quick)
    only = [x for x in args.only.split(",") if x]
    print(f"{device.name}; nanoseconds an input, medians; the copy limit; seconds that c2cu.compile took")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for case in cases(np.random.default_rng(0), QUICK if args.quick else P, Path(folder), only):
            rows.append(row(case, args.schedule.split(","), device, rate))
            print(told(rows[-1]), flush=True)
            device.free()
    save(args.json, rows, device=device.name)


if __name__ == "__main__":
    main()
