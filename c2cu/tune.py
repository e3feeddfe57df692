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

from .base.cache import Cache, key
from .base.diagnostics import CompileError, UnsupportedError
from .base.version import __version__
from .schedule import registry
from .schedule.artifact import Artifact
from .schedule.choose import AUTO, Measurement, applicable, emitted, reason_of
from .schedule.schedule import Candidate
from .schedule.slots import bytes_moved
from .schedule.understood import Understood

FIRST = {"cpu": 1 << 8, "cuda": 1 << 14}  # inputs of the run that says how many to measure with
ENOUGH = 0.03  # seconds of a run that the clock's own error does not matter to
MOST = 1 << 30  # bytes in and out of a run
REPEATS = 5
HOPELESS = 3.0  # times slower than the fastest so far: not worth another run
LIMIT = 30.0  # seconds, compilers included, after which no candidate is begun

Load = Callable[[Artifact], Any]  # a program that can run
Run = Callable[[Any, int], float]  # seconds that it takes for the first n inputs


def tune(front: Understood, backend: str, wanted: str, load: Load, run: Run, p: int) -> Measurement | None:
    """Measure the candidates for ``p`` inputs; None where none runs. ``wanted``: a schedule, or auto for all of them.

    What does not take the program, does not compile or does not fit into memory is rejected with its reason.
    """
    entries = applicable(front, backend)
    if wanted != AUTO:
        entries = tuple(e for e in entries if e is registry.find(backend, wanted))
    queue = [Candidate(e.name if wanted == AUTO else wanted) for e in entries]
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
            artifact = emitted(front, candidate, backend)
            loaded = load(artifact)
            n = n or _enough(front, backend, loaded, run, p)
            times[candidate] = _fastest(loaded, run, n, min(times.values(), default=math.inf) * n) / n
        except UnsupportedError as e:
            rejected.append((str(candidate), reason_of(e)))
        except CompileError as e:
            rejected.append((str(candidate), e.diagnostic.message.splitlines()[0]))
        else:
            if not candidate.threads:
                schedule = registry.find(backend, candidate.schedule).schedule
                queue = schedule.alternatives(candidate, artifact) + queue
    ranking = sorted(times.items(), key=lambda x: x[1])
    return Measurement(n, tuple(ranking), tuple(rejected)) if ranking else None


def _enough(front: Understood, backend: str, loaded: Any, run: Run, p: int) -> int:
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


def name(front: Understood, backend: str, wanted: str, p: int | None) -> str:
    """A measurement's name in the cache."""
    slots = [(s.name, s.dtype, s.shape, s.reads, s.writes, s.shared) for s in front.slots]
    text = front.pre.plain or front.pre.text
    which = (text, front.program.kernel.name, slots, front.fp, backend, wanted, magnitude(p))
    return key("tuned", *which, *identity(backend), __version__)


def recall(front: Understood, backend: str, wanted: str, p: int | None) -> Measurement | None:
    """What was measured before for as many inputs on such a machine, if anything was."""
    if p is None:
        return None
    try:
        path = Cache().get(name(front, backend, wanted, p), ".tuned")
        return _read(path.read_text(), _names(backend, wanted)) if path else None
    except (OSError, ValueError, TypeError, KeyError):
        return None  # half a file, or another program's
    except CompileError:
        return None  # no compiler, or no device: whoever needs it says so


def remember(front: Understood, backend: str, wanted: str, p: int, found: Measurement) -> None:
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


def _names(backend: str, wanted: str) -> tuple[str, ...]:
    """What may have been measured for the choice of ``wanted``."""
    if wanted == AUTO:
        return registry.all_names(backend)
    entry = registry.find(backend, wanted)
    return (entry.name, *entry.variants)


def _read(text: str, names: tuple[str, ...]) -> Measurement:
    """Raises ValueError, TypeError or KeyError for what `remember` does not write."""
    data = json.loads(text)
    times = tuple((Candidate(str(s), int(n)), float(seconds)) for s, n, seconds in data["times"])
    if not times or any(c.schedule not in names or not 0 <= c.threads <= 1024 or not t > 0 for c, t in times):
        raise ValueError(text)
    rejected = tuple((str(c), str(why)) for c, why in data["rejected"])
    return Measurement(int(data["p"]), tuple(sorted(times, key=lambda x: x[1])), rejected)
