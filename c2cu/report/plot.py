"""`c2cu explain --plot`: the model and the roofline as a picture. The only file that imports matplotlib."""

from __future__ import annotations

import io
from collections.abc import Sequence
from math import atan2, degrees
from pathlib import Path
from typing import Any

from ..base import catalogue
from ..schedule.roofline import Limits, Roofline, rate, scaled
from .umm import Arrangement, addresses, pipeline, simulate

ENDINGS = (".png", ".svg", ".pdf")
WIDTH, LATENCY, P, STEPS = 4, 5, 8, 4  # small enough that every address can be read
MOST_DIGITS = 6  # that fit into a cell
INK, FAINT, GRID = "#22272e", "#8a939d", "#dfe3e8"
MEMORY, COMPUTE, POINT = "#2f6fb3", "#c2571a", "#b3123f"


def check(path: str) -> None:
    """Raises InputError where no picture could be written to ``path``."""
    if Path(path).suffix not in ENDINGS:
        raise catalogue.NOT_A_PICTURE.error(path=path, endings=list(ENDINGS))
    _matplotlib()


def _matplotlib() -> Any:
    try:
        import matplotlib  # pyright: ignore[reportMissingImports]
        import matplotlib.figure  # pyright: ignore[reportMissingImports]
        import matplotlib.patches  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise catalogue.NO_MATPLOTLIB.error() from None
    return matplotlib


def plot(path: str, name: str, elements: Sequence[int], n: int, roof: Roofline, limits: Limits) -> bytes:
    """A picture in the format that ``path`` ends in: the first accesses on the model, and the roofline.

    ``elements``: what one input accesses, of ``n`` words (those from n on are in tables that all inputs share).
    """
    matplotlib = _matplotlib()
    style = {
        "font.family": "sans-serif",
        "font.size": 9,
        "text.color": INK,
        "axes.edgecolor": FAINT,
        "axes.labelcolor": INK,
        "xtick.color": FAINT,
        "ytick.color": FAINT,
        "svg.hashsalt": "c2cu",
        "svg.fonttype": "none",
    }
    with matplotlib.rc_context(style):
        figure = matplotlib.figure.Figure(figsize=(14, 6.4), dpi=150, facecolor="white")
        grid = figure.add_gridspec(2, 2, width_ratios=(1.75, 1), left=0.06, right=0.975, bottom=0.09, top=0.83)
        grid.update(hspace=0.5, wspace=0.14)
        steps = list(elements[:STEPS])
        rows = simulate((addresses("row", e, n, P) for e in steps), WIDTH, LATENCY)
        for row, arrangement in enumerate(("row", "column")):
            _requests(figure.add_subplot(grid[row, 0]), arrangement, steps, n, rows, matplotlib)
        _roofline(figure.add_subplot(grid[:, 1]), roof, limits)
        figure.text(0.06, 0.945, name, fontsize=15, fontweight="bold")
        subtitle = (
            f"First {len(steps)} accesses for {P} inputs on the Unified Memory Machine,"
            f" width {WIDTH}, latency {LATENCY}. A colour is an address group, a number an address."
        )
        figure.text(0.06, 0.905, subtitle, color=FAINT)
        out = io.BytesIO()
        ending = Path(path).suffix[1:]
        metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(ending)
        figure.savefig(out, format=ending, metadata=metadata)
    return out.getvalue()


def _requests(axes: Any, arrangement: Arrangement, steps: list[int], n: int, rows: int, matplotlib: Any) -> None:
    """A time line: what each thread requests, when, and how long the pipeline takes to drain."""
    rounds = [addresses(arrangement, e, n, P) for e in steps]
    requests = list(pipeline(rounds, WIDTH, LATENCY))
    ranks = {g: k for k, g in enumerate(sorted({r.group for r in requests}))}
    axes.axhline(WIDTH, color="white", lw=2.5, zorder=1)
    for number in range(len(steps)):
        in_round = [r for r in requests if r.round == number]
        start, sent, end = in_round[0].enters - 1, in_round[-1].enters, in_round[-1].completes
        axes.axvspan(start, end, color="#f5f7f9" if number % 2 else "#eaeef2", lw=0, zorder=0)
        axes.annotate(
            "", (sent, WIDTH), (end, WIDTH), arrowprops={"arrowstyle": "<->", "color": FAINT, "lw": 0.7, "shrinkA": 1}
        )
        axes.text((sent + end) / 2, WIDTH - 0.2, "latency", fontsize=6.5, color=FAINT, ha="center", va="bottom")
        for r in in_round:
            colour = matplotlib.colormaps["viridis"](0.12 + 0.8 * ranks[r.group] / max(1, len(ranks) - 1))
            for thread in range(r.warp * WIDTH, (r.warp + 1) * WIDTH):
                if rounds[number][thread] // WIDTH == r.group:
                    _cell(axes, r.enters - 1, thread, rounds[number][thread], colour, matplotlib)
    total = max((r.completes for r in requests), default=0)
    axes.axvline(total, color=INK, lw=1.2)
    axes.set(xlim=(0, rows), ylim=(P, 0), xticks=range(0, rows + 1, 6))
    axes.set_yticks([k + 0.5 for k in range(P)], [f"T{k}" for k in range(P)])
    axes.tick_params(length=0, labelsize=7.5)
    axes.spines[["top", "right", "left", "bottom"]].set_visible(False)
    for warp in range(P // WIDTH):
        axes.text(-0.036, (warp + 0.5) * WIDTH, f"W{warp}", transform=axes.get_yaxis_transform(), fontweight="bold",
                  ha="right", va="center")  # fmt: skip
    if arrangement == "column":
        axes.set_xlabel("time units", fontsize=8.5)
        times = f"{rows / total:.2g} times fewer than row-wise for {P} inputs;\nfor many inputs at most {WIDTH} times"
        axes.text(total + 0.6, P / 2 - 0.3, f"{total} units", fontsize=13, fontweight="bold", va="bottom")
        axes.text(total + 0.6, P / 2 + 0.1, times, color=FAINT, va="top")
    layout = "j n + a" if arrangement == "row" else "a p + j"
    axes.set_title(f"{arrangement.capitalize()}-wise", loc="left", fontsize=11, fontweight="bold", pad=7)
    groups, accesses = len(requests) / len(steps), f"{total / len(steps):.3g} units an access"
    right = f"element a of input j at {layout}: {groups:.3g} address groups, {accesses}, {total} units in all"
    axes.set_title(right, loc="right", fontsize=8.5, color=INK, pad=7)


def _cell(axes: Any, x: int, thread: int, address: int, colour: Any, matplotlib: Any) -> None:
    """One thread's request: its address on its group's colour."""
    axes.add_patch(matplotlib.patches.Rectangle((x, thread), 1, 1, fc=colour, ec="white", lw=0.8, zorder=2))
    digits = len(str(address))
    if digits <= MOST_DIGITS:
        ink = INK if sum(colour[:3]) > 1.6 else "white"
        size = min(7.5, 19 / digits)
        axes.text(x + 0.5, thread + 0.53, str(address), ha="center", va="center", fontsize=size, color=ink)


def _roofline(axes: Any, r: Roofline, limits: Limits) -> None:
    """Attainable operations a second over operations a byte, and where this program stands."""
    axes.set_title("Roofline", loc="left", fontsize=11, fontweight="bold", pad=7)
    axes.set_title(limits.name, loc="right", fontsize=8.5, color=INK, pad=7)
    axes.spines[["top", "right"]].set_visible(False)
    if not r.peak or not r.bytes_moved:
        axes.text(0.5, 0.5, "no rate of its operations is known", transform=axes.transAxes, ha="center", color=FAINT)
        axes.set(xticks=[], yticks=[])
        return
    ridge = r.peak / limits.bandwidth
    points = [(r.intensity, f"inputs and outputs once:\n{scaled(r.seconds / r.p)} an input", POINT)]
    if r.bytes_accessed > r.bytes_moved:
        slow = max(r.every_access, r.compute) / r.p
        points.append((r.operations / r.bytes_accessed, f"every access to memory:\n{scaled(slow)} an input", "white"))
    low = min([ridge, *(x for x, *_ in points)]) / 8
    high = max([ridge, *(x for x, *_ in points)]) * 12
    floor = low * limits.bandwidth
    axes.set(xscale="log", yscale="log", xlim=(low, high), ylim=(floor, r.peak * 4))
    axes.grid(True, which="major", color=GRID, lw=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=8)
    axes.fill_between([low, ridge, high], [floor, r.peak, r.peak], floor / 10, color="#f3f5f8", zorder=0)
    axes.plot([low, ridge], [floor, r.peak], color=MEMORY, lw=2.6, solid_capstyle="round")
    axes.plot([ridge, high], [r.peak, r.peak], color=COMPUTE, lw=2.6, solid_capstyle="round")
    axes.set_xlabel("operations a byte of memory traffic", fontsize=8.5)
    axes.set_ylabel("operations a second", fontsize=8.5)

    (x0, y0), (x1, y1) = axes.transData.transform([(low, floor), (ridge, r.peak)])
    memory = f"memory: {rate(limits.bandwidth)}B/s, {limits.bandwidth_from.partition(':')[0]}"
    middle = (low * ridge) ** 0.5
    axes.text(middle, middle * limits.bandwidth * 1.25, memory, color=MEMORY, fontsize=8.5, ha="center", va="bottom",
              rotation=degrees(atan2(y1 - y0, x1 - x0)), rotation_mode="anchor")  # fmt: skip
    operations = f"operations: {rate(r.peak)}op/s, {limits.rates_from.partition(':')[0]}"
    axes.text(high * 0.8, r.peak * 1.15, operations, color=COMPUTE, fontsize=8.5, ha="right", va="bottom")
    for x, label, fill in points:
        y = min(r.peak, x * limits.bandwidth)
        axes.plot([x, x], [floor, y], color=POINT, lw=0.9, ls=(0, (3, 3)))
        axes.plot(x, y, "o", ms=9, mec=POINT, mew=1.6, mfc=fill, zorder=5)
        axes.annotate(label, (x, y), (9, -14), textcoords="offset points", fontsize=8, va="top", color=POINT,
                      bbox={"fc": "#f3f5f8", "ec": "none", "pad": 0.8})  # fmt: skip
