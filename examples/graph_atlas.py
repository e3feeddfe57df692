"""The diameters of all 1,253 graphs of the graph atlas (up to 7 nodes), by one call of the C in floyd_warshall.c.

python examples/graph_atlas.py
"""

import collections
import sys
import time
from pathlib import Path

import networkx
import numpy

import c2cu

NODES = 8  # the atlas' largest graphs have 7 nodes; what a smaller one lacks is an isolated node
SOURCE = Path(__file__).parent / "floyd_warshall.c"


def distances_at_start(graph: networkx.Graph) -> numpy.ndarray:
    """(NODES, NODES) float32: 0 on the diagonal, 1 along edges, infinity elsewhere."""
    d = numpy.full((NODES, NODES), numpy.inf, numpy.float32)
    numpy.fill_diagonal(d, 0)
    for u, v in graph.edges:
        d[u, v] = d[v, u] = 1
    return d


def main() -> int:
    graphs = networkx.graph_atlas_g()
    program = c2cu.compile(SOURCE, defines={"N": NODES})
    batch = numpy.stack([distances_at_start(g) for g in graphs])
    start = time.perf_counter()
    distances = program(batch)
    seconds = time.perf_counter() - start

    histogram: collections.Counter[int] = collections.Counter()
    for graph, d in zip(graphs, distances):
        n = len(graph)
        if n == 0 or not networkx.is_connected(graph):
            continue
        diameter = int(d[:n, :n].max())
        if diameter != networkx.diameter(graph):
            print(f"{graph} has diameter {networkx.diameter(graph)}, not {diameter}", file=sys.stderr)
            return 1
        histogram[diameter] += 1

    plan = program.plan
    print(f"{len(graphs)} graphs in {1e3 * seconds:.2f} ms on {plan.backend}, schedule {plan.schedule}")
    print("diameter  connected graphs")
    for diameter, count in sorted(histogram.items()):
        print(f"{diameter:8}  {count:16}")
    print(f"all {sum(histogram.values())} diameters agree with networkx")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except c2cu.Error as e:
        sys.exit(str(e))
