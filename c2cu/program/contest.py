"""Contests: where estimates cannot tell which of two schedules is faster, the calls' own inputs do.

Once there has been enough work, a long call has both do some of its inputs, side by side in time and in the arrays; of
short calls each does whole ones by turns. The one that is slower as far as is known gets a small share of the time, and
the other one does the rest. No input is done twice. The cache remembers the outcome for this program on this machine.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from .. import tune
from ..base.cache import key
from ..base.diagnostics import CompileError, UnsupportedError
from ..base.version import __version__
from ..runtime.cpu import GRAIN, processor_seconds, slot_table, threads
from ..schedule.choose import Measurement, Plan
from ..schedule.schedule import Candidate
from ..schedule.slots import Slot
from ..schedule.understood import Understood
from .brief import is_brief
from .score import Score, median
from .verify import Verification

Built = Any  # of program.build, which has contests

ENOUGH = 0.025  # seconds of work, of all calls, that are worth a contest
SHORT = 3e-3  # seconds of a call whose parts are too short to be timed
CALLS = 5, 9  # pairs of these: see `Score`; they are further apart in time than pieces
FIXED = 5e-5  # seconds by which two calls may differ beside their inputs
SHARE = 0.05  # of the time, which may be lost to find out who is faster
LOOK = 2e-4  # seconds that such a call takes longer, about: it is looked at anew, see `prepared`
PATIENCE = 2.0  # seconds that the rival's compilation may take, or as long as the work
TICK = 1e-7  # seconds that can be told apart
PIECE = 1e-3  # seconds that a piece takes at least, so that what a call costs does not count,
PIECES = 32  # but no more than this part of the inputs
PARTS = 64  # the part of the inputs that tells how long they take
PAGE = 4096  # bytes
GANG = 16  # inputs, of which a piece has a multiple
FEW = 8 * GANG  # inputs, of which lanes may be left over: they tell nothing of more inputs
PAIRS = 3, 12  # of pieces: see `Score`


class Calls:
    """The calls of a contest with about as many inputs.

    Attributes:
        seconds: Of an input under ``first``, as last measured; None before the first call.
        due: Seconds of work, of all calls, from which on such a call takes part in the contest.
        winner: What does them from now on, where that is known of them alone.
        score: Of whole ones.
    """

    def __init__(self, contest: Contest):
        self._contest, self.score = contest, Score(*CALLS)
        self.seconds: float | None = None
        self.due = 0.0
        self.winner: Built | None = None

    def work(self, p: int) -> float:
        """Seconds of p inputs, as far as is known."""
        return p * (self.seconds or 0.0)

    def leader(self, p: int) -> Built:
        """Who does p inputs that are not part of the contest: the faster one, as far as is known."""
        match = self._contest
        leads = match.second_or_first if self.score_of(p).second_leads else match.first
        likely = (match.winner or self.winner or leads, match.first, match.second_or_first)
        return next((built for built in likely if not _is_wrong(built)), match.first)

    def score_of(self, p: int) -> Score:
        """Where p inputs count: of long calls, pieces do."""
        return self._contest.pieces if self.has_pieces(p) else self.score

    def has_pieces(self, p: int) -> bool:
        """Whether p inputs are done in pieces: they take long enough, and are enough for a pair."""
        return self.work(p) >= SHORT and p > 2 * GANG

    def passes(self, p: int) -> bool:
        """Whether a call of p inputs, whose work is counted, goes by as if there were no contest."""
        match, spent = self._contest, self._contest.spent + self.work(p)
        if match.winner is not None or spent >= self.due:
            return False
        match.spent = spent
        return True


class Contest:
    """Between a program's schedule, ``first``, and its rival, which ``make`` compiles; where it raises UnsupportedError
    or CompileError, ``first`` has won. The winner may have another rival, and a contest of its own.

    Attributes:
        winner: What runs the program from now on; None as long as that is open.
        spent: Seconds of work, by all calls.
        pieces: The score of pieces of long calls.
    """

    def __init__(self, first: Built, make: Callable[[Candidate], Built]):
        assert first.plan.rival is not None
        self.first, self._make = first, make
        self.winner: Built | None = None
        self.spent = 0.0
        self.pieces = Score(*PAIRS)
        rival = first.plan.rival
        self._worth = max(rival.worth, rival.compilation if rival.compilation >= PATIENCE else 0.0)
        self._second: Built | None = None
        self._calls: dict[int | None, Calls] = {}
        self._lock = threading.Lock()

    def calls(self, p: int) -> Calls:
        """The calls of which one of p inputs is one."""
        return self._calls.setdefault(tune.magnitude(p), Calls(self))

    @contextmanager
    def over(self, p: int) -> Iterator[Round | None]:
        """A round over p inputs; None where ``first`` does them as if there were no contest, or another thread is at
        one."""
        if not p or self.winner is not None or self._goes_by(p) or not self._lock.acquire(blocking=False):
            yield None
            return
        try:
            yield None if _is_wrong(self.first) else Round(self, p)
        finally:
            self._lock.release()

    def _goes_by(self, p: int) -> bool:
        calls = self.calls(p)
        return calls.leader(p) is self.first and calls.passes(p)

    @property
    def begins(self) -> float:
        """Seconds of work from which on the rival is worth its compilation."""
        return max(ENOUGH, self._worth)

    def second(self) -> Built | None:
        """The rival, if there has been enough work for its compilation."""
        if self._second is None and self.spent >= self.begins:
            try:
                self._second = self._make(Candidate(self.first.plan.rival.schedule))
            except (UnsupportedError, CompileError):
                self.winner = self.first
        if self._second is not None and _is_wrong(self._second):
            self.winner, self._second = self.first, None
        return self._second

    @property
    def second_or_first(self) -> Built:
        """The rival, as long as it is right."""
        return self.first if self._second is None or _is_wrong(self._second) else self._second

    def decided(self, p: int, score: Score) -> None:
        """``score`` has settled it, of ``p`` inputs in all."""
        assert self._second is not None
        times = [(self.first, median(score.first)), (self._second, median(score.second))]
        if score.second_leads:
            times.reverse()
        measured = Measurement(p, tuple((Candidate(b.plan.schedule), seconds) for b, seconds in times))
        best = times[0][0]
        following = self.first.plan.rival.after(best.plan.schedule)
        plan = replace(best.plan, measured=measured, rival=following, rejected=())
        self.winner = contested(replace(best, plan=plan, contest=None), self._make)
        tune.store(name(self.first.front, self.first.plan), measured)


def contested(built: Built, make: Callable[[Candidate], Built]) -> Built:
    """``built``, with a contest if it has a rival."""
    return built if built.plan.rival is None else replace(built, contest=Contest(built, make))


def _is_wrong(built: Built) -> bool:
    return built.proof is not None and built.proof.different


class Round:
    """One call's ``p`` inputs, some done by each schedule."""

    def __init__(self, contest: Contest, p: int):
        self.contest, self.p, self.first = contest, p, contest.first
        self.done: list[tuple[int, int, Built]] = []  # (first input, end, by whom)

    def unproved(self) -> tuple[Verification | None, Any]:
        """What is known of the results of a schedule that is not native, and the numbers of the inputs that it did, if
        it has yet to be proved; of two such schedules, one that has."""
        import numpy

        proofs = [built.proof for _, _, built in self.done if built.proof is not None]
        proof = next((x for x in proofs if x.open), proofs[0] if proofs else None)
        if proof is None or not proof.open:
            return proof, ()
        spans = sorted((a, b) for a, b, built in self.done if built.proof is proof)
        return proof, numpy.concatenate([numpy.arange(a, b) for a, b in spans])

    def run(self, inputs: Sequence[Any], outputs: Sequence[Any], p: int) -> Any:
        """Do p inputs: see `CpuProgram.run` and `NativeProgram.run`."""
        self.done.clear()
        match, calls = self.contest, self.contest.calls(p)
        arrays = _Arrays(self.first.artifact.slots, inputs, outputs, p)
        at = self._tried(arrays, calls) if calls.seconds is None else 0
        match.spent += calls.work(p)
        takes_part = at < p and match.spent >= calls.due
        second = match.second() if takes_part else None
        if takes_part and not at and not calls.has_pieces(p):
            self._by_turns(arrays, calls, second)
        elif second is not None and calls.has_pieces(p):
            self._in_pieces(arrays, calls, second, at)
        else:  # there is nothing to compare
            self._alone(arrays, calls, calls.leader(p), at)
        calls.due = self._due(calls)
        return arrays.exited

    def _tried(self, arrays: _Arrays, calls: Calls) -> int:
        """Do the first inputs, ever more of them, until they take long enough to be timed; how many that is."""
        n, at = self.p, 0
        if self.p >= FEW:
            n = at = _whole(self.p / PARTS)
            self._do(arrays, self.first, 0, at)  # it warms up
        while True:
            end = at + n if at + 2 * n <= self.p else self.p
            calls.seconds = self._do(arrays, self.first, at, end) / (end - at)
            if calls.work(n) >= PIECE or end == self.p:
                return end
            at, n = end, 2 * n

    def _alone(self, arrays: _Arrays, calls: Calls, built: Built, at: int) -> None:
        """Have one do all inputs from ``at`` on."""
        seconds = self._do(arrays, built, at, self.p)
        if built is self.first and not at:
            calls.seconds = seconds / self.p

    def _by_turns(self, arrays: _Arrays, calls: Calls, second: Built | None) -> None:
        """Have the one do a short call whose turn it is."""
        score, p, at = calls.score, self.p, 0
        if second is None or not score.second_is_next:
            calls.seconds = self._do(arrays, self.first, 0, p) / p
            score.first.append(calls.seconds)
        else:
            if not score.second and p >= FEW:
                at = _whole(p / PARTS)
                self._do(arrays, second, 0, at)  # it warms up
            score.second.append(self._do(arrays, second, at, p) / (p - at))
        if second is None or not score.settled:
            return
        if p >= FEW and p * score.difference > FIXED:
            self.contest.decided(p * (len(score.first) + len(score.second)), score)
        else:  # more inputs may want the other one
            calls.winner = second if score.second_leads else self.first

    def _due(self, calls: Calls) -> float:
        """The seconds of work from which on another call of this size takes part: so many that what is lost is a small
        share of them."""
        match, score, work = self.contest, calls.score_of(self.p), calls.work(self.p)
        if calls.winner is not None:
            return math.inf
        if score is match.pieces:
            assert calls.seconds is not None
            return max(match.begins - work, score.loss * self._piece(calls.seconds) / SHARE)
        done, early = len(score.first) + len(score.second), max(0, score.fewest - len(score.first))
        lost = done * LOOK
        if score.second_is_next != score.second_leads:
            lost += self.p * score.loss
        return max(match.begins - early * work, lost / SHARE)

    def _piece(self, seconds: float) -> int:
        """How many inputs are timed at a time: so many that all threads are at work, if there are enough."""
        return _whole(min(self.p / PIECES, max(2 * GRAIN * threads(), PIECE / seconds)))

    def _in_pieces(self, arrays: _Arrays, calls: Calls, second: Built, start: int) -> None:
        """Compare the two in pairs of pieces, all over the arrays, as long as little is lost by that, and have the
        faster one do the rest."""
        match, score = self.contest, self.contest.pieces
        assert calls.seconds is not None
        n, at = self._piece(calls.seconds), start
        if not score.first:
            at = min(start + n, self.p)
            self._do(arrays, second, start, at)  # it warms up
        count = min(PAIRS[1] - len(score.first), (self.p - at) // (2 * n))
        places = [at + k * ((self.p - at) // count) // n * n for k in range(count)]
        gaps: list[tuple[int, int]] = []
        for begin in places:
            if score.settled or n * score.loss > SHARE * match.spent:
                break
            gaps.append((at, begin))
            at = self._pair(arrays, second, begin, n)
        if score.settled:
            match.decided(2 * n * len(score.first), score)
        leader, seconds, inputs = calls.leader(self.p), 0.0, 0
        for begin, end in (*gaps, (at, self.p)):
            seconds += self._do(arrays, leader, begin, end)
            inputs += end - begin
        if leader is self.first and 2 * inputs > self.p:  # what was measured first may have been an exception
            calls.seconds = seconds / inputs

    def _pair(self, arrays: _Arrays, second: Built, begin: int, n: int) -> int:
        """Have each do a piece of ``n`` inputs, side by side; up to where these are done."""
        score, middle, end = self.contest.pieces, begin + n, begin + 2 * n
        arrays.touch(begin, end)
        order = [(self.first, score.first), (second, score.second)]
        if len(score.first) % 2:
            order.reverse()
        for (built, times), (a, b) in zip(order, [(begin, middle), (middle, end)]):
            times.append(self._do(arrays, built, a, b) / n)
        return end

    def _do(self, arrays: _Arrays, built: Built, begin: int, end: int) -> float:
        """Have some inputs done; the seconds that it took all threads."""
        if begin == end:
            return 0.0
        seconds = max(processor_seconds(lambda: arrays.run(built, begin, end)), TICK)
        self.done.append((begin, end, built))
        return seconds


def _whole(n: float) -> int:
    """About n inputs, in whole gangs."""
    return GANG * max(1, round(n / GANG))


class _Arrays:
    """A call's arrays, and how its inputs ended (None where all returned)."""

    def __init__(self, slots: tuple[Slot, ...], inputs: Sequence[Any], outputs: Sequence[Any], p: int):
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
        n = end - begin
        table = slot_table(self.slots, inputs, outputs)
        exited = built.loaded.run_table(table, outputs, n, is_brief(built, n))
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
