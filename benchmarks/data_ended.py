"""Loops that data ends, on one core: programs whose inputs take different numbers of turns.

Beside each time: the same C compiled by `cc -O3 -march=native` and called in a loop over the same inputs, in the same
process and in turn, both by the processor's time. Medians, and the median of the ratios; all bits are compared.

    python benchmarks/data_ended.py [--json FILE] [--quick]
"""

from __future__ import annotations

import ctypes
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

os.environ["C2CU_THREADS"] = "1"
os.environ["C2CU_VERIFY"] = "off"  # all bits are compared here; another thread's work would count

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np

import c2cu
from benchmarks.measure import cpu_name, options, save

PROGRAMS = Path(__file__).parent / "programs"
SETTLED = 6.0  # seconds that contests between schedules may take, before anything is timed
LOOP = """
__attribute__((visibility("default"))) void loop(char **in, char **out, long count) {{
    for (long id = 0; id < count; id++) {{
{copies}
        {fn}();
{results}
    }}
}}
"""
FLAGS = ["-O3", "-march=native", "-ffp-contract=off", "-fwrapv", "-w", "-shared", "-fPIC", "-fvisibility=hidden"]


def baseline(source: Path, inputs: dict[str, np.ndarray], results: dict[str, np.ndarray]) -> Callable[[], None]:
    """A function that runs the original for all inputs; it is inlined in the loop, as in a program of its own."""
    copy = "        __builtin_memcpy({to}, {source}, sizeof {name});"
    copies = [copy.format(to=f"&{n}", source=f"in[{k}] + id * sizeof {n}", name=n) for k, n in enumerate(inputs)]
    back = [copy.format(to=f"out[{k}] + id * sizeof {n}", source=f"&{n}", name=n) for k, n in enumerate(results)]
    text = source.read_text() + LOOP.format(copies="\n".join(copies), fn=source.stem, results="\n".join(back))
    library = Path(tempfile.mkdtemp()) / "original.so"
    subprocess.run(["cc", *FLAGS, "-x", "c", "-", "-o", str(library), "-lm"], input=text.encode(), check=True)
    loop = ctypes.CDLL(str(library)).loop
    into = (ctypes.c_void_p * len(inputs))(*[a.ctypes.data for a in inputs.values()])
    out = (ctypes.c_void_p * len(results))(*[a.ctypes.data for a in results.values()])
    count = len(next(iter(inputs.values())))
    return lambda: loop(into, out, ctypes.c_long(count))


def cases(rng: np.random.Generator, quick: bool) -> Iterator[tuple[str, str, dict[str, np.ndarray], tuple[str, ...]]]:
    """(title, program, inputs, outputs)"""

    def count(p: int) -> int:
        return p // 200 if quick else p

    p = count(100_000)
    points = {"x0": rng.uniform(-2, 0.5, p), "y0": rng.uniform(-1.2, 1.2, p)}
    yield "mandelbrot, random points", "mandelbrot", points, ("steps",)
    yield "mandelbrot, 1000 turns each", "mandelbrot", {"x0": np.zeros(p // 4), "y0": np.zeros(p // 4)}, ("steps",)
    p = count(400_000)
    yield "Kepler's equation", "kepler", {"M": rng.uniform(0, np.pi, p), "e": rng.uniform(0, 0.95, p)}, ("E",)
    p = count(4_000)
    start = {"mu": rng.uniform(0.5, 5, p), "ya": rng.uniform(-2, 2, p), "yb": rng.uniform(-2, 2, p)}
    yield "Van der Pol, RK45", "rk45", {**start, "t_end": rng.uniform(5, 10, p)}, ("r0", "r1", "steps")
    rates = {"k1": rng.uniform(0.02, 0.06, p), "k2": 10 ** rng.uniform(6.5, 7.7, p), "k3": 10 ** rng.uniform(3, 4.3, p)}
    yield "Robertson, Rosenbrock", "rosenbrock", {**rates, "t_end": 10 ** rng.uniform(0, 3, p)}, ("r", "steps")
    p = count(40_000)
    x = np.tile(np.linspace(-3, 3, 16), (p, 1))
    q = np.stack([rng.uniform(a, b, p) for a, b in ((1, 4), (-1, 1), (0.5, 2), (0, 1))], axis=1)
    y = q[:, :1] / (1 + ((x - q[:, 1:2]) * q[:, 2:3]) ** 2) + q[:, 3:] + rng.normal(scale=0.02, size=x.shape)
    yield "Levenberg-Marquardt", "peak_fit", {"x": x, "y": y, "p": q * rng.uniform(0.7, 1.3, q.shape)}, ("p", "turns")
    walks = {"seed": rng.integers(1, 1 << 32, p, dtype=np.uint32), "barrier": rng.uniform(3, 10, p)}
    yield "random walk, xorshift", "random_walk", walks, ("steps",)
    p = count(100_000)
    yield "Collatz", "collatz", {"start": rng.integers(1, 10**6, p).astype(np.uint64)}, ("steps",)


def measured(
    title: str,
    name: str,
    inputs: dict[str, np.ndarray],
    outputs: tuple[str, ...],
    repeats: int,
    folder: Path = PROGRAMS,
) -> dict:
    """One kernel, in the file of its name, which reads and writes globals."""
    source = folder / f"{name}.c"
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", c2cu.NotObliviousWarning)
        program = c2cu.compile(source, fn=name, backend="cpu", outputs=outputs)
    compiled = time.perf_counter() - start
    result = program(inputs)
    until = time.monotonic() + (SETTLED if repeats > 1 else 0)
    while program.plan.rival is not None and time.monotonic() < until:
        program(inputs)
    ours = result if isinstance(result, dict) else {outputs[0]: result}
    theirs = {n: np.zeros_like(ours[n]) for n in outputs}
    original = baseline(source, inputs, theirs)
    times: list[tuple[float, float]] = []
    for _ in range(repeats + 1):
        start = time.process_time()
        original()
        between = time.process_time()
        program(inputs)
        times.append((between - start, time.process_time() - between))
    for n in outputs:
        assert ours[n].tobytes() == theirs[n].tobytes(), f"{title}: {n}"
    p = len(next(iter(inputs.values())))
    times = times[1:]  # the first was to warm up
    return {
        "workload": title,
        "p": p,
        "schedule": program.plan.schedule,
        "c2cu_us": 1e6 * statistics.median(b for _, b in times) / p,
        "gcc_us": 1e6 * statistics.median(a for a, _ in times) / p,
        "ratio": statistics.median(a / b for a, b in times),
        "compile_s": compiled,
    }


def main() -> None:
    args = options(__doc__)
    rng = np.random.default_rng(0)
    rows = [measured(*case, 1 if args.quick else 9) for case in cases(rng, args.quick)]
    show(rows)
    save(args.json, rows, cpu=cpu_name())


def show(rows: list[dict]) -> None:
    print(f"{cpu_name()}; one core; microseconds an input, medians")
    print(f"{'workload':36} {'p':>7} {'schedule':8} {'c2cu':>9} {'gcc loop':>9} {'times':>6}")
    for r in rows:
        print(
            f"{r['workload']:36} {r['p']:7} {r['schedule']:8} {r['c2cu_us']:9.4f} {r['gcc_us']:9.4f} {r['ratio']:6.2f}"
        )


if __name__ == "__main__":
    main()
