"""The choice between lanes and the user's own loop on the CPU: is what `auto` takes the faster one, and how long does
compiling it take?

Programs of the kinds that people bring: loops that data ends, functions of the library, tables, trees of branches (as
m2cgen writes them), beside kernels that lanes are made for. Each runs under `auto`, `gang` and `native` in turn, on one
core, beside the same C compiled by `cc -O3 -march=native` and called in a loop. Medians; results are compared.

    python benchmarks/choice.py [--only WORD] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

import c2cu
from benchmarks import cpu  # sets the number of threads
from c2cu.io.files import write

PROGRAMS = Path(__file__).parent / "programs"
Case = tuple[str, Path, str, dict[str, np.ndarray], str, dict[str, int]]


def cases(rng: np.random.Generator, folder: Path) -> Iterator[Case]:
    """(title, file, kernel, inputs, output, macros)"""
    p = 65536
    x, y = rng.uniform(-2, 0.6, p), rng.uniform(-1.2, 1.2, p)
    yield "mandelbrot", PROGRAMS / "mandelbrot.c", "mandelbrot", {"x0": x, "y0": y}, "steps", {}
    market = {"s": (50, 150), "k": (50, 150), "t": (0.1, 2), "r": (0, 0.1), "vol": (0.1, 0.5)}
    prices = {name: rng.uniform(low, high, 8 * p) for name, (low, high) in market.items()}
    yield "Black-Scholes", PROGRAMS / "black_scholes.c", "black_scholes", prices, "call", {}
    orbits = {"M": rng.uniform(0, 6.28, 4 * p), "e": rng.uniform(0, 0.9, 4 * p)}
    yield "Kepler's equation", PROGRAMS / "kepler_library.c", "kepler_library", orbits, "E", {}
    starts = {"mu": rng.uniform(0.5, 5, p // 4), "start": rng.uniform(-2, 2, (p // 4, 2))}
    yield "adaptive RK45", PROGRAMS / "dormand_prince.c", "rk45", starts, "y", {}
    t = 0.1 * np.arange(20)
    points = 1.2 * np.exp(-0.9 * t) + 0.4 * np.exp(-5 * t) + 0.01 * rng.normal(size=(p // 8, 20))
    yield "Levenberg-Marquardt", PROGRAMS / "levenberg_marquardt.c", "lm", {"ty": points}, "par", {}
    message = rng.integers(0, 256, (p, 128), dtype=np.uint8)
    yield "CRC-32 of 128 bytes", PROGRAMS / "crc32.c", "crc32", {"message": message}, "crc", {}
    trees = folder / "forest.c"
    trees.write_text(forest(rng, 50, 5))
    yield "forest of 50 trees", trees, "forest", {"x": rng.normal(size=(p, 10))}, "y", {}
    d = rng.random((8192, 16, 16), dtype=np.float32)
    yield "Floyd-Warshall n=16", cpu.EXAMPLES / "floyd_warshall.c", "floyd_warshall", {"D": d}, "D", {"N": 16}
    b = rng.random((4096, 1024), dtype=np.float32)
    yield "prefix sums n=1024", cpu.EXAMPLES / "prefix_sums.c", "prefix_sums", {"b": b}, "b", {}


def forest(rng: np.random.Generator, trees: int, depth: int) -> str:
    """C as generators of code write it: a tree of branches for each tree."""

    def tree(k: int, level: int) -> str:
        if level == depth:
            return f"v{k} = {rng.normal()!r};"
        test = f"x[{rng.integers(10)}] <= {rng.normal()!r}"
        return f"if ({test}) {{\n{tree(k, level + 1)}\n}} else {{\n{tree(k, level + 1)}\n}}"

    body = "\n".join(f"double v{k};\n{tree(k, 0)}\nsum += v{k};" for k in range(trees))
    text = f"double x[10], y;\nvoid forest(void) {{\ndouble sum = 0;\n{body}\ny = sum / {trees};\n}}\n"
    return text.replace("np.float64(", "(")


def measured(title: str, path: Path, fn: str, inputs: dict, out: str, defines: dict) -> dict[str, Any]:
    p = len(next(iter(inputs.values())))
    programs, seconds = {}, {}
    for schedule in ("auto", "gang", "native"):
        start = time.perf_counter()
        programs[schedule] = c2cu.compile(path, fn=fn, backend="cpu", schedule=schedule, defines=defines)
        seconds[schedule] = time.perf_counter() - start
    results = {schedule: program(inputs) for schedule, program in programs.items()}  # here auto may measure
    arrays = [r if isinstance(r, np.ndarray) else r[out] for r in results.values()]
    original = cpu.baseline(path, fn, inputs, out, arrays[0].shape, arrays[0].dtype, defines)
    assert all(np.array_equal(a, original(), equal_nan=True) for a in arrays), title
    auto, gang, native, gcc = cpu.medians(*(lambda f=f: f(inputs) for f in programs.values()), original)
    plan = programs["auto"].plan
    return {
        "program": title,
        "p": p,
        "schedule": plan.schedule,
        "by_measurement": plan.measured is not None,
        **{f"{n}_us": 1e6 * t / p for n, t in (("auto", auto), ("gang", gang), ("native", native), ("gcc", gcc))},
        **{f"{n}_compile_seconds": t for n, t in seconds.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    warnings.simplefilter("ignore", c2cu.NotObliviousWarning)
    rows = []
    print(f"{cpu.cpu_name()}, one core; microseconds an input, medians; seconds to compile\n")
    print("| program | p | auto takes | by | auto | gang | native | gcc loop | compile auto | gang | native |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for case in cases(np.random.default_rng(0), Path(folder)):
            if args.only not in case[0]:
                continue
            r = measured(*case)
            rows.append(r)
            times = " | ".join(f"{r[f'{n}_us']:.3f}" for n in ("auto", "gang", "native", "gcc"))
            compiled = " | ".join(f"{r[f'{n}_compile_seconds']:.1f}" for n in ("auto", "gang", "native"))
            by = "measurement" if r["by_measurement"] else "estimate"
            print(f"| {r['program']} | {r['p']:,} | `{r['schedule']}` | {by} | {times} | {compiled} |", flush=True)
    if args.json:
        machine = f"{cpu.cpu_name()}, one core"
        write(str(args.json), (json.dumps({"machine": machine, "rows": rows}, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
