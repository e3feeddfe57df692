"""docs/papers.md: every table of the papers with ours of the same size beside it, for `papers.py --page`."""

from __future__ import annotations

import json
import math
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.papers import COPIES, Figures, figures

HERE = Path(__file__).parent
OTHER = HERE / "papers_other.json"
STREAMS, GRAPH = HERE / "results" / "streaming-h200.json", HERE / "results" / "xeon-graph.json"
ORIGINALS = HERE / "results" / "epyc-originals.json"  # of the thesis's programs, where the GPU's host was not measured
PICTURE = "papers.png"  # beside the page
NO = "not measured"
LIKE = {"float": "float", "32-bit": "float", "4-bit": "4-bit", "edges": "4-bit", "8-bit": "8-bit", "16-bit": "16-bit"}
YEARS = {"Buluc, Gilbert, Budak 2009": 2009, "Lund and Smith 2010": 2010, "Takafuji 2020": 2020}
TITLES = {
    "Lund and Smith 2010": "Lund and Smith, 2010: A Multi-Stage CUDA Kernel for Floyd-Warshall",
    "Buluc, Gilbert, Budak 2009": "Buluç, Gilbert and Budak, 2009: Gaussian Elimination Based Algorithms on the GPU",
    "Takafuji 2020": "Takafuji, 2020: A Study on Efficient GPU Implementations to Compute the Diameter of a Graph",
}
WHAT = {
    "3.1": "one graph; theirs the fastest of 64 to 1,024 threads a block",
    "3.2": "one graph, several distances in a word; theirs the fastest of 64 to 1,024 threads a block",
    "3.3": "a matrix to the device and back",
    "3.4, 3.5": "one graph: searches from all vertices, by the share of all possible edges that it has",
    "3.6": "many graphs at once",
    "3.7": "many graphs at once, several distances in a word",
    "3.8": "many graphs, from the host's memory and back to it",
    "3.9": "many graphs, several distances in a word, from the host's memory and back to it",
    "3.10": "one graph on CPUs",
}


@dataclass(frozen=True)
class Ours:
    """What `papers.py --measure` measured, ``{}`` before it has. Times are in milliseconds; None: there is none."""

    data: Mapping[str, Any]

    @property
    def rows(self) -> Sequence[Mapping[str, Any]]:
        return self.data.get("rows", ())

    @property
    def device(self) -> str:
        return self.data.get("device", "ours")

    def ms(self, **which: Any) -> float | None:
        return self.row(**which).get("ms")

    def row(self, **which: Any) -> Mapping[str, Any]:
        return next((r for r in self.rows if all(r.get(k) == v for k, v in which.items())), {})

    def of(self, f: Figures, graphs: int, n: int) -> float | None:
        """The time of the same size on the GPU."""
        part = "copies" if f.method == COPIES else "transfers" if f.transfers else "graphs"
        which = {} if part == "copies" else {"graphs": graphs}
        return self.ms(part=part, kind=LIKE[f.kind], n=n, **which)

    def original(self, workload: str) -> float | None:
        """An input of one of the thesis's programs on one core of `core`."""
        return self._originals.ms(part="originals", workload=workload)

    @property
    def core(self) -> str:
        return self._originals.data.get("host", "a CPU")

    @property
    def _originals(self) -> Ours:
        measured = any(r["part"] == "originals" for r in self.rows)
        return self if measured or not ORIGINALS.exists() else Ours(json.loads(ORIGINALS.read_text()))

    def one(self, n: int) -> float | None:
        """One graph of floats."""
        return self.ms(part="graphs", kind="float", graphs=1, n=n)


def number(x: float | None) -> str:
    """Three digits, or all before the point."""
    if x is None:
        return NO
    return f"{x:,.0f}" if abs(x) >= 1000 else f"{float(f'{x:.3g}'):.10g}" if abs(x) >= 1e-4 else f"{x:.1e}"


def exactly(x: float | None) -> str:
    """A paper's number, as it stands there."""
    return "" if x is None else f"{x:,.10g}" if abs(x) >= 1e-4 else f"{x:g}"


def times(theirs: float | None, ours: float | None) -> str:
    return f"{number(theirs / ours)}x" if theirs and ours else ""


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return ["", *("| " + " | ".join(r) + " |" for r in (head, ["---"] * len(head), *rows)), ""]


def page(ours: Ours) -> str:
    """The whole document."""
    lines = [*head(ours)]
    by_source: dict[str, list[Figures]] = {}
    for f in figures():
        by_source.setdefault(f.source, []).append(f)
    other = json.loads(OTHER.read_text())
    for source in TITLES:
        lines += ["", f"## {TITLES[source]}"]
        tables: list[tuple[float, list[str]]] = []
        for name, group in groupby(sorted(by_source[source], key=lambda f: order(f.table)), lambda f: f.table):
            tables.append((order(name), list(measured(name, list(group), ours))))
        for t in other["tables"]:
            if t["source"] == source:
                tables.append((order(t["table"]), list(derived(t, by_source[source], ours))))
        for _, text in sorted(tables, key=lambda t: t[0]):
            lines += text
    lines += [*bulk(other["figures"], ours), *groups(other["groups"]), *standalone(ours)]
    return "\n".join(squeezed(lines)) + "\n"


def order(name: str) -> float:
    major, _, minor = name.partition(",")[0].partition(".")
    return float(major) + float(minor or 0) / 100


def squeezed(lines: Sequence[str]) -> Iterator[str]:
    """Without empty lines in a row."""
    return (a for a, before in zip(lines, ["", *lines]) if a or before)


def head(ours: Ours) -> Iterator[str]:
    yield "# The papers' tables, with ours beside them"
    yield ""
    yield from prose(
        "`python benchmarks/papers.py --page docs/papers.md` writes this page. `benchmarks/papers.json` and"
        " `papers_other.json` hold the papers' own numbers; `python benchmarks/papers.py --measure FILE.json` measured"
        " ours. Times are in milliseconds."
    )
    yield ""
    if not ours.rows:
        yield f"Ours has not been measured yet: where it would stand, the tables say '{NO}'."
    else:
        yield from prose(
            f"*Ours*: one {ours.device}, and {ours.data['cores']} cores of one {ours.data['host']} for what runs on a"
            f" CPU; c2cu {ours.data['version']}, schedule `auto`, exact. Times on the GPU are medians of device events,"
            " from device arrays to device arrays, but where a table says that graphs come from the host's memory. The"
            " ratio is that of the paper's fastest method to ours: it compares machines of different years too."
        )
    yield ""
    yield from prose(
        "Distances are `float` where the paper's have 32 bits, and `unsigned char` where they have 4: c2cu computes two"
        " of those in a word, not eight. Zuccato and Lena, 2022, draw their times and give no numbers: there is no"
        " table of theirs."
    )


def prose(text: str) -> list[str]:
    """A paragraph in lines."""
    return textwrap.wrap(text, 120, break_long_words=False, break_on_hyphens=False)


def measured(name: str, group: list[Figures], ours: Ours) -> Iterator[str]:
    """A table of times."""
    machines = ", ".join(dict.fromkeys(f.machine for f in group))
    first = group[0]
    yield ""
    yield f"### Table{'s' * (',' in name)} {name}: {machines}, {YEARS[first.source]}"
    yield ""
    yield f"{WHAT.get(name, 'one graph')}.".capitalize()
    notes = dict.fromkeys(f"'{f.method}' is {f.note}" for f in group if f.note and "fastest of" not in f.note)
    yield from (line for n in notes for line in prose(f"{n[0].upper()}{n[1:]}."))
    if name == "3.10":
        yield from cores(group, ours)
    elif any(len(f.seconds) > 1 for f in group):
        yield from many(group, ours)
    elif first.kind == "edges":
        yield from searches(group, ours)
    else:
        for kind in dict.fromkeys(f.kind for f in group):
            yield from by_size([f for f in group if f.kind == kind], ours)


def by_size(group: list[Figures], ours: Ours) -> Iterator[str]:
    """A row a size."""
    cpus = json.loads(GRAPH.read_text()) if not any(f.gpu for f in group) else {"rows": ()}
    here = {r["n"]: r for r in cpus["rows"]}
    beside = [f"{cpus['machine']}, one core", f"its {cpus['cores']} cores"] if here else []
    title = [f"{f.method}{', ' + f.kind if f.method == COPIES else ''}{'' if f.gpu else ' (CPU)'}" for f in group]
    rows = []
    for n in sorted({n for f in group for n in f.seconds[1]}):
        theirs = [f.seconds[1].get(n) for f in group]
        best = min((t for f, t in zip(group, theirs) if t and (f.gpu or here)), default=None)
        us = ours.of(group[0], 1, n)
        cells = [exactly(1e3 * t) if t else "" for t in theirs]
        cells += [number(1e3 * here[n][k]) if n in here else NO for k in ("one_seconds", "all_seconds") if here]
        rows.append([f"{n:,}", *cells, number(us), times(best and 1e3 * best, us)])
    yield from table(["n", *title, *beside, f"c2cu, {ours.device}", "ratio"], rows)


def many(group: list[Figures], ours: Ours) -> Iterator[str]:
    """A row a number of graphs and a method, a column a size."""
    sizes = sorted({n for f in group for times_ in f.seconds.values() for n in times_})
    rows = []
    for graphs in group[0].seconds:
        theirs = {n: [f.seconds[graphs][n] for f in group if n in f.seconds[graphs]] for n in sizes}
        us = {n: ours.of(group[0], graphs, n) for n in sizes}
        for f in group:
            cells = [exactly(1e3 * f.seconds[graphs][n]) if n in f.seconds[graphs] else "" for n in sizes]
            rows.append([f"{graphs:,}", f.method, *cells])
        rows.append([f"{graphs:,}", f"**c2cu, {ours.device}**", *(number(us[n]) for n in sizes)])
        if any(us.values()):
            ratios = (times(1e3 * min(theirs[n]), us[n]) if theirs[n] else "" for n in sizes)
            rows.append([f"{graphs:,}", "ratio", *ratios])
    yield from table(["graphs", "method", *(f"n = {n:,}" for n in sizes)], rows)


def searches(group: list[Figures], ours: Ours) -> Iterator[str]:
    sizes = sorted({n for f in group for n in f.seconds[1]})
    rows = []
    for f in group:
        share = f.method.split(", ")[1].split()[0]
        rows.append([share, *(exactly(1e3 * f.seconds[1][n]) if n in f.seconds[1] else "" for n in sizes)])
    matrix = [f for f in figures() if f.source == group[0].source and f.table == "3.2" and "single" in f.method]
    rows.append(["their matrix, any", *(exactly(1e3 * matrix[0].seconds[1][n]) for n in sizes)])
    rows.append([f"**c2cu, {ours.device}, any**", *(number(ours.of(group[0], 1, n)) for n in sizes)])
    yield from table(["edges", *(f"n = {n:,}" for n in sizes)], rows)


def cores(group: list[Figures], ours: Ours) -> Iterator[str]:
    sizes = sorted({n for f in group for n in f.seconds[1]})
    counts = sorted({r["threads"] for r in ours.rows if r["part"] == "cpu"}) or [1]
    rows = []
    for kind in dict.fromkeys(f.kind for f in group):
        of = [f for f in group if f.kind == kind]
        rows += [[f.method, *(exactly(1e3 * f.seconds[1][n]) for n in sizes)] for f in of]
        for k in counts:
            us = [ours.ms(part="cpu", kind=kind, n=n, threads=k) for n in sizes]
            name = f"**c2cu, {ours.data.get('host', 'ours')}, {k} thread{'s' * (k > 1)}, {kind}**"
            rows.append([name, *map(number, us)])
    yield from table(["", *(f"n = {n:,}" for n in sizes)], rows)


def derived(t: Mapping[str, Any], times_: Sequence[Figures], ours: Ours) -> Iterator[str]:
    """A table of ratios, rates or fits."""
    yield ""
    yield f"### Table {t['table']}, {YEARS[t['source']]}"
    yield ""
    yield f"{t['title'][0].upper()}{t['title'][1:]}."
    rows = [[r[0] if isinstance(r[0], str) else exactly(r[0]), *map(exactly, r[1:])] for r in t["rows"]]
    added = [f"c2cu, {ours.device}"]
    match t["ours"]:
        case "speedup":
            cpus = [f for f in times_ if not f.gpu and f.table in ("9", "10")]
            for r, cells in zip(t["rows"], rows):
                best = min(f.seconds[1][r[0]] for f in cpus if r[0] in f.seconds[1])
                cells.append(times(1e3 * best, ours.one(r[0])) or NO)
        case "fit":
            for value, cells in zip(fitted(ours) or (None, None), rows):
                cells.append(number(value))
        case "gflops":
            for r, cells in zip(t["rows"], rows):
                cells.append(number(rate(ours.one(r[0]), r[0])))
        case "efficiency":
            watts = ours.data.get("watts")
            yield f"Ours: of the board, at the {watts:g} W that it may draw." if watts else "Ours: of the board alone."
            for r, cells in zip(t["rows"], rows):
                gflops = rate(ours.one(r[0]), r[0])
                cells.append(number(1e3 * gflops / watts if gflops and watts else None))
        case "4096":
            us = ours.one(4096)
            rows.append([f"c2cu, {ours.device}, as it is", "", number(us), number(rate(us, 4096))])
            added = []
    yield from table([*t["head"], *added], rows)


def rate(ms: float | None, n: int) -> float | None:
    """10^9 operations a second, two a relaxation."""
    return 2 * n**3 / ms / 1e6 if ms else None


def fitted(ours: Ours) -> tuple[float, float] | None:
    """Exponent and constant, by least squares of the logarithms, for the sizes of table 1."""
    points = [(math.log(n), math.log(t)) for n in (512, 1024, 2048, 4096, 8192) if (t := ours.one(n))]
    if len(points) < 2:
        return None
    x, y = (sum(p[i] for p in points) / len(points) for i in (0, 1))
    slope = sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)
    return slope, math.exp(y - slope * x)


def bulk(of: Sequence[Mapping[str, Any]], ours: Ours) -> Iterator[str]:
    """The thesis's chapter 4: three programs at all their sizes."""
    yield ""
    yield "### Figures 4.10 to 4.12: GeForce GTX Titan, 2020"
    yield ""
    yield from prose(
        "Bulk execution of bitonic sort, Floyd-Warshall and Montgomery multiplication, by the number p of inputs. The"
        " thesis draws its times; its text gives those of one size of each program: at the largest p, as a line"
        " a + b p, and as the ratio to p runs of the C on one core of a Xeon at 2.66 GHz. (For Montgomery"
        " multiplication the text has 124 ms + 5.9 p ns in one place and 59.1 p ns in another: only 0.45 ms + 59.1 p"
        " ns goes with"
        " its 124 ms.) *Paper's form*: the same program under schedule `thread`, the thesis's translation, on the same"
        " GPU; its kernel alone."
    )
    if ours.rows:
        yield ""
        yield f"![time and speed-up by the number of inputs]({PICTURE})"
    rows = []
    for f in of:
        fits = f"{f['fit'][0]:g} + {f['fit'][1] * 1e-6:.4g} p" if "fit" in f else ""
        of_it = [r["p"] for r in ours.rows if r.get("workload") == f["workload"] and r.get("form") == "auto"]
        p = f.get("p") or max(of_it, default=None)
        us = ours.row(part="figures", workload=f["workload"], p=p, form="auto")
        paper = ours.row(part="figures", workload=f["workload"], p=p, form="thread")
        original = ours.original(f["workload"])
        alone = paper.get("run_ms", paper.get("ms"))
        speedup = times(original * p, us["ms"]) if original and p and "ms" in us else ""
        rows.append(
            [f["figure"], f["workload"], f"{p:,}" if p else "", fits, exactly(f.get("ms")), number(alone)]
            + [number(us.get("ms")), us.get("schedule", ""), times(f.get("ms"), us.get("ms"))]
            + [f"{f['speedup']}x" if "speedup" in f else "", speedup or NO]
        )
    yield from table(
        [
            "figure",
            "program",
            "p",
            "theirs, line",
            "theirs",
            "paper's form",
            f"c2cu, {ours.device}",
            "schedule",
            "ratio",
        ]
        + ["their GPU : CPU", f"our GPU : {ours.core}"],
        rows,
    )
    yield from prose(
        f"The last column divides p times what an input takes the original C, compiled by gcc, on one core of an"
        f" {ours.core}."
    )
    long = {(r["workload"], r["skipped"]) for r in ours.rows if r["part"] == "figures" and "skipped" in r}
    yield from (f"`{w}` was not run: {why}." for w, why in sorted(long) if "steps" in why)


def groups(of: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Latency and throughput, from what `streaming.py` measured."""
    streams = json.loads(STREAMS.read_text())
    yield ""
    yield "### Figures 4.15 to 4.17: GeForce GTX Titan, 2020"
    yield ""
    yield from prose(
        "Latency of groups of b inputs on their way from the host and back; the text gives two sizes of each program."
        f" Ours: one {streams['device']}, `python benchmarks/streaming.py`; [streaming.md](streaming.md) draws all"
        " sizes."
    )
    rows = []
    for f in of:
        sweep = {r["group"]: r for r in streams["cases"][f["workload"]]["sweep"]}
        for b, theirs in f["latency_ms"].items():
            us = sweep[int(b)]
            cells = [exactly(theirs), number(us["latency_ms"]), times(theirs, us["latency_ms"]), number(us["gb_s"])]
            rows.append([f["figure"], f["workload"], f"{f['p']:,}", f"{int(b):,}", *cells])
    head_ = ["figure", "program", "p", "b", "theirs, ms", f"c2cu, {streams['device']}", "ratio", "our GB/s, both ways"]
    yield from table(head_, rows)


def standalone(ours: Ours) -> Iterator[str]:
    """Translated programs beside the library."""
    yield ""
    yield "## Standalone programs"
    yield ""
    device = next((r.get("device") for r in ours.rows if r["part"] == "standalone"), None) or ours.device
    yield from prose(
        f"On one {device}: `c2cu translate --schedule auto`, compiled by `nvcc -O3`: what its kernels take between two"
        " CUDA events, beside those of the library for the same inputs, and the paper's form (`--schedule thread`, the"
        " default). The results are compared bit for bit. A graph of its own is one thread's work in the paper's form,"
        " and not waited for."
    )
    rows = []
    programs = dict.fromkeys((r["program"], r["p"]) for r in ours.rows if r["part"] == "standalone")
    for program, p in programs:
        library, auto, paper = (
            ours.row(part="standalone", program=program, form=form) for form in ("library", "auto", "thread")
        )
        beside = f"{auto['ms'] / library['ms']:.2f}" if "ms" in auto and "ms" in library else NO
        cells = [number(library.get("ms")), number(auto.get("ms")), auto.get("schedule", ""), beside]
        rows.append([program, f"{p:,}", *cells, number(paper.get("ms")), times(paper.get("ms"), auto.get("ms"))])
    head_ = ["program", "p", "library", "standalone", "schedule", "standalone : library", "paper's form", "ratio"]
    yield from table(head_, rows or [[NO, *[""] * 7]])
