"""Tuning: the sensible candidates run on the user's first inputs, and the cache remembers the fastest.

Every candidate gives the right results, so a measurement disturbed by other programs costs speed, never correctness.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
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

FIRST = {"cpu": 1 << 8, "cuda": 1 << 14}  # inputs of the first run, which decides how many inputs to measure with
ENOUGH = 0.03  # seconds: a run so long can be timed precisely
MOST = 1 << 30  # bytes in and out of a run, at most
REPEATS = 5
HOPELESS = 3.0  # a candidate so many times slower than the fastest is not run again
LIMIT = 30.0  # seconds, compilation included, after which no further candidate starts

Load = Callable[[Artifact], Any]  # compiles an artifact; returns the loaded program
Run = Callable[[Any, int], float]  # (loaded program, n) -> seconds for the first n inputs


def tune(front: Understood, backend: str, requested: str, load: Load, run: Run, p: int) -> Measurement | None:
    """Measure the candidates for ``p`` inputs; None where none runs. ``requested``: a schedule, or auto for all.

    A candidate that cannot run the program, does not compile or does not fit into memory is rejected with its reason.
    """
    entries = applicable(front, backend)
    if requested != AUTO:
        entries = tuple(e for e in entries if e is registry.find(backend, requested))
    queue = [Candidate(e.name if requested == AUTO else requested) for e in entries]
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
    """Seconds of the fastest of several runs, as other programs can only slow a run down."""
    first = run(loaded, n)  # it also warms up
    seconds = run(loaded, n) if first < 10 * HOPELESS * best else first
    for _ in range(REPEATS - 1):
        if seconds > HOPELESS * best or seconds > 10 * ENOUGH:
            break
        seconds = min(seconds, run(loaded, n))
    return seconds


def magnitude(p: int | None) -> int | None:
    """The bits of p: a measurement is valid for every p with as many."""
    return None if p is None else p.bit_length()


def identity(backend: str) -> tuple[object, ...]:
    """What identifies the machine that a measurement is valid for."""
    if backend == "cuda":
        from .runtime import cuda

        return cuda.identity()
    from .runtime import cpu

    return cpu.identity()


def name(front: Understood, backend: str, requested: str, p: int | None) -> str:
    """A measurement's name in the cache."""
    slots = [(s.name, s.dtype, s.shape, s.reads, s.writes, s.shared) for s in front.slots]
    text = front.pre.plain or front.pre.text
    which = (text, front.kernel_name, slots, front.fp, front.math, backend, requested, magnitude(p))
    return key("tuned", *which, *identity(backend), __version__)


def recall(front: Understood, backend: str, requested: str, p: int | None) -> Measurement | None:
    """An earlier measurement for about as many inputs on the same kind of machine, or None."""
    return None if p is None else recalled(lambda: name(front, backend, requested, p), _names(backend, requested))


def recalled(name: Callable[[], str], names: tuple[str, ...]) -> Measurement | None:
    """A measurement by its name in the cache. ``names``: the schedules that it may contain."""
    try:
        known = Cache().get(name(), ".tuned")
        return _read(known.decode(), names) if known else None
    except (ValueError, TypeError, KeyError):
        return None  # another version of c2cu wrote it
    except CompileError:
        return None  # there is no compiler or no device, which the run itself will report


def remember(front: Understood, backend: str, requested: str, p: int, measurement: Measurement) -> None:
    """Store a measurement in the cache for later calls, in this process and others."""
    store(name(front, backend, requested, p), measurement)


def store(name: str, measurement: Measurement) -> None:
    """Likewise, by its name in the cache."""
    data = {
        "p": measurement.p,
        "times": [[c.schedule, c.threads, seconds] for c, seconds in measurement.times],
        "rejected": measurement.rejected,
    }
    content = json.dumps(data, indent=1) + "\n"
    Cache().store(name, ".tuned", content.encode())


def _names(backend: str, requested: str) -> tuple[str, ...]:
    """The names that a measurement for ``requested`` may contain."""
    if requested == AUTO:
        return registry.all_names(backend)
    entry = registry.find(backend, requested)
    return (entry.name, *entry.variants)


def _read(text: str, names: tuple[str, ...]) -> Measurement:
    """A measurement as `remember` writes it. Raises ValueError, TypeError or KeyError for any other text."""
    data = json.loads(text)
    times = tuple((Candidate(str(s), int(n)), float(seconds)) for s, n, seconds in data["times"])
    if not times or any(c.schedule not in names or not 0 <= c.threads <= 1024 or not t > 0 for c, t in times):
        raise ValueError(text)
    rejected = tuple((str(c), str(why)) for c, why in data["rejected"])
    return Measurement(int(data["p"]), tuple(sorted(times, key=lambda x: x[1])), rejected)
