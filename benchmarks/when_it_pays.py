"""When bulk execution pays and when it does not: docs/performance.md's table.

Each program runs from batch-first array to batch-first array, on one core and, where there is one, on the GPU; beside
it the same C compiled by `cc -O3 -march=native` and called in a loop on one core. Medians; results are compared.

    python benchmarks/when_it_pays.py [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

import c2cu
from benchmarks import cpu  # sets the number of threads
from benchmarks.measure import Device
from c2cu import backends
from c2cu.io.files import write

PROGRAMS = Path(__file__).parent / "programs"


def cases(rng: np.random.Generator):
    """(title, file, kernel, inputs, output, macros)"""
    d = rng.random((8192, 16, 16), dtype=np.float32)
    yield "Floyd-Warshall n=16", cpu.EXAMPLES / "floyd_warshall.c", "floyd_warshall", {"D": d}, "D", {"N": 16}
    a, b = (np.cumsum(rng.normal(size=(16384, 64)), axis=1).astype("f") for _ in range(2))
    yield "dynamic time warping n=64", PROGRAMS / "dtw.c", "dtw", {"a": a, "b": b}, "distance", {}
    sums = rng.random((4096, 1024), dtype=np.float32)
    yield "prefix sums n=1024", cpu.EXAMPLES / "prefix_sums.c", "prefix_sums", {"b": sums}, "b", {}
    x, y = rng.uniform(-2, 0.6, 65536), rng.uniform(-1.2, 1.2, 65536)
    yield "mandelbrot", PROGRAMS / "mandelbrot.c", "mandelbrot", {"x0": x, "y0": y}, "steps", {}
    message = rng.integers(0, 256, (65536, 128), dtype=np.uint8)
    yield "CRC-32 of 128 bytes", PROGRAMS / "crc32.c", "crc32", {"message": message}, "crc", {}
    for p in (1, 16, 256):
        yield (
            f"Floyd-Warshall n=16, p={p}",
            cpu.EXAMPLES / "floyd_warshall.c",
            "floyd_warshall",
            {"D": d[:p]},
            "D",
            {"N": 16},
        )


def measured(title: str, path: Path, fn: str, inputs: dict, out: str, defines: dict, device) -> dict:
    p = len(next(iter(inputs.values())))
    program = c2cu.compile(path, backend="cpu", defines=defines)
    result = program(inputs)
    output = result if isinstance(result, np.ndarray) else result[out]
    original = cpu.baseline(path, fn, inputs, out, output.shape, output.dtype, defines)
    assert np.array_equal(output, original()), title
    ours, theirs = cpu.medians(lambda: program(inputs), original)
    row = {"program": title, "p": p, "schedule": program.plan.schedule, "c2cu_us": 1e6 * ours / p}
    row["gcc_us"] = 1e6 * theirs / p
    if device is not None:
        row |= on_gpu(path, inputs, output, out, defines, device)
    return row


def on_gpu(path: Path, inputs: dict, expected: np.ndarray, out: str, defines: dict, device) -> dict:
    """The same with arrays on the GPU."""
    program = c2cu.compile(path, backend="cuda", defines=defines)
    there = {n: device.put(a) for n, a in inputs.items()}
    result = program(there)
    output = result[out] if isinstance(result, dict) else result
    assert np.array_equal(output.get(), expected), path
    ms = device.median_ms(lambda: program(there), 20)
    return {"gpu_schedule": program.plan.schedule, "gpu_us": 1e3 * ms / len(expected)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    warnings.simplefilter("ignore", c2cu.NotObliviousWarning)
    device = Device() if backends.best() == "cuda" else None
    rows = [measured(*case, device) for case in cases(np.random.default_rng(0))]
    where = f"{cpu.cpu_name()}, one core" + (f"; {device.name}" if device else "")
    print(f"{where}; microseconds an input, medians\n")
    print("| program | p | schedule | c2cu | gcc loop | times faster | GPU schedule | GPU |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for r in rows:
        gpu = f"{r['gpu_schedule']} | {r['gpu_us']:.4f}" if "gpu_us" in r else " | "
        ratio = r["gcc_us"] / r["c2cu_us"]
        figures = f"{r['c2cu_us']:.3f} | {r['gcc_us']:.3f} | {ratio:.2f}"
        print(f"| {r['program']} | {r['p']:,} | {r['schedule']} | {figures} | {gpu} |")
    if args.json:
        write(str(args.json), (json.dumps({"machine": where, "rows": rows}, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
