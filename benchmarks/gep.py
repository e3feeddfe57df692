"""GPU speed of one large matrix: Floyd-Warshall under every variant of the schedule gep, from device array to device
array, in one process.

Medians of device events. A rate counts n^3 relaxations, beside what the bare instructions do on an H200, and beside the
times that papers give for their GPUs (papers.json). Results are compared bit for bit with n steps of array operations
up to --checked rows, and with one another beyond. The exit status is 1 if one was wrong or a variant failed.

    python benchmarks/gep.py [--n N,...] [--schedule gep:NAME,...] [--kind NAME,...] [--seconds S] [--json FILE]
                             [--plot FILE.png]
    python benchmarks/gep.py --draw FILE.json --plot FILE.png      # of an earlier run
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

import c2cu
from benchmarks import papers
from c2cu.io.files import write
from c2cu.schedule.registry import variants

SIZES = (256, 512, 1024, 2048, 4096, 8192, 16384, 32768)
VARIANTS = tuple(v for v in variants("cuda", "gep") if v not in ("gep:tiles", "gep:bands"))
TEXT = """#define N {n}
{t} D[N][N];
void f(void) {{
    for (int k = 0; k < N; k++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                {step}
}}
"""
PATHS = "if (D[i][k] + D[k][j] < D[i][j]) D[i][j] = D[i][k] + D[k][j];"
CLOSURE = "D[i][j] = D[i][j] || (D[i][k] && D[k][j]);"


@dataclass(frozen=True)
class Kind:
    """``limit``: 10^12 relaxations a second of the bare instructions on an H200: two additions and one minimum of three
    for two relaxations of floats that are not below zero; one fused instruction for one of integers, or for two of 16
    bits; one for 32 of bits. ``papers``: the kinds of `benchmarks.papers` that stand beside it."""

    name: str
    type: str
    dtype: str
    fp: str
    limit: float
    papers: tuple[str, ...] = ("float", "32-bit")
    step: str = PATHS

    def takes(self, schedule: str) -> bool:
        """Whether it is worth measuring: of a closure on bits, no other."""
        return (schedule == "gep:bits") == (self.step == CLOSURE)

    def text(self, n: int) -> str:
        return TEXT.format(n=n, t=self.type, step=self.step)


KINDS = (
    Kind("fp32 fast", "float", "f4", "fast", 21.9),
    Kind("fp32 exact", "float", "f4", "exact", 21.9),
    Kind("int32", "int", "i4", "exact", 16.5),
    Kind("u16", "unsigned short", "u2", "exact", 32.9, ("32-bit", "4-bit")),
    Kind("closure", "unsigned char", "u1", "exact", 678.0, (), CLOSURE),
)


def stepwise(device: Any, d: Any, kind: Kind = KINDS[0]) -> Any:
    """The result, a step after the other on the whole array."""
    d = d.copy()
    for k in range(len(d)):
        if kind.step == CLOSURE:
            d |= d[:, k, None] & d[k]
            continue
        via = d[:, k, None] + d[k]
        d = device.xp.where(via < d, via, d)
    return d


def graph(n: int, kind: Kind) -> np.ndarray:
    rng = np.random.default_rng(n)
    if kind.step == CLOSURE:  # few enough edges that components stay apart
        return (rng.random((n, n), np.float32) < 0.9 / n).astype(kind.dtype)
    d = rng.integers(1, 1000, (n, n), np.dtype(kind.dtype) if kind.dtype[0] != "f" else np.int32).astype(kind.dtype)
    np.fill_diagonal(d, 0)
    return d


def rows(device: Any, kind: Kind, n: int, args: argparse.Namespace, until: float) -> list[dict[str, Any]]:
    """One row a variant."""
    matrices = device.put(graph(n, kind)[None])
    expected = stepwise(device, matrices[0], kind) if n <= args.checked else None
    out, results = device.xp.empty_like(matrices), []
    for schedule in filter(kind.takes, args.schedule):
        row: dict[str, Any] = {"kind": kind.name, "n": n, "schedule": schedule}
        results.append(row)
        if time.monotonic() > until:
            row["skipped"] = "no time left"
            continue
        try:
            row |= one(device, kind, n, schedule, matrices, out, args.repeats)
        except (c2cu.CompileError, c2cu.UnsupportedError) as e:
            row["failed"] = str(e).splitlines()[0]
            continue
        expected = out[0].copy() if expected is None else expected
        row["wrong"] = device.differs(out[0], expected, 0.0)
        print(said(row), flush=True)
    device.free()
    return results


def one(device: Any, kind: Kind, n: int, schedule: str, matrices: Any, out: Any, repeats: int) -> dict[str, Any]:
    program = c2cu.compile(kind.text(n), backend="cuda", schedule=schedule, fp=kind.fp)
    started = time.perf_counter()
    first, _ = device.once(lambda: program({"D": matrices}, out={"D": out}))
    elapsed = time.perf_counter() - started
    ms = device.median_ms(lambda: program({"D": matrices}, out={"D": out}), repeats, first if first > 1000 else 0.0)
    rate = n**3 / ms / 1e9
    inside = program.loaded.resources
    return {
        "ms": ms,
        "trelax_s": rate,
        "share": rate / kind.limit,
        "first_seconds": elapsed,
        "launches": len(program.loaded.artifact.launches),
        "registers": {k: v["registers"] for k, v in inside.items()},
        "local_bytes": {k: v["local_bytes"] for k, v in inside.items() if v["local_bytes"]},
    }


def said(row: dict[str, Any]) -> str:
    head = f"{row['kind']:<11}{row['n']:>6}  {row['schedule']:<14}"
    for fault in ("skipped", "failed"):
        if fault in row:
            return f"{head} {fault}: {row[fault]}"
    text = f"{head}{row['ms']:>11.3f} ms {row['trelax_s']:>7.2f} T/s {100 * row['share']:>5.0f}% of the limit"
    return f"{text}  WRONG: {row['wrong']}" if row["wrong"] else text


def best(results: Sequence[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """The rows of each kind and size, the fastest first."""
    for which in dict.fromkeys((r["kind"], r["n"]) for r in results):
        good = [r for r in results if (r["kind"], r["n"]) == which and "ms" in r]
        if good:
            yield sorted(good, key=lambda r: r["ms"])


def table(results: Sequence[dict[str, Any]]) -> str:
    """The fastest of each kind and size, and how the others compare; then what the papers took."""
    lines = ["the fastest, and the others' time as a multiple"]
    for first, *others in best(results):
        rest = ", ".join(f"{r['schedule'].partition(':')[2]} {r['ms'] / first['ms']:.2f}" for r in others)
        lines.append(f"{said(first)}   {rest}".rstrip())
    lines.append("the papers' own figures of their best method, in ms, and how many times as fast the fastest here is")
    for first, *_ in best(results):
        theirs = papers.fastest(next(k.papers for k in KINDS if k.name == first["kind"])).items()
        beside = [
            f"{machine} {1e3 * t[first['n']]:.4g} ({1e3 * t[first['n']] / first['ms']:.1f}x)"
            for machine, t in theirs
            if first["n"] in t
        ]
        lines.append(f"{first['kind']:<11}{first['n']:>6}{first['ms']:>11.3f}  {', '.join(beside)}".rstrip())
    return "\n".join(lines)


def draw(results: Sequence[dict[str, Any]], device: str, name: str) -> str:
    """Rate by size of every variant, a panel a kind."""
    from benchmarks.plot_gep import figure

    kinds = [k for k in KINDS if any(r["kind"] == k.name and "ms" in r for r in results)]
    figure(results, kinds, device).savefig(name, dpi=150, metadata={"Software": None})
    return name


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--n", type=lambda t: tuple(map(int, t.split(","))), default=SIZES)
    parser.add_argument("--schedule", type=lambda t: tuple(t.split(",")), default=VARIANTS)
    parser.add_argument("--kind", type=lambda t: tuple(t.split(",")), default=tuple(k.name for k in KINDS))
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--checked", type=int, default=4096, help="rows up to which array operations are the judge")
    parser.add_argument("--seconds", type=float, default=400.0, help="after which no measurement is begun")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--plot", metavar="FILE.png")
    parser.add_argument("--draw", metavar="FILE.json", help="measure nothing")
    args = parser.parse_args(argv)
    unknown = set(args.kind) - {k.name for k in KINDS}
    if unknown:
        parser.error(f"no kind {sorted(unknown)[0]}: {', '.join(k.name for k in KINDS)}")
    return args


def main(argv: Sequence[str] | None = None, device: Any = None) -> int:
    args = arguments(argv)
    if args.draw:
        earlier = json.loads(Path(args.draw).read_text())
        results, name = earlier["rows"], earlier["device"]
    else:
        from benchmarks.measure import Device

        device = device or Device()
        until = time.monotonic() + args.seconds
        kinds = [k for k in KINDS if k.name in args.kind]
        results, name = [], device.name
        for n in args.n:
            results += [r for k in kinds for r in rows(device, k, n, args, until)]
            if args.json:  # anew after each size
                data = {"device": name, "version": c2cu.__version__, "rows": results}
                write(args.json, (json.dumps(data, indent=1) + "\n").encode())
    print(table(results))
    if args.plot and any("ms" in r for r in results):
        print(draw(results, name, args.plot))
    return int(any(r.get("wrong") or "failed" in r for r in results))


if __name__ == "__main__":
    sys.exit(main())
