"""Others' own figures, on their machines: papers.json, from the tables of three publications; and ours beside them.

    python benchmarks/papers.py --measure FILE.json [--seconds S] [--only PART,..]      # with a GPU and nvcc
    python benchmarks/papers.py --measure FILE.json --backend cpu --quick      # tests the measuring without a GPU
    python benchmarks/papers.py --page docs/papers.md [--measured FILE.json]      # and the figures beside it

Lund and Smith 2010: A Multi-Stage CUDA Kernel for Floyd-Warshall. Buluc, Gilbert, Budak 2009: Gaussian Elimination
Based Algorithms on the GPU. Takafuji 2020: A Study on Efficient GPU Implementations to Compute the Diameter of a Graph,
thesis, Hiroshima University.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).parent / "papers.json"
MEASURED = Path(__file__).parent / "results" / "h100-papers.json"
#: Of elements. 32-bit: the paper does not say of what type; edges: a list of them, not a matrix.
KINDS = ("float", "32-bit", "4-bit", "8-bit", "16-bit", "edges")
COPIES = "copies alone"  # a method: there and back


@dataclass(frozen=True)
class Figures:
    """A column of a table. ``seconds``: by the number of graphs at once, by n; with ``transfers`` from the host and
    back. ``gpu``: whether ``machine`` is one."""

    source: str
    table: str
    machine: str
    gpu: bool
    method: str
    kind: str
    transfers: bool
    seconds: Mapping[int, Mapping[int, float]]
    note: str = ""


def figures() -> tuple[Figures, ...]:
    """All that the file holds."""
    return tuple(Figures(**{**entry, "seconds": _numbered(entry["seconds"])}) for entry in json.loads(FILE.read_text()))


def _numbered(seconds: Mapping[str, Mapping[str, float]]) -> dict[int, dict[int, float]]:
    return {int(graphs): {int(n): t for n, t in row.items()} for graphs, row in seconds.items()}


def fastest(kinds: Sequence[str], graphs: int = 1) -> dict[str, dict[int, float]]:
    """The best seconds of each GPU by n, whatever the method, without transfers."""
    by_machine: dict[str, dict[int, float]] = {}
    for f in figures():
        if f.gpu and f.kind in kinds and not f.transfers:
            best = by_machine.setdefault(f.machine, {})
            for n, t in f.seconds.get(graphs, {}).items():
                best[n] = min(t, best.get(n, t))
    return {machine: dict(sorted(best.items())) for machine, best in by_machine.items() if best}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", type=Path, metavar="FILE.json", help="written anew after each part")
    parser.add_argument("--backend", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--quick", action="store_true", help="few and small inputs: the times mean nothing")
    parser.add_argument("--seconds", type=float, default=330, help="that the parts share (%(default)s)")
    parts = "graphs, figures, standalone, transfers, cpu, originals"
    parser.add_argument(
        "--only",
        type=lambda x: x.split(","),
        default=(),
        metavar="PART,..",
        help=f"of {parts}; FILE.json keeps the others",
    )
    parser.add_argument("--page", type=Path, metavar="FILE.md", help="write the tables, with what was measured")
    parser.add_argument("--measured", type=Path, metavar="FILE.json", default=MEASURED, help="(%(default)s)")
    args = parser.parse_args(arguments)
    if not args.measure and not args.page:
        parser.error("give --measure or --page")
    status = 0
    if args.measure:
        from benchmarks.papers_measure import measure

        status = measure(args.measure, args.backend, args.quick, args.seconds, args.only)
    if args.page:
        _write(args.page, args.measure or args.measured)
    return status


def _write(page: Path, measured: Path) -> None:
    """The page and, once there is something to draw, the figures beside it."""
    from benchmarks import papers_page
    from c2cu.io.files import write

    ours = papers_page.Ours(json.loads(measured.read_text()) if measured.exists() else {})
    write(str(page), papers_page.page(ours).encode())
    if ours.rows:
        from benchmarks.plot_papers import figure

        figure(ours).savefig(page.with_name(papers_page.PICTURE), dpi=150, metadata={"Software": None})


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent.parent))
    sys.exit(main())
