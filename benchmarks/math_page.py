"""The tables of docs/math.md that were measured, written anew from JSON files between their marks.

    python benchmarks/math_page.py [--page docs/math.md]

The files: results/epyc-math-lanes.json, results/xeon-math-lanes.json (`math_lanes.py --json`) and
results/h200-math.json (`math_gpu.py --json`). A mark is a comment ``<!-- NAME -->``; the lines up to ``<!-- end -->``
are what is written.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.papers_page import table
from c2cu.io.files import write

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results"


def rows_of(name: str, key: str) -> dict[str, Mapping[str, Any]]:
    return {row[key]: row for row in json.loads((RESULTS / f"{name}.json").read_text())["rows"]}


def lanes() -> list[str]:
    """Nanoseconds a value in lanes and of the library, on both processors."""
    machines = [rows_of(name, "name") for name in ("epyc-math-lanes", "xeon-math-lanes")]
    head = ["function", "EPYC: lanes", "library", "times", "Xeon: lanes", "library", "times"]
    out = []
    for name in sorted(machines[0].keys() | machines[1].keys()):
        cells = [f"`{name}`"]
        for machine in machines:
            r = machine.get(name)
            cells += [f"{r[k]:.2f}" for k in ("lanes_ns", "library_ns", "ratio")] if r else ["", "", ""]
        out.append(cells)
    return table(head, out)


def device() -> list[str]:
    """Picoseconds a value on a GPU, beside CUDA's own."""
    out = []
    for name, r in sorted(rows_of("h200-math", "function").items()):
        ours, theirs = r["ours_ps"], r["cuda_ps"]
        out.append([f"`{name}`", f"{ours:.2f}", f"{theirs:.2f}", f"{ours / theirs:.2f}", f"{r['cuda_differs']:.2%}"])
    return table(["function", "ours", "CUDA's", "times", "CUDA's that differ"], out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "math.md", metavar="FILE.md", help="(%(default)s)")
    args = parser.parse_args()
    text = args.page.read_text()
    for mark, lines in (("lanes", lanes()), ("device", device())):
        whole = "\n".join([f"<!-- {mark} -->", *lines, "<!-- end -->"])
        text, count = re.subn(rf"<!-- {mark} -->.*?<!-- end -->", lambda _, whole=whole: whole, text, flags=re.S)
        if count != 1:
            sys.exit(f"{args.page}: the mark <!-- {mark} --> is not there once")
    write(str(args.page), text.encode())


if __name__ == "__main__":
    main()
