"""The textbook programs on a GPU that is said to have less: the shared memory of other cards for a block.

For each limit: the schedule that is chosen, the shared memory of its blocks, and its time beside that without a limit,
in the same process and in turn; medians of device events, results compared bit for bit. Without a GPU, what is chosen.

    python benchmarks/other_cards.py [--only NAME,...] [--json FILE] [--quick]
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

sys.path.insert(0, str(Path(__file__).parent.parent))

import c2cu
from benchmarks.measure import Device, Host, cpu_name, save
from benchmarks.suite import CASES, Case
from c2cu import pipeline
from c2cu.frontend.preprocess import read_source
from c2cu.program import kept
from c2cu.runtime import cuda, launch
from c2cu.schedule.choose import choose
from c2cu.schedule.estimate import USUAL

CARDS = {64: "T4, RTX 20", 99: "RTX 30 to 50, L4, L40", 163: "A100"}  # KB of shared memory that a block may have
ATTRIBUTE = "MaxSharedMemoryPerBlockOptin"


@contextmanager
def limited(kilobytes: int) -> Iterator[None]:
    """While this lasts, the device has no more shared memory for a block, as far as c2cu knows."""
    here = cuda.attributes()
    short = {**here, ATTRIBUTE: min(here[ATTRIBUTE], kilobytes << 10)}
    with (
        mock.patch.object(cuda, "attributes", lambda: short),
        mock.patch.object(kept, "ON", False),
        mock.patch.object(launch, "_loaded", type(launch._loaded)(launch.MODULES)),
    ):
        yield


def chosen(case: Case, kilobytes: int) -> dict[str, Any]:
    """Without a device: what would run."""
    w = case.workload
    front = pipeline.understand(read_source(str(w.path)), pipeline.Options(defines=dict(w.defines), shared=w.shared))
    plan, artifact = choose(front, "cuda", device=replace(USUAL, shared_bytes=kilobytes << 10))
    return {"schedule": plan.schedule, "shared_bytes": getattr(artifact, "shared_bytes", 0)}


def timed(case: Case, device: Host, repeats: int, quick: bool) -> list[dict[str, Any]]:
    """A row for each limit, the first without one."""
    w, p = case.workload, case.quick if quick else case.p
    inputs = w.random(p, seed=1)
    expected = {n: device.put(a) for n, a in w.results(w.compile(backend="cpu", schedule="native")(inputs)).items()}
    there = {n: device.put(a) for n, a in inputs.items()}
    programs: list[tuple[int, c2cu.Program]] = [(0, w.compile(backend="cuda"))]
    programs[0][1](there)
    for kilobytes in CARDS:
        with limited(kilobytes):
            programs.append((kilobytes, w.compile(backend="cuda")))
            programs[-1][1](there)
    times: dict[int, list[float]] = {k: [] for k, _ in programs}
    rows = []
    for _ in range(repeats):
        for k, program in programs:
            times[k].append(device.once(lambda program=program: program(there))[0])
    for k, program in programs:
        results = w.results(program(there))
        wrong = [n for n, a in expected.items() if device.differs(results[n], a, 0.0)]
        artifact = program.loaded.artifact
        rows.append({
            "workload": case.name, "p": p, "kilobytes": k, "schedule": program.plan.schedule,
            "shared_bytes": artifact.shared_bytes, "ms": statistics.median(times[k]), "wrong": wrong,
        })  # fmt: skip
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", type=lambda x: x.split(","), default=())
    parser.add_argument("--json", type=Path)
    parser.add_argument("--quick", action="store_true", help="few inputs: tests the benchmark")
    args = parser.parse_args(arguments)
    device = Device() if cuda.available() else None
    print(device.name if device else f"{cpu_name()}: no device, no times")
    print(f"{'workload':22} {'KB':>4} {'schedule':12} {'shared':>8} {'ms':>9} {'times':>6}")
    rows: list[dict[str, Any]] = []
    for case in CASES:
        if args.only and case.name not in args.only:
            continue
        if device is not None:
            some = timed(case, device, 3 if args.quick else 11, args.quick)
            device.free()
        else:
            some = [{"workload": case.name, "kilobytes": k, **chosen(case, k or 227)} for k in (0, *CARDS)]
        for r in some:
            took = f"{r['ms']:9.4f} {r['ms'] / some[0]['ms']:6.2f}" if "ms" in r else ""
            limit = r["kilobytes"] or "none"
            wrong = "  WRONG" if r.get("wrong") else ""
            print(f"{r['workload']:22} {limit:>4} {r['schedule']:12} {r['shared_bytes']:8} {took}{wrong}", flush=True)
        rows += some
    save(args.json, rows, machine=device.name if device else cpu_name())
    return int(any(r.get("wrong") for r in rows))


if __name__ == "__main__":
    sys.exit(main())
