"""Measures what the papers' tables and figures hold, on one GPU and on the CPU of its host: for `papers.py --measure`.

Each part has a share of the time; what is not measured for want of it, of memory or of patience says so in its row.
Results are compared: those of a graph with n steps of array operations up to CHECKED vertices, those of a standalone
program with the library's, bit for bit.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

import c2cu
from benchmarks import papers, papers_standalone
from benchmarks.gep import PATHS, TEXT, stepwise
from benchmarks.measure import Device, Host, cpu_name
from benchmarks.papers_standalone import CASES as PROGRAMS
from benchmarks.papers_standalone import PAPER, Built
from c2cu.io.files import write
from tests.workloads import Workload, bitonic, paths, product

K, M = 1 << 10, 1 << 20
CHECKED = 1024  # vertices up to which results are compared with array operations
LOCKED = 1 << 30  # bytes of page-locked memory each way
SHARES = {"graphs": 0.2, "figures": 0.25, "standalone": 0.25, "transfers": 0.15, "cpu": 0.1, "originals": 0.05}
PART_OF = {"copies": "transfers"}
WAITED = 4000.0  # milliseconds: a launch that is expected to take longer is not made
SLOW = 300.0  # milliseconds: of what takes longer, not every size is measured


@dataclass(frozen=True)
class Kind:
    """A type of distances that papers have, and what is measured for it. ``most``: that an edge may be long."""

    name: str
    type: str
    dtype: str
    most: int = 1000

    def graph(self, n: int, xp: Any = np) -> Any:
        xp.random.seed(n)
        d = xp.random.randint(1, self.most, (n, n), dtype=np.int32).astype(self.dtype)
        xp.fill_diagonal(d, 0)
        return d

    def compile(self, n: int, backend: str) -> c2cu.Program:
        text = TEXT.format(n=n, t=self.type, step=PATHS)
        return c2cu.compile(text, backend=backend, verify=False)


KINDS = (Kind("float", "float", "f4"), Kind("4-bit", "unsigned char", "u1", 15))
NARROW = (Kind("8-bit", "unsigned char", "u1", 200), Kind("16-bit", "unsigned short", "u2"))


@dataclass(frozen=True)
class Figure:
    """A figure of the thesis: one program at the size of its inputs, for p up to ``most``."""

    workload: Workload
    least: int
    most: int

    def counts(self, quick: bool) -> list[int]:
        """The largest and the smallest first: the others are left out where there is no time."""
        if quick:
            return [4, 2]
        all_ = [1 << k for k in range(self.least.bit_length() - 1, self.most.bit_length())]
        return [all_[-1], all_[0], *all_[-2:0:-1]]


FIGURES = (
    Figure(bitonic(32), 64, 4 * M),
    Figure(bitonic(1024), 64, 128 * K),
    Figure(bitonic(32768), 64, 4 * K),
    Figure(paths(16), 64, 128 * K),
    Figure(paths(64), 64, 16 * K),
    Figure(paths(256), 64, K),
    Figure(product(512), 64, 2 * M),
    Figure(product(16 * K), 64, 64 * K),
    Figure(product(M), 64, 2 * K),
)


@dataclass
class Run:
    device: Host
    quick: bool
    save: Callable[[list[dict[str, Any]]], None]
    until: float = 0.0  # of the part that is being measured
    rows: list[dict[str, Any]] = field(default_factory=list)

    def add(self, part: str, measured: Callable[[], dict[str, Any]], /, **which: Any) -> dict[str, Any]:
        """A row: what was measured, or why it was not."""
        row: dict[str, Any] = {"part": part, **which}
        if time.monotonic() > self.until:
            row["skipped"] = "no time left"
        else:
            try:
                row |= measured()
            except Exception as e:  # it is shown, and the others are still measured
                text = str(e).splitlines()
                row["failed"] = f"{type(e).__name__}: {text[0] if text else ''}"
                self.device.free()
        self.rows.append(row)
        print(said(row), flush=True)
        return row


def said(row: dict[str, Any]) -> str:
    known = {k: v for k, v in row.items() if k not in ("ms", "skipped", "failed", "wrong")}
    words = " ".join(f"{v:.4g}" if isinstance(v, float) else str(v) for v in known.values())
    result = next((f"{k}: {row[k]}" for k in ("failed", "skipped") if k in row), f"{row.get('ms', 0):.4g} ms")
    return f"{words}: {result}" + (f" WRONG: {row['wrong']}" if row.get("wrong") else "")


def sizes(kind: str, graphs: int) -> list[int]:
    """Vertices for which the papers have a time of a GPU, without transfers."""
    like = ("float", "32-bit") if kind == "float" else (kind,)
    of = [f.seconds.get(graphs, {}) for f in papers.figures() if f.gpu and f.kind in like and not f.transfers]
    return sorted({n for times in of for n in times})


def counts(kind: str) -> list[int]:
    return sorted({m for f in papers.figures() if f.kind == kind for m in f.seconds})


def graphs(run: Run) -> None:
    """One graph, and many: from device arrays to device arrays."""
    xp = run.device.xp
    for kind in KINDS:
        many = counts("32-bit" if kind.name == "float" else kind.name)
        for n in sorted({n for m in many for n in sizes(kind.name, m)}):
            if run.quick and n > 256:
                continue
            program = kind.compile(n, run.device.backend)
            one = kind.graph(n, xp)
            expected = stepped(run.device, kind, one) if n <= CHECKED else None
            for m in (m for m in many if n in sizes(kind.name, m) and (not run.quick or m <= 8)):

                def measured(m: int = m, one: Any = one, program: Any = program, expected: Any = expected) -> Any:
                    given = xp.empty((m, *one.shape), one.dtype)
                    given[...] = one
                    out = xp.empty_like(given)

                    def call() -> Any:
                        return program({"D": given}, out={"D": out})

                    first, _ = run.device.once(call)
                    right = expected is None or bool((out == expected).all())
                    ms = run.device.median_ms(call, 7, first if first > 1000 else 0.0)
                    wrong = {} if right else {"wrong": "not what array operations give"}
                    return {"ms": ms, "schedule": program.plan.schedule, **wrong}

                run.add("graphs", measured, kind=kind.name, graphs=m, n=n)
                run.device.free()
    run.save(run.rows)


def stepped(device: Host, kind: Kind, d: Any) -> Any:
    """The result, a step after the other on the whole array. Sums of narrow integers are wide."""
    if kind.dtype == "f4":
        return stepwise(device, d)
    d = d.copy()
    for k in range(len(d)):
        via = d[:, k, None].astype(np.int32) + d[k]
        d = device.xp.where(via < d, via, d).astype(d.dtype)
    return d


def locked(run: Run, nbytes: int) -> np.ndarray:
    if run.device.backend == "cpu":
        return np.empty(nbytes, np.uint8)
    import cupy

    return np.frombuffer(cupy.cuda.PinnedMemoryPointer(cupy.cuda.PinnedMemory(nbytes), 0), np.uint8, nbytes)


def transfers(run: Run) -> None:
    """Graphs from the host's memory and back, page-locked: copies alone, and a call."""
    size = 1 << 20 if run.quick else LOCKED
    there, back = locked(run, size), locked(run, size)
    for kind in KINDS:
        shape_of = np.dtype(kind.dtype).itemsize
        names = [f.seconds.get(1, {}) for f in papers.figures() if f.method == papers.COPIES and f.kind in like(kind)]
        for n in sorted({n for times in names for n in times}):
            if not (run.quick and n > 256):
                run.add("copies", lambda b=n * n * shape_of: copied(run, there, back, b), kind=kind.name, n=n)
        for n in (128, 256, 512, 1024, 2048):
            if run.quick and n > 128:
                continue
            program, graph = kind.compile(n, run.device.backend), kind.graph(n)
            for m in (8, 16, 32, 64, 128, 256, 512, 1024):
                if run.quick and m > 8:
                    continue
                how = dict(kind=kind.name, graphs=m, n=n)
                if m * graph.nbytes > size:
                    large = {"skipped": f"more than {size / 2**30:g} GiB each way"}
                    run.rows.append({"part": "transfers", **how, **large})
                    continue
                run.add("transfers", lambda a=(program, graph, m): call(run, there, back, *a), **how)
    run.save(run.rows)


def like(kind: Kind) -> tuple[str, ...]:
    return ("32-bit",) if kind.name == "float" else (kind.name,)


def copied(run: Run, there: np.ndarray, back: np.ndarray, nbytes: int) -> dict[str, Any]:
    """To the device and back, one after the other."""
    if nbytes > len(there):
        return {"skipped": f"more than {len(there) / 2**30:g} GiB"}
    xp, a = run.device.xp, run.device.xp.empty(nbytes, np.uint8)

    def copy() -> None:
        if xp is np:
            a[...] = there[:nbytes]
            back[:nbytes] = a
        else:
            a.set(there[:nbytes])
            a.get(out=back[:nbytes])

    run.device.call_ms(copy, 1)
    return {"ms": run.device.call_ms(copy, 7), "mb": nbytes / 1e6}


def call(run: Run, there: np.ndarray, back: np.ndarray, program: Any, graph: np.ndarray, m: int) -> dict[str, Any]:
    given, out = (
        a[: m * graph.nbytes].view(graph.dtype).reshape(m, *graph.shape) for a in (there, back)
    )  # page-locked
    given[...] = graph

    def once() -> Any:
        return program({"D": given}, out={"D": out})

    run.device.call_ms(once, 2)
    ms = run.device.call_ms(once, 5)
    same = (out[-1] == out[0]).all() and (out[m // 2] == out[0]).all()
    return {"ms": ms, **({} if same else {"wrong": "equal graphs have different results"})}


def figures(run: Run) -> None:
    """The thesis's three programs at all its sizes: the schedule that is chosen, and the paper's form."""
    patience = {"auto": 0.35, PAPER: 1.0}
    started, whole = time.monotonic(), run.until - time.monotonic()
    for form, share in patience.items():
        run.until = started + whole * share
        for f in FIGURES:
            figure(run, f, form)
        run.save(run.rows)


def originals(run: Run) -> None:
    """The thesis's three programs at all its sizes, as they stand, on one of the host's cores."""
    for f in FIGURES:
        if not run.quick or f.workload.defines.get("BITS", 0) < 16 * K:
            run.add("originals", lambda f=f: original(f), workload=f.workload.name)


def figure(run: Run, f: Figure, form: str) -> None:
    if run.quick and (f.workload.defines.get("BITS", 0) > 512 or f.workload.defines.get("N", 0) > 64):
        return
    program, slow = None, False
    for p in f.counts(run.quick):
        which = {"workload": f.workload.name, "p": p, "form": form}
        expected = work(f.workload) / 1e9 * 1e3 * 2  # a step of one thread, some 2 ns at best
        if run.device.backend == "cuda" and expected > WAITED and (form == PAPER or f.workload.file == "montgomery.c"):
            about = f"one thread takes {work(f.workload):.2g} steps"
            run.rows.append({"part": "figures", **which, "skipped": about})
            continue
        if slow and p not in (f.least, f.most):
            run.rows.append({"part": "figures", **which, "skipped": "smallest and largest p alone: it takes long"})
            continue
        if program is None:
            schedule = form if run.device.backend == "cuda" or form == "auto" else "native"
            try:
                program = f.workload.compile(backend=run.device.backend, schedule=schedule, verify=False)
            except c2cu.Error as e:
                run.rows.append({"part": "figures", **which, "failed": str(e).splitlines()[0]})
                return
        row = run.add("figures", lambda p=p, program=program: bulk(run, f.workload, program, p), **which)
        slow |= row.get("ms", 0.0) > SLOW
        run.device.free()


def work(w: Workload) -> float:
    """Steps of one input, about."""
    n, bits = w.defines.get("N", 0), w.defines.get("BITS", 0)
    if bits:
        return 2.0 * (bits // 32) ** 2
    return n**3 if w.file == "floyd_warshall.c" else n / 2 * np.log2(n) * (np.log2(n) + 1) / 2


def few(run: Run, w: Workload, p: int) -> dict[str, Any]:
    """Inputs: of many, those of some that come again."""
    some = w.random(min(p, 1024), seed=1)
    xp, made = run.device.xp, {}
    for n, a in some.items():
        made[n] = xp.empty((p, *a.shape[1:]), a.dtype)
        here = run.device.put(a)
        for at in range(0, p, len(a)):
            made[n][at : at + len(a)] = here[: p - at]
    return made


def bulk(run: Run, w: Workload, program: c2cu.Program, p: int) -> dict[str, Any]:
    inputs = few(run, w, p)
    first, result = run.device.once(lambda: program(inputs))
    if first < 1000:
        first = 0.0
    inside = run.device.inside(program, inputs, result, p) if first == 0.0 else {}
    del result
    ms = run.device.median_ms(lambda: program(inputs), 7, first)
    alone = {"run_ms": inside["run_ms"]} if "run_ms" in inside else {}  # without columns being made of rows
    return {"ms": ms, "schedule": program.plan.schedule, **alone}


def original(f: Figure) -> dict[str, Any]:
    """An input by the original C on one of the host's cores."""
    if work(f.workload) > 1e9:
        return {"skipped": f"{work(f.workload):.2g} steps an input"}
    p = max(1, min(1000, int(2e7 / work(f.workload))))
    inputs = f.workload.random(p, seed=1)
    program = f.workload.compile(backend="cpu", schedule="native", verify=False)
    with threads(1):
        ms = Host().median_ms(lambda: program(inputs), 5)
    return {"ms": ms / p}


class threads:
    """So many threads on the CPU."""

    def __init__(self, count: int):
        self.count = count

    def __enter__(self) -> None:
        self.before = os.environ.get("C2CU_THREADS")
        os.environ["C2CU_THREADS"] = str(self.count)

    def __exit__(self, *_: object) -> None:
        os.environ.pop("C2CU_THREADS")
        if self.before is not None:
            os.environ["C2CU_THREADS"] = self.before


def cpu(run: Run) -> None:
    """One graph on the CPU: with one thread and with all."""
    all_ = len(os.sched_getaffinity(0))
    took: dict[tuple[str, int], float] = {}
    for n in (512, 1024, 2048, 4096, 8192, 16384)[: 1 if run.quick else None]:
        for kind in NARROW:
            program = kind.compile(n, "cpu")
            given = kind.graph(n)[None]
            for count in sorted({1, all_}):

                def measured(count: int = count, n: int = n, given: Any = given, program: Any = program) -> Any:
                    expected = took.get((kind.name, count), 0.0) * 8 / 1e3
                    if expected > run.until - time.monotonic():
                        return {"skipped": f"would take some {expected:.0f} seconds"}
                    with threads(count):
                        first, _ = Host().once(lambda: program(given))
                        ms = Host().median_ms(lambda: program(given), 3, first if first > 300 else 0.0)
                    took[kind.name, count] = ms
                    return {"ms": ms, "schedule": program.plan.schedule}

                run.add("cpu", measured, kind=kind.name, n=n, threads=count)
    run.save(run.rows)


def programs(run: Run) -> Iterator[tuple[Any, str, int]]:
    """Each standalone program: its case, form and p."""
    for case in PROGRAMS:
        p = case.quick if run.quick else case.p
        if p and not (run.quick and case.workload.defines.get("N", 0) > 1024):
            yield case, "auto", p
            if case.paper and run.device.backend == "cuda":
                yield case, PAPER, p


def standalone(run: Run, built: dict[tuple[str, str], Future[Built]]) -> None:
    """Each program beside the library on the same inputs."""
    sums: dict[str, Any] = {}
    for case, form, p in programs(run):
        which = {"program": case.name, "p": p}

        def measured(case: Any = case, p: int = p) -> dict[str, Any]:
            made, sums[case.name] = papers_standalone.library(case, p, run.device)
            return made

        def alone(case: Any = case, form: str = form, p: int = p) -> dict[str, Any]:
            b = built[case.name, form].result(timeout=max(1.0, run.until - time.monotonic()))
            if b.failed:
                raise RuntimeError(b.failed)
            row, got = papers_standalone.run(b, p, run.until - time.monotonic() + 5)
            same = case.name in sums and np.array_equal(got, sums[case.name])
            wrong = {} if same else {"wrong": "not the library's results" if case.name in sums else "not compared"}
            return {"schedule": b.schedule, **row, **wrong}

        if form == "auto":
            run.add("standalone", measured, **which, form="library")
            run.device.free()
        run.add("standalone", alone, **which, form=form)
    run.save(run.rows)


def watts() -> float | None:
    """What the board may draw at most, by its driver."""
    query = ["nvidia-smi", "--query-gpu=power.limit", "--format=csv,noheader,nounits"]
    try:
        return float(subprocess.run(query, capture_output=True, text=True, timeout=20).stdout.splitlines()[0])
    except (OSError, ValueError, IndexError, subprocess.TimeoutExpired):
        return None


def measure(path: Path, backend: str, quick: bool, seconds: float, only: Sequence[str] = ()) -> int:
    """All parts, or ``only`` these beside what the file has of the others; it is written anew after each. Returns 1
    where a result was wrong, or one failed."""
    start, chosen = time.monotonic(), only or tuple(SHARES)
    others = json.loads(path.read_text())["rows"] if only and path.exists() else []
    device = Device() if backend == "cuda" else Host()
    about = {
        "device": device.name,
        "backend": backend,
        "host": cpu_name(),
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "version": c2cu.__version__,
        "watts": watts() if backend == "cuda" else None,
        "quick": quick,
    }

    def save(rows: list[dict[str, Any]]) -> None:
        write(str(path), (json.dumps({**about, "rows": rows}, indent=1) + "\n").encode())

    run = Run(device, quick, save)
    run.rows += [r for r in others if PART_OF.get(r["part"], r["part"]) not in only]
    whole = sum(SHARES[name] for name in chosen)
    with tempfile.TemporaryDirectory(prefix="c2cu-papers-") as folder:
        workers = max(1, about["cores"] - 4)
        with ProcessPoolExecutor(min(workers, 16), mp_context=get_context("spawn")) as pool:
            built = {
                (case.name, form): pool.submit(papers_standalone.build, case, form, p, backend, Path(folder))
                for case, form, p in programs(run)
                if "standalone" in chosen
            }
            spent = 0.0
            parts: dict[str, Callable[[Run], None]] = {
                "graphs": graphs,
                "figures": figures,
                "standalone": partial(standalone, built=built),
                "transfers": transfers,
                "cpu": cpu,
                "originals": originals,
            }
            for name in chosen:
                spent += SHARES[name] / whole  # what an earlier part leaves, the next may use
                run.until = start + spent * seconds
                parts[name](run)
                run.save(run.rows)
            pool.shutdown(cancel_futures=True)
    print(f"{time.monotonic() - start:.0f} seconds")
    return int(any("failed" in r or r.get("wrong") for r in run.rows))
