"""Draws the thesis's figures 4.10 to 4.12 with ours beside: time and speed-up by the number of inputs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from benchmarks.papers_page import OTHER, Ours
from benchmarks.plot_gep import FAINT, GRID, OURS, STYLE, THEIRS

TITLES = {"4.10": "bitonic sort", "4.11": "Floyd-Warshall", "4.12": "Montgomery multiplication"}
K = 1 << 10


def figure(ours: Ours) -> Figure:
    """A column a figure; the upper row has times, the lower the ratio to one core of a CPU."""
    of = json.loads(OTHER.read_text())["figures"]
    with matplotlib.rc_context(STYLE):
        drawn = Figure((13.2, 8.2), layout="constrained")
        grid = drawn.subplots(2, 3, squeeze=False, sharex="col")
        for column, (name, title) in enumerate(TITLES.items()):
            sizes = [f for f in of if f["figure"] == name]
            panel(grid[0, column], sizes, ours, speedup=False)
            panel(grid[1, column], sizes, ours, speedup=True)
            grid[0, column].set_title(f"{name}: {title}", loc="left", fontsize=11, fontweight="bold")
            grid[1, column].set_xlabel("inputs p")
        grid[0, 0].set_ylabel("milliseconds")
        grid[1, 0].set_ylabel(f"times as fast as one core of an\n{ours.core}")
        handles, labels = grid[0, 0].get_legend_handles_labels()
        drawn.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False, fontsize=9.5)
        title = f"Bulk execution on one {ours.device}; in grey the thesis's GTX Titan, where its text has numbers"
        drawn.suptitle(title, x=0.012, ha="left", fontsize=12, fontweight="bold")
    return drawn


def panel(axes: Axes, sizes: Sequence[Mapping[str, Any]], ours: Ours, speedup: bool) -> None:
    """``speedup``: against p runs of the original, each on its own machine."""
    for colour, f in zip(OURS, sizes):
        original = ours.original(f["workload"])
        for form, style, label in (("auto", "-", "c2cu"), ("thread", (0, (4, 2)), "paper's form, same GPU")):
            points = sorted(
                (r["p"], original * r["p"] / ms if speedup and original else ms)
                for r in ours.rows
                if r.get("workload") == f["workload"] and r.get("form") == form and "ms" in r
                for ms in [r["ms"] if form == "auto" else r.get("run_ms", r["ms"])]
                if not speedup or original
            )
            if points:
                axes.plot(*zip(*points), color=colour, ls=style, lw=1.6, marker="o", ms=3, label=_once(axes, label))
                if form == "auto":
                    axes.annotate(f["workload"].partition("-")[2], points[-1], (5, -3), textcoords="offset points",
                                  color=colour, fontsize=9)  # fmt: skip
        if "fit" in f:
            _theirs(axes, f, speedup)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda p, _: _short(p)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
    axes.grid(axis="y", color=GRID, lw=0.8)
    axes.margins(x=0.12)
    axes.tick_params(labelcolor=FAINT)


def _theirs(axes: Axes, f: Mapping[str, Any], speedup: bool) -> None:
    """The line that the text fits, and the point that it gives."""
    if speedup:
        axes.plot([f["p"]], [f["speedup"]], color=THEIRS, marker="s", ms=6, ls="", label=_once(axes, "thesis"))
        return
    counts = [1 << k for k in range(6, f["p"].bit_length())]
    line = [f["fit"][0] + f["fit"][1] * 1e-6 * p for p in counts]
    axes.plot(counts, line, color=THEIRS, lw=1.2, label=_once(axes, "thesis"))
    axes.plot([f["p"]], [f["ms"]], color=THEIRS, marker="s", ms=6, ls="")


def _once(axes: Axes, label: str) -> str:
    return "_" if label in axes.get_legend_handles_labels()[1] else label


def _short(p: float) -> str:
    return f"{p / K / K:g}M" if p >= K * K else f"{p / K:g}K" if p >= K else f"{p:g}"
