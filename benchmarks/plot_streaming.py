"""Draws what `benchmarks/streaming.py --json` measured: throughput and latency by group (figures 4.15 to 4.17 of the
thesis, ours beside its figures), and the timeline of a run (figure 4.14).

    python benchmarks/plot_streaming.py benchmarks/results/streaming-h200.json docs
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib.axes import Axes
from matplotlib.figure import Figure

INK, FAINT, GRID = "#1c2733", "#66727f", "#e3e8ed"
RATE, WAIT, THESIS = "#1769aa", "#c2571a", "#8a6d3b"
THESIS_LATENCY = {  # (inputs a group, ms) in the text of section 4.5, on a GeForce GTX Titan
    "bitonic-32": ((128 << 10, 12.0), (4 << 20, 373.0)),
    "fw-16": ((4 << 10, 4.82), (64 << 10, 48.3)),
    "montgomery-512": ((64 << 10, 13.3), (2 << 20, 406.0)),
}
TITLES = {
    "bitonic-32": "Bitonic sort, n = 32",
    "fw-16": "Floyd-Warshall, n = 16",
    "montgomery-512": "Montgomery product, 512 bits",
}
STYLE: Any = {"font.size": 10, "axes.edgecolor": FAINT, "text.color": INK, "axes.labelcolor": INK, "xtick.color": FAINT,
         "ytick.color": FAINT, "axes.spines.top": False}  # fmt: skip


def size(n: float) -> str:
    return f"{n / (1 << 20):g}M" if n >= 1 << 20 else f"{n / 1024:g}K" if n >= 1024 else f"{n:g}"


def panel(axes: Axes, name: str, case: dict[str, Any], limit: float) -> None:
    rows, knee, alone = case["sweep"], case["knee"], case["one_batch"]
    groups = [row["group"] for row in rows]
    axes.axhline(limit, color=FAINT, lw=1, ls=(0, (4, 3)))
    axes.text(groups[0], limit * 1.015, f"the link's limit: {limit:.0f} GB/s", color=FAINT, fontsize=8.5)
    axes.plot(groups, [row["gb_s"] for row in rows], color=RATE, lw=2, marker="o", ms=4)
    axes.set_xscale("log", base=2)
    axes.set_ylim(0, limit * 1.14)
    axes.set_xticks(groups[:: max(1, len(groups) // 6)], [size(g) for g in groups[:: max(1, len(groups) // 6)]])
    axes.set_xlabel("inputs a group")
    axes.set_ylabel("in and out, GB/s", color=RATE)
    axes.grid(axis="y", color=GRID, lw=0.8)
    other = axes.twinx()
    other.plot(groups, [row["latency_ms"] for row in rows], color=WAIT, lw=2, marker="s", ms=3.5)
    theirs = THESIS_LATENCY.get(name, ())
    other.plot([g for g, _ in theirs], [ms for _, ms in theirs], color=THESIS, lw=0, marker="D", ms=6, mfc="none")
    for g, ms in theirs:
        other.annotate(f"thesis {ms:g} ms", (g, ms), (-7, 0), textcoords="offset points", color=THESIS, fontsize=8.5,
                       ha="right", va="center")  # fmt: skip
    other.plot([alone["group"]], [alone["latency_ms"]], color=WAIT, marker="*", ms=11, lw=0)
    said = f"alone: {size(alone['group'])} inputs, {alone['latency_ms']:.3g} ms, {alone['gb_s']:.0f} GB/s"
    axes.text(0.98, 0.05, said, transform=axes.transAxes, color=WAIT, fontsize=9, ha="right", va="center")
    other.set_yscale("log")
    other.set_ylim(0.1, 1000)
    other.set_ylabel("latency, ms", color=WAIT)
    other.spines["right"].set_color(FAINT)
    axes.axvline(knee["group"], color=INK, lw=0.8, ls=":")
    said = f"knee: {size(knee['group'])} inputs\n{knee['gb_s']:.0f} GB/s, {knee['latency_ms']:.2f} ms"
    axes.text(0.03, 0.76, said, transform=axes.transAxes, fontsize=9, va="center")
    axes.set_title(f"{TITLES.get(name, name)}, p = {size(case['p'])}", loc="left", fontsize=11, fontweight="bold")


def groups_figure(data: dict[str, Any]) -> Figure:
    cases = data["cases"]
    figure = Figure(figsize=(5.6 * len(cases), 4.9), dpi=140)
    for k, (name, case) in enumerate(cases.items()):
        panel(figure.add_subplot(1, len(cases), k + 1), name, case, case.get("limit_gb_s") or data["duplex_gb_s"])
    figure.suptitle(
        f"Streams on one {data['device']}: throughput (blue, left) and latency (orange, right) by the size of a group",
        x=0.012, ha="left", fontsize=13, fontweight="bold",
    )  # fmt: skip
    figure.tight_layout(rect=(0, 0, 1, 0.96), w_pad=2.5)
    return figure


def timeline_figure(data: dict[str, Any]) -> Figure:
    drawn = {n: c for n, c in data["cases"].items() if c.get("timeline")}
    figure = Figure(figsize=(12, 0.7 + 2.0 * len(drawn)), dpi=140)
    lanes = {"in": 2, "kernel": 1, "out": 0}
    for k, (name, case) in enumerate(drawn.items()):
        axes = figure.add_subplot(len(drawn), 1, k + 1)
        for span in case["timeline"]:
            colour = matplotlib.colormaps["viridis"](0.12 + 0.76 * (span["group"] % 4) / 3)
            width = span["end_ms"] - span["start_ms"]
            axes.barh(lanes[span["what"]], width, left=span["start_ms"], height=0.72, color=colour, ec="white", lw=0.6)
            if width > 0.02 * case["timeline"][-1]["end_ms"]:
                axes.text(span["start_ms"] + width / 2, lanes[span["what"]], span["group"], fontsize=7, color="white",
                          ha="center", va="center", clip_on=True)  # fmt: skip
        axes.set_yticks(list(lanes.values()), ["copy in", "kernel", "copy out"])
        axes.set_xlabel("ms")
        axes.spines[["right"]].set_visible(False)
        b = size(case.get("knee", {}).get("group", 0))
        axes.set_title(f"{TITLES.get(name, name)}, groups of {b}", loc="left", fontsize=10.5, fontweight="bold")
    figure.suptitle(f"What one {data['device']} did when, from CUDA events (numbers: groups)", x=0.012, ha="left",
                    fontsize=12, fontweight="bold")  # fmt: skip
    figure.tight_layout(rect=(0, 0, 1, 0.98))
    return figure


def main(arguments: list[str]) -> int:
    source, folder = Path(arguments[0]), Path(arguments[1])
    data = json.loads(source.read_text())
    with matplotlib.rc_context(STYLE):
        groups_figure(data).savefig(folder / "streaming-groups.png", metadata={"Software": None})
        timeline_figure(data).savefig(folder / "streaming-timeline.png", metadata={"Software": None})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
