"""GPU speed of one large matrix: Floyd-Warshall under every variant of the schedule gep, from device array to device
array, in one process.

Medians of device events. A rate counts n^3 relaxations, beside what the bare instructions do on an H200. Results are
compared bit for bit with n steps of array operations up to --checked rows, and with one another beyond. The exit status
is 1 if one was wrong or a variant failed.

    python benchmarks/gep.py [--n N,...] [--schedule gep:NAME,...] [--kind NAME,...] [--seconds S] [--json FILE]
                             [--plot FILE.png]
    python benchmarks/gep.py --draw FILE.json --plot FILE.png      # of an earlier run
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

import c2cu
from c2cu.files import write
from c2cu.plan import variants

SIZES = (256, 512, 1024, 2048, 4096, 8192, 16384, 32768)
VARIANTS = tuple(v for v in variants("cuda", "gep") if v not in ("gep:tiles", "gep:bands"))
THESIS = {256: 0.187, 512: 0.400, 1024: 1.327, 2048: 6.84, 4096: 47.4, 8192: 326, 16384: 2594, 32768: 20722}
TEXT = """#define N {n}
{t} D[N][N];
void paths(void) {{
    for (int k = 0; k < N; k++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                if (D[i][k] + D[k][j] < D[i][j]) D[i][j] = D[i][k] + D[k][j];
}}
"""


@dataclass(frozen=True)
class Kind:
    """``limit``: 10^12 relaxations a second of the bare instructions on an H200, of as many for each as the loop has:
    two, three (add, compare, select) or one."""

    name: str
    type: str
    dtype: str
    fp: str
    limit: float


KINDS = (
    Kind("fp32 fast", "float", "f4", "fast", 16.1),
    Kind("fp32 exact", "float", "f4", "exact", 16.1 * 2 / 3),
    Kind("int32", "int", "i4", "exact", 16.5),
)


def stepwise(device: Any, d: Any) -> Any:
    """The result, a step after the other on the whole array."""
    d = d.copy()
    for k in range(len(d)):
        via = d[:, k, None] + d[k]
        d = device.xp.where(via < d, via, d)
    return d


def graph(n: int, kind: Kind) -> np.ndarray:
    rng = np.random.default_rng(n)
    d = rng.integers(1, 1000, (n, n), np.int32).astype(kind.dtype)
    np.fill_diagonal(d, 0)
    return d


def rows(device: Any, kind: Kind, n: int, args: argparse.Namespace, until: float) -> list[dict[str, Any]]:
    """One row a variant."""
    given = device.put(graph(n, kind)[None])
    expected = stepwise(device, given[0]) if n <= args.checked else None
    out, found = device.xp.empty_like(given), []
    for schedule in args.schedule:
        row: dict[str, Any] = {"kind": kind.name, "n": n, "schedule": schedule}
        found.append(row)
        if time.monotonic() > until:
            row["skipped"] = "no time left"
            continue
        try:
            row |= one(device, kind, n, schedule, given, out, args.repeats)
        except (c2cu.CompileError, c2cu.UnsupportedError) as e:
            row["failed"] = str(e).splitlines()[0]
            continue
        expected = out[0].copy() if expected is None else expected
        row["wrong"] = device.differs(out[0], expected, 0.0)
        print(said(row), flush=True)
    device.free()
    return found


def one(device: Any, kind: Kind, n: int, schedule: str, given: Any, out: Any, repeats: int) -> dict[str, Any]:
    program = c2cu.compile(TEXT.format(n=n, t=kind.type), backend="cuda", schedule=schedule, fp=kind.fp)
    started = time.perf_counter()
    first, _ = device.once(lambda: program({"D": given}, out={"D": out}))
    elapsed = time.perf_counter() - started
    ms = device.median_ms(lambda: program({"D": given}, out={"D": out}), repeats, first if first > 1000 else 0.0)
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
    against = f"{THESIS[row['n']] / row['ms']:6.1f}x" if row["n"] in THESIS else ""
    text = (
        f"{head}{row['ms']:>11.3f} ms {row['trelax_s']:>7.2f} T/s {100 * row['share']:>5.0f}% of the limit{against:>9}"
    )
    return f"{text}  WRONG: {row['wrong']}" if row["wrong"] else text


def table(found: Sequence[dict[str, Any]]) -> str:
    """The fastest of each kind and size, and how the others compare."""
    lines = ["the fastest, and the others' time as a multiple (x: of the thesis' V100, float, is how much faster)"]
    for kind, n in dict.fromkeys((r["kind"], r["n"]) for r in found):
        good = sorted((r for r in found if (r["kind"], r["n"]) == (kind, n) and "ms" in r), key=lambda r: r["ms"])
        if good:
            rest = ", ".join(f"{r['schedule'].partition(':')[2]} {r['ms'] / good[0]['ms']:.2f}" for r in good[1:])
            lines.append(f"{said(good[0])}   {rest}")
    return "\n".join(lines)


def draw(found: Sequence[dict[str, Any]], name: str) -> str:
    """Rate by size of every variant, a panel a kind."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    kinds = [k for k in KINDS if any(r["kind"] == k.name for r in found)]
    figure = Figure((4.6 * len(kinds), 3.9), layout="constrained")
    for axes, kind in zip(np.ravel(figure.subplots(1, len(kinds), sharey=True)), kinds):
        axes.axhline(kind.limit, color="#66727f", lw=1, ls=(0, (4, 3)))
        for schedule in dict.fromkeys(r["schedule"] for r in found):
            line = [r for r in found if (r["kind"], r["schedule"]) == (kind.name, schedule) and "ms" in r]
            label = schedule.partition(":")[2]
            axes.plot([r["n"] for r in line], [r["trelax_s"] for r in line], marker="o", ms=3.5, label=label)
        axes.set_xscale("log", base=2)
        axes.set_title(f"{kind.name}, limit {kind.limit:.1f}", fontsize=10)
        axes.set_xlabel("n")
        axes.grid(axis="y", color="#e3e8ed", lw=0.8)
    figure.axes[0].set_ylabel("relaxations, $10^{12}$ a second")
    figure.axes[0].legend(frameon=False, fontsize=8.5)
    figure.savefig(name, dpi=150)
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
        found = json.loads(Path(args.draw).read_text())["rows"]
    else:
        from benchmarks.measure import Device

        device = device or Device()
        until = time.monotonic() + args.seconds
        kinds = [k for k in KINDS if k.name in args.kind]
        found = [r for n in args.n for k in kinds for r in rows(device, k, n, args, until)]
        print(table(found))
        if args.json:
            data = {"device": device.name, "version": c2cu.__version__, "rows": found}
            write(args.json, (json.dumps(data, indent=1) + "\n").encode())
    if args.plot:
        print(draw(found, args.plot))
    return int(any(r.get("wrong") or "failed" in r for r in found))


if __name__ == "__main__":
    sys.exit(main())
