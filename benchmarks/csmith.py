"""Random C as kernels: programs of csmith, ``func_1`` the kernel, under the schedules of a backend, against gcc.

Every program gets five random inputs for its globals; right is what gcc's build (-O1) makes of them, bit for bit,
but where gcc's results depend on how much it optimises.
csmith is a package of Debian (csmith, libcsmith-dev); programs can be written where it is, and run elsewhere:

    python benchmarks/csmith.py --write DIR --seeds 0:500 [--options="--max-funcs 3"]
    python benchmarks/csmith.py --programs DIR [--backend cuda] [--schedules auto,private,thread] [--jobs 2]
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import multiprocessing
import os
import queue
import shutil
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import c2cu
from tests import csmith_programs as csmith

DEFAULTS = {"cpu": "native,gang", "cuda": "auto,private,thread"}


def write(folder: Path, options: str, first: int, last: int) -> None:
    """Programs by their seeds, and csmith's headers beside them."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copytree(csmith.headers(), folder / "include", dirs_exist_ok=True)
    for seed in range(first, last):
        (folder / f"{seed}.c").write_text(csmith.program(seed, str(folder), options))


def serve(pipe, include: str, backend: str, schedules: list[str]) -> None:
    """Judge the programs that come through a pipe, until none does."""
    with open(os.devnull, "w") as nothing:
        os.dup2(nothing.fileno(), 2)
    while path := pipe.recv():
        try:
            pipe.send(csmith.judged(Path(path).read_text(), int(Path(path).stem), include, backend, schedules))
        except c2cu.UnsupportedError as e:
            pipe.send(dict.fromkeys(schedules, f"{csmith.REFUSED}: {e}"))
        except BaseException as e:
            pipe.send(dict.fromkeys(schedules, f"{type(e).__name__}: {e}"))


class Worker:
    """A process that judges one program after another; one that does not end or dies gets a successor."""

    def __init__(self, *arguments):
        self.arguments = arguments
        self.start()

    def start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs, *self.arguments), daemon=True)
        self.process.start()
        theirs.close()

    def judge(self, path: Path, seconds: float) -> dict[str, str]:
        try:
            self.pipe.send(str(path))
            if self.pipe.poll(seconds):
                return self.pipe.recv()
            said = "too long"
        except (EOFError, BrokenPipeError):
            said = "the process died"
        self.process.kill()
        self.process.join()
        self.start()
        return dict.fromkeys(self.arguments[-1], said)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path, metavar="DIR")
    parser.add_argument("--seeds", default="0:100", metavar="FIRST:LAST")
    parser.add_argument("--options", default="", help="for csmith, beside its own")
    parser.add_argument("--programs", type=Path, metavar="DIR")
    parser.add_argument("--backend", choices=list(DEFAULTS), default="cpu")
    parser.add_argument("--schedules")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=60, help="for one program")
    parser.add_argument("--limit", type=float, default=float("inf"), help="seconds after which none is begun")
    options = parser.parse_args()
    if options.write:
        write(options.write, options.options, *map(int, options.seeds.split(":")))
        return 0
    if not options.programs:
        parser.error("--write or --programs")
    os.environ["C2CU_VERIFY"] = "off"
    schedules = (options.schedules or DEFAULTS[options.backend]).split(",")
    return run(options, schedules)


def run(options, schedules: list[str]) -> int:
    """Print what is wrong, and how many came to what."""
    until = time.monotonic() + options.limit
    idle: queue.Queue[Worker] = queue.Queue()
    for _ in range(options.jobs):
        idle.put(Worker(str(options.programs / "include"), options.backend, schedules))

    def judge(path: Path) -> dict[str, str]:
        if time.monotonic() > until:
            return dict.fromkeys(schedules, "not begun")
        worker = idle.get()
        try:
            return worker.judge(path, options.seconds)
        finally:
            idle.put(worker)

    files = sorted(options.programs.glob("*.c"), key=lambda f: int(f.stem))
    counts: dict[str, collections.Counter[str]] = {s: collections.Counter() for s in schedules}
    harmless = (csmith.EQUAL, csmith.NO_INPUTS, csmith.REFUSED, csmith.UNDEFINED, "too long", "not begun")
    is_wrong = False
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for path, said in zip(files, pool.map(judge, files)):
            for schedule, what in said.items():
                short = what.partition(":")[0]
                counts[schedule][short if short in harmless else "WRONG"] += 1
                if short not in harmless:
                    is_wrong = True
                    print(f"{path.name}, {schedule}: {what}", flush=True)
    for schedule, counter in counts.items():
        print(f"{schedule}: {', '.join(f'{n} {what}' for what, n in counter.most_common())}")
    return int(is_wrong)


if __name__ == "__main__":
    sys.exit(main())
