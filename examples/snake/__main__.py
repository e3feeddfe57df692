"""A thousand games of snake at once: the C of snake.c, written for one, stepped a million times, beside its own loop.

python examples/snake [players]
"""

import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy

import c2cu

SOURCE = Path(__file__).parent / "snake.c"
STEPS = 1000


def by_its_own_loop(seeds: numpy.ndarray, actions: numpy.ndarray) -> numpy.ndarray:
    """What the C program itself prints: games, food, and the last random number of each player."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "snake"
        subprocess.run(["cc", "-O2", "-w", SOURCE, "-o", program], check=True)
        text = "\n".join(" ".join(map(str, row)) for row in numpy.column_stack([seeds, actions.T]))
        done = subprocess.run([program], input=text, capture_output=True, text=True, check=True)
    return numpy.array(done.stdout.split(), dtype=numpy.int64).reshape(-1, 3)


def on_host(array) -> numpy.ndarray:
    """Of a state that is on a GPU, results are there too, as CuPy arrays."""
    return array.get() if hasattr(array, "get") else array


def main(p: int = 1000) -> int:
    warnings.simplefilter("ignore", c2cu.NotObliviousWarning)
    rng = numpy.random.default_rng(0)
    seeds = rng.integers(1, 2**32, p, dtype=numpy.uint32)
    actions = rng.integers(0, 4, (STEPS, p), dtype=numpy.int32)

    program = c2cu.compile(SOURCE, fn="step")
    state = program.state(p, {"seed": seeds})
    games = eaten = 0
    start = time.perf_counter()
    for action in actions:
        result = state.step(action)
        games = games + result["done"]
        eaten = eaten + (result["reward"] > 0)
    reached = numpy.column_stack([on_host(a) for a in (games, eaten, state["seed"])])
    seconds = time.perf_counter() - start

    expected = by_its_own_loop(seeds, actions)
    if not numpy.array_equal(reached, expected):
        print(f"player {(reached != expected).any(axis=1).argmax()} differs", file=sys.stderr)
        return 1
    print(f"{STEPS * p:,} steps in {seconds:.2f} s, schedule {program.plan.schedule}")
    played, found = reached[:, :2].sum(axis=0)
    print(f"{played:,} games, {found:,} eaten; each player's are those of the program's own loop")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(*map(int, sys.argv[1:])))
    except c2cu.Error as e:
        sys.exit(str(e))
