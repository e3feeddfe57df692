"""Contests: where estimates cannot tell which of two schedules is faster, a call's own inputs do.

When there has been enough work, a call has both do some of its inputs, side by side in time and in the arrays, and the
faster one does the rest; of calls too short for that, each does every other one. No input is done twice. The cache
remembers the outcome for this program on this machine.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from .. import tune
from ..base.cache import key
from ..base.diagnostics import CompileError, UnsupportedError
from ..base.version import __version__
from ..runtime.cpu import GRAIN, threads
from ..schedule.choose import Measurement, Plan
from ..schedule.schedule import Candidate
from ..schedule.understood import Understood
from .verify import Verification

Built = Any  # of program.build, which has contests

ENOUGH = 0.025  # seconds of work, of all calls, that are worth a contest
TINY = 5e-4  # seconds of a call that is better done at once than compared
SHORT = 3e-3  # of one whose parts are too short to be timed
CALLS = 5  # of these that each does
PATIENCE = 2.0  # seconds that the rival's compilation may take, or as long as the work
TICK = 1e-7  # seconds that can be told apart
PIECE = 1e-3  # seconds that a piece takes at least, so that what a call costs does not count,
PARTS = 64  # but no more than this part of the inputs
PAGE = 4096  # bytes
GANG = 16  # inputs, of which a piece has a multiple
PAIRS, FEWEST = 12, 3  # of pieces, at most, and before anything is decided
CLEAR = 1.1  # times that one has to be faster in every pair to win before all are done


class Contest:
    """Between a program's schedule, ``first``, and its rival, which ``make`` compiles; where it raises UnsupportedError
    or CompileError, ``first`` has won.

    Attributes:
        winner: What runs the program from now on; None as long as that is open.
    """

    def __init__(self, first: Built, make: Callable[[], Built]):
        assert first.plan.rival is not None
        self.first, self._rival, self._make = first, first.plan.rival, make
        self.winner: Built | None = None
        self.seconds: float | None = None  # of an input under ``first``, as measured
        self.spent = 0.0  # seconds, by all calls
        self._second: Built | None = None
        self._calls: tuple[list[float], list[float]] = [], []  # seconds an input, of calls that each did alone
        self._lock = threading.Lock()

    def passes_over(self, p: int) -> bool:
        """Whether p inputs are certainly too few."""
        return p < 8 * GANG if self.seconds is None else p * self.seconds < TINY

    @contextmanager
    def over(self, p: int) -> Iterator[Round | None]:
        """A round over p inputs; None where they are certainly too few, or another thread is at one."""
        if self.winner is not None or self.passes_over(p) or not self._lock.acquire(blocking=False):
            yield None
            return
        try:
            yield None if _is_wrong(self.first) else Round(self, p)
        finally:
            self._lock.release()

    def second(self, work: float) -> Built | None:
        """The rival, if its compilation is worth it for so many seconds of work."""
        rival = self._rival
        if self._second is None and work >= rival.worth and rival.compilation < max(PATIENCE, work):
            try:
                self._second = self._make()
            except (UnsupportedError, CompileError):
                self.winner = self.first
        if self._second is not None and _is_wrong(self._second):
            self.winner, self._second = self.first, None
        return self._second

    def turn(self, p: int) -> Built | None:
        """Who does p inputs, where they are too few for both to do some; None where they are not, or it is too soon."""
        if self.seconds is None or p * self.seconds >= SHORT or self.spent < ENOUGH:
            return None
        second = self.second(self.spent)
        return second if second is None or len(self._calls[1]) < len(self._calls[0]) else self.first

    def took(self, built: Built, p: int, seconds: float) -> None:
        """``built`` did all p inputs of a call."""
        self._calls[built is not self.first].append(seconds / p)
        a, b = (_median(x) if len(x) >= CALLS else None for x in self._calls)
        if a is not None and b is not None:
            assert self._second is not None
            self.decided(p, sorted([(self.first, a), (self._second, b)], key=lambda x: x[1]))

    def decided(self, p: int, times: Sequence[tuple[Built, float]]) -> Built:
        """The winner. ``times``: seconds an input of each, the winner first, in pieces of ``p`` inputs in all."""
        measured = Measurement(p, tuple((Candidate(b.plan.schedule), seconds) for b, seconds in times))
        best = times[0][0]
        self.winner = replace(best, plan=replace(best.plan, measured=measured, rival=None, rejected=()), contest=None)
        tune.store(name(self.first.front, self.first.plan), measured)
        return self.winner


def _is_wrong(built: Built) -> bool:
    return built.proof is not None and built.proof.different


class Round:
    """One call's ``p`` inputs, some done by each schedule."""

    def __init__(self, contest: Contest, p: int):
        self.contest, self.p, self.first = contest, p, contest.first
        self.done: list[tuple[int, int, Built]] = []  # (first input, end, by whom)

    def unproved(self) -> tuple[Verification | None, Any]:
        """What is known of the results of the schedule that is not native, and the numbers of the inputs that it did,
        if it has yet to be proved."""
        import numpy

        proof = next((built.proof for _, _, built in self.done if built.proof is not None), None)
        if proof is None or not proof.open:
            return proof, ()
        spans = sorted((a, b) for a, b, built in self.done if built.proof is not None)
        return proof, numpy.concatenate([numpy.arange(a, b) for a, b in spans])

    def run(self, inputs: Sequence[Any], outputs: Sequence[Any], p: int) -> Any:
        """Do p inputs: see `CpuProgram.run` and `NativeProgram.run`."""
        self.done.clear()
        arrays = _Arrays(self.first.artifact.slots, inputs, outputs, p)
        alone = self.contest.turn(p)
        if alone is not None:
            self.contest.took(alone, p, self._do(arrays, alone, 0, p))
            return arrays.exited
        at, seconds = self._tried(arrays)
        left, winner = (p - at) * seconds, self.first
        self.contest.spent += p * seconds
        n = self._piece(seconds)
        count = min(PAIRS, (p - at - n) // (2 * n))
        enough = self.contest.spent >= ENOUGH and p * seconds >= SHORT and count >= FEWEST
        second = self.contest.second(max(left, self.contest.spent)) if enough else None
        if second is not None:
            self._do(arrays, second, at, at + n)  # it warms up
            winner, at = self._compared(arrays, second, at + n, n, count)
        self._do(arrays, winner, at, p)
        return arrays.exited

    def _tried(self, arrays: _Arrays) -> tuple[int, float]:
        """The first inputs, ever more of them, until they take long enough to be timed: (how many, seconds of one)."""
        n = at = _whole(self.p / PARTS)
        self._do(arrays, self.first, 0, at)  # it warms up
        least = math.inf  # as other programs can only slow it down
        while True:
            end = min(at + n, self.p)
            seconds = self._do(arrays, self.first, at, end)
            self.contest.seconds = least = min(least, seconds / (end - at))
            if n * least >= PIECE or end == self.p:
                return end, least
            at, n = end, 2 * n

    def _piece(self, seconds: float) -> int:
        """How many inputs are timed at a time: so many that all threads are at work, if there are enough."""
        return _whole(min(self.p / PARTS, max(2 * GRAIN * threads(), PIECE / seconds)))

    def _compared(self, arrays: _Arrays, second: Built, start: int, n: int, count: int) -> tuple[Built, int]:
        """The faster of the two in pairs of pieces of ``n`` inputs, all over the arrays, and up to where these are
        done."""
        apart = (self.p - start) // count
        pairs: list[tuple[float, float]] = []
        gaps: list[tuple[int, int]] = []
        at = start
        for k in range(count):
            gaps.append((at, start + k * apart // n * n))
            middle, at = gaps[-1][1] + n, gaps[-1][1] + 2 * n
            spans = [(gaps[-1][1], middle), (middle, at)]
            arrays.touch(gaps[-1][1], at)
            if k % 2:
                b, a = self._do(arrays, second, *spans[0]), self._do(arrays, self.first, *spans[1])
            else:
                a, b = self._do(arrays, self.first, *spans[0]), self._do(arrays, second, *spans[1])
            pairs.append((a, b))
            if len(pairs) >= FEWEST and _is_clear(pairs):
                break
        times = [(self.first, _median(a for a, _ in pairs) / n)]
        times.append((second, _median(b for _, b in pairs) / n))
        if _median(b / a for a, b in pairs) < 1:
            times.reverse()
        winner = self.contest.decided(2 * n * len(pairs), times)
        for begin, end in gaps:
            self._do(arrays, winner, begin, end)
        return winner, at

    def _do(self, arrays: _Arrays, built: Built, begin: int, end: int) -> float:
        """Have some inputs done; the seconds of all threads that it took: other programs do not add to them."""
        if begin == end:
            return 0.0
        start = time.process_time()
        arrays.run(built, begin, end)
        seconds = max(time.process_time() - start, TICK)
        self.done.append((begin, end, built))
        return seconds


def _whole(n: float) -> int:
    """About n inputs, in whole gangs."""
    return GANG * max(1, round(n / GANG))


def _is_clear(pairs: Sequence[tuple[float, float]]) -> bool:
    ratios = [b / a for a, b in pairs]
    return min(ratios) > CLEAR or max(ratios) < 1 / CLEAR


class _Arrays:
    """A call's arrays, and how its inputs ended (None where all returned)."""

    def __init__(self, slots: Sequence[Any], inputs: Sequence[Any], outputs: Sequence[Any], p: int):
        self.slots, self.inputs, self.outputs, self.p = slots, inputs, outputs, p
        self.exited: Any = None

    def touch(self, begin: int, end: int) -> None:
        """Have some inputs' results find their pages of memory: what the system takes to give new ones varies more
        than schedules do."""
        import numpy

        for a in self.outputs:
            if a is not None and a.flags.c_contiguous:
                pages = a[begin:end].reshape(-1).view(numpy.uint8)[::PAGE]
                numpy.bitwise_or(pages, 0, out=pages)  # as it is: it may be an input too

    def run(self, built: Built, begin: int, end: int) -> None:
        pairs = list(zip(self.slots, self.inputs))
        inputs = [a if a is None or s.shared or a.ndim == len(s.shape) else a[begin:end] for s, a in pairs]
        outputs = [None if a is None else a[begin:end] for a in self.outputs]
        exited = built.loaded.run(inputs, outputs, end - begin)
        if exited is not None:
            if self.exited is None:
                import numpy

                self.exited = numpy.full(self.p, -1, exited.dtype)
            self.exited[begin:end] = exited


def name(front: Understood, plan: Plan) -> str:
    """A contest's name in the cache."""
    slots = [(s.name, s.dtype, s.shape, s.reads, s.writes, s.shared) for s in front.slots]
    text = front.pre.plain or front.pre.text
    names = sorted(_names(plan))
    return key(
        "contest", text, front.kernel_name, slots, front.fp, front.math, names, *tune.identity("cpu"), __version__
    )


def _names(plan: Plan) -> tuple[str, ...]:
    return (plan.schedule,) if plan.rival is None else (plan.schedule, plan.rival.schedule)


def recalled(front: Understood, plan: Plan) -> Measurement | None:
    """The outcome of an earlier contest, or None."""
    if plan.rival is None:
        return None
    return tune.recalled(lambda: name(front, plan), _names(plan))


def _median(numbers: Iterable[float]) -> float:
    from statistics import median  # which imports fractions and decimals

    return median(numbers)
