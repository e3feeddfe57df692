"""Draws what `benchmarks/gep.py --json` measured: the rate of every variant by size, a panel a kind, with the papers'
GPUs in grey.

    python benchmarks/gep.py --draw benchmarks/results/gep.json --plot gep.png
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any, Protocol

import matplotlib

matplotlib.use("Agg")
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from benchmarks import papers

INK, FAINT, GRID, THEIRS = "#1c2733", "#66727f", "#e3e8ed", "#8a939d"
OURS = ("#1769aa", "#c2571a", "#2f8f5b", "#7b4fa3", "#b3123f", "#8a6d3b")
OPEN = "osD^v<>"
ACROSS = 3  # panels
APART = 4  # kinds whose limits differ by more do not share an axis
STYLE: Any = {"font.size": 10, "axes.edgecolor": FAINT, "text.color": INK, "axes.labelcolor": INK, "xtick.color": FAINT,
         "ytick.color": FAINT, "axes.spines.top": False, "axes.spines.right": False}  # fmt: skip


class Kind(Protocol):
    """What is drawn in one panel; ``papers``: the papers' kinds beside it. ``limit``: 10^12 relaxations a second."""

    @property
    def name(self) -> str: ...
    @property
    def limit(self) -> float: ...
    @property
    def papers(self) -> tuple[str, ...]: ...


def panel(axes: Axes, kind: Kind, rows: Sequence[Mapping[str, Any]], colours: Mapping[str, str]) -> None:
    axes.axhline(kind.limit, color=FAINT, lw=1, ls=(0, (4, 3)))
    axes.annotate(f"limit {kind.limit:.1f}", (0, kind.limit), (4, 3), xycoords=("axes fraction", "data"),
                  textcoords="offset points", color=FAINT, fontsize=8.5)  # fmt: skip
    theirs = {m: rates(best) for m, best in papers.fastest(kind.papers).items()}
    for (machine, line), mark in zip(theirs.items(), OPEN):
        axes.plot(list(line), list(line.values()), color=THEIRS, lw=0.7, marker=mark, ms=4.5, mfc="white", zorder=1)
        label(axes, machine, line, [other for m, other in theirs.items() if m != machine])
    for schedule, colour in colours.items():
        ours = {r["n"]: r["trelax_s"] for r in rows if r["schedule"] == schedule}
        name = schedule.partition(":")[2]
        axes.plot(list(ours), list(ours.values()), color=colour, lw=1.6, marker="o", ms=3.5, label=name)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda n, _: f"{n / 1024:g}K" if n >= 1024 else f"{n:g}"))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda rate, _: f"{rate:g}"))
    axes.set_xlabel("n")
    axes.set_title(kind.name, loc="left", fontsize=11, fontweight="bold")
    axes.grid(axis="y", color=GRID, lw=0.8)


def rates(seconds: Mapping[int, float]) -> dict[int, float]:
    """10^12 relaxations a second at powers of two: markers between them would hide each other."""
    return {n: n**3 / t / 1e12 for n, t in seconds.items() if n & (n - 1) == 0}


def label(axes: Axes, machine: str, line: Mapping[int, float], others: Sequence[Mapping[int, float]]) -> None:
    """A machine's name at its last point: above, or below where another machine goes on close above."""
    n, rate = list(line.items())[-1]
    near = [r for other in others for m, r in other.items() if m >= n and rate < r < 2 * rate]
    axes.annotate(machine, (n, rate), (4, -9 if near else 7), textcoords="offset points", color=FAINT, fontsize=8.5,
                  ha="right", va="top" if near else "bottom")  # fmt: skip


def figure(results: Sequence[Mapping[str, Any]], kinds: Sequence[Kind], device: str) -> Figure:
    """``results``: rows of the benchmark; ``kinds``: those among them."""
    rows = [r for r in results if "ms" in r]
    colours = dict(zip(dict.fromkeys(r["schedule"] for r in rows), cycle(OURS)))
    limits = [k.limit for k in kinds]
    across = min(ACROSS, len(kinds))
    down = -(-len(kinds) // across)
    with matplotlib.rc_context(STYLE):
        drawn = Figure((4.4 * across + 0.6, 4.1 * down + 0.8), layout="constrained")
        grid = drawn.subplots(down, across, squeeze=False, sharey=max(limits) <= APART * min(limits))
        for axes, kind in zip(grid.flat, kinds):
            panel(axes, kind, [r for r in rows if r["kind"] == kind.name], colours)
        for axes in grid.flat[len(kinds) :]:
            axes.remove()
        for axes in grid[:, 0]:
            axes.set_ylabel("relaxations, $10^{12}$ a second")
        handles, labels = grid[0, 0].get_legend_handles_labels()
        drawn.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False, fontsize=9.5)
        drawn.suptitle(f"One graph on one {device}; in grey the papers' GPUs, of their best method", x=0.012, ha="left",
                       fontsize=12, fontweight="bold")  # fmt: skip
    return drawn
