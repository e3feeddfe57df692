"""GPU speed of the paper's form: the kernel alone on data in column storage, and batch-first arrays in and out.

Device events, medians; results are compared with the CPU's every time. Beside each time: the time that the copy of
the inputs and outputs takes at this device's copy rate, measured in the same run.

    python benchmarks/gpu.py [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

import cupy

import c2cu
from c2cu.runtime import cuda
from tests.workloads import WORKLOADS

CASES = [
    ("bitonic-32", 4 << 20, 0.92),
    ("bitonic-1024", 128 << 10, 17.7),
    ("fw-16", 128 << 10, 1.37),
    ("fw-64", 16 << 10, 89.5),
    ("montgomery-512", 2 << 20, 0.308),
]  # name, p, the mark in ms
CHECKED = 512  # inputs compared with the CPU


def median_ms(f, repeats: int = 7) -> float:
    f()
    times = []
    for _ in range(repeats):
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        start.record()
        f()
        end.record()
        end.synchronize()
        times.append(cupy.cuda.get_elapsed_time(start, end))
    return statistics.median(times)


def copy_rate() -> float:
    """Bytes a second, read plus written."""
    a = cupy.random.random(1 << 28, dtype=cupy.float32)
    b = cupy.empty_like(a)
    return 2 * a.nbytes / (1e-3 * median_ms(lambda: cupy.copyto(b, a)))


def random_inputs(w, p: int) -> dict[str, np.ndarray]:
    """Uniform random floats without duplicates to speak of: what the marks were measured on."""
    if w.file == "montgomery.c":
        return w.inputs(p)
    name, dtype, shape = w.variables[0]
    return {name: np.random.default_rng(1).random((p, *shape), dtype=dtype)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    rate = copy_rate()
    rows = []
    for name, p, mark in CASES:
        w = next(w for w in WORKLOADS if w.name == name)
        inputs = random_inputs(w, p)
        device = {n: cupy.asarray(a) for n, a in inputs.items()}
        few = {n: a[:CHECKED] for n, a in inputs.items()}
        expected = c2cu.bulk(w.path, few, defines=w.defines, backend="cpu")
        row = {"workload": name, "p": p, "mark_ms": mark}
        for schedule in ("thread", "private"):
            program = c2cu.compile(w.path, defines=w.defines, backend="cuda", schedule=schedule)
            result = program(device)
            assert np.array_equal(result[:CHECKED].get(), expected), (name, schedule)
            row[f"{schedule}_ms"] = median_ms(lambda program=program, device=device: program(device), 5)
            if schedule == "thread":
                loaded = program.loaded
                slots = loaded.artifact.slots
                ins = [device.get(s.name) for s in slots]
                outs = [result if s.writes else None for s in slots]
                table, memory = loaded.prepare(ins, outs, p)
                loaded.launch("c2cu_pack", table, p, memory)
                row["kernel_ms"] = median_ms(lambda x=(table, p, memory): loaded.launch("c2cu_run", *x), 5)
        moved = sum(a.nbytes for a in device.values()) + result.nbytes
        row["copy_limit_ms"] = 1e3 * moved / rate
        rows.append(row)
        del device, result, table, memory
        cupy.get_default_memory_pool().free_all_blocks()
    print(f"{cuda.device_name()}; copy {rate / 1e12:.2f} TB/s; milliseconds, medians of device events")
    print(f"{'workload':16} {'p':>8} {'kernel':>9} {'mark':>7} {'thread':>9} {'private':>9} {'copy limit':>10}")
    for r in rows:
        print(
            f"{r['workload']:16} {r['p']:8} {r['kernel_ms']:9.3f} {r['mark_ms']:7.3f} {r['thread_ms']:9.3f} "
            f"{r['private_ms']:9.3f} {r['copy_limit_ms']:10.3f}"
        )
    if args.json:
        args.json.write_text(
            json.dumps({"device": cuda.device_name(), "copy_rate": rate, "rows": rows}, indent=1) + "\n"
        )


if __name__ == "__main__":
    main()
