"""Groups on their way through the engine, and the second try of one that takes too long."""

from __future__ import annotations

import statistics
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ..base.diagnostics import CompileError, Error
from ..runtime import arrays
from ..runtime.pipe import Pipe
from ..schedule.artifact import Slot
from .batcher import Ending, Group
from .buffers import Berth, Berths, Hold
from .channel import Closed

Answer = TypeVar("Answer")
SLOW = 10  # times the usual: a group that takes longer is given to an idle device as well
PATIENCE = 1.0  # seconds that a group may always take


@dataclass(eq=False)
class Work:
    """A group with its memory. ``into``, ``out``: the berths in which inputs and outputs lie, if they are the engine's;
    ``parts``: what is to be copied to ``inputs``; ``avoid``: the device that is not to run it."""

    group: Group
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    into: Hold | None
    out: Berth | None
    parts: tuple[list[Any] | None, ...] = ()
    avoid: Pipe | None = None
    runner: Pipe | None = None
    token: Any = None
    started: float = 0.0
    tried_again: bool = False

    def let_go(self, outs: Berths) -> None:
        """It is not to run any more."""
        if self.into is not None:
            self.into.drop()
        if self.out is not None:
            outs.give_back(self.out)


@dataclass(frozen=True)
class Done:
    """A group's outputs, one array a slot or None. ``latency``: seconds since its first input arrived."""

    first: int
    count: int
    outputs: tuple[Any, ...]
    latency: float
    work: Work


@dataclass(eq=False)
class State:
    """What all threads share, under one lock."""

    changed: threading.Condition = field(default_factory=threading.Condition)
    done: dict[int, Done] = field(default_factory=dict)
    next: int = 0  # the group that the consumer waits for
    ending: Ending | None = None
    failure: BaseException | None = None  # nothing goes on after this
    alive: list[Pipe] = field(default_factory=list)
    running: dict[int, Work] = field(default_factory=dict)  # by number, started and not done
    busy: int = 0  # tries that were started and have not ended
    unfilled: int = 0  # groups that are taken, and not copied yet
    idle: Counter[str] = field(default_factory=Counter)  # starters that wait for work, by device
    times: deque[float] = field(default_factory=lambda: deque(maxlen=64))
    notices: list[str] = field(default_factory=list)

    def ask(self, about: Callable[[Pipe], Answer]) -> Answer:
        """What a device that works says about memory. One that fails here is passed over: its own thread will tell.
        Raises Closed where no device is left, MemoryError, and C2CU064 where none answers."""
        with self.changed:
            alive = list(self.alive)
        failure: Exception = Closed()
        for pipe in alive:
            try:
                return about(pipe)
            except Exception as e:
                if not isinstance(failure, MemoryError):
                    failure = e if isinstance(e, MemoryError) else as_error(pipe, e)
        raise failure

    def has(self, number: int) -> bool:
        """Whether a group's outputs are there, or were handed over."""
        return number < self.next or number in self.done


def as_error(pipe: Pipe, error: BaseException | None) -> Error:
    """What a user is told of a device that failed."""
    if isinstance(error, Error):
        return error
    return CompileError("C2CU064", f"{pipe.name} does not run it: {error}", None, "try another schedule or device")


def second_try(state: State, slots: tuple[Slot, ...], layout: str, more: bool) -> Work | None:
    """Another try of the group that the consumer waits for, if it takes too long and another device is idle. Called
    under the state's lock. ``more``: whether there is other work for an idle device."""
    work = state.running.get(state.next)
    if work is None or work.tried_again or more or work.runner is None:
        return None
    if not any(state.idle[p.name] for p in state.alive if p is not work.runner):
        return None
    usual = statistics.median(state.times) if state.times else 0.0
    if time.perf_counter() - work.started < max(PATIENCE, SLOW * usual):
        return None
    work.tried_again = True
    state.notices.append(f"a group of {work.group.count} inputs takes too long: it is run on another device as well")
    outputs = tuple(
        None if a is None else arrays.empty(s, work.group.count, layout) for s, a in zip(slots, work.outputs)
    )
    if work.into is not None:
        work.into.share()
    return Work(work.group, work.inputs, outputs, work.into, None, avoid=work.runner, tried_again=True)
