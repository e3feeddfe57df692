"""Time units of the Unified Memory Machine, the model in which bulk execution is analysed (thesis, 4.1 and 4.2).

Memory is divided into *address groups* of ``w`` consecutive words. The ``p`` threads, one an input, form warps of
``w``; warps are dispatched in turn. What a dispatched warp requests enters a pipeline of ``l`` stages, one stage for
each distinct address group, and is complete when its last request reaches the last stage.

Input j's element a of n is at address ``j * n + a`` (row-wise) or ``a * p + j`` (column-wise).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

Arrangement = Literal["row", "column"]


def formula(arrangement: Arrangement, t: int, p: int, width: int, latency: int) -> int:
    """Time units of t accesses by p threads in lockstep: Lemma 4.2.1, t times.

    Column-wise t (p/w + l - 1), row-wise t (p + l - 1). Both are exact where p is a multiple of w and n >= w.
    Else: column-wise, p is rounded up, which is exact where the rows of the array are too; rows of just p words begin
    inside an address group, and a warp may need two. Row-wise, p + l - 1 holds for every p, but with n < w neighbours
    share address groups and it is an upper bound (exact is n p/w + l - 1 where n divides w and w divides p).
    """
    requests = p if arrangement == "row" else -(-p // width)
    return t * (requests + latency - 1)


def addresses(arrangement: Arrangement, element: int, n: int, p: int) -> list[int]:
    """The addresses of one element in all p inputs. An element from n on is one of a table that all inputs share,
    so its address is the same for all."""
    if element >= n:
        return [n * p + element - n] * p
    return [j * n + element if arrangement == "row" else element * p + j for j in range(p)]


class Request(NamedTuple):
    """What a warp requests of one address group in one round. It ``enters`` the first stage of the pipeline in one time
    unit, and is complete when it reaches the last stage, in the unit ``completes``."""

    warp: int
    round: int
    group: int
    enters: int = 0
    completes: int = 0


def simulate(rounds: Iterable[Sequence[int | None]], width: int, latency: int, lockstep: bool = True) -> int:
    """Time units until all is complete; as `pipeline`."""
    return max((r.completes for r in pipeline(rounds, width, latency, lockstep)), default=0)


def pipeline(
    rounds: Iterable[Sequence[int | None]], width: int, latency: int, lockstep: bool = True
) -> Iterator[Request]:
    """Move requests through the pipeline, one stage a time unit; yields each when it is complete.

    ``rounds``: for each access in turn, the address that each thread requests, or None. A warp without a request is
    not dispatched. ``lockstep``: a round begins when the one before is complete, as the lemma counts. Else a warp goes
    on as soon as its own requests are complete.
    """
    queues: list[deque[list[Request]]] = []  # what each warp has yet to request, a list for each round
    pending: list[int] = []  # of each round: requests that are not complete
    for number, requested in enumerate(rounds):
        pending.append(0)
        for warp, first in enumerate(range(0, len(requested), width)):
            if warp == len(queues):
                queues.append(deque())
            groups = dict.fromkeys(a // width for a in requested[first : first + width] if a is not None)
            if groups:
                queues[warp].append([Request(warp, number, g) for g in groups])
                pending[number] += len(groups)

    stages: deque[Request | None] = deque([None] * latency, maxlen=latency)
    flying = [0] * len(queues)  # requests of each warp that are not complete
    sending: deque[Request] = deque()  # of the warp that was dispatched last
    unit = now = first = 0
    remaining = sum(pending)
    while remaining:
        unit += 1
        while not pending[now]:
            now += 1
        if not sending:
            turns = [*range(first, len(queues)), *range(first)]
            warp = next((i for i in turns if not flying[i] and _may_go(queues[i], now, lockstep)), None)
            if warp is not None:
                sending.extend(queues[warp].popleft())
                flying[warp], first = len(sending), warp + 1
        stages.appendleft(sending.popleft()._replace(enters=unit) if sending else None)
        done = stages[-1]
        if done is not None:
            yield done._replace(completes=unit)
            flying[done.warp] -= 1
            pending[done.round] -= 1
            remaining -= 1


def _may_go(queue: deque[list[Request]], now: int, lockstep: bool) -> bool:
    return bool(queue) and (not lockstep or queue[0][0].round == now)
