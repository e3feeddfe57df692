"""CPU speed on one large graph: Floyd-Warshall, float, of n vertices, with one thread and with all.

Beside it, up to n = 1024, in turn with ours: the same C compiled by `cc -O3 -march=native`, and SciPy's
`floyd_warshall`, which computes in double. A relaxation is one evaluation of `if (D[i][k] + D[k][j] < D[i][j])`: there
are n^3. Results are compared, all bits with the C's, to 1e-4 with SciPy's. Medians of repeated runs.

    python benchmarks/cpu_graph.py [--json FILE] [--n 256,2048]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np
from scipy.sparse.csgraph import floyd_warshall

import c2cu
from benchmarks.cpu import EXAMPLES, baseline, medians
from benchmarks.measure import cpu_name
from c2cu.io.files import write
from c2cu.runtime.cpu import threads

LARGEST = 1024  # vertices that the rivals are run for


def graph(n: int) -> np.ndarray:
    rng = np.random.default_rng(n)
    d = rng.random((1, n, n), dtype=np.float32) * 100
    d[rng.random(d.shape) < 0.9] = np.inf
    d[0, range(n), range(n)] = 0
    return d


def on(workers: int, program: c2cu.Program, d: np.ndarray):
    """A call with so many threads."""

    def run() -> np.ndarray:
        os.environ["C2CU_THREADS"] = str(workers)
        return program(d)

    return run


def row(n: int, cores: int) -> dict[str, object]:
    d = graph(n)
    program = c2cu.compile((EXAMPLES / "floyd_warshall.c").read_text(), backend="cpu", defines={"N": n})
    calls = {"one": on(1, program, d), "all": on(cores, program, d)}
    if n <= LARGEST:
        calls["scipy"] = lambda: floyd_warshall(d[0])
        source = EXAMPLES / "floyd_warshall.c"
        calls["cc"] = baseline(source, "floyd_warshall", {"D": d}, "D", d.shape, d.dtype, {"N": n})
    results = {name: call().copy() for name, call in calls.items()}
    assert "scipy" not in results or np.allclose(results["one"][0], results["scipy"], rtol=1e-4)
    assert all(results[k].tobytes() == results["one"].tobytes() for k in ("all", "cc") if k in results)
    times = dict(zip(calls, medians(*calls.values(), repeats=5)))
    return {"n": n, "schedule": program.plan.schedule, **{f"{k}_seconds": t for k, t in times.items()}}


def main() -> None:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    arguments.add_argument("--json", type=Path)
    arguments.add_argument("--n", default="256,512,1024,2048,4096")
    chosen = arguments.parse_args()
    os.environ.pop("C2CU_THREADS", None)
    cores = threads()
    print(f"{cpu_name()}, {cores} cores; seconds, and in brackets 10^9 relaxations a second")
    print(f"{'n':>6}{'one core':>20}{'all cores':>20}{'SciPy (double)':>20}{'cc':>20}")
    rows = []
    for n in map(int, chosen.n.split(",")):
        rows.append(row(n, cores))
        cells = [rows[-1].get(f"{k}_seconds") for k in ("one", "all", "scipy", "cc")]
        print(
            f"{n:>6}" + "".join(f"{t:>12.4f} ({n**3 / t / 1e9:4.1f})" if t else f"{'':>20}" for t in cells), flush=True
        )
    if chosen.json:
        text = json.dumps({"machine": cpu_name(), "cores": cores, "rows": rows}, indent=1) + "\n"
        write(str(chosen.json), text.encode())


if __name__ == "__main__":
    main()
