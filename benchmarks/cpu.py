"""CPU speed: one core, end to end from batch-first array to batch-first array, packing included.

Beside each time: the same C compiled by `cc -O3 -march=native` and called in a loop over the same inputs, in the
same process; for the sorts, n=32 and n=1024, also numpy.sort(axis=1), in turn with ours. Medians of repeated runs;
results are compared every time.

    python benchmarks/cpu.py [--json FILE]
"""

from __future__ import annotations

import argparse
import ctypes
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ["C2CU_THREADS"] = "1"

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np

import c2cu
from benchmarks.measure import cpu_name, save
from tests.workloads import numbers

EXAMPLES = Path(__file__).parent.parent / "examples"
LOOP = """
void loop(const char **in, char *out, long p) {{
    for (long id = 0; id < p; id++) {{
{copies}
        {fn}();
        __builtin_memcpy(out + id * sizeof({out}), &{out}, sizeof({out}));
    }}
}}
"""


def baseline(source: Path, fn: str, inputs: dict[str, np.ndarray], out: str, shape: tuple, dtype, defines: dict):
    """The original in a loop, as a function that returns its result."""
    text = source.read_text().replace("int main(", "int original_main(")
    for macro, value in defines.items():
        text = "\n".join(
            f"#define {macro} {value}" if line.startswith(f"#define {macro} ") else line for line in text.split("\n")
        )
    copies = "\n".join(
        f"        __builtin_memcpy(&{v}, in[{k}] + id * sizeof({v}), sizeof({v}));" for k, v in enumerate(inputs)
    )
    text += LOOP.format(copies=copies, fn=fn, out=out)
    library = Path(tempfile.mkdtemp()) / "original.so"
    subprocess.run(
        [
            "cc",
            "-O3",
            "-march=native",
            "-ffp-contract=off",
            "-fwrapv",
            "-w",
            "-shared",
            "-fPIC",
            "-fno-semantic-interposition",  # so that the kernel is inlined, as in a program of its own
            "-Wl,-Bsymbolic",
            "-x",
            "c",
            "-",
            "-o",
            str(library),
        ],
        input=text.encode(),
        check=True,
    )
    loop = ctypes.CDLL(str(library)).loop
    pointers = (ctypes.c_void_p * len(inputs))(*[a.ctypes.data for a in inputs.values()])
    result = np.empty(shape, dtype)

    def run() -> np.ndarray:
        loop(pointers, ctypes.c_void_p(result.ctypes.data), ctypes.c_long(shape[0]))
        return result

    return run


def medians(*calls, repeats: int = 9) -> list[float]:
    """Median time of each call in seconds, after one to warm up; they take turns, so that all see the same machine."""
    for f in calls:
        f()
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(repeats):
        for f, samples in zip(calls, times):
            start = time.perf_counter()
            f()
            samples.append(time.perf_counter() - start)
    return [statistics.median(samples) for samples in times]


def cases(rng):
    """(title, example, kernel, inputs, output, macros)"""
    for n, p in ((16, 8192), (64, 512)):
        yield (
            f"Floyd-Warshall n={n}",
            "floyd_warshall",
            "floyd_warshall",
            {"D": rng.random((p, n, n), dtype=np.float32)},
            "D",
            {"N": n},
        )
    for n, p in ((32, 65536), (1024, 2048)):
        yield (
            f"bitonic sort n={n}",
            "bitonic_sort",
            "bitonic_sort",
            {"a": rng.random((p, n), dtype=np.float32)},
            "a",
            {"N": n},
        )
    yield "Montgomery 512 bits", "montgomery", "montgomery", numbers(rng, 16384, 512), "r", {"BITS": 512}
    yield "prefix sums n=1024", "prefix_sums", "prefix_sums", {"b": rng.random((4096, 1024), dtype=np.float32)}, "b", {}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    rng = np.random.default_rng(0)
    rows = []
    for title, example, fn, inputs, out, defines in cases(rng):
        p = len(next(iter(inputs.values())))
        program = c2cu.compile(EXAMPLES / f"{example}.c", backend="cpu", defines=defines)
        result = program(inputs)
        original = baseline(EXAMPLES / f"{example}.c", fn, inputs, out, result.shape, result.dtype, defines)
        assert np.array_equal(result, original()), title
        calls = [lambda: program(inputs)]
        if "bitonic" in title:
            assert np.array_equal(result, np.sort(inputs["a"], axis=1)), title
            calls.append(lambda: np.sort(inputs["a"], axis=1))
        ours, *theirs = medians(*calls)
        row = {
            "workload": title,
            "p": p,
            "schedule": program.plan.schedule,
            "lanes": program.plan.lanes,
            "c2cu_us": 1e6 * ours / p,
            "gcc_us": 1e6 * medians(original, repeats=5)[0] / p,
        }
        if theirs:
            row["numpy_sort_us"] = 1e6 * theirs[0] / p
        rows.append(row)
    print(f"{cpu_name()}; one core; microseconds an input, medians")
    print(f"{'workload':22} {'p':>7} {'c2cu':>9} {'gcc loop':>9} {'ratio':>7} {'np.sort':>9} {'ratio':>7}")
    for r in rows:
        print(
            f"{r['workload']:22} {r['p']:7} {r['c2cu_us']:9.3f} {r['gcc_us']:9.3f} {r['gcc_us'] / r['c2cu_us']:7.1f} "
            + (f"{r['numpy_sort_us']:9.3f} {r['numpy_sort_us'] / r['c2cu_us']:7.2f}" if "numpy_sort_us" in r else "")
        )
    save(args.json, rows, cpu=cpu_name())


if __name__ == "__main__":
    main()
