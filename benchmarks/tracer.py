"""How many accesses a second the tracer notes, and the size at which it stops.

User CPU time of the tracer itself, so that a machine at work on something else measures the same. Usage:
python benchmarks/tracer.py
"""

from __future__ import annotations

import resource
import tempfile
from pathlib import Path

from c2cu.base.cache import Cache
from c2cu.frontend.preprocess import Source
from c2cu.pipeline import Options, understand
from c2cu.trace import run, trace

EXAMPLES = Path(__file__).parent.parent / "examples"
XOR = """
#define N {n}
float a[N], b[N];
void kern(void) {{
    for (int r = 0; r < 20; r++)
        for (int i = 0; i < N; i++) b[i] = a[i ^ r] + b[i];
}}
"""
TABLE = """
#define N {n}
static const int t[16] = {{3, 1, 4, 15, 9, 2, 6, 5, 8, 7, 0, 10, 14, 12, 11, 13}};
int a[N], b[N];
void kern(void) {{
    for (int r = 0; r < 20; r++)
        for (int i = 0; i < N; i++) b[i & ~15 | t[i & 15]] = a[i] + r;
}}
"""


def user_time() -> float:
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


def text(name: str, n: int) -> tuple[str, dict[str, str]]:
    match name:
        case "floyd_warshall" | "bitonic_sort":
            return (EXAMPLES / f"{name}.c").read_text(), {"N": str(n)}
        case "xor":
            return XOR.format(n=n), {}
    return TABLE.format(n=n), {}


def measure(name: str, n: int, cache: Cache) -> tuple[int, float, str]:
    """(accesses, seconds, why it stopped); the compiler's time is taken off."""
    program, defines = text(name, n)
    u = understand(Source(f"{name}.c", program), Options(defines=defines)).analysis
    assert u is not None
    printed = run.text(run.tracer(u))
    start = user_time()
    run.Build(printed, 0).report(cache, [])
    middle = user_time()
    run.Build(printed, run.BUDGET).report(cache, [])
    seconds = user_time() - middle - (middle - start)
    facts = trace(u, cache)
    return facts.steps, seconds, facts.stopped


def largest(name: str, n: int, cache: Cache) -> int:
    """The largest power of two, times ``n``, that is traced to its end."""
    while not measure(name, 2 * n, cache)[2]:
        n *= 2
    return n


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        cache = Cache(Path(folder))
        print(f"{'program':16} {'n':>8} {'accesses':>12} {'M/s':>8}  stops above n")
        for name, n in (("floyd_warshall", 200), ("bitonic_sort", 32768), ("xor", 1 << 20), ("table", 1 << 20)):
            steps, seconds, _ = measure(name, n, cache)
            print(f"{name:16} {n:8} {steps:12} {steps / seconds / 1e6:8.0f}  {largest(name, n, cache)}")


if __name__ == "__main__":
    main()
