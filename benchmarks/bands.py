"""GPU speed of one matrix in bands of rows, from host array to host array: larger than the memory that a device may
use, or on several devices. Beside it what fits: the schedule gep:streams, from device array to device array.

A rate counts n^3 relaxations; the bus, what all devices take from the host and give it. ``share``: of the matrix'
bytes, what a device may use; all: what is free. Results are compared bit for bit. The exit status is 1 if one was wrong
or failed.

    python benchmarks/bands.py [--n N,...] [--share X,...|all] [--kind float|int] [--devices N]
                               [--memory pinned|pageable] [--repeats N] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

import c2cu
from benchmarks.gep import PATHS, TEXT
from c2cu.io.files import write
from c2cu.schedule.gep import bands_plan

DTYPES = {"float": "f4", "int": "i4"}
ROWS = 1024  # that are made, or compared, at once


def graph(n: int, out: np.ndarray) -> None:
    rng = np.random.default_rng(n)
    for at in range(0, n, ROWS):
        out[at : at + ROWS] = rng.integers(1, 1000, (min(ROWS, n - at), n), np.int32)
    np.fill_diagonal(out, 0)


def differing(result: np.ndarray, expected: Any) -> int:
    """Rows that are not equal bit for bit. ``expected``: an array of a device, or None."""
    if expected is None:
        return 0
    wrong = 0
    for at in range(0, len(result), ROWS):
        rows = expected[at : at + ROWS]
        rows = rows.get() if hasattr(rows, "get") else rows
        wrong += int((result[at : at + ROWS].view("u4") != rows.view("u4")).any(1).sum())
    return wrong


def inside(device: Any, text: str, matrices: np.ndarray, repeats: int) -> tuple[dict[str, Any], Any]:
    """What the whole matrix on a device takes, and the result there."""
    program = c2cu.compile(text, backend="cuda", schedule="gep:streams")
    here = device.put(matrices)
    out = device.xp.empty_like(here)
    first, _ = device.once(lambda: program({"D": here}, out={"D": out}))
    ms = device.median_ms(lambda: program({"D": here}, out={"D": out}), repeats, first if first > 1000 else 0.0)
    return {"schedule": "gep:streams", "seconds": 1e-3 * ms}, out[0]


def outside(text: str, matrices: np.ndarray, out: np.ndarray, limit: int | None, devices: int, repeats: int) -> dict:
    """What bands take, the fastest of some runs."""
    program = c2cu.compile(text, backend="cuda", schedule="gep:bands")
    loaded = program.loaded
    loaded.limit = limit
    sizes = loaded.prepare(range(devices))
    times = []
    for _ in range(repeats):
        out[...] = 0
        started = time.perf_counter()
        program({"D": matrices}, out={"D": out}, devices=range(devices))
        times.append(time.perf_counter() - started)
    moved = bands_plan.traffic(loaded.bands, sizes)
    return {
        "schedule": "gep:bands",
        "seconds": min(times),
        "limit": limit,
        "band": sizes.band,
        "bands": sizes.bands(loaded.bands),
        "streamed": sizes.streamed,
        "device_bytes": sizes.offsets(loaded.bands)[1],
        "bus_gb_s": (moved.come + moved.go) / min(times) / 1e9,
        "sent_gb_s": moved.sent / min(times) / 1e9,
        "redone": loaded.redone,
    }


def rows(device: Any, n: int, args: argparse.Namespace) -> list[dict[str, Any]]:
    """The whole matrix inside, and each share of it."""
    dtype = DTYPES[args.kind]
    make = np.empty if args.memory == "pageable" else _pinned
    matrices, out = make((1, n, n), dtype), make((1, n, n), dtype)
    graph(n, matrices[0])
    text = TEXT.format(n=n, t=args.kind, step=PATHS)
    results: list[dict[str, Any]] = []
    expected = None
    for share in (None, *args.share):
        row: dict[str, Any] = {
            "n": n,
            "kind": args.kind,
            "share": share,
            "devices": 1 if share is None else args.devices,
        }
        results.append(row)
        try:
            if share is None:
                measured, expected = inside(device, text, matrices, args.repeats)
                row |= measured
            else:
                limit = None if share == "all" else int(float(share) * matrices.nbytes)
                row |= outside(text, matrices, out, limit, args.devices, args.repeats)
                row["wrong"] = differing(out[0], expected)
                row["checked"] = expected is not None
        except (c2cu.CompileError, c2cu.UnsupportedError) as e:
            row["failed"] = str(e).splitlines()[0]
        else:
            row["trelax_s"] = n**3 / row["seconds"] / 1e12
        print(said(row), flush=True)
        if share is None and expected is not None:  # a copy on the host: bands are to find the device empty
            expected = expected.get() if hasattr(expected, "get") else expected.copy()
            device.free()
    return results


def _pinned(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    import cupyx

    return cupyx.empty_pinned(shape, dtype)


def said(row: dict[str, Any]) -> str:
    head = f"{row['kind']:<6}{row['n']:>7}"
    if "failed" in row:
        return f"{head}  share {row['share']}  failed: {row['failed']}"
    text = f"{head}  {row['schedule']:<12}{row['seconds']:>9.3f} s {row['trelax_s']:>7.2f} T/s"
    if row["share"] is None:
        return f"{text}  the whole matrix on one device"
    how = "come and go" if row["streamed"] else "stay"
    text += (
        f"  bus {row['bus_gb_s']:>6.1f} GB/s, sent {row['sent_gb_s']:>6.1f} GB/s, {row['device_bytes'] / 1e9:.2f} GB"
    )
    text += f" (share {row['share']}) of {row['devices']}: {row['bands']} bands of {row['band']} rows {how}"
    text += "" if row["checked"] else ", not compared"
    return text + (f"  WRONG: {row['wrong']} rows" if row["wrong"] else "")


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--n", type=lambda t: tuple(map(int, t.split(","))), default=(16384, 32768))
    parser.add_argument("--share", type=lambda t: tuple(t.split(",")), default=("all", "0.5", "0.25", "0.125"))
    parser.add_argument("--kind", choices=sorted(DTYPES), default="float")
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--memory", choices=("pinned", "pageable"), default="pinned")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", metavar="FILE")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None, device: Any = None) -> int:
    args = arguments(argv)
    if device is None:
        from benchmarks.measure import Device

        device = Device()
    results = [r for n in args.n for r in rows(device, n, args)]
    if args.json:
        data = {"device": device.name, "devices": args.devices, "version": c2cu.__version__, "rows": results}
        write(args.json, (json.dumps(data, indent=1) + "\n").encode())
    return int(any(r.get("wrong") or r.get("redone") or "failed" in r for r in results))


if __name__ == "__main__":
    sys.exit(main())
