"""Tuning: the sensible candidates run on the user's own first inputs, and the cache remembers the fastest.

Every candidate is a right program, so a measurement that a busy machine spoilt costs time, never a result.
"""

from __future__ import annotations

import contextlib
import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import pipeline
from .base.cache import Cache, key
from .base.diagnostics import CompileError, UnsupportedError
from .base.version import __version__
from .schedule.artifact import Artifact, bytes_moved
from .schedule.plan import SCHEDULES, Candidate, Measurement, applies, said
from .schedule.plan import variants as names_of
from .schedule.understood import Front

FIRST = {"cpu": 1 << 8, "cuda": 1 << 14}  # inputs of the run that says how many to measure with
ENOUGH = 0.03  # seconds of a run that the clock's own error does not matter to
MOST = 1 << 30  # bytes in and out of a run
REPEATS = 5
HOPELESS = 3.0  # times slower than the fastest so far: not worth another run
LIMIT = 30.0  # seconds, compilers included, after which no candidate is begun
LARGE = 256  # threads of a matrix that the whole device may do better
SHARED = 100 << 10  # bytes of shared memory that a block of twice the threads may take

APART = ("gep:tiles", "gep:bands")  # variants that are no alternative: for small matrices, for what does not fit

Load = Callable[[Artifact], Any]  # a program that can run
Run = Callable[[Any, int], float]  # seconds that it takes for the first n inputs


def tune(front: Front, backend: str, wanted: str, load: Load, run: Run, p: int) -> Measurement | None:
    """Measure the candidates for ``p`` inputs; None where none runs. ``wanted``: a schedule, or auto for all of them.

    What does not take the program, does not compile or does not fit into memory is rejected with its reason.
    """
    queue = [Candidate(s) for s in (SCHEDULES[backend] if wanted == "auto" else (wanted,)) if applies(s, front)]
    until = time.monotonic() + LIMIT
    times: dict[Candidate, float] = {}
    rejected: list[tuple[str, str]] = []
    n = 0
    while queue:
        candidate = queue.pop(0)
        if times and time.monotonic() > until:
            rejected.append((str(candidate), "there was no time left to measure it"))
            continue
        try:
            artifact = pipeline.emitted(front, candidate, backend)
            loaded = load(artifact)
            n = n or _enough(front, backend, loaded, run, p)
            times[candidate] = _fastest(loaded, run, n, min(times.values(), default=math.inf) * n) / n
        except UnsupportedError as e:
            rejected.append((str(candidate), said(e)))
        except CompileError as e:
            rejected.append((str(candidate), e.diagnostic.message.splitlines()[0]))
        else:
            queue = variants(candidate, artifact) + queue
    ranking = sorted(times.items(), key=lambda x: x[1])
    return Measurement(n, tuple(ranking), tuple(rejected)) if ranking else None


def variants(candidate: Candidate, artifact: Artifact) -> list[Candidate]:
    """Other numbers of threads, or other variants, for a schedule that takes the program."""
    if candidate.threads:
        return []
    if ":" in artifact.schedule and ":" not in candidate.schedule:  # of those that have the whole device work at one
        others = set(names_of(artifact.target, candidate.schedule)) - {artifact.schedule, *APART}
        return [Candidate(n) for n in sorted(others)]
    match artifact.schedule:
        case "registers" if 2 * artifact.shared_bytes <= SHARED:
            return [Candidate("registers", 2 * artifact.lanes)]
        case "block" | "gep":
            own = max(1, artifact.threads // artifact.lanes)
            others = names_of("cuda", "gep") if artifact.schedule == "gep" and own >= LARGE else ()
            named = [Candidate(s) for s in others if s not in APART]
            return [Candidate(artifact.schedule, n) for n in (own // 2, 2 * own) if n] + named
    return []


def _enough(front: Front, backend: str, loaded: Any, run: Run, p: int) -> int:
    """How many inputs to measure with."""
    first = min(p, FIRST[backend])
    run(loaded, first)
    seconds = max(run(loaded, first), 1e-9)
    most = max(first, MOST // max(1, bytes_moved(front.slots)))
    return max(first, min(p, most, math.ceil(first * ENOUGH / seconds)))


def _fastest(loaded: Any, run: Run, n: int, best: float) -> float:
    """Seconds of the fastest of several runs, since other programs only slow them down."""
    first = run(loaded, n)  # it also warms up
    seconds = run(loaded, n) if first < 10 * HOPELESS * best else first
    for _ in range(REPEATS - 1):
        if seconds > HOPELESS * best or seconds > 10 * ENOUGH:
            break
        seconds = min(seconds, run(loaded, n))
    return seconds


def magnitude(p: int | None) -> int | None:
    """What of p a measurement holds for: its power of two."""
    return None if p is None else p.bit_length()


def identity(backend: str) -> tuple[object, ...]:
    """What of a machine a measurement holds for."""
    if backend == "cuda":
        from .runtime import cuda

        return cuda.identity()
    from .runtime import cpu

    return cpu.identity()


def name(front: Front, backend: str, wanted: str, p: int | None) -> str:
    """A measurement's name in the cache."""
    slots = [(s.name, s.dtype, s.shape, s.reads, s.writes, s.shared) for s in front.slots]
    text = front.pre.plain or front.pre.text
    which = (text, front.program.kernel.name, slots, front.fp, backend, wanted, magnitude(p))
    return key("tuned", *which, *identity(backend), __version__)


def recall(front: Front, backend: str, wanted: str, p: int | None) -> Measurement | None:
    """What was measured before for as many inputs on such a machine, if anything was."""
    if p is None:
        return None
    try:
        path = Cache().get(name(front, backend, wanted, p), ".tuned")
        return _read(path.read_text(), SCHEDULES[backend] if wanted == "auto" else (wanted,)) if path else None
    except (OSError, ValueError, TypeError, KeyError):
        return None  # half a file, or another program's
    except CompileError:
        return None  # no compiler, or no device: whoever needs it says so


def remember(front: Front, backend: str, wanted: str, p: int, found: Measurement) -> None:
    """For later calls, in this process and others."""
    data = {
        "p": found.p,
        "times": [[c.schedule, c.threads, seconds] for c, seconds in found.times],
        "rejected": found.rejected,
    }

    def produce(path: Path) -> None:
        path.write_text(json.dumps(data, indent=1) + "\n")

    with contextlib.suppress(OSError):  # it is measured anew next time
        cache, which = Cache(), name(front, backend, wanted, p)
        known = cache.get(which, ".tuned")
        if known is not None:
            known.unlink(missing_ok=True)
        cache.put(which, ".tuned", produce)


def _read(text: str, schedules: tuple[str, ...]) -> Measurement:
    """Raises ValueError, TypeError or KeyError for what `remember` does not write."""
    data = json.loads(text)
    times = tuple((Candidate(str(s), int(n)), float(seconds)) for s, n, seconds in data["times"])
    known = {n for s in schedules for n in (s, *names_of("cuda", s), *names_of("cpu", s))}
    if not times or any(c.schedule not in known or not 0 <= c.threads <= 1024 or not t > 0 for c, t in times):
        raise ValueError(text)
    rejected = tuple((str(c), str(why)) for c, why in data["rejected"])
    return Measurement(int(data["p"]), tuple(sorted(times, key=lambda x: x[1])), rejected)
