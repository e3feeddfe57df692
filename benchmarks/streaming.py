"""Streams on GPUs: throughput and latency against the size of a group, from host arrays to host arrays.

The thesis's section 4.5: p inputs in groups of b, for its three programs and sizes (figures 4.15 to 4.17). Inputs come
from page-locked memory as fast as they are taken, results are looked at and dropped. Times are wall clock from the
first batch to the last result, on a second stream, so that page-locked memory is there; the limit is a copy in both
directions at once, measured in the same run. For each size the results of some groups are first compared, bit for bit,
with the same C on the CPU.

    python benchmarks/streaming.py [--only NAME,...] [--parts sweep,bulk,timeline,devices] [--json FILE]
    python benchmarks/streaming.py --backend cpu --quick      # few inputs, on the CPU: tests this program
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

import c2cu
from c2cu.io.files import write
from tests.workloads import Workload, bitonic, paths, product, stretch

K, M = 1 << 10, 1 << 20
KEPT = 8 << 30  # bytes of page-locked memory kept between streams: what is measured is not their making
MOST = 6000  # groups of one size
SECONDS = 0.25  # that one size is measured at least, where the program's p is less
NEARLY = 0.95  # of the throughput of the largest group: the knee


@dataclass(frozen=True)
class Case:
    """``p`` and ``groups`` (first, last; powers of two between) as in the thesis. ``ring``: bytes of different inputs
    that come round and round."""

    workload: Workload
    p: int
    groups: tuple[int, int]
    ring: int = 512 << 20

    @property
    def name(self) -> str:
        return self.workload.name


CASES = (
    Case(bitonic(32), 128 * M, (1 * K, 4 * M)),
    Case(paths(16), 640 * K, (64, 64 * K)),
    Case(product(512), 4 * M, (512, 2 * M)),
)
MUCH = Case(stretch(20000), 16 * M, (64 * K, 64 * K), 1 * M)  # computes much for each byte


@dataclass(frozen=True)
class Setting:
    backend: str
    quick: bool

    def memory(self, a: np.ndarray) -> np.ndarray:
        """A copy that a device copies from without a detour."""
        if self.backend == "cpu":
            return a.copy()
        import cupy

        out = np.frombuffer(cupy.cuda.PinnedMemoryPointer(cupy.cuda.PinnedMemory(a.nbytes), 0), np.uint8, a.nbytes)
        out = out.view(a.dtype).reshape(a.shape)
        out[...] = a
        return out


@dataclass(frozen=True)
class Ring:
    """Inputs in page-locked memory. ``moved``: bytes in and out of one input; ``taken``: in."""

    program: c2cu.Program
    inputs: Mapping[str, np.ndarray]
    shared: Mapping[str, np.ndarray]
    expected: Mapping[str, np.ndarray]
    count: int
    moved: int
    taken: int

    def batches(self, group: int, total: int) -> Iterator[dict[str, np.ndarray]]:
        at = 0
        while total > 0:
            n = min(group, total, self.count - at)
            yield {k: a[at : at + n] for k, a in self.inputs.items()}
            total, at = total - n, (at + n) % self.count


def ring(case: Case, setting: Setting) -> Ring:
    w = case.workload
    slots = {s.name: s for s in w.compile(backend="cpu").slots}
    size = sum(s.nbytes for s in slots.values() if s.reads and not s.shared)
    count = 1 << ((200 if setting.quick else case.ring // size).bit_length() - 1)
    drawn = w.random(count, seed=1)
    shared = {n: a for n, a in drawn.items() if n in w.shared}
    inputs = {n: setting.memory(a) for n, a in drawn.items() if n not in w.shared}
    expected = w.results(w.compile(backend="cpu")(drawn))
    moved = sum(a.nbytes for a in (*inputs.values(), *expected.values())) // count
    return Ring(w.compile(backend=setting.backend), inputs, shared, expected, count, moved, size)


def named(result: Any, r: Ring) -> Mapping[str, np.ndarray]:
    return result if isinstance(result, dict) else {next(iter(r.expected)): result}


def check(r: Ring, group: int) -> None:
    """Raises where a result is not the C's."""
    with r.program.stream(r.batches(group, 3 * group + 1), group=group, shared=r.shared, copy=False) as s:
        for result in s:
            for n, a in named(result, r).items():
                if a.shape[0] > r.count:
                    a = a[: r.count]
                expected = np.take(r.expected[n], np.arange(result.first, result.first + len(a)) % r.count, axis=0)
                if a.tobytes() != expected.tobytes():
                    raise AssertionError(f"{n} is wrong in the group at {result.first}")


def measured(r: Ring, group: int | None, total: int, **how: Any) -> dict[str, Any]:
    """Throughput and latency of one size, None for the usual; ``total`` inputs."""
    batch = r.count if group is None else min(group, r.count)
    with r.program.stream(r.batches(batch, total), group=group, shared=r.shared, copy=False, **how) as s:
        started, latencies = time.perf_counter(), []
        for result in s:
            latencies.append(result.latency)
            del result
        seconds = time.perf_counter() - started
        size, memory, depth, devices = s.group, s.memory + s.device_memory, s.depth, len(s.devices)
    steady = sorted(latencies[depth * devices :] or latencies)
    return {
        "group": size,
        "inputs": total,
        "seconds": seconds,
        "inputs_s": total / seconds,
        "gb_s": 1e-9 * total * r.moved / seconds,
        "latency_ms": 1e3 * statistics.median(steady),
        "latency_p99_ms": 1e3 * steady[int(0.99 * (len(steady) - 1))],
        "buffer_bytes": memory,
    }


def sweep(case: Case, r: Ring, setting: Setting) -> list[dict[str, Any]]:
    first, last = (16, 64) if setting.quick else case.groups
    rows, group = [], first
    while group <= last:
        check(r, group)
        groups = min(MOST, -(-case.p // group)) if not setting.quick else 8
        measured(r, group, 12 * group)
        row = measured(r, group, group * groups)
        if row["seconds"] < SECONDS and not setting.quick:
            row = measured(r, group, int(group * min(MOST, groups * SECONDS / row["seconds"])))
        rows.append(row)
        print(
            f"{case.name:16} b={group:8}  {row['gb_s']:7.2f} GB/s  {1e-6 * row['inputs_s']:9.3f} M inputs/s  "
            f"latency {row['latency_ms']:9.3f} ms (99 of 100 within {row['latency_p99_ms']:.3f})",
            flush=True,
        )
        group *= 2
    return rows


def knee(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The smallest group at nearly the throughput of the largest."""
    return next(row for row in rows if row["gb_s"] >= NEARLY * rows[-1]["gb_s"])


def one_batch(r: Ring, group: int) -> dict[str, Any]:
    """The largest group alone: copied in, computed, copied out, as without streams."""
    rows = [measured(r, group, group) for _ in range(6)][1:]
    latency = statistics.median(row["latency_ms"] for row in rows)
    return {"group": group, "latency_ms": latency, "gb_s": 1e-6 * group * r.moved / latency}


def bulk(case: Case, r: Ring, setting: Setting) -> list[dict[str, Any]]:
    """`Program.__call__` from host arrays to host arrays."""
    plain = {n: np.array(a) for n, a in r.inputs.items()}
    rows = []
    for what, inputs, locked in (("page-locked", r.inputs, True), ("ordinary", plain, False)):
        out = {n: setting.memory(a) if locked else np.empty_like(a) for n, a in r.expected.items()}
        for a in out.values():
            a[...] = 0
        seconds = []
        for _ in range(5):
            started = time.perf_counter()
            r.program(dict(inputs), shared=r.shared, out=out)
            seconds.append(time.perf_counter() - started)
        if any(out[n].tobytes() != r.expected[n].tobytes() for n in out):
            raise AssertionError(f"bulk is wrong from {what} memory")
        rate = 1e-9 * r.count * r.moved / statistics.median(seconds)
        rows.append({"memory": what, "p": r.count, "ms": 1e3 * statistics.median(seconds), "gb_s": rate})
        print(f"{case.name:16} bulk of {r.count} inputs, {what} memory to the same: {rate:.2f} GB/s", flush=True)
    return rows


def timeline(r: Ring, group: int) -> list[dict[str, Any]]:
    """What the first device did for some groups in the middle of a run, from CUDA events."""
    with r.program.stream(r.batches(group, 160 * group), group=group, shared=r.shared, copy=False, timeline=True) as s:
        for _ in s:
            pass
        spans = [x for x in s.spans() if 120 <= x.group < 130 and x.device == s.devices[0]]
    start = min((x.start for x in spans), default=0.0)
    return [
        {"group": x.group, "what": x.what, "start_ms": 1e3 * (x.start - start), "end_ms": 1e3 * (x.end - start)}
        for x in spans
    ]


def scaling(setting: Setting) -> list[dict[str, Any]]:
    """One device against all of them: a program that computes much for each byte, and one that does not."""
    from c2cu.runtime import cuda

    rows = []
    for case in (MUCH, CASES[0]):
        r = ring(case, setting)
        for devices in ([0], list(range(cuda.device_count()))):
            measured(r, None, case.p // 8, devices=devices)
            row = {"name": case.name, "devices": len(devices), **measured(r, None, case.p, devices=devices)}
            rows.append(row)
            print(
                f"{case.name:16} {len(devices)} devices: {row['inputs_s']:.0f} inputs/s, {row['gb_s']:.2f} GB/s",
                flush=True,
            )
    return rows


def links() -> dict[str, float]:
    """GB/s of page-locked copies: in, out, and both at the same time, together."""
    import cupy

    runtime, nbytes, turns = cupy.cuda.runtime, 64 << 20, 32
    host = [cupy.cuda.PinnedMemory(nbytes) for _ in range(2)]
    device = [cupy.zeros(nbytes, np.uint8) for _ in range(2)]
    streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(2)]
    pairs = ((device[0].data.ptr, host[0].ptr, streams[0].ptr), (host[1].ptr, device[1].data.ptr, streams[1].ptr))

    def rate(ways: tuple[int, ...]) -> float:
        cupy.cuda.Device().synchronize()
        started = time.perf_counter()
        for _ in range(turns):
            for way in ways:
                target, source, stream = pairs[way]
                runtime.memcpyAsync(target, source, nbytes, runtime.memcpyDefault, stream)
        for s in streams:
            s.synchronize()
        return 1e-9 * len(ways) * turns * nbytes / (time.perf_counter() - started)

    kinds = {"in_gb_s": (0,), "out_gb_s": (1,), "duplex_gb_s": (0, 1)}
    return {name: statistics.median(rate(ways) for _ in range(5)) for name, ways in kinds.items()}


def limit(r: Ring, rates: dict[str, Any]) -> float:
    """GB/s in and out that the link allows for this program: each way has its own limit, and both together one."""
    returned = r.moved - r.taken
    seconds = r.taken / rates["in_gb_s"], returned / rates["out_gb_s"], r.moved / rates["duplex_gb_s"]
    return r.moved / max(seconds)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="")
    parser.add_argument("--parts", default="sweep,bulk,timeline")
    parser.add_argument("--backend", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json")
    a = parser.parse_args(arguments)
    setting, parts = Setting(a.backend, a.quick), a.parts.split(",")
    data: dict[str, Any] = {"backend": a.backend, "cases": {}}
    if a.backend == "cuda":
        from c2cu.runtime import cuda, pinned_memory

        pinned_memory.PINNED.limit = KEPT
        data.update(device=cuda.device_name(), devices=cuda.device_count(), **links())
        print(f"{data['device']}, {data['devices']} of them; copies both ways at once: {data['duplex_gb_s']:.1f} GB/s")
    for case in CASES:
        if a.only and case.name not in a.only.split(","):
            continue
        r = ring(case, setting)
        here: dict[str, Any] = {"p": case.p, "bytes": r.moved}
        if a.backend == "cuda":
            here["limit_gb_s"] = limit(r, data)
        if "sweep" in parts:
            here["sweep"] = sweep(case, r, setting)
            here["knee"] = knee(here["sweep"])
            here["one_batch"] = one_batch(r, here["sweep"][-1]["group"])
            k, b, most = here["knee"], here["one_batch"], here.get("limit_gb_s", float("nan"))
            print(
                f"{case.name:16} knee b={k['group']}: {k['gb_s']:.2f} GB/s of {most:.1f}, {k['latency_ms']:.3f} ms;",
                end=" ",
            )
            print(f"one batch of {b['group']}: {b['gb_s']:.2f} GB/s, {b['latency_ms']:.3f} ms")
        if "bulk" in parts:
            here["bulk"] = bulk(case, r, setting)
        if "timeline" in parts and a.backend == "cuda" and "sweep" in parts:
            here["timeline"] = timeline(r, here["knee"]["group"])
        data["cases"][case.name] = here
        del r
    if "devices" in parts:
        data["scaling"] = scaling(setting)
    if a.json:
        write(a.json, (json.dumps(data, indent=1) + "\n").encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
