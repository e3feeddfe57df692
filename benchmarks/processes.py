"""What a process takes until its first results: where nothing is kept from earlier ones, and after another one.

Seconds of importing c2cu, compiling a kernel of real_work.py, data_ended.py or generated.py, and a call for 32 inputs,
after NumPy is imported. The first process has an empty cache; of the later ones the median counts.

    python benchmarks/processes.py [--json FILE] [--quick]
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks import data_ended, generated, real_work
from benchmarks.measure import cpu_name, options, save

P = 32
PROCESS = """
import sys, time, warnings
import numpy as np
with np.load(sys.argv[3]) as data:
    inputs = dict(data)
start = time.perf_counter()
import c2cu
import c2cu.api
imported = time.perf_counter()
warnings.simplefilter("ignore", c2cu.NotObliviousWarning)
program = c2cu.compile(sys.argv[1], fn=sys.argv[2], backend="cpu", outputs=sys.argv[4].split(","), verify=False)
compiled = time.perf_counter()
program(inputs)
print(imported - start, compiled - imported, time.perf_counter() - compiled)
"""


def processes(case: tuple, folder: Path, later: int) -> tuple[list[float], list[list[float]]]:
    """Seconds of importing, compiling and the call: of the first process, of each later one."""
    _, name, inputs, outputs, *where = case
    source, given = (where[0] if where else data_ended.PROGRAMS) / f"{name}.c", folder / "inputs.npz"
    np.savez(given, **{n: a[:P] for n, a in inputs.items()})
    environment = {**os.environ, "C2CU_CACHE_DIR": tempfile.mkdtemp(dir=folder)}
    environment["PYTHONPATH"] = str(Path(__file__).parent.parent)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-c", PROCESS, str(source), name, str(given), ",".join(outputs)]

    def once() -> list[float]:
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        return [float(x) for x in done.stdout.split()]

    return once(), [once() for _ in range(later)]


def cases(quick: bool, folder: Path) -> Iterator[tuple]:
    rng = np.random.default_rng(0)
    yield from real_work.cases(rng, quick=True)
    if not quick:
        yield from data_ended.cases(rng, quick=True)
        yield from generated.cases(rng, False, folder)


def main(arguments: Sequence[str] | None = None) -> None:
    args = options(__doc__, arguments)
    print(f"{cpu_name()}; seconds after NumPy is imported")
    print(f"{'workload':38} {'first':>8} {'later':>8}   {'import':>7} {'compile':>8} {'call':>7}")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for case in cases(args.quick, Path(folder)):
            first, later = processes(case, Path(folder), 1 if args.quick else 5)
            parts = [statistics.median(x) for x in zip(*later, strict=True)]
            total = statistics.median(map(sum, later))
            rows.append({"workload": case[0], "first": sum(first), "later": total, "parts": parts})
            print(f"{case[0]:38} {sum(first):8.2f} {total:8.3f}   {parts[0]:7.3f} {parts[1]:8.3f} {parts[2]:7.3f}")
            if args.quick:
                break
    for which in ("first", "later"):
        seconds = [r[which] for r in rows]
        print(f"{which}: median {statistics.median(seconds):.3f}, longest {max(seconds):.3f}")
    save(args.json, rows, machine=cpu_name())


if __name__ == "__main__":
    main()
