"""The diameter and the average shortest path length of a graph, from all distances.

python examples/graph_diameter EDGES.txt|MATRIX.npy [--directed] [--bfs] [--out DISTANCES.npy]
python examples/graph_diameter --real karate_club
python examples/graph_diameter --compare [--vertices 256,512]

An edge list has a line "u v" or "u v weight" for each edge, `#` begins a comment. A matrix has an element for each pair
of vertices: 0 or infinity off the diagonal is no edge; of bool or integers, 1 alone stands for an edge without weight.
Real graphs are of the data that networkx ships, without their weights.
"""

from __future__ import annotations

import argparse
import ctypes
import math
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy

import c2cu
from c2cu.io.files import write

HERE = Path(__file__).parent
FAR = {"short": numpy.iinfo(numpy.int16).max, "double": numpy.inf}  # what stands for no path
REAL = ("davis_southern_women", "florentine_families", "karate_club", "les_miserables")
DENSITIES = (0.5, 1, 5, 10, 20, 50)  # per cent of all pairs


class Refused(Exception):
    """What the user gave cannot be used, and why."""


@dataclass(frozen=True)
class Graph:
    """``weights``: (n, n), infinity where there is no edge, 0 on the diagonal. ``labels``: the vertices' names."""

    weights: numpy.ndarray
    labels: tuple[str, ...]
    weighted: bool


def read(file: Path, directed: bool) -> Graph:
    try:
        graph = from_matrix(file) if file.suffix == ".npy" else from_edges(file)
    except OSError as e:
        raise Refused(f"{file}: {e.strerror or e}") from None
    except UnicodeDecodeError:
        raise Refused(f"{file} is no text: give a matrix as .npy, or a list of edges") from None
    weights = graph.weights if directed else numpy.minimum(graph.weights, graph.weights.T)
    return Graph(weights, graph.labels, graph.weighted)


def from_edges(file: Path) -> Graph:
    number: dict[str, int] = {}
    edges: list[tuple[int, int, float]] = []
    weighted = False
    for k, line in enumerate(file.read_text().splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        try:
            u, v, weight = words[0], words[1], float(words[2]) if len(words) > 2 else 1.0
            if len(words) > 3 or not math.isfinite(weight):
                raise ValueError
        except (IndexError, ValueError):
            raise Refused(f"{file}:{k}: '{line.strip()}' is not 'u v' or 'u v weight'") from None
        weighted |= len(words) > 2
        edges.append((number.setdefault(u, len(number)), number.setdefault(v, len(number)), weight))
    weights = nothing(len(number), file)
    for u, v, weight in edges:
        weights[u, v] = min(weights[u, v], weight)
    return Graph(weights, tuple(number), weighted)


def from_matrix(file: Path) -> Graph:
    try:
        matrix = numpy.load(file)
    except ValueError as e:
        raise Refused(f"{file}: {e}") from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.dtype.kind not in "biuf":
        raise Refused(f"{file} has shape {matrix.shape} and dtype {matrix.dtype}, wanted (n, n) numbers")
    if matrix.dtype.kind == "f" and numpy.isnan(matrix).any():
        raise Refused(f"{file} has NaN at {numpy.argwhere(numpy.isnan(matrix))[0].tolist()}")
    weights = nothing(len(matrix), file)
    edge = (matrix != 0) & (matrix < numpy.inf)
    if (matrix[edge] == -numpy.inf).any():
        raise Refused(f"{file} has -inf at {numpy.argwhere(matrix == -numpy.inf)[0].tolist()}")
    weights[edge] = numpy.minimum(weights, matrix.astype(numpy.float64))[edge]
    weighted = matrix.dtype.kind == "f" or bool((matrix[edge] != 1).any())
    return Graph(weights, tuple(map(str, range(len(matrix)))), weighted)


def from_package(name: str) -> Graph:
    """Acquaintances and alliances that somebody observed."""
    try:
        import networkx
    except ImportError:
        raise Refused("--real needs networkx: pip install 'c2cu[examples]'") from None
    graph = getattr(networkx, f"{name}_graph")()
    weights = numpy.where(networkx.to_numpy_array(graph, weight=None) > 0, 1.0, numpy.inf)
    numpy.fill_diagonal(weights, 0)
    return Graph(weights, tuple(str(v).replace(" ", "_") for v in graph), False)


def nothing(n: int, file: Path) -> numpy.ndarray:
    if n == 0:
        raise Refused(f"{file} has no vertices")
    weights = numpy.full((n, n), numpy.inf)
    numpy.fill_diagonal(weights, 0)
    return weights


def floyd_warshall(graph: Graph, backend: str = "auto") -> numpy.ndarray:
    """(n, n) distances. Raises Refused for a negative cycle."""
    kind = "double" if graph.weighted else "short"
    start = numpy.where(numpy.isinf(graph.weights), FAR[kind], graph.weights)
    batch = start.astype("float64" if graph.weighted else "int16")[None]
    distances = c2cu.bulk(HERE / "apsp.c", batch, defines={"WEIGHT": kind}, backend=backend)[0]  # compiled once
    on_cycle = c2cu.paths.negative_cycles(distances)
    if on_cycle.any():
        raise Refused(f"vertex {graph.labels[on_cycle.argmax()]} is on a negative cycle: there are no distances")
    return distances


def searches(graph: Graph) -> numpy.ndarray:
    """(n, n) distances of an unweighted graph, by breadth-first search from each vertex, in C on one core."""
    if graph.weighted:
        raise Refused("--bfs is for graphs without weights")
    n = len(graph.weights)
    rows, columns = numpy.nonzero(graph.weights == 1)
    first = numpy.searchsorted(rows, numpy.arange(n + 1)).astype(numpy.int32)
    d = numpy.full((n, n), FAR["short"], numpy.int16)
    arrays = (first, columns.astype(numpy.int32), numpy.empty(n, numpy.int32), d)
    library().bfs(n, *(ctypes.c_void_p(a.ctypes.data) for a in arrays))
    return d


def library(loaded: list[ctypes.CDLL] = []) -> ctypes.CDLL:  # noqa: B006
    """bfs.c, by the host's compiler, once."""
    if not loaded:
        with tempfile.TemporaryDirectory() as folder:
            to = Path(folder) / "bfs.so"
            compiler = os.environ.get("CC", "cc").split()
            subprocess.run([*compiler, "-O3", "-shared", "-fPIC", str(HERE / "bfs.c"), "-o", str(to)], check=True)
            loaded.append(ctypes.CDLL(str(to)))
    return loaded[0]


def report(graph: Graph, d: numpy.ndarray) -> list[str]:
    """What is to be said of a graph with these distances."""
    n = len(d)
    pairs = ~numpy.eye(n, dtype=bool)
    there = pairs & (d < (numpy.inf if d.dtype.kind == "f" else FAR["short"]))
    lines = [f"{n} vertices, {int((pairs & numpy.isfinite(graph.weights)).sum())} ordered pairs with an edge"]
    lost = int(pairs.sum() - there.sum())
    if lost:
        i, j = numpy.argwhere(pairs & ~there)[0]
        lines.append(
            f"not connected: {lost} of {int(pairs.sum())} ordered pairs have no path, from {graph.labels[i]} to"
            f" {graph.labels[j]} for one; what follows is of the others"
        )
    if not there.any():
        return lines
    i, j = numpy.unravel_index(numpy.where(there, d, -numpy.inf).argmax(), d.shape)
    return [
        *lines,
        f"diameter {d[i, j]:.15g}, from {graph.labels[i]} to {graph.labels[j]}",
        f"average shortest path length {d[there].mean(dtype=numpy.float64):.6g}",
    ]


def random_graph(n: int, percent: float, seed: int = 0) -> Graph:
    """A connected graph of n (n - 1) / 2 * percent / 100 edges, at least n - 1: a random tree, and more."""
    rng = numpy.random.default_rng(seed)
    weights = nothing(n, HERE)
    parents = [int(rng.integers(v)) for v in range(1, n)]
    weights[range(1, n), parents] = 1
    rows, columns = numpy.tril_indices(n, -1)
    more = max(0, round(n * (n - 1) / 2 * percent / 100) - (n - 1))
    free = numpy.flatnonzero(weights[rows, columns] != 1)
    chosen = rng.permutation(free)[:more]
    weights[rows[chosen], columns[chosen]] = 1
    return Graph(numpy.minimum(weights, weights.T), tuple(map(str, range(n))), False)


def compare(sizes: list[int], backend: str) -> None:
    """Times of both over densities, the best of three runs each, compilation left out; both must agree."""
    print(f"{'vertices':>8} {'edges':>7} {'Floyd-Warshall':>15} {'BFS, one core':>15}")
    for n in sizes:
        for percent in DENSITIES:
            graph = random_graph(n, percent)
            runs = [best(floyd_warshall, graph, backend), best(searches, graph)]
            assert numpy.array_equal(runs[0][1], runs[1][1])
            first, second = (f"{1e3 * seconds:.2f} ms" for seconds, _ in runs)
            print(f"{n:8} {percent:6g}% {first:>15} {second:>15}")


def best(run, *arguments, times: int = 3):
    """The least seconds of a few runs, and the result."""
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        result = run(*arguments)
        seconds.append(time.perf_counter() - start)
    return min(seconds), result


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="graph_diameter", description=__doc__.split("\n")[0])
    parser.add_argument("graph", nargs="?", type=Path, help="an edge list, or a matrix as .npy")
    parser.add_argument("--real", choices=REAL, metavar="NAME", help=f"a graph that networkx ships: {', '.join(REAL)}")
    parser.add_argument("--directed", action="store_true", help="edges go one way")
    parser.add_argument("--bfs", action="store_true", help="breadth-first search in place of Floyd-Warshall")
    parser.add_argument("--out", type=Path, help="where to put the (n, n) distances, as .npy")
    parser.add_argument("--backend", default="auto", choices=("auto", "cuda", "cpu"))
    parser.add_argument("--compare", action="store_true", help="time both on random graphs")
    parser.add_argument("--vertices", default="256,512", help="of the random graphs")
    options = parser.parse_args(arguments)
    if options.compare:
        sizes = [int(n) if n.strip().isdecimal() else 0 for n in options.vertices.split(",")]
        if min(sizes) < 2 or options.graph is not None:
            parser.error("--compare takes no graph, and --vertices numbers of 2 and more: 256,512")
        compare(sizes, options.backend)
        return 0
    if (options.graph is None) == (options.real is None):
        parser.error("give a graph, or --real, or --compare")
    if options.out is not None and not options.out.absolute().parent.is_dir():
        parser.error(f"--out: there is no folder {options.out.parent}")
    try:
        graph = from_package(options.real) if options.real else read(options.graph, options.directed)
        distances = searches(graph) if options.bfs else floyd_warshall(graph, options.backend)
    except (Refused, c2cu.Error) as e:
        print(e, file=sys.stderr)
        return 1
    print("\n".join(report(graph, distances)))
    try:
        if options.out is not None:
            write(str(options.out), distances)
    except c2cu.Error as e:
        print(e, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
