"""A file far larger than memory may be, streamed through `c2cu run`: peak memory, rate, and what three kills cost.

Writes an input of --size to --folder (three times that has to fit there), runs it once with a --memory budget and once
more, killed at random moments and resumed, and compares the two outputs byte for byte. Usage:
python benchmarks/big_file.py --size 20G --memory 2G --folder /data
"""

from __future__ import annotations

import argparse
import filecmp
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from c2cu.base.quantities import size

ROOT = Path(__file__).parent.parent
N = 256  # floats of an input
SOURCE = """
float a[256], b[256];
void scan(void) {
    b[0] = a[0];
    for (int i = 1; i < 256; i++) b[i] = b[i - 1] * 0.5f + a[i];
}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=size, default=size("20G"))
    parser.add_argument("--memory", type=size, default=size("2G"))
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--backend", default="auto")
    parser.add_argument("--kills", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="big-file-") as folder:
        os.chdir(folder)
        p = options.size // (4 * N)
        Path("scan.c").write_text(SOURCE)
        write_input("a.npy", p)
        print(f"input   {p:,} inputs, {os.path.getsize('a.npy') / 1e9:.2f} GB; budget {options.memory / 1e9:.2f} GB")
        seconds, peak = once(options, "whole.npy")
        print(f"run     {seconds:.1f} s, {2 * options.size / seconds / 1e9:.2f} GB/s in and out")
        print(f"memory  {peak / 1e9:.3f} GB at the peak (ru_maxrss)")
        print(f"killed  at {', '.join(f'{100 * done / p:.0f}%' for done in killed(options, 'parts.npy', seconds))}")
        same = filecmp.cmp("whole.npy", "parts.npy", shallow=False)
        print(f"bytes   {'equal' if same else 'DIFFERENT'}; left behind: {sorted(Path().glob('.*')) or 'nothing'}")
        sys.exit(not same)


def write_input(name: str, p: int) -> None:
    block = np.random.default_rng(1).random((1 << 14, N), dtype=np.float32)
    out = np.lib.format.open_memmap(name, "w+", np.float32, (p, N))
    out.flush()
    del out
    offset = os.path.getsize(name) - 4 * N * p
    with open(name, "r+b") as f:
        f.seek(offset)
        for k in range(0, p, len(block)):
            block[:, 0] = np.arange(k, k + len(block))  # no two blocks are the same
            f.write(block[: p - k].tobytes())


def started(options: argparse.Namespace, out: str, *more: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "c2cu", "run", "scan.c", "--in", "a=a.npy", "--out", f"b={out}"]
    command += ["--memory", str(options.memory), "--backend", options.backend, *more]
    return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(ROOT)})


def once(options: argparse.Namespace, out: str, *more: str) -> tuple[float, int]:
    """Seconds and bytes at the peak of a run."""
    start = time.perf_counter()
    process = started(options, out, *more)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"a run failed with status {process.returncode}")
    return time.perf_counter() - start, usage.ru_maxrss * 1024


def killed(options: argparse.Namespace, out: str, seconds: float) -> list[int]:
    """Kill a run again and again, then let it end. How many inputs each had done, by its journal."""
    reached = []
    for k in range(options.kills):
        process = started(options, out, *(["--resume"] if k else []))
        try:
            process.wait(random.uniform(0.1, 1.0) * seconds / options.kills)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        journal = Path(f".{out}.journal")
        reached.append(json.loads(journal.read_text())["done"] if journal.exists() else 0)
        if Path(out).exists():
            sys.exit("it ended before it was killed: try a larger --size")
    once(options, out, "--resume")
    return reached


if __name__ == "__main__":
    main()
