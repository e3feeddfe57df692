"""Functions of math.h on one GPU: ours, which have the bits of the machine's library, beside CUDA's own.

Each thread adds up 64 values of a function; the time of as many additions alone is taken off. By the device's events,
medians, in turn. The share of results that differ from the library's is of single values, on the same arguments.

    python benchmarks/math_gpu.py [--only NAME,...] [--json FILE]
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

import c2cu
from benchmarks.measure import Device, save
from c2cu.base.libm import FUNCTIONS
from c2cu.program import kept
from c2cu.schedule import device_functions
from c2cu.schedule.gang.functions import names

P, TURNS, REPEATS = 1 << 19, 64, 7
RANGES = {
    "acos": (-1, 1), "asin": (-1, 1), "atanh": (-1, 1), "acosh": (1, 100), "log": (1e-3, 1e3), "log2": (1e-3, 1e3),
    "log10": (1e-3, 1e3), "log1p": (-0.9, 100), "pow": (0.1, 10), "erf": (-4, 4), "erfc": (-4, 4),
}  # fmt: skip


def text_of(name: str, turns: int, called: bool = True) -> str:
    """A kernel that adds up values, or arguments."""
    result, parameters = FUNCTIONS[name]
    second = ", y" if len(parameters) > 1 else ""
    value = f"{name}(x{second})" if called else "x"
    return (
        f"#include <math.h>\n{result} from, step, y, sum;\nvoid k(void) {{\n    {result} s = 0, x = from;\n"
        f"    for (int i = 0; i < {turns}; i++) {{ s += {value}; x += step; }}\n    sum = s;\n}}\n"
    )


def compiled(text: str, ours: bool) -> c2cu.Program:
    equal = device_functions.equal if ours else lambda _: frozenset()
    with patch.object(device_functions, "equal", equal), patch.object(kept, "ON", False):
        return c2cu.compile(text, fn="k", backend="cuda", schedule="registers", outputs=("sum",))


def row(name: str, device: Device, rng: np.random.Generator) -> dict[str, Any]:
    low, high = RANGES.get(name.removesuffix("f") if name != "erf" else name, (-5, 5))
    result, parameters = FUNCTIONS[name]
    t = np.dtype(f"f{result.size}")
    inputs = {"from": rng.uniform(low, high, P), "step": np.full(P, (high - low) * 1e-9)}
    if len(parameters) > 1:
        inputs["y"] = rng.uniform(-3, 3, P)
    host = {n: a.astype(t) for n, a in inputs.items()}
    arrays = {n: device.put(a) for n, a in host.items()}
    right = c2cu.compile(text_of(name, 1), fn="k", backend="cpu", schedule="native", outputs=("sum",))(host)
    out: dict[str, Any] = {"function": name}
    for kind in ("ours", "cuda"):
        single = compiled(text_of(name, 1), kind == "ours")(arrays).get()
        unequal = (single.view(f"u{t.itemsize}") != right.view(f"u{t.itemsize}")) & ~(
            np.isnan(single) & np.isnan(right)
        )
        out[f"{kind}_differs"] = float(unequal.mean())
    text = text_of(name, TURNS)
    programs = {"ours": compiled(text, True), "cuda": compiled(text, False)}
    programs["sum"] = compiled(text_of(name, TURNS, called=False), True)
    alone = {n: arrays[n] for n in ("from", "step")}
    times: dict[str, list[float]] = {k: [] for k in programs}
    for turn in range(REPEATS + 1):
        for kind, program in programs.items():
            ms, _ = device.once(lambda program=program, kind=kind: program(arrays if kind != "sum" else alone))
            times[kind] += [ms] * (turn > 0)
    medians = {kind: statistics.median(x) for kind, x in times.items()}
    for kind in ("ours", "cuda"):
        out[f"{kind}_ps"] = 1e9 * max(0.0, medians[kind] - medians["sum"]) / (P * TURNS)
    return out


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args(arguments)
    device, rng = Device(), np.random.default_rng(0)
    only = [x for x in args.only.split(",") if x]
    print(f"{device.name}; picoseconds a value, medians; the share of results that differ from the library's")
    print(f"{'function':10} {'ours':>8} {'CUDA':>8} {'times':>6} {'ours differs':>13} {'CUDA differs':>13}")
    rows = []
    for name in sorted(only or names() - device_functions.EXACT):
        r = row(name, device, rng)
        rows.append(r)
        times = r["ours_ps"] / r["cuda_ps"] if r["cuda_ps"] else float("nan")
        figures = (
            f"{r['ours_ps']:8.2f} {r['cuda_ps']:8.2f} {times:6.2f} {r['ours_differs']:13.6f} {r['cuda_differs']:13.6f}"
        )
        print(f"{name:10} {figures}", flush=True)
    save(args.json, rows, device=device.name)


if __name__ == "__main__":
    main()
