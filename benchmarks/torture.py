"""GCC's own execution tests (c-torture/execute) as kernels: programs that abort where a compiler has made them wrong.

The suite is no part of this repository: gcc has it, and so has the LLVM test suite. Every program is run for three
inputs in two ways:

    as it stands   ``main`` is the kernel, under ``native``; right is that it ends with 0 for each input
    noted          calls of abort and exit are noted in a global and return, so that the program can be analysed; under
                   ``gang``, where it can. Right is what gcc's build of the same text (-O1) notes.

A program of the folder ``builtins`` has two files more, its library and ``lib/main.c``; it is run as it stands only. A
program that gcc's build does not pass, or does not end, is left out. Usage:

    python benchmarks/torture.py --suite DIR [--only TEXT] [--jobs 2] [--seconds 60] [--reasons FILE]
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import contextlib
import importlib
import json
import multiprocessing
import os
import pkgutil
import re
import signal
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np

import c2cu

P = 3
FLAGS = ["-std=gnu11", "-O1", "-fwrapv", "-fno-strict-aliasing", "-ffp-contract=off", "-w"]
FAULTS = ("WRONG", "crash", "traceback")
WAYS = ("as it stands", "noted")

_NOTING = """int noted;
static void note_abort(void) { noted |= 1; }
static void note_exit(int status) { noted |= status ? 2 : 4; }
#define abort note_abort
#define __builtin_abort note_abort
#define exit note_exit
#define __builtin_exit note_exit
"""
_ARGUMENTS = re.compile(r"\bmain\s*\([^;{]*\bargv")
_DECLARED = re.compile(r"^\s*(extern\s+)?void\s+(abort|exit)\s*\([^;{]*\)[^;{]*;", re.M)


def text_of(path: Path) -> str:
    """A program whose ``main`` is called ``kernel``."""
    return f'#define main kernel\n#line 1 "{path.name}"\n{path.read_bytes().decode("utf-8", "surrogateescape")}'


def noting(path: Path) -> str:
    text = text_of(path)
    headers = "#include <stdlib.h>\n#include <stdio.h>\n#include <string.h>\n" if "#include" in text else ""
    return f"{headers}{_NOTING}{_DECLARED.sub('', text)}"


def gcc_notes(text: str, seconds: float) -> int | None:
    """The global ``noted`` after gcc's build of a text; None where it does not build or does not end by itself."""
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/program"
        call = "((int (*)())kernel)(n, a), __builtin_printf"
        main = f'\n#undef main\nint main(int n, char **a) {{ {call}("\\n%d\\n", noted); return 0; }}\n'
        data = (text + main).encode("utf-8", "surrogateescape")
        command = ["gcc", *FLAGS, "-x", "c", "-", "-o", program, "-lm"]
        built = subprocess.run(command, input=data, capture_output=True)
        try:
            done = subprocess.run([program], capture_output=True, timeout=seconds) if not built.returncode else built
        except subprocess.TimeoutExpired:
            return None
        return int(done.stdout.split()[-1]) if not done.returncode and done.stdout else None


def files_of(path: Path) -> list[str]:
    library = path.with_name(f"{path.stem}-lib.c")
    return [str(path), str(library), str(path.parent / "lib/main.c")] if library.exists() else [str(path)]


def gcc_passes(path: Path, seconds: float) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/program"
        if subprocess.run(["gcc", *FLAGS, *files_of(path), "-o", program, "-lm"], capture_output=True).returncode:
            return False
        try:
            return not subprocess.run([program], capture_output=True, timeout=seconds).returncode
        except subprocess.TimeoutExpired:
            return False


def run(program) -> dict[str, list]:
    """What a program's kernel gives for inputs that are what a process without arguments finds."""
    values = {s.name: np.zeros((P, *s.shape), s.dtype) for s in program.slots if s.required}
    if "argc" in values:
        values["argc"][:] = 1
    results = program(values, p=P)
    if not isinstance(results, dict):
        results = {next((s.name for s in program.slots if s.writes), ""): results}
    found = {name: np.asarray(results[name]) for name in ("status", "return", "noted") if name in results}
    return {name: (a.view(np.uint8) if a.dtype.kind == "V" else a).tolist() for name, a in found.items()}


def options_of(path: Path) -> dict[str, Any]:
    """Options of `c2cu.check` and `c2cu.compile`. A main may have arguments."""
    return {"stdio": "discard", "shapes": {"argv": (1, 8)} if _ARGUMENTS.search(path.read_text("latin-1")) else None}


def as_it_stands(path: Path, seconds: float) -> tuple[str, str]:
    if not gcc_passes(path, seconds):
        return "left out", "gcc's build does not pass"
    options = {"fn": "main", "backend": "cpu", "schedule": "native", "status": True, **options_of(path)}
    results = run(c2cu.compile(files_of(path), **options))
    return ("WRONG", str(results)) if any(map(any, results.values())) else ("equal", "")


def noted(path: Path, seconds: float) -> tuple[str, str]:
    if len(files_of(path)) > 1:
        return "left out", "several files"
    text = noting(path)
    expected = gcc_notes(text, seconds / 6)
    if expected is None:
        return "left out", "gcc's build of the text that notes does not end by itself"
    why = c2cu.check(text, fn="kernel", **options_of(path)).why_not
    if why:
        return "not analysed", str(why)
    program = c2cu.compile(text, fn="kernel", backend="cpu", schedule="gang", **options_of(path))
    notes = run(program).get("noted", [0])  # no output: nothing that runs writes it
    return ("equal", "") if all(n == expected for n in notes) else ("WRONG", f"{notes}, gcc {expected}")


def outcome(way: str, path: Path, seconds: float) -> tuple[str, str]:
    """What one program comes to in a process of its own, and why: "equal", "not analysed", "refused", "left out", "too
    long" or a fault."""
    mine, theirs = multiprocessing.Pipe(duplex=False)

    def work() -> None:
        os.setpgid(0, 0)
        with open(os.devnull, "w") as nothing:
            os.dup2(nothing.fileno(), 1)
            os.dup2(nothing.fileno(), 2)
        warnings.simplefilter("ignore")
        try:
            theirs.send((as_it_stands if way == WAYS[0] else noted)(path, seconds))
        except c2cu.Error as e:
            theirs.send(("refused", str(e)))
        except BaseException as e:
            theirs.send(("traceback", f"{type(e).__name__}: {e}"))

    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    theirs.close()
    try:
        return mine.recv() if mine.poll(seconds) else ("too long", "")
    except EOFError:
        return "crash", ""
    finally:
        assert process.pid
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # what it started too
        process.kill()
        process.join()


def load() -> None:
    """Import what the processes would each import."""
    names = [m.name for m in pkgutil.walk_packages(c2cu.__path__, "c2cu.") if not m.name.endswith("__main__")]
    for name in names:
        with contextlib.suppress(ImportError, c2cu.Error):  # what an extra is needed for
            importlib.import_module(name)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", type=Path, required=True)
    parser.add_argument("--only", default="", help="programs whose names have this")
    parser.add_argument("--from", dest="first", default="", help="programs whose names are not before this")
    parser.add_argument("--way", choices=WAYS, help="both, if not said")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=60, help="for one program")
    parser.add_argument("--reasons", type=Path, help="a line of JSON for each program")
    options = parser.parse_args()
    programs = [f for f in options.suite.glob("*.c") if options.only in f.name and not f.stem.endswith("-lib")]
    files = sorted(f for f in programs if f.name >= options.first)
    os.environ["C2CU_VERIFY"] = "off"
    load()
    work = [(way, f) for f in files for way in WAYS if options.way in (None, way)]
    counts: dict[str, collections.Counter[str]] = {way: collections.Counter() for way in WAYS}
    reasons = open(options.reasons or os.devnull, "w")
    with reasons, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(lambda one: outcome(one[0], one[1], options.seconds), work)
        for (way, f), (what, why) in zip(work, results):
            counts[way][what] += 1
            line = {"way": way, "program": f.name, "outcome": what, "why": why}
            print(json.dumps(line), file=reasons, flush=True)
            if what in FAULTS:
                print(f"{f.name}, {way}: {what}: {why}", flush=True)
    for way in WAYS:
        print(f"{way}: {', '.join(f'{n} {what}' for what, n in counts[way].most_common())}")
    return int(any(counts[way][fault] for way in WAYS for fault in FAULTS))


if __name__ == "__main__":
    sys.exit(main())
