"""GPU speed of every schedule, from batch-first device arrays to batch-first device arrays, in one process.

Medians of device events, on random data; every result is compared with that of the same C on the CPU, bit for bit
where fp is exact. Beside each time: what others' libraries take for the same arrays, and the *copy limit*, the time of
moving the inputs and outputs once at the copy rate measured in the same run. The exit status is 1 if a result was
wrong or a schedule failed.

    python benchmarks/gpu.py [--only NAME,...] [--schedule NAME,...] [--repeats N] [--seconds S] [--json FILE]
    python benchmarks/gpu.py --backend cpu --quick      # the same table on the CPU, few inputs: tests this program
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import c2cu
from benchmarks.measure import Device, Host
from benchmarks.peers import PEERS, Missing
from benchmarks.suite import CASES, Case
from c2cu.io.files import write
from c2cu.schedule import registry

PEER_TOLERANCE = 1e-4  # of the largest number: it does the same thing, in another order
FAULTS = ("wrong", "failed")


@dataclass(frozen=True)
class Run:
    """What holds for all measurements. ``until``: when no new one is started, by `time.monotonic`."""

    device: Host
    schedules: Sequence[str]
    repeats: int
    quick: bool
    rate: float
    until: float

    @property
    def out_of_time(self) -> bool:
        return time.monotonic() > self.until


@dataclass(frozen=True)
class Data:
    """A case's arrays where the program wants them."""

    inputs: Mapping[str, Any]
    expected: Mapping[str, Any]
    p: int

    @property
    def moved(self) -> int:
        """Bytes in and out, each once."""
        return sum(a.nbytes for a in (*self.inputs.values(), *self.expected.values()))


def data(case: Case, run: Run) -> Data:
    """Random inputs, and the outputs of the C itself as the CPU's compiler took it."""
    w, put = case.workload, run.device.put
    p = case.quick if run.quick else case.p
    inputs = w.random(p, seed=1)
    expected = w.results(w.compile(backend="cpu", schedule="native")(inputs))
    return Data({n: put(a) for n, a in inputs.items()}, {n: put(a) for n, a in expected.items()}, p)


def rows_of(case: Case, run: Run) -> list[dict[str, Any]]:
    """The case's rows, one for each fp."""
    arrays = data(case, run)
    peers = {n: peer(n, run, arrays) for n in case.peers if PEERS[n].backend == run.device.backend}
    known: dict[str, dict[str, Any]] = {}  # schedules and values of fp that give one artifact are measured once
    rows = []
    for fp in case.fps:
        auto = schedule(case, fp, "auto", run, arrays, known)
        others = [s for s in run.schedules if s != auto.get("schedule")]
        cells = dict.fromkeys(run.schedules, auto)
        cells |= {s: schedule(case, fp, s, run, arrays, known) for s in others} | {"auto": auto}
        row = {
            "workload": case.name,
            "p": arrays.p,
            "fp": fp,
            "bytes": arrays.moved,
            "copy_limit_ms": 1e3 * arrays.moved / run.rate,
            "schedules": cells,
            "peers": peers,
        }
        rows.append({**row, "targets": [] if run.quick else targets(case, row)})
        run.device.free()
    return rows


def schedule(
    case: Case, fp: str, name: str, run: Run, arrays: Data, known: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    """One cell: the time under a schedule, or why there is none."""
    if run.out_of_time:
        return {"skipped": "no time left"}
    start = time.perf_counter()
    try:
        program = case.workload.compile(backend=run.device.backend, schedule=name, fp=fp)
        seconds = time.perf_counter() - start
        key = repr(program.loaded.artifact)
        if key not in known:
            tolerance = 0.0 if fp == "exact" else case.tolerance
            known[key] = {"build_seconds": seconds, **measured(program, case, tolerance, run, arrays)}
        return {"schedule": program.plan.schedule, **known[key]}
    except c2cu.UnsupportedError as e:
        where = f"{e.diagnostic.loc}: " if e.diagnostic.loc else ""
        return {"refused": where + e.diagnostic.message}
    except Exception as e:  # a fault of ours: it is shown, and the others are still measured
        return {"failed": f"{type(e).__name__}: {e}"}


def measured(program: c2cu.Program, case: Case, tolerance: float, run: Run, arrays: Data) -> dict[str, Any]:
    """Times of a program whose results are right."""
    device = run.device

    def call() -> Any:
        return program(arrays.inputs)

    first, result = device.once(call)
    wrong = difference(device, case.workload.results(result), arrays.expected, tolerance)
    if wrong:
        return {"wrong": wrong}
    inside = device.inside(program, arrays.inputs, result, arrays.p)
    del result
    ms = device.median_ms(call, run.repeats, first)
    call_ms = device.call_ms(call, min(run.repeats, 5)) if ms < 100 else ms
    return {"ms": ms, "call_ms": call_ms, **inside}


def difference(device: Host, results: Mapping[str, Any], expected: Mapping[str, Any], tolerance: float) -> str:
    """How results differ from what is expected, "" if they do not."""
    if set(results) != set(expected):
        return f"outputs are {', '.join(results)}, not {', '.join(expected)}"
    differences = ((n, device.differs(results[n], a, tolerance)) for n, a in expected.items())
    return "; ".join(f"'{n}': {how}" for n, how in differences if how)


def peer(name: str, run: Run, arrays: Data) -> dict[str, Any]:
    """A peer's time for the same arrays, or why there is none."""
    if run.out_of_time:
        return {"skipped": "no time left"}
    how, device = PEERS[name], run.device
    try:
        call: Callable[[], Any] = how.prepare(device.xp, arrays.inputs)
        result = device.once(call)[1]
        if how.wait:
            how.wait(result)
        wrong = difference(device, how.read(device.xp, result), arrays.expected, PEER_TOLERANCE)
        del result
        ms = device.waited_ms(call, how.wait, run.repeats) if how.wait else device.median_ms(call, run.repeats)
    except Missing as e:
        return {"skipped": str(e)}
    except Exception as e:  # theirs, not ours: out of memory, most likely
        return {"skipped": f"{type(e).__name__}: {e}"}
    device.free()
    return {"ms": ms, **({"wrong": wrong} if wrong else {})}


def targets(case: Case, row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What the case asks of the schedule that is chosen, and whether it is met; None where that is not known."""
    ms, limit, peers = row["schedules"]["auto"].get("ms"), row["copy_limit_ms"], row["peers"]
    bounds = [(f"{case.ms[row['fp']]:g} ms", case.ms[row["fp"]])] if row["fp"] in case.ms else []
    bounds += [(f"{case.share:.0%} of the copy rate", limit / case.share)] if case.share else []
    for name, times in case.faster.items():
        theirs = peers.get(name, {}).get("ms")
        bounds.append((f"{times:g}x {name}", theirs and theirs / times))
    return [{"target": t, "ms": most, "met": None if None in (ms, most) else ms <= most} for t, most in bounds]


def cell(c: Mapping[str, Any]) -> str:
    """A time, or the word for what came instead."""
    if "ms" in c:
        return f"{c['ms']:.3f}" + " WRONG" * ("wrong" in c)
    return next(k.upper() if k in FAULTS else k for k in (*FAULTS, "refused", "skipped") if k in c)


def line(row: Mapping[str, Any]) -> str:
    """A row of the table."""
    cells = row["schedules"]
    times = " ".join(f"{cell(c):>9}" for c in cells.values())
    share = f"{row['copy_limit_ms'] / cells['auto']['ms']:6.0%}" if "ms" in cells["auto"] else f"{'':6}"
    said = [f"{n} {cell(c) if 'ms' in c else c.get('skipped', '')}" for n, c in row["peers"].items()]
    verdict = {True: "met", False: "MISSED", None: "open"}
    said += [f"[{t['target']}: {verdict[t['met']]}]" for t in row["targets"]]
    return (
        f"{row['workload']:22} {row['p']:8} {row['fp']:6} {row['copy_limit_ms']:7.3f} {times} {share} "
        f"{cells['auto'].get('schedule', '-'):10} {'; '.join(said)}"
    ).rstrip()


def heading(schedules: Sequence[str]) -> str:
    times = " ".join(f"{s:>9}" for s in (*schedules, "auto"))
    return f"{'workload':22} {'p':>8} {'fp':6} {'limit':>7} {times} {'share':>6} {'chosen':10} others; targets"


def details(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Kernels' registers and memory, compile times, a caller's time; then why a schedule or a peer has no time."""
    times, reasons = [], []
    for row in rows:
        for name, c in (*row["schedules"].items(), *row["peers"].items()):
            which = f"{row['workload']:22} {row['fp']:6} {name:13}"
            if "build_seconds" in c and "ms" in c and name != "auto":
                times.append(f"{which} {c['build_seconds']:7.2f} {c['call_ms']:9.3f}  {kernels(c)}".rstrip())
            reasons += [f"{which} {k}: {c[k]}" for k in (*FAULTS, "refused", "skipped") if k in c]
    title = f"{'workload':22} {'fp':6} {'schedule':13} {'built/s':>7} {'call/ms':>9}  kernels"
    return ["", title, *times, *(["", *reasons] if reasons else [])]


def kernels(c: Mapping[str, Any]) -> str:
    """What the compiler says of them."""
    if "kernels" not in c:
        return ""
    each = [
        f"{n}: {k['registers']} registers, {k['local_bytes']} B local, {k['shared_bytes']} B shared"
        for n, k in c["kernels"].items()
    ]
    alone = [f"c2cu_run alone {c['run_ms']:.3f} ms"] if "run_ms" in c else []
    return "; ".join([f"NVRTC {c['compile_seconds']:.2f} s", *alone, *each])


def names(text: str, known: Sequence[str], parser: argparse.ArgumentParser) -> list[str]:
    """A comma-separated choice from ``known``."""
    chosen = text.split(",") if text else list(known)
    strange = [n for n in chosen if n not in known]
    if strange:
        parser.error(f"unknown: {', '.join(strange)}; choose from {', '.join(known)}")
    return chosen


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--only", default="", metavar="NAME,...", help=", ".join(c.name for c in CASES))
    parser.add_argument("--schedule", default="", metavar="NAME,...", help="beside auto")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=230, help="after which no measurement starts (%(default)s)")
    parser.add_argument("--quick", action="store_true", help="few inputs: the times mean nothing")
    parser.add_argument("--json", type=Path, help="written anew after each workload")
    args = parser.parse_args(arguments)
    start = time.monotonic()
    only = names(args.only, [c.name for c in CASES], parser)
    schedules = names(args.schedule, registry.names(args.backend), parser)
    cache = tempfile.TemporaryDirectory(prefix="c2cu-")
    if args.backend == "cuda":
        os.environ["C2CU_CACHE_DIR"] = cache.name  # else NVRTC's time would be that of an earlier run's cache
    device = Device() if args.backend == "cuda" else Host()
    rate = device.copy_rate(args.quick)
    run = Run(device, schedules, max(1, args.repeats), args.quick, rate, start + args.seconds)
    print(f"{device.name}; copy {rate / 1e12:.3f} TB/s; milliseconds, medians")
    print(heading(schedules), flush=True)
    rows: list[dict[str, Any]] = []
    for case in (c for c in CASES if c.name in only):
        if run.out_of_time:
            print(f"{case.name:22} skipped: no time left")
            continue
        new = rows_of(case, run)
        print("\n".join(map(line, new)), flush=True)
        rows += new
        if args.json:
            about = {"device": device.name, "backend": args.backend, "quick": args.quick, "copy_rate": rate}
            write(str(args.json), (json.dumps({**about, "rows": rows}, indent=1) + "\n").encode())
    print("\n".join(details(rows)))
    print(f"\n{time.monotonic() - start:.0f} seconds")
    cells = [c for r in rows for c in (*r["schedules"].values(), *r["peers"].values())]
    return int(any(fault in c for c in cells for fault in FAULTS))


if __name__ == "__main__":
    sys.exit(main())
